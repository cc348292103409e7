#!/usr/bin/env bash
# make_mutator_utilization.sh: makes traces/mutator_utilization.tsv.zst anew, from all traces that are there: what
# Go's own internal/trace computes for the minimum mutator utilization. mutator_utilization/main.go describes the columns.
#
# The go command of release 1.27 is $GO_1_27, or else go1.27 on PATH. Besides, this needs zstd.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
go=${GO_1_27:-go1.27}
unset GOROOT GOOS GOARCH GOEXPERIMENT GODEBUG
export GOTOOLCHAIN=local GOWORK=off GOFLAGS=
goroot=$("$go" env GOROOT)
src=$(readlink -f "$goroot/src")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Only packages of Go itself may import internal/trace. An overlay makes the program one, and changes nothing there.
printf '{"Replace": {"%s/cmd/mutator_utilization/main.go": "%s/mutator_utilization/main.go"}}\n' "$src" "$here" > "$tmp/overlay"
( cd "$src/cmd" && "$go" build -overlay "$tmp/overlay" -o "$tmp/mutator_utilization" ./mutator_utilization )
for trace in "$here"/traces/*.trace.zst; do
  name=${trace##*/}
  zstd -dqc "$trace" > "$tmp/${name%.zst}"
done
"$tmp/mutator_utilization" "$tmp"/*.trace > "$tmp/mutator_utilization.tsv"
zstd -19 -qfo "$here/traces/mutator_utilization.tsv.zst" "$tmp/mutator_utilization.tsv"
