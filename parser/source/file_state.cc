#include "parser/source/file_state.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "parser/source/source_wrapper.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

// Reads a file, and fails once the file turns out to have changed.
class UnchangedSource final : public SourceWrapper {
 public:
  // Returns nullptr if `source` is nullptr.
  static std::unique_ptr<ByteSource> Wrap(std::unique_ptr<ByteSource> source,
                                          const std::string& path, const FileState& before) {
    if (source == nullptr) return nullptr;
    return std::unique_ptr<ByteSource>(new UnchangedSource(std::move(source), path, before));
  }

  absl::Status Fill(size_t size) override {
    absl::Status status = SourceWrapper::Fill(size);
    // A file that grows is read to its new end. A file that has become shorter ends earlier.
    const uint64_t read = input_read();
    const bool is_at_end = window_.size() < size || !status.ok();
    if (read <= static_cast<uint64_t>(before_.size) && !is_at_end) return status;
    absl::Status changed =
        CheckUnchanged(path_, before_, std::max(read, static_cast<uint64_t>(before_.size)));
    if (changed.ok()) return status;
    // Otherwise bytes that are already in memory would be used in spite of the error.
    window_ = window_.substr(0, 0);
    return changed;
  }
  std::unique_ptr<ByteSource> Fork(uint64_t offset) const override {
    return Wrap(wrapped().Fork(offset), path_, before_);
  }
  size_t ReadAt(uint64_t offset, char* buffer, size_t size) const override {
    return wrapped().ReadAt(offset, buffer, size);
  }

 private:
  UnchangedSource(std::unique_ptr<ByteSource> source, const std::string& path,
                  const FileState& before)
      : SourceWrapper(std::move(source)), path_(path), before_(before) {}

  const std::string path_;
  const FileState before_;
};

}  // namespace

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
  if (!source.ok()) return source;
  return UnchangedSource::Wrap(*std::move(source), path, before);
}

}  // namespace gotrace::internal
