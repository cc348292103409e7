#!/usr/bin/env bash
# make_go_numbers.sh PROGRAM...: makes traces/PROGRAM.tsv.zst anew, from all traces that are there: what Go's own code
# computes for them. The programs are goroutine_stats, mutator_utilization and go_profiles; PROGRAM/main.go describes
# the columns. Without a program, makes all of these files.
#
# The go command of release 1.27 is $GO_1_27, or else go1.27 on PATH. Besides, this needs zstd.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[[ $# -gt 0 ]] || set -- goroutine_stats mutator_utilization go_profiles
export GO=${GO_1_27:-go1.27}  # For programs that run it.
unset GOROOT GOOS GOARCH GOEXPERIMENT GODEBUG
export GOTOOLCHAIN=local GOWORK=off GOFLAGS=
goroot=$("$GO" env GOROOT)
src=$(readlink -f "$goroot/src")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

for trace in "$here"/traces/*.trace.zst; do
  name=${trace##*/}
  zstd -dqc "$trace" > "$tmp/${name%.zst}"
done
for program; do
  # Only packages of Go itself may import its internal ones. An overlay makes the program one, and changes nothing there.
  printf '{"Replace": {"%s/cmd/%s/main.go": "%s/%s/main.go"}}\n' "$src" "$program" "$here" "$program" > "$tmp/overlay"
  ( cd "$src/cmd" && "$GO" build -overlay "$tmp/overlay" -o "$tmp/$program" "./$program" )
  "$tmp/$program" "$tmp"/*.trace > "$tmp/$program.tsv"
  zstd -19 -qfo "$here/traces/$program.tsv.zst" "$tmp/$program.tsv"
done
