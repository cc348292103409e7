#!/usr/bin/env bash
# Prints the version in include/gotrace/library_version.h.
sed -n 's/^#define GOTRACE_VERSION "\(.*\)"$/\1/p' "$(dirname "$0")/../include/gotrace/library_version.h"
