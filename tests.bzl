"""Test programs: one for each folder, or for each group of tests in it that runs under other conditions; their libraries."""

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")

# Several files are compiled as one, since parsing headers takes most of the time; few enough that a core can compile
# another part of the same program, and that a change of one file is compiled in seconds.
_FILES_IN_A_UNIT = 6

# Tests and their libraries have the public headers, with the parts of Abseil that these use: see include/BUILD.
_DEPS = ["//include:headers"]

def test_library(name, srcs = None, hdrs = None, deps = [], **kwargs):
    """A library for tests only, by default of NAME.cc and NAME.h."""
    cc_library(
        name = name,
        testonly = True,
        srcs = srcs if srcs != None else [] if hdrs else [name + ".cc"],
        hdrs = hdrs if hdrs else [name + ".h"],
        deps = deps + _DEPS,
        **kwargs
    )

def gotrace_tests(srcs, deps = [], name = "tests", data = [], tags = [], size = "medium", shards = 1):
    """A test program of several files; and, for the default name, :cc_files, which are all files of C++ of the folder.

    The names of each file are in a namespace that is named after it. `--test_filter=Suite.Test` runs one test.

    Args:
      srcs: the files, each of which could be compiled by itself.
      deps: what they need besides GoogleTest and the public headers.
      name: of the program.
      data: files and programs that the tests use.
      tags: "parallel" if a test starts a thread: itself, in the library, or in a program that it runs.
      size: as in Bazel.
      shards: how many parts of the program run at once.
    """
    if name == "tests":
        native.filegroup(
            name = "cc_files",
            testonly = True,
            srcs = native.glob(["*.cc", "*.h", "*/*.cc", "*/*.h"]),
            visibility = ["//testing:__pkg__"],
        )
    count = (len(srcs) + _FILES_IN_A_UNIT - 1) // _FILES_IN_A_UNIT
    units = []
    for index in range(count):
        unit = "%s_unit%d.cc" % (name, index + 1)
        units.append(unit)
        native.genrule(
            name = unit + "_made",
            testonly = True,
            outs = [unit],
            cmd = "printf '#include \"%s\"\\n' " + " ".join([
                "%s/%s" % (native.package_name(), src)
                for src in srcs[index::count]
            ]) + " > $@",
        )
    cc_library(
        name = name + "_sources",
        testonly = True,
        textual_hdrs = srcs,
    )
    cc_test(
        name = name,
        size = size,
        srcs = units,
        # It takes most of the time to compile tests, and little to run them.
        copts = ["-O0"],
        data = data,
        shard_count = shards if shards > 1 else None,
        tags = tags,
        deps = [":%s_sources" % name, "@com_google_googletest//:gtest_main"] + deps + _DEPS,
    )
