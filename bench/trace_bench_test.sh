#!/usr/bin/env bash
# Tests that trace_bench prints its line in each mode, and fails if it must.
set -euo pipefail

trace_bench=bench/trace_bench
make_trace=bench/make_trace
trace=testdata/traces/go1.27-gc.trace.zst
number='[0-9]+(\.[0-9]+)?'

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# expect_line MODE EVENTS BYTES LINE
expect_line() {
  local pattern="^$1 events $2 bytes $3 seconds $number Mevents/s $number MB/s $number"
  pattern+=" ns/event $number peakMB $number\$"
  [[ $4 =~ $pattern ]] || fail "expected $pattern, found $4"
}

# expect_exit CODE COMMAND...
expect_exit() {
  local code=$1 status=0
  shift
  "$@" > /dev/null 2>&1 || status=$?
  [[ $status -eq $code ]] || fail "expected exit code $code of $*, found $status"
}

events=$(awk -F '\t' '$1 == "go1.27-gc.trace" { print $3 }' testdata/traces/manifest.tsv)
bytes=$(awk -F '\t' '$1 == "go1.27-gc.trace" { print $2 }' testdata/traces/manifest.tsv)
for mode in read validate text json track; do
  expect_line $mode "$events" "$bytes" "$($trace_bench $mode $trace 2)"
done
expect_line decode "$number" "$bytes" "$($trace_bench decode $trace)"

# 2 generations, each with the statuses of 3 Ps and 100 goroutines, some of which may end, and 3 syncs.
made=$TEST_TMPDIR/made
$make_trace --threads=3 --goroutines=100 --generations=2 --events=1000 > "$made"
expect_line read '22[0-9][0-9]' "$(wc -c < "$made")" "$($trace_bench read "$made" 1)"
expect_line read '22[0-9][0-9]' "$(wc -c < "$made")" "$($trace_bench read - < "$made")"

expect_exit 1 $trace_bench read - < <(head -c 1000 "$made")
expect_exit 1 $trace_bench read testdata/traces/manifest.tsv
expect_exit 2 $trace_bench read /no/such/file
expect_exit 2 $trace_bench
expect_exit 2 $trace_bench raed $trace
expect_exit 2 $trace_bench read $trace 0
expect_exit 0 $trace_bench --jobs=1 read $trace 1
expect_exit 1 $trace_bench read $trace --jobs=x
expect_exit 2 $trace_bench read - 2
expect_exit 2 $trace_bench read $trace 1 more
expect_exit 2 $make_trace --threads=0
expect_exit 2 $make_trace --generations=0
expect_exit 2 $make_trace --skew=2
expect_exit 2 $make_trace more

# expect_error TEXT COMMAND...: expects a command to fail with TEXT in its error message.
expect_error() {
  local text=$1 error
  shift
  error=$("$@" 2>&1 > /dev/null) && fail "$* did not fail"
  [[ $error == *"$text"* ]] || fail "expected $* to report $text, found $error"
}

expect_error 'expected a MODE of decode, read, validate, text, json, track; found raed' \
  $trace_bench raed $trace
expect_error 'expected REPS of 1 or more, found 0' $trace_bench read $trace 0
expect_error 'can be gone over once, not 2 times' $trace_bench read - 2
expect_error 'expected nothing but flags, found more' $make_trace more
expect_error '--generations must be 1 or more' $make_trace --generations=0
