#!/usr/bin/env bash
# make_go_profiles.sh: makes traces/go_profiles.tsv.zst anew, from all traces that are there: digests of the profiles
# that Go's own `go tool trace -pprof` makes. go_profiles/main.go describes the columns.
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

# Only packages of Go itself may import internal/profile. An overlay makes the program one, and changes nothing there.
printf '{"Replace": {"%s/cmd/go_profiles/main.go": "%s/go_profiles/main.go"}}\n' "$src" "$here" > "$tmp/overlay"
( cd "$src/cmd" && "$go" build -overlay "$tmp/overlay" -o "$tmp/go_profiles" ./go_profiles )
for trace in "$here"/traces/*.trace.zst; do
  name=${trace##*/}
  zstd -dqc "$trace" > "$tmp/${name%.zst}"
done
"$tmp/go_profiles" "$go" "$tmp"/*.trace > "$tmp/go_profiles.tsv"
zstd -19 -qfo "$here/traces/go_profiles.tsv.zst" "$tmp/go_profiles.tsv"
