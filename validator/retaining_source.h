// A source that gives access to the bytes that were read before and not released.
#ifndef GOTRACE_VALIDATOR_RETAINING_SOURCE_H_
#define GOTRACE_VALIDATOR_RETAINING_SOURCE_H_

#include <cstdint>
#include <deque>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_source.h"

namespace gotrace::internal {

// Passes everything through, and keeps track of the bytes that were not released.
class RetainingSource final : public ByteSource {
 public:
  explicit RetainingSource(std::unique_ptr<ByteSource> source);

  absl::Status Fill(size_t size) override;
  void Release(uint64_t offset) override;
  void ReleaseSkipped(uint64_t begin, uint64_t end) override;
  uint64_t input_size() const override { return source_->input_size(); }
  uint64_t input_read() const override { return source_->input_read(); }
  std::unique_ptr<ByteSource> Fork(uint64_t offset) const override { return source_->Fork(offset); }
  void LeaveAtEnd() override { source_->LeaveAtEnd(); }
  size_t ReadAt(uint64_t offset, char* buffer, size_t size) const override {
    return source_->ReadAt(offset, buffer, size);
  }

  // Returns the bytes from `offset` on that a window has shown, as far as they are contiguous in
  // memory; "" if there are none, or they were released. Valid until they are released.
  absl::string_view BytesAt(uint64_t offset) const;

  // The end of the bytes that a window has shown.
  uint64_t end() const { return offset() + window().size(); }

 private:
  struct Piece {
    uint64_t offset;
    absl::string_view bytes;
  };
  void Remember();

  const std::unique_ptr<ByteSource> source_;
  std::deque<Piece> pieces_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_RETAINING_SOURCE_H_
