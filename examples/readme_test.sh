#!/usr/bin/env bash
# The README's first C++ block must be count_starts.cc.
set -euo pipefail
diff <(sed -n '/^```cpp$/,/^```$/p' README.md | sed '1d;/^```$/,$d') examples/count_starts.cc
