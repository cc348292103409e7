// A source that can show again what was read of another one.
#ifndef GOTRACE_VALIDATOR_SHOWN_SOURCE_H_
#define GOTRACE_VALIDATOR_SHOWN_SOURCE_H_

#include <cstdint>
#include <deque>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_source.h"

namespace gotrace::internal {

// Passes everything on, and remembers where the bytes lie that were not released.
class ShownSource final : public ByteSource {
 public:
  // `source` must stand at its beginning.
  explicit ShownSource(std::unique_ptr<ByteSource> source);

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

  // What a window has shown from `offset` on, as far as it lies in one piece; "" for what it has
  // not, or what was released. Valid until it is released.
  absl::string_view ShownAt(uint64_t offset) const;

  // Where that ends which was shown.
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

#endif  // GOTRACE_VALIDATOR_SHOWN_SOURCE_H_
