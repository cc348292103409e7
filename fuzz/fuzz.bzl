"""What a fuzz target is built into."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")

def fuzz_target(name, deps, structured = False, parallel = False):
    """Makes of NAME_target.cc a test and a fuzzer.

    Args:
      name: of the target. Its cases stand in corpus/NAME.
      deps: what it needs besides the public headers.
      structured: whether the inputs are traces, which are then changed event by event.
      parallel: whether it begins threads.
    """
    cc_library(
        name = name,
        testonly = True,
        srcs = [name + "_target.cc"],
        deps = deps + [
            ":target",
            "//include:headers",
        ],
        # Keeps RunTarget(), which only libraries later in the link call.
        alwayslink = True,
    )

    cc_test(
        name = name + "_replay_test",
        size = "medium",
        srcs = ["replay_test.cc"],
        data = native.glob(["corpus/%s/**" % name]),
        tags = ["parallel"] if parallel else [],
        local_defines = ["GOTRACE_CORPUS=\\\"fuzz/corpus/%s\\\"" % name],
        deps = [
            ":" + name,
            ":target",
            "@com_google_googletest//:gtest",
        ],
    )

    # Needs clang: build it with --config=fuzz, or with run.sh.
    cc_binary(
        name = name + "_fuzzer",
        testonly = True,
        srcs = ["fuzzer_entry.cc"] + (["custom_mutator.cc"] if structured else []),
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],
        deps = [
            ":" + name,
            ":target",
        ] + ([":trace_mutator"] if structured else []),
    )
