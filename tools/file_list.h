// Which files a command is to read.
#ifndef GOTRACE_TOOLS_FILE_LIST_H_
#define GOTRACE_TOOLS_FILE_LIST_H_

#include <string>
#include <vector>

namespace gotrace::internal {

struct ListedFile {
  std::string path;
  // Whether it was named itself, not found in a directory that was.
  bool named = true;
};

// The files of `paths` in order, a directory replaced by the files below it, sorted by name in each
// directory. Links to files are followed, links to directories are not; hidden ones and what is
// neither file nor directory are left out. Whatever cannot be looked at is listed as it is, so that
// opening it tells why.
std::vector<ListedFile> ListFiles(const std::vector<std::string>& paths);

// What the file at `path` is called, for programs: "-" is "standard input".
std::string NameOf(const std::string& path);

// The same for people: QuotedUnlessPlain().
std::string ShownNameOf(const std::string& path);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_FILE_LIST_H_
