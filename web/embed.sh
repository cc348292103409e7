#!/bin/sh
# Prints the source of PageFiles(), with the files that build.sh makes. In the root of the repository.
set -eu
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
sh web/build.sh "$made"
echo '#include "web/page_files.h"'
echo
echo 'namespace gotrace::internal {'
echo 'namespace {'
echo
for name in index.html page.js page.css; do
    echo "constexpr unsigned char k_$(echo $name | tr . _)[] = {"
    od -An -v -tu1 "$made/$name" | sed 's/  */,/g; s/^,//; s/$/,/'
    echo '};'
done
echo
echo '}  // namespace'
echo
echo 'absl::Span<const PageFile> PageFiles() {'
echo '  static const PageFile files[] = {'
for name in index.html page.js page.css; do
    bytes=k_$(echo $name | tr . _)
    echo "      {\"$name\", {reinterpret_cast<const char*>($bytes), sizeof($bytes)}},"
done
echo '  };'
echo '  return files;'
echo '}'
echo
echo '}  // namespace gotrace::internal'
