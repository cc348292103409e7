#!/usr/bin/env bash
# Checks the GitHub workflows with two npm packages, which it installs to build/workflows:
#
#   testing/workflows/run.sh [--install]
#
# With --install, only installs the packages. Needs node and npm.
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=build/workflows

testing/install_npm.sh workflows
[[ ${1:-} != --install ]] || exit 0

cp testing/workflows/check_workflows.mjs "$dir"
node "$dir/check_workflows.mjs" .github/workflows/*.yml
