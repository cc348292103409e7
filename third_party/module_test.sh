#!/usr/bin/env bash
# Runs check_modules.py in the source tree, to which MODULE.bazel is a link here.
cd "$(dirname "$(readlink -f MODULE.bazel)")" && exec python3 third_party/check_modules.py
