#!/usr/bin/env bash
# The README's blocks of C++ must be the examples, and its consoles what its commands print.
set -uo pipefail

readme=$PWD/README.md

# block LANGUAGE N: the Nth block of the README in a language.
block() {
  awk -v fence="\`\`\`$1" -v wanted="$2" '
    $0 == fence { inside = ++count == wanted; next }
    /^```$/ { inside = 0 }
    inside' "$readme"
}

failed=0
number=0
for example in count_starts judge salvage; do
  number=$((number + 1))
  diff <(block cpp "$number") "examples/$example.cc" || failed=1
done

# The commands may write files: not where the README lies.
PATH=$PWD/tools:$PATH
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
ln -s "$PWD/testdata" "$scratch/testdata"
cd "$scratch" || exit 1

# Nothing else needs zstd here: traces come back from their text byte for byte.
zstd() {
  gotrace-dump wire --header "${@: -1}" | gotrace-dump assemble --padded -
}

# Each console has one command and what it prints.
consoles=$(grep -c '^```console$' "$readme")
for ((number = 1; number <= consoles; ++number)); do
  command=$(block console "$number" | sed -n '1s/^\$ //p')
  if ! diff <(block console "$number" | tail -n +2) <(eval "$command" 2>&1); then
    echo "That is what this prints: $command"
    failed=1
  fi
done
[[ $consoles -gt 5 ]] || failed=1
exit $failed
