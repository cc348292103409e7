#!/usr/bin/env bash
# Measures whether the CPU time for an event and the peak memory depend on the length of a trace; they
# should not.
#
#   check_length.sh [GENERATIONS]
#
# GENERATIONS is the length of the shorter trace (default 2); the longer one has 64 times as many.
# Environment:
#
#   PAIRS                    the number of measurements (default 5), whose medians are printed
#   TRACE_BENCH, MAKE_TRACE  programs to use; by default, Bazel builds them with --config=opt
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
short=${1:-2}
long=$((64 * short))
pairs=${PAIRS:-5}
shape=(--threads=16 --goroutines=1000 --events=50000)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

trace_bench=${TRACE_BENCH:-} make_trace=${MAKE_TRACE:-}
if [[ -z $trace_bench || -z $make_trace ]]; then
  (cd "$here" && bazel build --config=opt //bench:trace_bench //bench:make_trace >&2)
  bin=$(cd "$here" && bazel info --config=opt bazel-bin 2> /dev/null)
  trace_bench=${trace_bench:-$bin/bench/trace_bench}
  make_trace=${make_trace:-$bin/bench/make_trace}
fi

# number NAME: prints the number after NAME in a line of trace_bench.
number() {
  awk -v name="$1" '{ for (i = 1; i < NF; ++i) if ($i == name) print $(i + 1) }'
}

median() {
  sort -g | awk '{ a[NR] = $1 } END { print NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'
}

for generations in "$short" "$long"; do
  "$make_trace" "${shape[@]}" --generations="$generations" > "$scratch/$generations"
done
# cpu_seconds COMMAND...: prints the CPU time of a program, which hardly depends on the load of the
# machine.
cpu_seconds() {
  local TIMEFORMAT='%3U %3S'
  { time "$@" > /dev/null; } 2>&1 | awk '{ print $1 + $2 }'
}

# seconds_of_passes MODE FILE REPS: prints the time of REPS passes over the file, without the time to
# load it into memory.
seconds_of_passes() {
  local once twice
  once=$(cpu_seconds "$trace_bench" "$1" "$2" "$3" --jobs=1)
  twice=$(cpu_seconds "$trace_bench" "$1" "$2" $((2 * $3)) --jobs=1)
  awk -v once="$once" -v twice="$twice" 'BEGIN { print twice - once }'
}

# The shorter trace is processed 64 times as often, so that both have about the same number of events.
for mode in decode read validate text json; do
  events=$("$trace_bench" $mode "$scratch/$long" 1 | number events)
  for ((i = 0; i < pairs; ++i)); do
    seconds_of_passes $mode "$scratch/$short" 64 >> "$scratch/$mode.short"
    seconds_of_passes $mode "$scratch/$long" 1 >> "$scratch/$mode.long"
  done
  awk -v mode=$mode -v events="$events" -v short="$(median < "$scratch/$mode.short")" \
    -v long="$(median < "$scratch/$mode.long")" -v generations="$short" 'BEGIN {
      printf "%-8s %6.1f ns/event at %d generations, %6.1f at %d\n", mode, short / events * 1e9,
             generations, long / events * 1e9, 64 * generations }'
done
for mode in decode read validate text json; do
  for generations in "$short" "$long"; do
    line=$("$trace_bench" $mode - < "$scratch/$generations")
    printf '%-8s %6.1f MB at the most for %6.1f MB of trace\n' $mode \
      "$(number peakMB <<< "$line")" "$(number bytes <<< "$line" | awk '{ print $1 / 1e6 }')"
  done
done
