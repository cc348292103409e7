#!/usr/bin/env bash
# make_traces.sh [PATTERN]: makes the traces of this directory anew, by the programs of programs/ and each Go release.
#
#   traces/goVERSION-NAME.trace.zst    the traces
#   traces/golden/                     what Go's own tool prints for three small ones
#   traces/manifest.tsv                size, events and digests of all traces, see README.md
#
# PATTERN is a shell pattern of the traces to make, such as 'go1.25-*' or '*-gc' (default: all). The golden texts and
# the manifest are always made anew, from all traces that are there.
#
# The go command of release 1.22 is $GO_1_22, or else go1.22 on PATH; the same holds for 1.23 to 1.27. The wrappers of
# golang.org/dl will do. A release without a go command is skipped: its traces stay as they are.
# Go 1.27 must be there, since the manifest holds what its tool says. Besides, this needs zstd, and a C compiler for
# the program that uses cgo.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
pattern=${1:-*}
traces=$here/traces
golden=$traces/golden
releases=(1.22 1.23 1.24 1.25 1.26 1.27)
golden_traces=(go1.22-oddstrings go1.25-flight go1.27-coroutines)

# Name, first release, bytes that a compressed trace should not exceed, GODEBUG while it runs. The period of gc's
# generations is short so that boundaries fall into collections. Other programs have the default, about a second.
programs() {
  cat <<END
alloc        1.23  16000  traceallocfree=1
annotations  1.22  16000
blocking     1.22  16000
cgocallback  1.22  16000
coroutines   1.23  16000
cpuprofile   1.22  16000
deepstacks   1.22  16000
flight       1.25  16000
gc           1.22  50000  traceadvanceperiod=12000000
generations  1.22  16000
oddstrings   1.22  16000
startstop    1.22  16000
syscalls     1.22  16000
threads      1.22  16000
END
}

say() { printf 'make_traces.sh: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# The caller's settings must not change what is built, nor by which release. Go prints times in the local zone.
unset GOROOT GOOS GOARCH GOEXPERIMENT GODEBUG GOMAXPROCS GOGC GOMEMLIMIT
export GOTOOLCHAIN=local GOWORK=off GOFLAGS=-trimpath TZ=UTC LC_ALL=C

# go_command RELEASE: prints the go command of RELEASE; fails if there is none.
go_command() {
  local variable=GO_${1/./_} command version
  command=${!variable:-go$1}
  command -v "$command" > /dev/null || { say "Go $1: no command $command; set $variable"; return 1; }
  version=$("$command" env GOVERSION)
  case $version in
    "go$1" | "go$1".* | "go$1"rc*) ;;
    *) say "Go $1: $command is $version"; return 1 ;;
  esac
  command -v "$command"
}

command -v zstd > /dev/null || die "no zstd"
tool=$(go_command 1.27) || die "Go 1.27 is needed for the golden texts and the manifest"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$tool" build -o "$tmp/trace" cmd/trace
mkdir -p "$golden"

# make_trace RELEASE GO NAME LIMIT GODEBUG
make_trace() {
  local trace=go$1-$3 cgo=0 attempt cc
  if [ "$3" = cgocallback ]; then
    cgo=1
    read -r cc _ < <("$2" env CC) # without the compiler's flags, if there are any
    command -v "$cc" > /dev/null || { say "$trace: skipped, no C compiler"; return; }
  fi
  ( cd "$here/programs/$3" && CGO_ENABLED=$cgo "$2" build -o "$tmp/program" . )
  # On a busy machine a program may come to wait by yielding, thousands of times. Such a trace is made again.
  for attempt in 1 2 3 4 5; do
    GODEBUG=$5 "$tmp/program" "$tmp/$trace.trace"
    zstd -19 -q -f "$tmp/$trace.trace" -o "$tmp/$trace.trace.zst"
    [ "$(stat -c %s "$tmp/$trace.trace.zst")" -gt "$4" ] || break
    say "$trace: attempt $attempt is larger than $4 bytes"
  done
  # The tool stops with an error at a trace that it cannot read to its end.
  "$tmp/trace" -d=parsed "$tmp/$trace.trace" > /dev/null || die "$trace: Go cannot read it"
  mv "$tmp/$trace.trace.zst" "$traces/"
  say "$trace: $(stat -c %s "$traces/$trace.trace.zst") bytes"
  rm "$tmp/$trace.trace"
}

for release in "${releases[@]}"; do
  go=$(go_command "$release") || { say "Go $release: skipped"; continue; }
  while read -r name first limit debug; do
    # Releases have minor versions of two digits, so they compare as strings.
    [[ "$release" < "$first" ]] && continue
    # shellcheck disable=SC2053 # The right-hand side is meant to be a pattern.
    [[ "go$release-$name" == $pattern ]] || continue
    make_trace "$release" "$go" "$name" "$limit" "$debug"
  done < <(programs)
done

# print FORMAT TRACE: what Go's tool prints. It ends the raw text (wire) of the experimental events that Go 1.23 to 1.25
# write with an error: what it has printed until then counts.
print() {
  zstd -dqf "$traces/$2.trace.zst" -o "$tmp/$2.trace"
  if [ "$1" = wire ]; then
    "$tmp/trace" -d=wire "$tmp/$2.trace" 2> /dev/null || true
  else
    "$tmp/trace" -d="$1" "$tmp/$2.trace"
  fi
}

for trace in "${golden_traces[@]}"; do
  [ -e "$traces/$trace.trace.zst" ] || { say "$trace: not there, its golden texts stay as they are"; continue; }
  for format in parsed wire; do
    print $format "$trace" > "$golden/$trace.$format.txt"
  done
done

digest() { sha256sum | cut -d ' ' -f 1; }
{
  printf '# trace\tbytes\tevents\tsha256 of go tool trace -d=parsed\tsha256 of go tool trace -d=wire\n'
  for file in "$traces"/*.trace.zst; do
    trace=$(basename "$file" .trace.zst)
    print parsed "$trace" > "$tmp/parsed"
    print wire "$trace" > "$tmp/wire"
    printf '%s\t%d\t%d\t%s\t%s\n' "$trace.trace" "$(stat -c %s "$tmp/$trace.trace")" \
      "$(grep -c '^M=' "$tmp/parsed")" "$(digest < "$tmp/parsed")" "$(digest < "$tmp/wire")"
    rm "$tmp/$trace.trace"
  done
} > "$tmp/manifest.tsv"
cp "$tmp/manifest.tsv" "$traces/manifest.tsv"
say "$(grep -vc '^#' "$traces/manifest.tsv") traces in $traces, $(cat "$traces"/*.zst | wc -c) bytes in all"
