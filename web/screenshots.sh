#!/bin/sh
# Takes a picture of each view of a running page: screenshots.sh URL DIRECTORY [FRAGMENT]. URL is the line that
# `gotrace-dump serve` prints. FRAGMENT selects a window or more in all of them: 'from=0&to=1000000'.
# CHROMIUM is the browser to use.
set -eu
url=$1
out=$2
more=${3:-}
chromium=${CHROMIUM:-chromium-headless-shell}
mkdir -p "$out"
picture() {  # picture NAME WIDTHxHEIGHT THEME VIEW PARAMETERS
  "$chromium" --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=8000 --window-size="$(echo "$2" | tr x ,)" \
      --screenshot="$out/$1.png" "$url#$4?theme=$3&$5${more:+&$more}" 2>/dev/null
  echo "$out/$1.png"
}
for view in summary timeline goroutines tasks regions locks latency gc procs heap leaks profile path events sql; do
  picture "$view-light" 1600x1000 light "$view" ''
  picture "$view-dark" 1600x1000 dark "$view" ''
  picture "$view-narrow" 400x800 light "$view" ''
done
picture gc-utilization 1600x1000 light gc gc.mode=mmu
picture procs-slices 1600x1000 light procs procs.mode=slices
picture latency-worst 1600x1000 light latency latency.mode=worst
picture timeline-wide 3840x2000 light timeline ''
