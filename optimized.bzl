"""How gotrace is compiled by `-c opt`, in this workspace and in any other."""

# Against Bazel's own -O2 and with frame pointers, reading takes about 0.9 of the time
# (bench/README.md).
GOTRACE_COPTS = select({
    "//:optimized": [
        "-O3",
        "-fomit-frame-pointer",
    ],
    "//conditions:default": [],
})
