"""Checks MODULE.bazel, which Debian's Bazel cannot read, in the root of the repository:

- it has the version of gotrace/library_version.h;
- it has the same repositories as WORKSPACE, where every build shows that they have the labels that are used;
- its modules have each label that a BUILD file uses, according to module_labels.txt;
- BUILD files load the rules that they use, which newer versions of Bazel no longer have themselves.

Files of Bazel are Python but for a few functions, so they are run as such.
"""

import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.append("cmake")
from read_build_files import find_packages

# Bazel's own, which a project with modules does not name.
OF_BAZEL = {"remote_coverage_tools", "rules_java"}


def read_module():
    """The version of gotrace, the name and version of the module of each repository, and other repositories."""
    versions, modules, others = [], {}, set()

    def bazel_dep(name, version, repo_name="", dev_dependency=False):
        modules[repo_name or name] = f"{name}@{version}"

    scope = {
        "module": lambda version, **_: versions.append(version),
        "bazel_dep": bazel_dep,
        "use_extension": lambda *_: None,
        "use_repo": lambda _, *names: others.update(names),
        "use_repo_rule": lambda *_: lambda name, **_: others.add(name),
    }
    exec(pathlib.Path("MODULE.bazel").read_text(), scope)
    return versions[0], modules, others


def read_workspace():
    """The repositories that WORKSPACE has on Debian."""
    found = set()

    def load(label, name):
        defined = dict(
            native=type("native", (), {"bazel_version": ""}),
            attr=type("attr", (), {"__getattr__": lambda *_: lambda **_: None})(),
            repository_rule=lambda **_: lambda name, **_: found.add(name),
        )
        exec(pathlib.Path(label.lstrip("/").replace(":", "/")).read_text(), defined)
        scope[name] = defined[name]

    scope = {"load": load, "workspace": lambda **_: None}
    exec(pathlib.Path("WORKSPACE").read_text(), scope)
    return found - OF_BAZEL


def read_build_files():
    """The labels in other repositories that BUILD files have, as pairs of a repository and the rest, and errors."""
    labels, errors = set(), []
    for package in find_packages():
        folder = pathlib.Path(package)
        for path in [folder / "BUILD", *(folder.glob("*.bzl") if package != "third_party" else [])]:
            text = path.read_text()
            for repository, label in re.findall(r'"@(\w+)(//[^"]*)"', text):
                labels.add((repository, label if ":" in label else f"{label}:{label.split('/')[-1]}"))
            for rule in sorted(set(re.findall(r"^ *((?:cc|sh)_\w+)\(", text, re.MULTILINE))):
                if not re.search(rf'load\(.*"{rule}"', text):
                    errors.append(f"{path} does not load {rule}")
    return labels, errors


def differences(what, first, first_place, second, second_place):
    """What is in only one of two sets, in words."""
    for has, place, other in [(first - second, first_place, second_place), (second - first, second_place, first_place)]:
        yield from (f"{what} {item} is in {place}, but not in {other}" for item in sorted(has))


def main():
    version, modules, others = read_module()
    repositories = others | set(modules)
    labels, errors = read_build_files()
    header = pathlib.Path("include/gotrace/library_version.h").read_text()
    used = {f"{modules[name]} {label}" for name, label in labels if name in modules}
    lines = pathlib.Path("third_party/module_labels.txt").read_text().splitlines()
    errors += [
        *differences("version", {version}, "MODULE.bazel", set(re.findall(r'N "(.*)"', header)), "library_version.h"),
        *differences("repository", repositories, "MODULE.bazel", read_workspace(), "WORKSPACE"),
        *differences("label", used, "BUILD files", {line for line in lines if line[0] != "#"}, "module_labels.txt"),
        *(f"no repository in MODULE.bazel has @{name}{label}" for name, label in labels if name not in repositories),
    ]
    if errors:
        sys.exit("\n".join(errors))


main()
