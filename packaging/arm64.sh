#!/usr/bin/env bash
# Cross-compiles gotrace for arm64 and runs its tests with qemu-user:
#
#   packaging/arm64.sh [CTEST_ARGUMENT...]
#
# build/arm64/sysroot gets Debian's arm64 packages, build/arm64/gotrace what is built. Needs what
# `install.sh --arm64` installs, and downloads packages with apt-get, without installing them.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  libc6-dev libstdc++-12-dev
  libabsl-dev libedit-dev libprotozero-dev libsqlite3-dev libxxhash-dev libzstd-dev zlib1g-dev
  libbenchmark-dev libgmock-dev libgtest-dev libssl-dev nlohmann-json3-dev
)
for program in aarch64-linux-gnu-g++ cmake make qemu-aarch64; do
  command -v "$program" >/dev/null || {
    echo "arm64.sh: no $program; run ./install.sh --arm64" >&2
    exit 1
  }
done

dir=$PWD/build/arm64
sysroot=$dir/sysroot

# Makes the sysroot. apt-get uses folders of its own, so that it takes this machine for one where nothing is installed.
make_sysroot() {
  local apt=$dir/apt package link target
  rm -rf "$apt" "$sysroot"
  mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$sysroot"/usr/{bin,lib,sbin}
  touch "$apt/status"
  local apt_get=(
    apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=
    -o Dir::State="$apt/state" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache"
    -o pkgCacheGen::Essential=none -o APT::Install-Recommends=false
  )
  "${apt_get[@]}" update
  "${apt_get[@]}" -y --download-only install "${packages[@]}"
  ln -s usr/bin usr/lib usr/sbin "$sysroot"
  for package in "$apt"/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$sysroot" --keep-directory-symlink
  done
  # Links to absolute paths point into this machine.
  find "$sysroot" -type l -lname '/*' -printf '%l %p\n' |
    while read -r target link; do ln -sfn "$(realpath -ms --relative-to="${link%/*}" "$sysroot$target")" "$link"; done
  touch "$sysroot/complete"
}

[[ -e $sysroot/complete ]] || make_sysroot
# Optimising more would take more time than it saves.
cmake -S . -B "$dir/gotrace" --toolchain cmake/aarch64-linux-gnu.cmake -DGOTRACE_SYSROOT="$sysroot" \
  -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O1
cmake --build "$dir/gotrace" --parallel "$(nproc)"
# Tests start these programs themselves, so scripts that start qemu take their places.
find "$dir/gotrace/runfiles" -type f -perm -100 ! -name '*test' ! -name '*tests' ! -name '*.so' ! -name '*.arm64' |
  while read -r program; do
    [[ $(head -c 4 "$program") == $'\x7fELF' ]] || continue
    mv "$program" "$program.arm64"
    # A program that is found by PATH knows only its name.
    printf '%s\n' '#!/bin/sh' 'name=$0' 'case ":$PATH:" in *":${0%/*}:"*) name=${0##*/} ;; esac' \
      "exec qemu-aarch64 -L '$sysroot' -0 \"\$name\" \"\$0.arm64\" \"\$@\"" >"$program"
    chmod +x "$program"
  done
# Of traces and random tries, a fifth: qemu takes many times as long.
export GOTRACE_TEST_SHARE=5
# These tests limit the memory of programs, but qemu needs more.
GTEST_FILTER='-Limits.*' ctest --test-dir "$dir/gotrace" --output-on-failure "$@"
