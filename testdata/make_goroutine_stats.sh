#!/usr/bin/env bash
# make_goroutine_stats.sh: makes traces/goroutine_stats.tsv.zst anew, from all traces that are there: what Go's own
# internal/trace computes for each goroutine. goroutine_stats/main.go describes the columns.
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
printf '{"Replace": {"%s/cmd/goroutine_stats/main.go": "%s/goroutine_stats/main.go"}}\n' "$src" "$here" > "$tmp/overlay"
( cd "$src/cmd" && "$go" build -overlay "$tmp/overlay" -o "$tmp/goroutine_stats" ./goroutine_stats )
for trace in "$here"/traces/*.trace.zst; do
  name=${trace##*/}
  zstd -dqc "$trace" > "$tmp/${name%.zst}"
done
"$tmp/goroutine_stats" "$tmp"/*.trace > "$tmp/goroutine_stats.tsv"
zstd -19 -qfo "$here/traces/goroutine_stats.tsv.zst" "$tmp/goroutine_stats.tsv"
