#!/usr/bin/env bash
# Installs the packages that are needed to build and test gotrace on Debian 12 or Ubuntu 24.04 and are
# missing.
set -euo pipefail

libraries=(
  g++ libabsl-dev libedit-dev libprotozero-dev libsqlite3-dev libxxhash-dev libzstd-dev nlohmann-json3-dev zlib1g-dev  # the library and gotrace-dump
  esbuild  # the page of gotrace-dump serve
  zstd  # examples of the documents
  libgtest-dev libgmock-dev libbenchmark-dev libssl-dev  # their tests and benchmarks
)
bazel=(bazel-bootstrap)  # and the Java that it runs on
cmake=(cmake make pkgconf python3)
packaging=(build-essential debhelper debootstrap dpkg-dev git lintian sqlite3)  # and the tests of what is installed
arm64=(g++-aarch64-linux-gnu qemu-user)
usage="usage: install.sh [--cmake | --packaging | --arm64 | --all]

Installs the Debian or Ubuntu packages that gotrace needs and that are missing, as root or with sudo:
the libraries, a compiler and Bazel. --cmake installs CMake instead of Bazel and the Java that it needs;
--packaging adds to that what makes and tests Debian packages, and --arm64 what compiles for arm64 and tests that.
--all installs all of this but for arm64, and what CI needs for coverage, fuzzing, the format of the code, manual
pages, shells to test completion in, and a browser to test the page in."
case ${1:-} in
  "") packages=("${libraries[@]}" "${bazel[@]}") ;;
  --cmake) packages=("${libraries[@]}" "${cmake[@]}") ;;
  --packaging) packages=("${libraries[@]}" "${cmake[@]}" "${packaging[@]}") ;;
  --arm64) packages=("${libraries[@]}" "${cmake[@]}" "${arm64[@]}") ;;
  --all)
    packages=(
      "${libraries[@]}" "${bazel[@]}" "${cmake[@]}" "${packaging[@]}"
      clang clang-14 clang-format-14 clang-tidy-14 doxygen libclang-rt-14-dev llvm-14 mandoc zsh fish
      chromium-headless-shell node-typescript
    )
    ;;
  -h | --help) echo "$usage"; exit 0 ;;
  *) echo "$usage" >&2; exit 2 ;;
esac

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=(env)
if [[ $EUID -ne 0 ]]; then
  command -v sudo >/dev/null || {
    echo "install.sh: not root, and there is no sudo. Ask an administrator to run:" >&2
    echo "  apt-get install ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo env)
fi
echo "install.sh: installing ${missing[*]}" >&2
apt_get=("${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -qq)
# step WHAT ARGS: runs apt-get. Its output is shown only if it fails.
step() {
  echo "install.sh: $1 ..." >&2
  log=$("${apt_get[@]}" "${@:2}" </dev/null 2>&1)
}
install=(install -y --no-install-recommends "${missing[@]}")
if ! { step "fetching the lists of packages" update &&
       step "downloading, with what the packages need" "${install[@]}" --download-only &&
       step "unpacking and configuring, which takes a minute or two" "${install[@]}"; }; then
  echo "$log" >&2
  if [[ $log == *"Unable to locate package"* ]]; then
    echo "install.sh: apt-get does not know these packages. Are there sources of Debian 12, or Ubuntu 24.04" \
         "with universe, in /etc/apt/sources.list or /etc/apt/sources.list.d/?" >&2
  fi
  exit 1
fi
