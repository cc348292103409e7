#!/usr/bin/env bash
# Makes the files of a release in build/release: Debian packages, a static program, the sources, and checksums.
#
#   packaging/release.sh TAG
#
# TAG, such as v1.2.3, must be v and the version in include/gotrace/library_version.h.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(packaging/version.sh)
[[ ${1:-} == "v$version" ]] || {
  echo "release.sh: this is version $version, whose tag is v$version, not '${1:-}'." \
    "Change the tag, or include/gotrace/library_version.h." >&2
  exit 1
}

dir=$PWD/build/release
rm -rf "$dir"
mkdir -p "$dir"
packaging/debian.sh
packaging/static.sh build/debian/gotrace-*/obj-*
cp build/debian/*.deb "$dir"
cp build/static/gotrace-dump "$dir/gotrace-dump-$version-linux-$(uname -m)"
git archive --prefix="gotrace-$version/" -o "$dir/gotrace-$version.tar.gz" HEAD
cd "$dir"
sha256sum -- * >SHA256SUMS
