#!/usr/bin/env bash
# Tests the scripts that write_cli_docs writes, each in its shell. completion_test.SHELL reads lines that were
# typed so far, and prints for each one a line with what the shell offers, sorted. Shells that are not
# installed are skipped.
set -euo pipefail

# What is typed, and what is offered for its last word: without what precedes it in the word, without
# the = of flags, and without the / of directories. The folder has the files input.trace and
# trace.out, and the folder dir.
cases="
gotrace-dump pro                              | procs profile
gotrace-dump sum                              | summary
gotrace-dump in                               | info input.trace
gotrace-dump tr                               | trace.out trim
gotrace-dump he                               | heap help
gotrace-dump help pro                         | procs profile
gotrace-dump help inp                         |
gotrace-dump info tr                          | trace.out
gotrace-dump info trace.out in                | input.trace
gotrace-dump info inf                         |
gotrace-dump info --sal                       | --salvage
gotrace-dump info --ver                       | --version
gotrace-dump --lim                            | --limit --limits
gotrace-dump trace.out --kin                  | --kind
gotrace-dump wire --kin                       |
gotrace-dump --g=3 info --salv                | --salvage
gotrace-dump --g 3 gor                        | goroutines
gotrace-dump --salvage gor                    | goroutines
gotrace-dump -o x rep                         | repair report
gotrace-dump --kind=Ta                        | TaskBegin TaskEnd
gotrace-dump --kind Ta                        | TaskBegin TaskEnd
gotrace-dump --kind=Log,TaskB                 | TaskBegin
gotrace-dump --kind Log,Sync,TaskB            | TaskBegin
gotrace-dump latency --kind=p                 | pause
gotrace-dump --g=                             |
gotrace-dump --format=                        | go json
gotrace-dump goroutines --format j            | json jsonl
gotrace-dump convert --to=trace2-             | trace2-event trace2-normal trace2-perf
gotrace-dump convert --to tr                  | trace2-event trace2-normal trace2-perf
gotrace-dump convert --buffer=c               | circular:
gotrace-dump convert -o tr                    | trace.out
gotrace-dump convert -o x tr                  | trace.out
gotrace-dump profile --type=sy                | sync syscall
gotrace-dump gc --flags=stw,per               | perproc
gotrace-dump goroutines --sort=creation       | creation_ns
gotrace-dump goroutines --sort=count          | count
gotrace-dump sql --save=tr                    | trace.out
gotrace-dump sql -f in                        | input.trace
gotrace-dump tables -o d                      | dir
gotrace-dump tables -o t                      |
gotrace-dump tables --tables=events,logs,rang | range_hist ranges
gotrace-dump tables --files-from=tr           | trace.out
gotrace-dump info --limits=thr                | threads=
gotrace-dump info --limits threads=1,gener    | generation-bytes=
gotrace-dump info -- --sal                    |
gotrace-dump -- in                            | input.trace
"

drivers=$PWD/tools/docs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tools/write_cli_docs "$work/docs"
scripts=$work/docs/completions
mkdir -p "$work/cwd/dir"
cd "$work/cwd"
touch input.trace trace.out

lines=$(sed '/^$/d; s/ *|.*//' <<<"$cases")
failed=0
for shell in bash fish zsh; do
  command -v "$shell" >/dev/null || {
    echo "skipped: $shell is not installed; ./install.sh --all installs it"
    continue
  }
  offered=$("$shell" "$drivers/completion_test.$shell" "$scripts" <<<"$lines") || failed=1
  diff <(sed '/^$/d; s/.*| *//' <<<"$cases" | paste -d '|' <(echo "$lines") -) \
       <(paste -d '|' <(echo "$lines") <(echo "$offered")) || { echo "FAILED: $shell"; failed=1; }
done
exit "$failed"
