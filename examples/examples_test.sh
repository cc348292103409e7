#!/usr/bin/env bash
# Runs the examples on a sound trace and on one that is cut off.
set -euo pipefail

failed=0
# expect CODE TEXT COMMAND...: the command's exit code, and a text that it or its errors must have.
expect() {
  local code=$1 text=$2 got=0 out
  shift 2
  out=$("$@" 2>&1) || got=$?
  if [[ $got -ne $code || $out != *"$text"* ]]; then
    echo "$*: exit code $got for $code, and not \"$text\" but: $out"
    failed=1
  fi
}

sound=testdata/traces/go1.27-annotations.trace.zst
whole=$TEST_TMPDIR/whole.trace
cut=$TEST_TMPDIR/cut.trace
tools/gotrace-dump wire --header "$sound" | tools/gotrace-dump assemble --padded -o "$whole" -
cp "$whole" "$cut"
truncate -s 3000 "$cut"

expect 0 "goroutine 1: 7" examples/count_starts "$sound"
expect 1 "[batch-truncated]" examples/count_starts "$cut"
expect 0 "sound" examples/validate "$sound"
expect 1 "[batch-truncated]" examples/validate "$cut"
expect 1 "broken" examples/validate "$cut"
expect 0 "1200040 us: goroutine 1, sleep, timer" examples/longest_waits "$sound"
expect 1 "[batch-truncated]" examples/longest_waits "$cut"
expect 0 "main.nesting.func2: 3 goroutines ran 6848 ns" examples/goroutine_times "$whole"
expect 1 "[batch-truncated]" examples/goroutine_times "$cut"
expect 0 "305 events, 0 of them" examples/salvage "$sound"
expect 1 "216 events, 0 of them" examples/salvage "$cut"
expect 0 "305 events" examples/repair "$sound" "$TEST_TMPDIR/repaired.trace"
expect 0 "sound" examples/validate "$TEST_TMPDIR/repaired.trace"
expect 0 "the trace is cut off" examples/repair "$cut" "$TEST_TMPDIR/repaired.trace"
expect 0 "sound" examples/validate "$TEST_TMPDIR/repaired.trace"
expect 1 "cannot write" examples/repair "$sound" /dev/full
expect 1 "[not-a-trace]" examples/repair examples/examples_test.sh "$TEST_TMPDIR/repaired.trace"
expect 0 "25 events, with 3 statuses" examples/write_trace "$TEST_TMPDIR/written.trace"
expect 0 "sound" examples/validate "$TEST_TMPDIR/written.trace"
expect 0 "main.worker: 2 goroutines" examples/goroutine_times "$TEST_TMPDIR/written.trace"
expect 0 "main.main" examples/print_logs "$sound"
expect 1 "[batch-truncated]" examples/print_logs "$cut"
expect 0 "StateTransition: 223" examples/count_kinds "$sound"
expect 0 "StateTransition: 223" examples/count_kinds "$whole"
expect 1 "[batch-truncated]" examples/count_kinds "$cut"
expect 0 "90 events in generation 2" examples/last_generation "$whole"
expect 1 "only once" examples/last_generation "$sound"
expect 1 "[batch-truncated]" examples/last_generation "$cut"
# A directory can be opened, but not read.
for program in count_starts longest_waits goroutine_times print_logs validate salvage; do
  expect 1 "Is a directory" examples/$program "$TEST_TMPDIR"
done
expect 1 "[state-mismatch]" examples/validate_events
expect 0 "" examples/view_beginning "$sound" "$TEST_TMPDIR/beginning"
expect 0 "" tools/gotrace-dump convert --to=perfetto --until=100ms -o "$TEST_TMPDIR/expected" "$sound"
expect 0 "" cmp "$TEST_TMPDIR/beginning" "$TEST_TMPDIR/expected"
expect 1 "[batch-truncated]" examples/view_beginning "$cut" "$TEST_TMPDIR/beginning"
expect 0 "greet: 2 times, at most" examples/trace_own_runs --times Ann Bob
expect 0 "label:greet Bob" env GREET_TRACE2_PERF=1 examples/trace_own_runs Ann Bob
exit $failed
