// A ByteSource that a program can stop.
#ifndef GOTRACE_PARSER_SOURCE_STOPPABLE_SOURCE_H_
#define GOTRACE_PARSER_SOURCE_STOPPABLE_SOURCE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "gotrace/byte_source.h"
#include "parser/source/source_wrapper.h"

namespace gotrace::internal {

// Reads from another source until a callback returns false; then Fill() fails with kCancelled. The
// same holds for the forks, which call the callback on the threads that use them.
class StoppableSource final : public SourceWrapper {
 public:
  // Returns `source` itself if `keep_going` is empty.
  static std::unique_ptr<ByteSource> Wrap(std::unique_ptr<ByteSource> source,
                                          const std::function<bool()>& keep_going) {
    if (source == nullptr || keep_going == nullptr) return source;
    return std::unique_ptr<ByteSource>(new StoppableSource(std::move(source), keep_going));
  }

  // Returns the status of work that was stopped.
  static absl::Status Stopped() { return absl::CancelledError("stopped by the program"); }

  absl::Status Fill(size_t size) override {
    if (!keep_going_()) {
      // Otherwise bytes that are already in memory would be used in spite of the error.
      window_ = window_.substr(0, 0);
      return Stopped();
    }
    absl::Status status = SourceWrapper::Fill(size);
    Show(size);
    return status;
  }
  std::unique_ptr<ByteSource> Fork(uint64_t offset) const override {
    return Wrap(wrapped().Fork(offset), keep_going_);
  }
  size_t ReadAt(uint64_t offset, char* buffer, size_t size) const override {
    return wrapped().ReadAt(offset, buffer, size);
  }

 private:
  StoppableSource(std::unique_ptr<ByteSource> source, std::function<bool()> keep_going)
      : SourceWrapper(std::move(source)), keep_going_(std::move(keep_going)) {
    Show(/*size=*/0);
  }

  // Limits the window of a source in memory to a part, so that Fill() is called for the next part.
  void Show(size_t size) {
    constexpr size_t kShown = 1 << 16;
    window_ = window_.substr(0, std::max(size, kShown));
  }

  const std::function<bool()> keep_going_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_SOURCE_STOPPABLE_SOURCE_H_
