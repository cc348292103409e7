#!/bin/sh
# Measures how the cost of each command of gotrace-dump grows with each quantity of a trace:
#
#   bazel build --config=opt //bench:growth && bench/growth.sh [COUNT [PART_OF_A_NAME]]
#
# Counts instructions, so the result does not depend on the machine's speed. Needs valgrind; without
# it, the test passes without testing anything. growth.cc has more.
set -eu

count=${1:-4096}
name=${2:-}
if [ -n "${TEST_SHARD_STATUS_FILE:-}" ]; then
  touch "$TEST_SHARD_STATUS_FILE"
fi
if ! command -v valgrind > /dev/null; then
  echo "there is no valgrind, so nothing is measured" >&2
  exit 0
fi
program=bench/growth
[ -x "$program" ] || program=$(dirname "$0")/../bazel-bin/bench/growth
directory=$(mktemp -d "${TEST_TMPDIR:-${TMPDIR:-/tmp}}/growth.XXXXXX")
trap 'rm -rf "$directory"' EXIT
valgrind --tool=exp-bbv --instr-count-only=yes --bb-out-file=/dev/null --pc-out-file=/dev/null \
  --log-file="$directory/%p" "$program" "$directory" "$count" "$name" 2> "$directory/errors" || {
  code=$?
  grep -v "sound, there is nothing to repair" "$directory/errors" >&2 || true
  exit $code
}
