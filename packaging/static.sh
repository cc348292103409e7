#!/usr/bin/env bash
# Builds build/static/gotrace-dump, one file that runs on any x86-64 Linux, without any shared library:
#
#   packaging/static.sh [--check] [BUILD]
#
# --check then runs it in a directory that has nothing but it and some traces, as root or with sudo. BUILD is a build tree
# of CMake, or else build/install, of the preset "install". What it lacks is built first. Needs what
# `install.sh --cmake` installs.
set -euo pipefail
cd "$(dirname "$0")/.."

check=
if [[ ${1:-} == --check ]]; then
  check=1
  shift
fi
[[ $# -le 1 && ${1:-} != -* ]] || { echo "usage: packaging/static.sh [--check] [BUILD]" >&2; exit 2; }

build=${1:-build/install}
dir=build/static
program=$dir/gotrace-dump
log=$dir/log
mkdir -p "$dir"
# The output is shown only if something fails.
if ! { { [[ -e $build/CMakeCache.txt ]] || cmake --preset install -B "$build"; } &&
       cmake --build "$build" --target gotrace-dump-static --parallel "$(nproc)"; } >"$log" 2>&1; then
  tail -n 50 "$log" >&2
  exit 1
fi
strip -o "$program" "$build/gotrace-dump-static"
if readelf --program-headers "$program" | grep -q INTERP; then
  echo "static.sh: $program needs a dynamic linker" >&2
  exit 1
fi
[[ $check ]] || exit 0

as_root=()
[[ $EUID -eq 0 ]] || as_root=(sudo)
root=$(mktemp -d)
trap 'rm -r "$root"' EXIT
cp "$program" testdata/traces/go1.27-gc.trace.zst testdata/traces/go1.27-annotations.trace.zst "$root"
mkdir "$root/out"
failed=0

# expect TEXT ARGUMENT...: the program succeeds with these arguments, and prints the text.
expect() {
  local text=$1 output
  shift
  if ! output=$("${as_root[@]}" chroot "$root" /gotrace-dump "$@" 2>&1) || [[ $output != *"$text"* ]]; then
    echo "static.sh: gotrace-dump $*: not \"$text\" but: $output" >&2
    failed=1
  fi
}

version=$(packaging/version.sh)
expect "gotrace-dump $version" --version
expect "goroutines   15" info go1.27-annotations.trace.zst
expect "sweep.func1" goroutines --jobs=2 go1.27-gc.trace.zst
expect "sound" validate --jobs=2 go1.27-gc.trace.zst go1.27-annotations.trace.zst
# The local time, without a database of time zones.
GOTRACE_TRACE2=1 TZ=Europe/Berlin expect "version $version" info go1.27-annotations.trace.zst
expect "main.sweep.func1" sql go1.27-gc.trace.zst "SELECT DISTINCT name FROM goroutines ORDER BY name"
expect "" tables -o out/tables go1.27-gc.trace.zst
expect "" convert --to=perfetto -o out/gc.pftrace go1.27-gc.trace.zst
# The prompt, without a database of terminals.
session=$(printf '.tables\nSELECT 6 * 7;\n' |
            TERM=xterm timeout 60 script -qec "${as_root[*]} chroot $root /gotrace-dump sql go1.27-gc.trace.zst" /dev/null) || true
[[ $session == *g_states*42* ]] || { echo "static.sh: the prompt of sql printed: $session" >&2; failed=1; }
exit $failed
