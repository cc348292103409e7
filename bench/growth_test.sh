#!/bin/sh
# Tests that no command takes quadratic time in any quantity of a trace: growth.cc has more.
set -eu

if [ -n "${TEST_SHARD_STATUS_FILE:-}" ]; then
  touch "$TEST_SHARD_STATUS_FILE"
fi
directory=$(mktemp -d "${TEST_TMPDIR:-${TMPDIR:-/tmp}}/growth.XXXXXX")
trap 'rm -rf "$directory"' EXIT
bench/growth "$directory" "$1" time 2> "$directory/errors" > "$directory/growth" || {
  code=$?
  grep -v "^     " "$directory/growth" || true
  grep -v "sound, there is nothing to repair" "$directory/errors" >&2 || true
  exit $code
}
