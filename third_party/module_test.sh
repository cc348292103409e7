#!/usr/bin/env bash
# Checks that MODULE.bazel, which Debian's Bazel cannot read, has what it provides in WORKSPACE:
#
# - its version is that of gotrace/library_version.h;
# - it has the same repositories;
# - its modules have each label that a BUILD file uses, according to module_labels.txt. That WORKSPACE has
#   them too, every build shows.
#
# It reads all BUILD files of the source tree, to which MODULE.bazel is a link here.
set -euo pipefail

root=$(dirname "$(readlink -f MODULE.bazel)")
cd "$root"
failed=0
fail() {
  echo "$*" >&2
  failed=1
}

# same WHAT LIST1 NAME1 LIST2 NAME2: fails with the lines that only one list has.
same() {
  local line
  while IFS= read -r line; do [[ -z $line ]] || fail "$1 only in $3: $line"; done < <(comm -23 <(echo "$2") <(echo "$4"))
  while IFS= read -r line; do [[ -z $line ]] || fail "$1 only in $5: $line"; done < <(comm -13 <(echo "$2") <(echo "$4"))
}

version=$(sed -n 's/^    version = "\(.*\)",$/\1/p' MODULE.bazel)
header=$(sed -n 's/^#define GOTRACE_VERSION "\(.*\)"$/\1/p' include/gotrace/library_version.h)
[[ -n $header && $version == "$header" ]] ||
  fail "MODULE.bazel has version '$version', include/gotrace/library_version.h '$header'"

# Each module: the repository's name, and NAME@VERSION.
modules=$(sed -n '/^bazel_dep(/{
  h
  s/.*name = "\([^"]*\)", version = "\([^"]*\)".*/\1@\2/
  x
  /repo_name/!s/^bazel_dep(name = "\([^"]*\)".*/\1/
  s/.*repo_name = "\([^"]*\)".*/\1/
  G
  s/\n/ /
  p
}' MODULE.bazel)
others=$(sed -n 's/^use_repo([a-z_]*, \(.*\))$/\1/p' MODULE.bazel | tr -d '" ' | tr ',' '\n'
  sed -n '/^http_archive(/{n;s/.*name = "\(.*\)",/\1/p}' MODULE.bazel)
in_module=$( (cut -d ' ' -f 1 <<<"$modules"; echo "$others") | sort)
# bazel_rules.bzl also replaces repositories that only Bazel itself uses.
in_workspace=$(sed -n 's/^ *name = "\([a-z_0-9]*\)",$/\1/p' third_party/*.bzl | grep -vx -e remote_coverage_tools -e rules_java | sort)
same "repository" "$in_module" MODULE.bazel "$in_workspace" "third_party/*.bzl"

# Labels, as REPOSITORY //PACKAGE:TARGET. Folders with a WORKSPACE or MODULE.bazel of their own are other projects.
projects=$(find . -mindepth 2 \( -name bazel-\* -o -path ./build -o -name .git \) -prune -o \( -name WORKSPACE -o -name MODULE.bazel \) -printf '%h/\n')
used=$(find . \( -name bazel-\* -o -path ./build -o -name .git \) -prune -o \
    \( -name BUILD -o -name '*.bzl' \) ! -path './third_party/*.bzl' -print |
  { [[ -z $projects ]] && cat || grep -vFf <(echo "$projects"); } |
  xargs grep -oh '"@[a-z][a-z0-9_]*//[^"]*"' | tr -d '"' |
  sed -e 's,^@\([^/]*\)//,\1 //,' -e '/:/!s,/\([^/]*\)$,/\1:\1,' | sort -u)
[[ $(wc -l <<<"$used") -gt 20 ]] || fail "found only these labels in BUILD files: $used"
# Modules have their version instead of the repository's name.
in_modules=$(join <(echo "$modules" | sort) <(echo "$used" | sort) | cut -d ' ' -f 2- | sort)
same "label" "$in_modules" "BUILD files" "$(grep -v '^#' third_party/module_labels.txt | sort)" third_party/module_labels.txt
unknown=$(comm -23 <(cut -d ' ' -f 1 <<<"$used" | sort -u) <(echo "$in_module"))
[[ -z $unknown ]] || fail "BUILD files use repositories that MODULE.bazel does not have:" $unknown

exit "$failed"
