#!/usr/bin/env bash
# Checks Parquet files, and what documents say about them, with DuckDB, hyparquet, polars and Arrow
# from npm packages, and with pandas and jq if these are installed:
#
#   testing/parquet/run.sh [--install | TABLES]
#
# DuckDB and hyparquet must read from random tables what was written, and DuckDB must find as many
# rows as there are when it uses statistics and Bloom filters. TABLES is how many, or else 50. Each
# recipe of docs/tables.md must print what `gotrace-dump sql` finds, and DuckDB must run the queries
# of docs/scale.md, also while a run is writing to the same folders. With --install, only installs
# the packages, to build/parquet. Needs node and npm.
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=build/parquet

testing/install_npm.sh parquet
[[ ${1:-} != --install ]] || exit 0

bazel build --ui_event_filters=-info --noshow_progress --config=opt //export/parquet:random_table \
  //tools:gotrace-dump
rm -rf "$dir/tables"
mkdir "$dir/tables"
for ((seed = 1; seed <= ${1:-50}; ++seed)); do
  bazel-bin/export/parquet/random_table "$seed" 20000 "$dir/tables/$seed.parquet" \
    "$dir/tables/$seed.jsonl"
done
cp testing/parquet/*.mjs "$dir"
node "$dir/check_tables.mjs" "$dir"/tables/*.parquet
rm -r "$dir/tables"

failed=0
fail() {
  echo "run.sh: $1" >&2
  failed=1
}

# block DOCUMENT HEADING LANGUAGE N: the Nth block of a language after a heading.
block() {
  awk -v heading="$2" -v fence="\`\`\`$3" -v wanted="$4" '
    /^#+ / { sub(/^#+ /, ""); begun = $0 == heading }
    !begun { next }
    $0 == fence { inside = ++count == wanted; next }
    /^```$/ { inside = 0 }
    inside' "$1"
}

PATH=$PWD/bazel-bin/tools:$PATH
traces=$PWD/testdata/traces
documents=$PWD/docs
rm -rf "$dir/work"
mkdir "$dir/work"
cd "$dir/work"

# run LANGUAGE N COMMAND...: runs the Nth recipe in a language, which the command reads, and compares its rows.
run() {
  block "$documents/tables.md" Recipes "$1" "$2" >recipe.mjs
  [[ -s recipe.mjs ]] || fail "there is no recipe $2 in $1"
  "${@:3}" recipe.mjs | sed '/^leaf,n,ns$/d' | sort >found || fail "recipe $2 in $1 fails"
  diff expected found >&2 || fail "recipe $2 in $1 finds other rows"
}

cp "$traces/go1.27-blocking.trace.zst" trace.out
gotrace-dump sql --format=csv trace.out "SELECT k.leaf, count(*), sum(s.dur_ns) FROM g_states s
  JOIN stacks k USING (stack_id) WHERE s.state = 'Waiting' GROUP BY k.leaf" | sed 1d | sort >expected
[[ $(wc -l <expected) -gt 5 ]] || fail "there is nothing to compare"
block "$documents/tables.md" Recipes sh 1 | bash -eu
run sql 1 node ../run_query.mjs
run js 1 node
run js 2 node
if command -v jq >/dev/null; then run sh 2 bash; else echo "jq: left out, since it is not installed"; fi
if /usr/bin/python3 -c "import pandas" 2>/dev/null; then
  run python 1 /usr/bin/python3
else
  echo "pandas: left out, since it is not installed"
fi

# Many traces, as docs/scale.md lays them out, with an unfinished file in a folder.
day=2026-11-20
for version in 1.25 1.26 1.27; do
  for kind in gc annotations blocking; do
    mkdir -p "traces/$kind/$day"
    cp "$traces/go$version-$kind.trace.zst" "traces/$kind/$day/host-$version.trace.zst"
  done
  day=$(date -d "$day + 1 day" +%F)
done
convert() {
  block "$documents/scale.md" "One machine" sh 1 | bash -eu
}
convert
part=$(find lake/traces -name '*.parquet' | head -n 1)
head -c 100 "$part" >"$(dirname "$part")/.part-0000000000000000.parquet.unfinished"
convert
count() {
  echo "SELECT count(*) AS n FROM read_parquet('lake/traces/$1', hive_partitioning = true)" >query.sql
  node ../run_query.mjs query.sql | tail -n 1
}
for glob in '**/*.parquet' '*/*/*/*.parquet'; do
  [[ $(count "$glob") == 9 ]] || fail "DuckDB finds $(count "$glob") of 9 traces with $glob"
done
questions=0
for ((number = 1; number <= 5; ++number)); do
  # The five are in one block, each after a comment.
  block "$documents/scale.md" "Five questions about a fleet" sql 1 |
    awk -v wanted="$number" '/^-- /{ ++count } count == wanted' |
    sed -E "s#lake\.([a-z_]+)#read_parquet('lake/\1/**/*.parquet', hive_partitioning = true)#g" >query.sql
  rows=$(node ../run_query.mjs query.sql | sed 1d | wc -l) || fail "question $number of docs/scale.md fails"
  [[ $rows -gt 0 ]] || fail "question $number of docs/scale.md has no answer"
  questions=$((questions + rows))
done
block "$documents/scale.md" "One machine" sql 1 >query.sql
[[ $(node ../run_query.mjs query.sql | sort | tr '\n' ' ') == \
  "annotations,3,0 blocking,3,0 gc,3,0 service,traces,broken " ]] ||
  fail "the query after the first command of docs/scale.md finds something else"
echo "5 recipes, $questions rows about a fleet"
exit $failed
