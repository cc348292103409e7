#!/usr/bin/env bash
# Checks that the libraries that Debian's packages of gotrace are built with are those of install.sh, and that the
# commands in docs/install.md that build gotrace in a bare system install them, in the source tree, to which
# MODULE.bazel is a link here.
set -euo pipefail
cd "$(dirname "$(readlink -f MODULE.bazel)")"

failed=0
# expect_all WHERE TEXT PACKAGE...: the text has each package.
expect_all() {
  local where=$1 text=" $2 " package
  for package in "${@:3}"; do
    [[ $text == *" $package "* ]] || { echo "$where lacks $package" >&2; failed=1; }
  done
}

mapfile -t libraries < <(sed -n '/^Build-Depends:/,/^Standards/s/^.*[ :]\([a-z0-9-]*-dev\),*$/\1/p' packaging/debian/control)
[[ ${#libraries[@]} -ge 7 ]] || { echo "packaging/debian/control has ${#libraries[@]} libraries" >&2; exit 1; }
expect_all install.sh "$(sed -n '/^libraries=(/,/^)/p' install.sh | tr '\n' ' ')" "${libraries[@]}"

# Only the program needs libedit, and only the tables in SQLite its library.
mapfile -t needed < <(printf '%s\n' "${libraries[@]}" | grep -v '^lib\(edit\|sqlite3\)-dev$')
mapfile -t commands < <(grep '^apt-get install .* git ' docs/install.md)
[[ ${#commands[@]} -eq 2 ]] || { echo "docs/install.md has ${#commands[@]} such commands, expected 2" >&2; exit 1; }
for command in "${commands[@]}"; do
  expect_all "docs/install.md: $command" "$command" "${needed[@]}"
done
exit $failed
