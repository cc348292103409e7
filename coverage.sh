#!/usr/bin/env bash
# Prints how many of the lines of tracev2/, parser/, validator/, rewrite/ and analysis/ the tests run, per file
# and together. A line counts once, however many tests run it.
set -euo pipefail
cd "$(dirname "$0")"
bazel coverage //util/... //tracev2/... //parser/... //export/... //tools/... //validator/... //rewrite/... //analysis/... //fuzz/... \
  //bench/... >/dev/null
awk '
  /^SF:/ { file = substr($0, 4) }
  /^DA:/ && file ~ /^(tracev2|parser|validator|rewrite|analysis)\// && file !~ /test/ {
    split(substr($0, 4), field, ",")
    seen[file, field[1]] += field[2]
  }
  END {
    for (key in seen) {
      split(key, part, SUBSEP)
      ++lines[part[1]]
      hit[part[1]] += seen[key] > 0
    }
    for (file in lines) {
      printf "%6.1f%% of %4d  %s\n", 100 * hit[file] / lines[file], lines[file], file
      all_lines += lines[file]
      all_hit += hit[file]
    }
    printf "%6.1f%% of %4d  together\n", 100 * all_hit / all_lines, all_lines
  }' bazel-out/_coverage/_coverage_report.dat | sort -k4
