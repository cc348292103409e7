// A view of a ByteSource that its reader does not own.
#ifndef GOTRACE_PARSER_SOURCE_BORROWED_SOURCE_H_
#define GOTRACE_PARSER_SOURCE_BORROWED_SOURCE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "gotrace/byte_source.h"

namespace gotrace::internal {

// Reads from another source, which then stays where reading ends. The other source must outlive
// this one and not be used meanwhile.
class BorrowedSource final : public ByteSource {
 public:
  explicit BorrowedSource(ByteSource* source) : source_(*source) { Show(); }
  BorrowedSource(const BorrowedSource&) = delete;
  BorrowedSource& operator=(const BorrowedSource&) = delete;
  ~BorrowedSource() override { Move(); }

  absl::Status Fill(size_t size) override {
    Move();
    absl::Status status = source_.Fill(size);
    Show();
    return status;
  }
  void Release(uint64_t offset) override {
    Move();
    source_.Release(offset);
  }
  void ReleaseSkipped(uint64_t begin, uint64_t end) override {
    Move();
    source_.ReleaseSkipped(begin, end);
  }
  uint64_t input_size() const override { return source_.input_size(); }
  uint64_t input_read() const override { return source_.input_read(); }

 private:
  void Move() { source_.Skip(offset_ - source_.offset()); }
  void Show() {
    offset_ = source_.offset();
    window_ = source_.window();
  }

  ByteSource& source_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_SOURCE_BORROWED_SOURCE_H_
