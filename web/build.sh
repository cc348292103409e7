#!/bin/sh
# Bundles the page: build.sh DIRECTORY writes index.html, page.js and page.css to it. ESBUILD is the program to use.
set -eu
here=$(dirname "$0")
command -v "${ESBUILD:-esbuild}" >/dev/null || {
    echo "web/build.sh: there is no esbuild, which Debian's package esbuild has" >&2
    exit 1
}
mkdir -p "$1"
"${ESBUILD:-esbuild}" "$here/src/main.ts" --bundle --minify --target=es2020 --charset=utf8 --log-level=warning \
    --outfile="$1/page.js"
"${ESBUILD:-esbuild}" "$here/page.css" --minify --charset=utf8 --log-level=warning --outfile="$1/page.css"
cp "$here/index.html" "$1/index.html"
