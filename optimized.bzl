"""Libraries of gotrace, and how they are compiled by `-c opt`, in this workspace and in any other."""

load("@rules_cc//cc:defs.bzl", "cc_library")

# Against Bazel's own -O2 and with frame pointers, reading takes about 0.9 of the time
# (bench/README.md).
GOTRACE_COPTS = select({
    "//:optimized": [
        "-O3",
        "-fomit-frame-pointer",
    ],
    "//conditions:default": [],
})

def gotrace_library(name, deps = [], **kwargs):
    """A library of a layer. It has the public headers, with the parts of Abseil that these use: see include/BUILD."""
    cc_library(
        name = name,
        copts = GOTRACE_COPTS,
        deps = deps + ["//include:headers"],
        **kwargs
    )
