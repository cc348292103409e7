#!/usr/bin/env bash
# The blocks of C++ and of build files in the README and in docs/ must be the examples, and their consoles what the
# commands in them print.
set -uo pipefail

documents=(README.md docs/analyses.md docs/commands.md docs/damaged-traces.md docs/diagnosis.md docs/install.md docs/library.md
  docs/limits.md docs/trace2.md)
root=$PWD

# count LANGUAGE: how many blocks of a language all documents have.
count() {
  cat "${documents[@]/#/$root/}" | grep -c "^\`\`\`$1$"
}

# block LANGUAGE N: the Nth block of a language in all documents.
block() {
  cat "${documents[@]/#/$root/}" | awk -v fence="\`\`\`$1" -v wanted="$2" '
    $0 == fence { inside = ++count == wanted; next }
    /^```$/ { inside = 0 }
    inside'
}

failed=0
# show LANGUAGE FILE...: the documents' blocks of a language must be these examples, in this order.
show() {
  local language=$1 number=0 file
  shift
  for file; do
    number=$((number + 1))
    diff <(block "$language" "$number") "examples/$file" || failed=1
  done
  [[ $(count "$language") -eq $number ]] || { echo "A block of $language is no example."; failed=1; }
}
show cpp count_starts.cc cmake/goroutine_counts.cc print_logs.cc salvage.cc last_generation.cc goroutine_times.cc \
  longest_waits.cc validate.cc repair.cc view_beginning.cc count_kinds.cc trace_own_runs.cc
show cmake cmake/CMakeLists.txt fetch-content/CMakeLists.txt
show python bazel/WORKSPACE bazel/BUILD bazel/MODULE.bazel
show ini bazel/.bazelrc

# Examples fetch the release whose documents they are in.
version=$(sed -n 's/^#define GOTRACE_VERSION "\(.*\)"$/\1/p' include/gotrace/library_version.h)
for file in fetch-content/CMakeLists.txt bazel/WORKSPACE bazel/MODULE.bazel; do
  grep -q "\bv$version\b" "examples/$file" || { echo "examples/$file does not fetch version $version."; failed=1; }
done
grep -qF "name = \"gotrace\", version = \"$version\"" examples/bazel/MODULE.bazel ||
  { echo "examples/bazel/MODULE.bazel does not name version $version."; failed=1; }
grep -qF "gotrace-dump $version (commit" docs/commands.md || { echo "docs/commands.md shows another version."; failed=1; }

# The commands may write files: not where the documents are.
PATH=$PWD/tools:$PATH
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
ln -s "$PWD/testdata" "$scratch/testdata"
cd "$scratch" || exit 1

# Here, the traces are symbolic links, which zstd takes only with --force.
zstd() {
  command zstd --force "$@"
}

# Each console has one command and what it prints.
consoles=$(count console)
for ((number = 1; number <= consoles; ++number)); do
  command=$(block console "$number" | sed -n '1s/^\$ //p')
  if ! diff <(block console "$number" | tail -n +2) <(eval "$command" 2>&1); then
    echo "This is what the command prints: $command"
    failed=1
  fi
done
[[ $consoles -gt 12 ]] || { echo "Only $consoles consoles were found."; failed=1; }
exit $failed
