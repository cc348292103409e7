# What .ci/run and .ci/nightly share: running checks and tests, counting them, and measuring the time of each part. Each
# file sources this in the root of the repository, runs its parts, and ends with finish.

passed=0
failed=0
skipped=0
failures=()
part_names=()
part_seconds=()

# part NAME COMMAND...: runs a command, and keeps the time that it takes.
part() {
  local name=$1 begin=$SECONDS
  shift
  "$@"
  part_names+=("$name")
  part_seconds+=($((SECONDS - begin)))
}

# fail NAME
fail() {
  echo "FAILED: $1"
  failures+=("$1")
  failed=$((failed + 1))
}

# check NAME COMMAND...: runs a command that is one check.
check() {
  part "$1" run_check "$@"
}

run_check() {
  local name=$1
  shift
  echo "=== $name: $*"
  if "$@"; then
    passed=$((passed + 1))
  else
    fail "$name"
  fi
}

# check_with_npm NAME SCRIPT: the same for a script that needs packages of npm, if these can be installed.
check_with_npm() {
  if command -v npm >/dev/null && "$2" --install; then
    check "$1" "$2"
  else
    echo "=== $1: left out, since npm or its registry cannot be reached"
  fi
}

# count_cases DIR: the numbers of test cases that passed, failed and were skipped, from the reports
# under DIR. A test that died before it wrote its report has one of Bazel's making, with one error.
count_cases() {
  find -L "$1" -name test.xml -exec cat {} + 2>/dev/null | grep -o '<testcase\|<failure\|<error\|<skipped' | awk '
    /testcase/ { ++cases; done = 0 }
    /failure|error/ && !done { ++failed; done = 1 }
    /skipped/ && !done { ++skipped; done = 1 }
    END { print cases - failed - skipped, failed + 0, skipped + 0 }'
}

# failed_cases DIR: names the test cases that failed, from these reports, a line each.
failed_cases() {
  find -L "$1" -name test.xml -exec cat {} + 2>/dev/null | awk '
    function attribute(name) {
      if (!match($0, " " name "=\"[^\"]*\"")) return ""
      return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4)
    }
    BEGIN { RS = "<" }
    /^testcase/ {
      suite = attribute("classname")
      name = (suite == "" ? "" : suite ".") attribute("name")
    }
    /^(failure|error)/ && name != "" { print name; name = "" }'
}

# test_with NAME CONFIG_FLAGS COMMAND...: runs tests and counts their cases. A run that fails without a
# failed case, as when something does not build, counts as one failure.
test_with() {
  part "$1" run_tests "$@"
}

run_tests() {
  local name=$1 flags=$2 logs status=0 counts case
  shift 2
  echo "=== tests, $name: $*"
  # Reports of an earlier run must not count.
  logs=$(bazel info $flags bazel-testlogs 2>/dev/null) && rm -rf "$logs"
  "$@" || status=1
  [[ -n $logs ]] || logs=$(bazel info $flags bazel-testlogs)
  read -r -a counts < <(count_cases "$logs")
  echo "$name: ${counts[0]} test cases passed, ${counts[1]} failed, ${counts[2]} skipped"
  passed=$((passed + counts[0]))
  failed=$((failed + counts[1]))
  skipped=$((skipped + counts[2]))
  while read -r case; do failures+=("$name: $case"); done < <(failed_cases "$logs")
  if [[ ${counts[1]} -eq 0 && ($status -ne 0 || ${counts[0]} -eq 0) ]]; then
    fail "$name"
  fi
}

# bazel_tests FLAGS_AND_TARGETS...
bazel_tests() {
  bazel test --build_tests_only --ui_event_filters=-info "$@"
}

# finish [MINUTES PARTS]: prints the times, what failed, and the totals, and exits. More minutes than these are a failure,
# unless the machine is slow: then all is less than PARTS times as long as the first part. Machines of CI differ by more
# than a factor of two.
finish() {
  local index
  echo "=== times"
  for index in "${!part_names[@]}"; do
    printf '%4d:%02d  %s\n' $((part_seconds[index] / 60)) $((part_seconds[index] % 60)) "${part_names[index]}"
  done
  printf '%4d:%02d  in all\n' $((SECONDS / 60)) $((SECONDS % 60))
  if [[ -n ${1:-} && $SECONDS -gt $(($1 * 60)) ]]; then
    if [[ $SECONDS -gt $(($2 * part_seconds[0])) ]]; then
      echo "This took more than $1 minutes, and $2 times as long as ${part_names[0]}." \
        "Move what proves least for its time to .ci/nightly."
      fail "the time limit"
    else
      echo "This took more than $1 minutes, but less than $2 times as long as ${part_names[0]}: the machine is slow."
    fi
  fi
  for index in "${!failures[@]}"; do echo "FAILED: ${failures[index]}"; done
  if [[ $skipped -gt 0 ]]; then
    echo "$passed passed, $failed failed, $skipped skipped"
  else
    echo "$passed passed, $failed failed"
  fi
  [[ $failed -eq 0 && $passed -gt 0 ]]
  exit
}
