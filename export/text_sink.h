// A buffer in which exporters build text, and that is written to a ByteSink.
#ifndef GOTRACE_EXPORT_TEXT_SINK_H_
#define GOTRACE_EXPORT_TEXT_SINK_H_

#include <cstddef>

#include "gotrace/byte_sink.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// A TextBuffer that is written out in large blocks. Not thread-safe.
class TextSink {
 public:
  // Writes to `*out`, which must outlive this object.
  explicit TextSink(ByteSink* out) : out_(*out) {}

  // Returns the buffer to append to. Call MaybeFlush() from time to time.
  TextBuffer& buffer() { return buffer_; }

  // Appends the buffer to the ByteSink if it has grown large.
  void MaybeFlush() {
    if (buffer_.size() >= kBlockSize) Flush();
  }

  // Appends the buffer to the ByteSink, which buffers a small one itself.
  void Flush() {
    out_.Append(buffer_.view());
    buffer_.clear();
  }

  // Returns the status of the ByteSink.
  const absl::Status& status() const { return out_.status(); }

 private:
  static constexpr size_t kBlockSize = 1 << 20;

  ByteSink& out_;
  TextBuffer buffer_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_TEXT_SINK_H_
