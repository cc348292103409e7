// The base class of sources that forward another source, and watch, stop or hide parts of it.
#ifndef GOTRACE_PARSER_SOURCE_SOURCE_WRAPPER_H_
#define GOTRACE_PARSER_SOURCE_SOURCE_WRAPPER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "gotrace/byte_source.h"

namespace gotrace::internal {

// Forwards another source. It cannot be forked unless a derived class implements this with
// wrapped().
class SourceWrapper : public ByteSource {
 public:
  absl::Status Fill(size_t size) override {
    Move();
    absl::Status status = source_->Fill(size);
    window_ = source_->window();
    return status;
  }
  void Release(uint64_t offset) override {
    Move();
    source_->Release(offset);
  }
  void ReleaseSkipped(uint64_t begin, uint64_t end) override {
    Move();
    source_->ReleaseSkipped(begin, end);
  }
  uint64_t input_size() const override { return source_->input_size(); }
  uint64_t input_read() const override { return source_->input_read(); }
  void LeaveAtEnd() override { source_->LeaveAtEnd(); }

 protected:
  explicit SourceWrapper(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {
    offset_ = source_->offset();
    window_ = source_->window();
  }

  const ByteSource& wrapped() const { return *source_; }

 private:
  void Move() { source_->Skip(offset_ - source_->offset()); }

  const std::unique_ptr<ByteSource> source_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_SOURCE_SOURCE_WRAPPER_H_
