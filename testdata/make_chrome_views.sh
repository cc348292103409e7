#!/usr/bin/env bash
# make_chrome_views.sh: makes traces/chrome_views.tsv anew, from all traces that are there: how many events
# `go tool trace` shows in each of its views, and their digest.
#
# `go tool trace` of release 1.27 is $GO_TRACE_1_27, or else the one of go1.27 on PATH. Besides, this needs curl, zstd
# and Bazel.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/.."
bazel build --config=opt --ui_event_filters=-info --noshow_progress //testing:chrome_digest
read -ra viewer <<< "${GO_TRACE_1_27:-go1.27 tool trace}"
tmp=$(mktemp -d)
server=
trap 'kill $server 2> /dev/null || true; rm -rf "$tmp"' EXIT

views() {
  printf '# trace\tquery\tevents\tsha256\n'
  for trace in "$here"/traces/*.trace.zst; do
    name=$(basename "$trace" .zst)
    zstd -dqc "$trace" > "$tmp/$name"
    queries=(view=proc view=thread goid=1)
    [[ $name == *annotations* ]] && queries+=({taskid,focustask}={1,2,9})
    : > "$tmp/log"
    "${viewer[@]}" -http=127.0.0.1:0 "$tmp/$name" &> "$tmp/log" &
    server=$!
    until grep -q listening "$tmp/log"; do
      sleep 0.1
    done
    url=$(grep -o 'http://[0-9.:]*' "$tmp/log")
    for query in "${queries[@]}"; do
      curl -sS "$url/jsontrace?$query" | bazel-bin/testing/chrome_digest "$name" "$query"
    done
    kill $server
    wait $server 2> /dev/null || true
  done
}

views > "$tmp/views.tsv"
mv "$tmp/views.tsv" "$here/traces/chrome_views.tsv"
