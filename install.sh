#!/usr/bin/env bash
# Installs what is needed to build and test gotrace on Debian 12, and is not there yet.
set -euo pipefail

packages=(
  bazel-bootstrap  # Bazel, and the Java that it runs on
  g++ libabsl-dev libzstd-dev zlib1g-dev  # the library and gotrace-dump
  libgtest-dev libgmock-dev libbenchmark-dev libssl-dev  # their tests and benchmarks
)
# For the whole of what CI does: coverage, fuzzing, the format of the code.
if [[ ${1:-} == --all ]]; then
  packages+=(git clang clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev llvm-14)
elif [[ $# -gt 0 ]]; then
  echo "usage: install.sh [--all]" >&2
  exit 2
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=(env)
if [[ $EUID -ne 0 ]]; then
  command -v sudo >/dev/null || { echo "install.sh: run me as root, or install sudo" >&2; exit 1; }
  as_root=(sudo env)
fi
echo "install.sh: installing ${missing[*]}" >&2
# Quiet where all goes well. What apt-get complains of comes on the standard error.
apt_get=("${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -qq)
"${apt_get[@]}" update </dev/null
"${apt_get[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null >/dev/null
