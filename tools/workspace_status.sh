#!/bin/sh
# Prints the commit of the checkout for Bazel's --workspace_status_command, which .bazelrc sets;
# commit.cc uses it. Prints nothing outside of a git checkout, as in an unpacked release.

# The release may have been unpacked into the checkout of something else.
[ -e .git ] || exit 0
commit=$(git rev-parse --short=12 HEAD 2>/dev/null) || exit 0
echo "BUILD_SCM_REVISION $commit"
git diff --quiet HEAD || echo "BUILD_SCM_STATUS modified"
