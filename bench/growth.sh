#!/bin/sh
# Counts how the instructions of each command of gotrace-dump grow with each quantity of a trace:
#
#   bazel build --config=opt //bench:growth && bench/growth.sh [COUNT [PART_OF_A_NAME]]
#
# The result does not depend on the machine. Needs valgrind. growth.cc has more.
set -eu

count=${1:-1024}
name=${2:-}
command -v valgrind > /dev/null || {
  echo "growth.sh: valgrind is missing: apt-get install valgrind" >&2
  exit 2
}
directory=$(mktemp -d "${TMPDIR:-/tmp}/growth.XXXXXX")
trap 'rm -rf "$directory"' EXIT
valgrind --tool=exp-bbv --instr-count-only=yes --bb-out-file=/dev/null --pc-out-file=/dev/null \
  --log-file="$directory/%p" "$(dirname "$0")/../bazel-bin/bench/growth" "$directory" "$count" \
  instructions "$name" 2> "$directory/errors" || {
  code=$?
  grep -v "sound, there is nothing to repair" "$directory/errors" >&2 || true
  exit $code
}
