#!/bin/sh
# Checks the page's types, and runs the tests of everything that computes, without a browser.
set -eu
here=$(dirname "$0")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"${TSC:-tsc}" -p "$here"
"${ESBUILD:-esbuild}" "$here"/test/*_test.ts --bundle --platform=node --format=cjs --log-level=warning --outdir="$out"
GOTRACE_WEB_SAMPLES="$here/samples" node --test "$out"
