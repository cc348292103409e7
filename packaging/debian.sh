#!/usr/bin/env bash
# Builds the Debian packages libgotrace0, libgotrace-sqlite0, libgotrace-dev and gotrace-dump from the last commit, in
# build/debian, and checks them with lintian:
#
#   packaging/debian.sh
#
# Needs what `install.sh --packaging` installs. The same commit makes the same packages, byte for byte. CMake's build
# tree stays in build/debian/gotrace-VERSION/obj-*. With DEB_BUILD_OPTIONS=noopt, for a quick test of packages, lintian
# leaves out libgotrace-dev.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in dpkg-buildpackage dh lintian; do
  command -v "$tool" >/dev/null || { echo "debian.sh: $tool is missing; run ./install.sh --packaging" >&2; exit 1; }
done

version=$(packaging/version.sh)
commit=$(git rev-parse --short=12 HEAD)
dir=build/debian
source=$dir/gotrace-$version
rm -rf "$dir"
mkdir -p "$source"
git archive "$commit" | tar -x -C "$source"
cp -r "$source/packaging/debian" "$source/debian"

# write_changelog: Debian's changelog, with the releases of CHANGELOG.md.
write_changelog() {
  local maintainer number date
  maintainer=$(sed -n 's/^Maintainer: //p' "$source/debian/control")
  sed -n 's/^## \([0-9.]*\) - \([0-9-]*\)$/\1 \2/p' "$source/CHANGELOG.md" | while read -r number date; do
    printf 'gotrace (%s-1) unstable; urgency=medium\n\n  * Release %s.\n\n -- %s  %s\n\n' \
      "$number" "$number" "$maintainer" "$(LC_ALL=C date -u -R -d "$date")"
  done
}
write_changelog >"$source/debian/changelog"
newest=$(sed -n '1s/^gotrace (\(.*\)-1) .*/\1/p' "$source/debian/changelog")
[[ $newest == "$version" ]] || {
  echo "debian.sh: the first release in CHANGELOG.md is \"$newest\", but library_version.h has $version" >&2
  exit 1
}

# The output is shown only if something fails.
export GOTRACE_COMMIT=$commit DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS:-parallel=$(nproc)}
if ! (cd "$source" && dpkg-buildpackage --build=binary --no-sign) >"$dir/log" 2>&1; then
  tail -n 50 "$dir/log" >&2
  echo "debian.sh: $PWD/$dir/log has the rest" >&2
  exit 1
fi
# In the package of the static library, lintian looks at each object for minutes.
packages=("$dir"/*.changes)
if [[ " $DEB_BUILD_OPTIONS " == *" noopt "* ]]; then
  packages=()
  for package in "$dir"/*.deb; do [[ $package == *-dev_* ]] || packages+=("$package"); done
fi
lintian --info --pedantic --fail-on error,warning,pedantic --allow-root "${packages[@]}"
