#!/usr/bin/env bash
# Checks Parquet files with DuckDB and hyparquet, from npm packages:
#
#   testing/parquet/run.sh [--install | TABLES]
#
# Both must read from random tables what was written, and DuckDB must find as many rows as there are
# when it uses statistics and Bloom filters. TABLES is how many, or else 50. With --install, only
# installs the packages, to build/parquet. Needs node and npm.
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=build/parquet

testing/install_npm.sh parquet
[[ ${1:-} != --install ]] || exit 0

bazel build --ui_event_filters=-info --noshow_progress --config=opt //export/parquet:random_table
rm -rf "$dir/tables"
mkdir "$dir/tables"
for ((seed = 1; seed <= ${1:-50}; ++seed)); do
  bazel-bin/export/parquet/random_table "$seed" 20000 "$dir/tables/$seed.parquet" \
    "$dir/tables/$seed.jsonl"
done
cp testing/parquet/check_tables.mjs "$dir"
node "$dir/check_tables.mjs" "$dir"/tables/*.parquet
rm -r "$dir/tables"
