#include "tools/cli/file_list.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

namespace fs = std::filesystem;

void AddDirectory(const fs::path& directory, std::vector<ListedFile>* files);

void AddEntry(const fs::path& path, std::vector<ListedFile>* files) {
  std::error_code error;
  const fs::file_status itself = fs::symlink_status(path, error);
  if (fs::is_directory(itself)) return AddDirectory(path, files);
  const fs::file_status target = fs::status(path, error);
  const bool is_unknown = error || !fs::exists(target);
  if (is_unknown || fs::is_regular_file(target)) files->push_back({path.string(), false});
}

void AddDirectory(const fs::path& directory, std::vector<ListedFile>* files) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().front() != '.') entries.push_back(it->path());
  }
  if (error) files->push_back({directory.string(), false});
  std::sort(entries.begin(), entries.end());
  for (const fs::path& entry : entries) AddEntry(entry, files);
}

}  // namespace

std::vector<ListedFile> ListFiles(const std::vector<std::string>& paths) {
  std::vector<ListedFile> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (path != "-" && fs::is_directory(path, error)) {
      AddDirectory(path, &files);
    } else {
      files.push_back({path, true});
    }
  }
  return files;
}

std::string ListedFile::label() const { return LabelOf(path, trace); }

std::string LabelOf(const std::string& path, uint64_t number) {
  return number == 0 ? path : absl::StrCat(NameOf(path), ", trace ", number);
}

std::string NameOf(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string ShownNameOf(const std::string& path) { return QuotedUnlessPlain(NameOf(path)); }

}  // namespace gotrace::internal
