#!/usr/bin/env bash
# Fuzzes the targets on all cores, each for SECONDS, and prints the results:
#
#   fuzz/run.sh [--keep] [--quick] SECONDS [TARGET...]
#   fuzz/run.sh --list
#
# Builds with clang and its address and undefined-behaviour sanitizers. build/fuzz/TARGET has the cases
# found so far, and the inputs and reports of failures. --keep rebuilds the corpora in fuzz/corpus/
# from everything that was found. --quick builds without optimisation, runs a target on each core instead of one target on
# all of them, and does not say what the corpora lack. Exits with 1 if an input makes a target fail, or takes more than
# ten seconds or two gigabytes.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  sed -n '3,4s/^# *//p' "$0" >&2
  exit 2
}

all_targets() {
  sed -n '/^fuzz_target(/,/^)/s/^    name = "\(.*\)",$/\1/p' fuzz/BUILD
}

[[ ${1:-} == --list ]] && { all_targets; exit; }
keep=false
[[ ${1:-} == --keep ]] && { keep=true; shift; }
flags=(--config=fuzz)
quick=false
[[ ${1:-} == --quick ]] && { quick=true; flags+=(--config=quick); shift; }
[[ ${1:-} =~ ^[1-9][0-9]*$ ]] || usage
seconds=$1
shift
mapfile -t targets < <(all_targets)
for target; do
  [[ " ${targets[*]} " == *" $target "* ]] || { echo "run.sh: no target $target" >&2; usage; }
done
[[ $# -eq 0 ]] || targets=("$@")
jobs=${FUZZ_JOBS:-$(nproc)}
[[ $jobs =~ ^[1-9][0-9]*$ ]] || { echo "run.sh: FUZZ_JOBS must be 1 or more" >&2; exit 2; }
at_once=1
if $quick; then
  # All jobs of a target begin with its whole corpus.
  at_once=$jobs
  jobs=1
fi
limits=(-max_len=65536 -timeout=10 -rss_limit_mb=2048)

# The binaries are copied, because the next build may replace them.
build_all() {
  local files=("${targets[@]/%/_fuzzer}" trace.dict write_seeds name_cases) built
  mkdir -p build/fuzz/bin
  bazel build --ui_event_filters=-info --noshow_progress "${flags[@]}" "${files[@]/#///fuzz:}"
  built=$(bazel info "${flags[@]}" bazel-bin 2>/dev/null)
  install -m 755 "${files[@]/#/$built/fuzz/}" build/fuzz/bin
}

# fuzz TARGET: runs the target, and leaves its output in $work/log.N.
fuzz() {
  local status=0 pids=() job
  for ((job = 0; job < jobs; ++job)); do
    "$bin/$1_fuzzer" "${limits[@]}" -max_total_time="$seconds" -dict="$bin/trace.dict" \
      -artifact_prefix="$work/artifacts/" -print_final_stats=1 \
      "$work/found" "fuzz/corpus/$1" "$work/seeds" >"$work/log.$job" 2>&1 &
    pids+=($!)
  done
  for job in "${pids[@]}"; do wait "$job" || status=1; done
  return $status
}

# merge FUZZER INTO FROM...: adds to INTO the cases that increase coverage.
merge() {
  "$1" "${limits[@]}" -merge=1 "${@:2}" >"$work/log.merge" 2>&1
}

# Prints the highest coverage of the runs: "edges features".
coverage() {
  sed -n 's/.*cov: \([0-9]*\) ft: \([0-9]*\).*/\1 \2/p' "$work"/log.[0-9]* | sort -n | tail -1
}

# keep_corpus TARGET: replaces the corpus with the smallest set that covers as much as all known small
# inputs. Large ones are mostly real traces, which testdata/ has already. Cases of bugs stay. A case has
# the name of its seed, or a name that describes what it shows.
keep_corpus() {
  local corpus=fuzz/corpus/$1 directory file name
  declare -A names
  for file in "$corpus"/* "$work"/seeds/*; do
    [[ -f $file ]] && names[$(sha1sum <"$file" | cut -c1-40)]=${file##*/}
  done
  rm -rf "$work/corpus" && mkdir -p "$work/corpus"
  rm -rf "$work/small"
  for directory in "$corpus" "$work/seeds" "$work/found"; do
    mkdir -p "$work/small/${directory##*/}"
    find "$directory" -type f -size -3000c -exec cp -t "$work/small/${directory##*/}" {} +
  done
  merge "$bin/$1_fuzzer" "$work/corpus" "$work"/small/*
  find "$corpus" -type f ! -name 'bug-*' -delete
  for file in "$work"/corpus/*; do
    name=${names[$(sha1sum <"$file" | cut -c1-40)]:-}
    [[ -n $name ]] || name=$("$bin/name_cases" "$1" "$file")
    cp "$file" "$corpus/$name"
  done
  rm -rf "$work/found" && mkdir "$work/found"
}

# report TARGET: prints one line of numbers.
report() {
  local executions
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work"/log.[0-9]* |
    awk '{ sum += $1 } END { print sum + 0 }')
  read -r edges features < <(coverage; echo)
  if $quick; then
    echo "$1: $executions executions, ${edges:-0} edges and ${features:-0} features covered"
    return
  fi
  rm -rf "$work/merged" && cp -r "fuzz/corpus/$1" "$work/merged"
  merge "$bin/$1_fuzzer" "$work/merged" "$work/seeds" "$work/found" || true
  echo "$1: $executions executions, ${edges:-0} edges and ${features:-0} features covered," \
    "$(find "$work/merged" -type f | wc -l | awk -v old="$(find "fuzz/corpus/$1" -type f | wc -l)" \
      '{ print $1 - old }') cases that the corpus does not have"
}

build_all
bin=$PWD/build/fuzz/bin

# run_target TARGET: returns 1 if an input makes it fail.
run_target() {
  local target=$1 status=0
  work=$PWD/build/fuzz/$target
  rm -rf "$work"/{seeds,log.*}
  mkdir -p "$work"/{artifacts,found} "fuzz/corpus/$target"
  "$bin/write_seeds" "$target" "$work/seeds"
  if ! fuzz "$target"; then
    status=1
    echo "$target: FAILED, see build/fuzz/$target/artifacts and log.*:"
    grep -h -m 3 'expected\|ERROR\|SUMMARY\|runtime error\|Test unit written' "$work"/log.[0-9]* || true
  fi
  report "$target"
  if $keep; then keep_corpus "$target"; fi
  return $status
}

# wait_for_one: waits until one of the targets that run ends.
wait_for_one() {
  wait -n || findings=1
  running=$((running - 1))
}

findings=0
running=0
# Bash lets jobs in the background ignore Ctrl-C.
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT
for target in "${targets[@]}"; do
  [[ $running -lt $at_once ]] || wait_for_one
  run_target "$target" &
  running=$((running + 1))
done
while [[ $running -gt 0 ]]; do wait_for_one; done
exit $findings
