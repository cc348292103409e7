// The files that a command reads.
#ifndef GOTRACE_TOOLS_CLI_FILE_LIST_H_
#define GOTRACE_TOOLS_CLI_FILE_LIST_H_

#include <cstdint>
#include <string>
#include <vector>

namespace gotrace::internal {

struct ListedFile {
  std::string path;
  // Whether it was named explicitly, rather than found in a directory.
  bool named = true;
  // The number of the trace in the file, from 1; 0 if traces are not listed.
  uint64_t trace = 0;

  // Returns its name in messages and headings.
  std::string label() const;
};

// Returns the files of `paths` in order, each directory replaced by the files in it at any depth,
// sorted by name in each directory. In directories, links to files are followed, but not links to
// directories, and hidden files and anything that is not a file are left out. A path that cannot be
// examined is listed, so that opening it reports the error.
std::vector<ListedFile> ListFiles(const std::vector<std::string>& paths);

// Returns the label of the trace `number` of the file at `path`: "a.trace, trace 2"; only the path
// for 0.
std::string LabelOf(const std::string& path, uint64_t number);

// Returns the name of the file at `path` for programs: "-" is "standard input".
std::string NameOf(const std::string& path);

// Returns the same name for people: quoted if it is not plain (see QuotedUnlessPlain()).
std::string ShownNameOf(const std::string& path);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CLI_FILE_LIST_H_
