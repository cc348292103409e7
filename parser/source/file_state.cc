#include "parser/source/file_state.h"

#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "util/quote.h"

namespace gotrace::internal {

FileState StateOf(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  return {info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

absl::Status CheckUnchanged(const std::string& path, const FileState& before) {
  return CheckUnchanged(path, before, static_cast<uint64_t>(before.size));
}

absl::Status CheckUnchanged(const std::string& path, const FileState& before, uint64_t size) {
  if (StateOf(path) == before && size == static_cast<uint64_t>(before.size)) {
    return absl::OkStatus();
  }
  return absl::AbortedError(
      absl::StrCat(QuotedUnlessPlain(path), ": the file changed while it was being read"));
}

absl::StatusOr<std::unique_ptr<ByteSource>> OpenUnchanged(const std::string& path,
                                                          const ReaderLimits& limits,
                                                          const FileState& before) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenSource(path, limits);
  absl::Status status = source.ok() ? CheckUnchanged(path, before, (*source)->input_size())
                                    : CheckUnchanged(path, before);
  if (!status.ok()) return status;
  return source;
}

}  // namespace gotrace::internal
