#!/usr/bin/env bash
# Checks the GitHub workflows with two npm packages, which it installs to build/workflows:
#
#   testing/workflows/run.sh [--install]
#
# With --install, only installs the packages. Needs node and npm.
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=build/workflows

install_packages() {
  cmp -s testing/workflows/package-lock.json "$dir/installed" && return
  mkdir -p "$dir"
  cp testing/workflows/package.json testing/workflows/package-lock.json "$dir"
  (cd "$dir" && timeout 300 npm ci --silent)
  cp testing/workflows/package-lock.json "$dir/installed"
}

install_packages
[[ ${1:-} != --install ]] || exit 0

cp testing/workflows/check_workflows.mjs "$dir"
node "$dir/check_workflows.mjs" .github/workflows/*.yml
