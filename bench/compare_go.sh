#!/usr/bin/env bash
# Runs gotrace and Go's own tools in turn on the same traces, and prints how many times as fast gotrace
# is.
#
#   compare_go.sh [--markdown] FILE...
#
#   --markdown  also rewrites the table in bench/README.md
#
# bench/README.md describes what is compared, and what GOREF and GOTRACE_TOOL must be. Environment:
#
#   GOREF         a program that times Go's reader; without it, its rows are left out
#   GOTRACE_TOOL  a command like `go tool trace`, which is the default
#   PAIRS         the number of runs of each (default 5); times and ratios are medians
#   REPS          the number of passes of GOREF and trace_bench in a run; the best counts (default 3)
#   TRACE_BENCH, GOTRACE_DUMP  programs to use; by default, Bazel builds them with --config=opt
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
readme=$here/README.md
pairs=${PAIRS:-5}
reps=${REPS:-3}
read -r -a go_tool <<< "${GOTRACE_TOOL:-go tool trace}"

markdown=false
if [[ ${1:-} == --markdown ]]; then
  markdown=true
  shift
fi
if [[ $# -eq 0 || $1 == -* ]]; then
  sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2
  exit 2
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

find_programs() {
  trace_bench=${TRACE_BENCH:-} gotrace_dump=${GOTRACE_DUMP:-}
  if [[ -z $trace_bench || -z $gotrace_dump ]]; then
    (cd "$here" && bazel build --config=opt //bench:trace_bench //tools:gotrace-dump >&2)
    local bin
    bin=$(cd "$here" && bazel info --config=opt bazel-bin 2> /dev/null)
    trace_bench=${trace_bench:-$bin/bench/trace_bench}
    gotrace_dump=${gotrace_dump:-$bin/tools/gotrace-dump}
  fi
  have_goref=false have_tool=false
  if [[ -z ${GOREF:-} ]]; then
    echo "compare_go.sh: GOREF is not set: decode, read and validate are left out" >&2
  elif ! command -v "$GOREF" > /dev/null; then
    echo "compare_go.sh: there is no program $GOREF: decode, read and validate are left out" >&2
  else
    have_goref=true
  fi
  if command -v "${go_tool[0]}" > /dev/null; then
    have_tool=true
  else
    echo "compare_go.sh: there is no program ${go_tool[0]}: events and wire are left out" >&2
  fi
}

# reported COMMAND...: prints the seconds that a program reports in its line of numbers.
reported() {
  "$@" | awk '{ for (i = 1; i < NF; ++i) if ($i == "seconds") { print $(i + 1); found = 1; exit } }
              END { exit !found }'
}

# elapsed COMMAND...: prints the seconds that a program takes from its start to its end.
elapsed() {
  local begin=$EPOCHREALTIME
  "$@" > /dev/null
  awk -v begin="$begin" -v end="$EPOCHREALTIME" 'BEGIN { printf "%.4f\n", end - begin }'
}

# Prints the median of the numbers on the standard input.
median() {
  sort -g | awk '{ a[NR] = $1 } END { print NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'
}

# compare TRACE ROW CLOCK OURS... -- GOS...: runs the two commands in turn, and prints and stores the
# row. CLOCK is reported or elapsed.
compare() {
  local trace=$1 row=$2 clock=$3 ours=() ours_time gos_time
  shift 3
  while [[ $1 != -- ]]; do
    ours+=("$1")
    shift
  done
  shift
  : > "$scratch/times"
  for ((i = 0; i < pairs; ++i)); do
    if ! ours_time=$($clock "${ours[@]}") || ! gos_time=$($clock "$@"); then
      echo "compare_go.sh: $trace: $row is left out, as a program failed" >&2
      return
    fi
    echo "$ours_time $gos_time" >> "$scratch/times"
  done
  local ratio range
  ours_time=$(awk '{ print $1 }' "$scratch/times" | median)
  gos_time=$(awk '{ print $2 }' "$scratch/times" | median)
  awk '{ print $2 / ($1 > 0 ? $1 : 0.00005) }' "$scratch/times" > "$scratch/ratios"
  ratio=$(median < "$scratch/ratios")
  range=$(sort -g "$scratch/ratios" | awk 'NR == 1 { low = $1 } END { printf "%.1f–%.1f", low, $1 }')
  printf '%-28s %-12s gotrace %9.4f s   Go %9.4f s   ratio %5.1f (%s)\n' \
    "$trace" "$row" "$ours_time" "$gos_time" "$ratio" "$range"
  printf '| %s | %s | %.3f | %.3f | %.1f | %s |\n' \
    "$trace" "$row" "$ours_time" "$gos_time" "$ratio" "$range" >> "$scratch/table"
}

# compare_file FILE: prints all rows of one trace. Go's tools cannot read compressed files.
compare_file() {
  local name mode jobs file=$scratch/trace
  name=$(basename "$1")
  name=${name%.zst}
  name=${name%.gz}
  name=${name%.trace}
  case $1 in
    *.zst) zstd -dcq "$1" > "$file" ;;
    *.gz) gzip -dc "$1" > "$file" ;;
    *) cat "$1" > "$file" ;;
  esac
  if $have_goref; then
    compare "$name" decode reported "$trace_bench" decode "$file" "$reps" -- "$GOREF" raw "$file" "$reps"
    for mode in read validate; do
      for jobs in 1 2; do
        compare "$name" "$mode, jobs=$jobs" reported "$trace_bench" "$mode" "$file" "$reps" --jobs=$jobs \
          -- "$GOREF" "$mode" "$file" "$reps"
      done
    done
  fi
  if $have_tool; then
    compare "$name" events elapsed "$gotrace_dump" events "$file" -- "${go_tool[@]}" -d=parsed "$file"
    compare "$name" wire elapsed "$gotrace_dump" wire "$file" -- "${go_tool[@]}" -d=wire "$file"
  fi
}

# Prints where and when the numbers were measured.
machine() {
  local model
  model=$(awk -F ': ' '/^model name/ { print $2; exit }' /proc/cpuinfo)
  awk -v model="${model:-$(uname -m)}" -v cores="$(nproc)" -v date="$(date -u +%F)" -v pairs="$pairs" \
    -v load="$(cut -d ' ' -f 1 /proc/loadavg)" \
    '/^MemTotal/ { printf "%s, %d cores, %.0f GB of memory, %s; medians of %d pairs of runs. The load was %.1f.\n",
                   model, cores, $2 / 1e6, date, pairs, load }' /proc/meminfo
}

write_markdown() {
  {
    machine
    echo
    echo "| trace | what | gotrace, s | Go, s | times as fast | from–to |"
    echo "|---|---|--:|--:|--:|--:|"
    cat "$scratch/table"
  } > "$scratch/section"
  awk -v section="$scratch/section" '
    /^<!-- end of the table -->/ { inside = 0; ++marks }
    !inside { print }
    /^<!-- compare_go.sh writes this table -->/ {
      while ((getline line < section) > 0) print line
      inside = 1
      ++marks
    }
    END { exit marks != 2 }' "$readme" > "$scratch/readme"
  cat "$scratch/readme" > "$readme"
}

find_programs
: > "$scratch/table"
for file in "$@"; do compare_file "$file"; done
if ! [[ -s $scratch/table ]]; then
  echo "compare_go.sh: nothing could be compared" >&2
  exit 1
fi
if $markdown; then write_markdown; fi
