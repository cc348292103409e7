#!/usr/bin/env python3
"""Reads Bazel's BUILD files, which list the sources of gotrace, for CMake.

usage: read_build_files.py BUILD_DIRECTORY [--without-tools], in the root of the repository

Writes to BUILD_DIRECTORY the files sources.cmake, which sets variables to the sources of each library, and
programs.cmake, which calls functions of cmake/tests.cmake for each test, and each program that tests run. BUILD
files are Python but for a few functions, so they are run as such.

Also makes BUILD_DIRECTORY/runfiles, in which tests run: it has the same folders as the repository, with a link to
each file, and programs are built into it.
"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(".")
KINDS = ["cc_library", "cc_binary", "cc_test", "sh_test", "genrule", "filegroup", "config_setting"]


class Rule:
    """A rule of a BUILD file."""

    def __init__(self, kind, package, attributes):
        self.kind = kind
        self.package = package
        self.attributes = attributes
        self.path = os.path.join(package, attributes["name"])

    def get(self, attribute):
        return self.attributes.get(attribute, [])

    def labels(self, attribute):
        """The labels of an attribute, in full."""
        return [full_label(label, self.package) for label in self.get(attribute)]

    def files(self, suffix):
        """The paths of the sources whose names end in `suffix`."""
        names = [*self.get("srcs"), *filter(None, [self.attributes.get("linkstamp")])]
        return [os.path.join(self.package, name) for name in names if name.endswith(suffix)]


def join(*parts):
    return os.path.normpath(os.path.join(*parts))


def full_label(label, package):
    if label.startswith("@"):
        return label
    if label.startswith("//"):
        return label if ":" in label else f"{label}:{label.split('/')[-1]}"
    return f"//{package}:{label.lstrip(':')}"


def is_built(path, build_directory):
    """Whether a folder of the repository has what was built or installed."""
    return (
        path.name.startswith((".", "bazel-", "node_modules"))
        or path.resolve() in (build_directory, *build_directory.parents)
        or (path / "CMakeCache.txt").exists()
    )


def is_ignored(path, build_directory):
    """Whether a folder has no packages of the repository."""
    ignored = (ROOT / ".bazelignore").read_text().split("\n")
    return is_built(path, build_directory) or str(path.relative_to(ROOT)) in ignored


def find_packages(build_directory=ROOT):
    """The folders that have a BUILD file, but not those in build trees."""
    packages = []
    for directory, folders, files in os.walk(ROOT):
        path = pathlib.Path(directory)
        folders[:] = sorted(name for name in folders if not is_ignored(path / name, build_directory))
        if "BUILD" in files:
            packages.append("" if path == ROOT else str(path.relative_to(ROOT)))
    return packages


class Workspace:
    """The rules of all BUILD files, by their labels."""

    def __init__(self, build_directory):
        self.packages = find_packages(build_directory)
        self.rules = {}
        for package in self.packages:
            self.read(package)

    def read(self, package):
        def rule(kind):
            def add(**attributes):
                self.rules[f"//{package}:{attributes['name']}"] = Rule(kind, package, attributes)

            return add

        def glob(patterns, exclude=()):
            return self.glob(package, patterns)

        def run(path):
            """Runs a BUILD or .bzl file, and returns what it defines."""

            def load(label, *names, **renamed):
                # Of other repositories, rules are known here. All else is of use to Bazel only.
                module = rules
                if not label.startswith("@"):
                    folder, name = full_label(label, package)[2:].split(":")
                    module = run(ROOT / folder / name)
                for name, original in [*zip(names, names), *renamed.items()]:
                    scope[name] = module.get(original, [])

            scope = {"load": load, "native": native, "select": lambda cases: [], "glob": glob, **rules}
            scope.update(package=lambda **_: None, exports_files=lambda *_, **__: None)
            exec(compile(path.read_text(), path, "exec"), scope)
            return scope

        rules = {kind: rule(kind) for kind in KINDS}
        functions = {**rules, "glob": glob, "package_name": lambda: package}
        native = type("native", (), {name: staticmethod(call) for name, call in functions.items()})
        run(ROOT / package / "BUILD")

    def glob(self, package, patterns):
        """The files of a package that match, but not those of packages inside it."""
        found = []
        base = ROOT / package
        for directory, folders, files in os.walk(base):
            inside = os.path.relpath(directory, base)
            folders[:] = [name for name in folders if join(package, inside, name) not in self.packages]
            found += [join(inside, name) for name in files]
        # "**" may stand for nothing.
        regexes = [re.escape(glob).replace(r"\*\*", ".*").replace(r"\*", "[^/]*") for glob in patterns]
        return sorted(name for name in found if any(re.fullmatch(regex, name) for regex in regexes))

    def of_kind(self, kind):
        return [rule for rule in self.rules.values() if rule.kind == kind]

    def closure(self, labels, attributes=("deps",)):
        """The rules that these need, each once."""
        rules = {}
        waiting = list(labels)
        while waiting:
            label = waiting.pop(0)
            if label in self.rules and label not in rules:
                rules[label] = self.rules[label]
                waiting += [needed for attribute in attributes for needed in rules[label].labels(attribute)]
        return list(rules.values())


def generate_sources(workspace, directory, omitted):
    """Runs the rules that generate sources without tools, and returns the paths of what they made.

    What is in `omitted` is not made.
    """
    made = {}
    for rule in workspace.of_kind("genrule"):
        for name in rule.get("outs") if not rule.get("tools") else []:
            if os.path.join(rule.package, name) in omitted:
                continue
            path = directory / "generated" / rule.package / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = subprocess.check_output(["bash", "-c", rule.get("cmd").replace("> $@", "")], text=True)
            if not path.exists() or path.read_text() != text:
                path.write_text(text)
            # In quotes, since the build directory can be anywhere.
            made[os.path.join(rule.package, name)] = f'"{path}"'
    return made


def link_runfiles(workspace, directory):
    """Links all files of the repository's packages from `directory`/runfiles."""
    for package in workspace.packages:
        folder = directory / "runfiles" / package
        folder.mkdir(parents=True, exist_ok=True)
        for entry in sorted((ROOT / package).iterdir()):
            inside = join(package, entry.name)
            has_packages = any(f"{other}/".startswith(f"{inside}/") for other in workspace.packages)
            if has_packages or (entry.is_dir() and is_built(entry, directory)):
                continue
            link = folder / entry.name
            link.unlink(missing_ok=True)
            link.symlink_to(entry.resolve())


def call(function, *arguments, **lists):
    """Formats a call of a CMake function."""
    words = [*arguments]
    for name, values in lists.items():
        words += [name, *values] if values else []
    return f"{function}(" + "\n  ".join(map(str, words)) + ")\n"


def write_lists(workspace, directory, with_tools):
    def sources_of(rules):
        files = [file for rule in rules for file in rule.files(".cc")]
        return [generated.get(file, file) for file in files]

    headers = workspace.rules["//include:headers"]
    library = workspace.closure(["//:gotrace"])
    sqlite = [rule for rule in workspace.closure(["//:gotrace_sqlite"]) if rule not in library]
    libraries = [*library, *sqlite]
    tools = [rule for rule in workspace.closure(["//tools:tools", "//tools:cli_docs"]) if rule not in libraries]
    omitted = [] if with_tools else [file for rule in tools for file in rule.files(".cc")]
    generated = generate_sources(workspace, directory, omitted)
    # CMake reads all of this again when one of these changes.
    build_files = [os.path.join(package, "BUILD") for package in workspace.packages]
    made_from = [os.path.join(rule.package, name) for rule in workspace.of_kind("genrule") for name in rule.get("srcs")]
    # A library with alwayslink is compiled into each program that needs it.
    others = [rule for rule in workspace.of_kind("cc_library") if rule not in [*libraries, *tools]]
    testing = [rule for rule in others if not rule.get("alwayslink")]

    def abseil_of(rules):
        """The names that CMake has for the targets of Abseil that these rules need."""
        labels = {label for rule in rules for label in rule.labels("deps") if label.startswith("@com_google_absl//")}
        names = {re.split("[/:]", label)[-1] for label in labels}
        return sorted(f"absl::{'algorithm_container' if name == 'container' else name}" for name in names)

    with open(directory / "sources.cmake", "w") as out:
        out.write(call("set", "library_sources", *sources_of(library)))
        out.write(call("set", "sqlite_sources", *sources_of(sqlite)))
        out.write(call("set", "tools_sources", *sources_of(tools)))
        out.write(call("set", "testing_sources", *sources_of(testing)))
        out.write(call("set", "program_sources", *sources_of([workspace.rules["//tools:gotrace-dump"]])))
        out.write(call("set", "extension_sources", *sources_of([workspace.rules["//export/sqlite:gotrace_sqlite.so"]])))
        out.write(call("set", "public_abseil", *abseil_of([headers])))
        out.write(call("set", "library_abseil", *abseil_of(library)))
        out.write(call("set", "sqlite_abseil", *abseil_of([headers, *sqlite])))
        out.write(call("set", "all_abseil", *abseil_of([*libraries, *tools, *testing])))
        out.write(call("set", "build_files", *build_files, *made_from))

    def shards_of(rule):
        return [rule.get("shard_count")] if rule.get("shard_count") else []

    def program(function, rule, *arguments, **lists):
        needed = [other for other in workspace.closure(rule.labels("deps")) if other.get("alwayslink")]
        return call(function, rule.path, *arguments, SOURCES=sources_of([rule, *needed]), **lists)

    tests = workspace.of_kind("cc_test") + workspace.of_kind("sh_test")
    run_by_tests = workspace.closure([f"//{rule.package}:{rule.get('name')}" for rule in tests], ("deps", "data"))
    # CMake builds these without the tests, too.
    installed = ["tools/gotrace-dump", "tools/write_cli_docs"]
    with open(directory / "programs.cmake", "w") as out:
        for rule in workspace.of_kind("cc_binary"):
            if "-fsanitize=fuzzer" in rule.get("linkopts"):
                out.write(program("gotrace_fuzzer", rule))
            elif rule in run_by_tests and rule.path not in installed and not rule.get("linkshared"):
                out.write(program("gotrace_test_program", rule))
        for rule in workspace.of_kind("cc_test"):
            main = ["MAIN"] if "@com_google_googletest//:gtest_main" in rule.labels("deps") else []
            out.write(program("gotrace_test", rule, *main, OPTIONS=rule.get("copts"),
                              DEFINITIONS=rule.get("local_defines"), LABELS=rule.get("tags"), SHARDS=shards_of(rule)))
        for rule in workspace.of_kind("sh_test"):
            out.write(call("gotrace_script_test", rule.path, *rule.files(".sh"), ARGS=rule.get("args"),
                           LABELS=rule.get("tags"), SHARDS=shards_of(rule)))


def main():
    directory = pathlib.Path(sys.argv[1]).resolve()
    workspace = Workspace(directory)
    link_runfiles(workspace, directory)
    write_lists(workspace, directory, "--without-tools" not in sys.argv[2:])


if __name__ == "__main__":
    main()
