#!/usr/bin/env bash
# Installs the npm packages of testing/NAME/package-lock.json to build/NAME, unless they are there:
#
#   testing/install_npm.sh NAME
set -euo pipefail
cd "$(dirname "$0")/.."

source=testing/$1
dir=build/$1
cmp -s "$source/package-lock.json" "$dir/installed" && exit
mkdir -p "$dir"
cp "$source/package.json" "$source/package-lock.json" "$dir"
(cd "$dir" && timeout 300 npm ci --silent)
cp "$source/package-lock.json" "$dir/installed"
