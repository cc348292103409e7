#!/usr/bin/env bash
# Tests the page of `gotrace-dump serve`, and that of `report`, in Debian's Chromium, with playwright-core from npm,
# which it installs to build/page:
#
#   testing/page/run.sh [--install | --all | TRACE...]
#
# Without arguments it takes three traces: one with hostile names, one with tasks, and one that is cut off. --all takes
# one of each kind and version in testdata/traces. With --install, only installs the package. Needs node 18 or later,
# npm, and Debian's chromium-headless-shell.
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=build/page
testing/install_npm.sh page
[[ ${1:-} != --install ]] || exit 0

bazel build --ui_event_filters=-info --noshow_progress --config=opt //tools:gotrace-dump
dump=$PWD/bazel-bin/tools/gotrace-dump

traces=("$@")
case ${1:-} in
  "") traces=(testdata/traces/go1.27-oddstrings.trace.zst testdata/traces/go1.23-annotations.trace.zst) ;;
  --all) traces=(testdata/traces/*.trace.zst) ;;
esac
if [[ $# -eq 0 || $1 == --all ]]; then
  # All is read, since a pipe that closes early is an error of zstd, now and then.
  zstd -qdc testdata/traces/go1.26-gc.trace.zst | (head -c 60000 && cat >/dev/null) >"$dir/cut.trace"
  traces+=("$dir/cut.trace")
fi
cp testing/page/*.mjs "$dir"
all=()
[[ ${1:-} != --all ]] || all=(--all)
node "$dir/browser_test.mjs" --dump="$dump" "${all[@]}" "${traces[@]}"
