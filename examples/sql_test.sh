#!/usr/bin/env bash
# Each query of docs/sql.md must print what the document shows below it, for the trace that its
# first line names.
set -uo pipefail

document=docs/sql.md

# block LANGUAGE N: the Nth block of a language after the heading "Queries".
block() {
  awk -v fence="\`\`\`$1" -v wanted="$2" '
    /^## Queries$/ { begun = 1 }
    !begun { next }
    $0 == fence { inside = ++count == wanted; next }
    /^```$/ { inside = 0 }
    inside' "$document"
}

queries=$(sed -n '/^## Queries$/,$p' "$document" | grep -c '^```sql$')
failed=0
for ((number = 1; number <= queries; ++number)); do
  block sql "$number" > "$TEST_TMPDIR/query.sql"
  trace=testdata/traces/$(sed -n '1s/^-- //p' "$TEST_TMPDIR/query.sql")
  if ! diff <(block text "$number") <(tools/gotrace-dump sql -f "$TEST_TMPDIR/query.sql" "$trace" 2>&1); then
    echo "This is what query $number prints."
    failed=1
  fi
done
[[ $queries -ge 24 ]] || { echo "Only $queries queries were found."; failed=1; }
exit $failed
