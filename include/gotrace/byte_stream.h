// Bytes that can be read once, from front to back.
#ifndef GOTRACE_BYTE_STREAM_H_
#define GOTRACE_BYTE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gotrace/reader_limits.h"

namespace gotrace {

// A stream of bytes.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // Reads at least one and at most `size` bytes into `buffer` and returns their number; 0 at the
  // end. Returns as soon as there are any bytes, so that a growing pipe is followed closely. After
  // an error, further calls return the same error or the end.
  virtual absl::StatusOr<size_t> Read(char* buffer, size_t size) = 0;
};

// Reads bytes in memory, which must outlive the stream.
class MemoryStream : public ByteStream {
 public:
  // Begins at the first of `bytes`.
  explicit MemoryStream(absl::string_view bytes ABSL_ATTRIBUTE_LIFETIME_BOUND) : bytes_(bytes) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override;

 private:
  absl::string_view bytes_;
};

// Reads a file descriptor: a pipe, a socket, or a file from its current position. A file that is
// still growing is read up to its end at the time the reader reaches it. If a file has become
// shorter than when the stream was created, Read() returns the error kAborted at its end, since the
// missing part would otherwise go unnoticed.
class FdStream : public ByteStream {
 public:
  // Reads `fd`, which is closed with the stream if `owned`. `name` is for error messages, which
  // quote it unless it is plain.
  FdStream(int fd, bool owned, const std::string& name);
  ~FdStream() override;
  FdStream(const FdStream&) = delete;
  FdStream& operator=(const FdStream&) = delete;

  // Retries after a signal (EINTR), and waits if a non-blocking descriptor has no data yet.
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override;

  // Returns how many bytes a regular file had after its position when the stream was created; 0 for
  // anything else.
  uint64_t size_at_first() const { return end_at_first_ - begin_; }

  // Returns another stream of the same file that starts `offset` bytes after the start of this one
  // and does not move the descriptor's position, or nullptr if this is not a regular file. May be
  // called while another thread reads this stream.
  std::unique_ptr<FdStream> Fork(uint64_t offset) const;

  // Reads up to `size` bytes into `buffer`, starting `offset` bytes after the start of this stream,
  // and returns their number: 0 at the end, after an error, and if this is not a regular file. May
  // be called while another thread reads this stream.
  size_t ReadAt(uint64_t offset, char* buffer, size_t size) const;

  // Moves the descriptor's position to the end of the file if this is a regular file.
  void SeekToEnd() const;

 private:
  // For Fork(): reads the file of `other` from `position` on through `fd`, a duplicate of its own.
  FdStream(const FdStream& other, int fd, uint64_t position);

  bool is_file() const { return end_at_first_ > 0; }

  // Returns the result of Read() at the end of the input: 0, or an error if the file shrank.
  absl::StatusOr<size_t> End() const;

  const int fd_;
  const bool owned_;
  const std::string name_;
  const bool keeps_position_ = false;  // Whether to read without the descriptor's own position.
  // Offsets in a regular file, in bytes; 0 for anything else.
  uint64_t begin_ = 0;
  uint64_t position_ = 0;
  uint64_t end_at_first_ = 0;
};

// The compression formats that are recognised by their first bytes.
enum class Compression { kNone, kZstd, kGzip };

// The maximum number of bytes that FindCompression() looks at.
inline constexpr size_t kMagicSize = 4;

// Returns the compression format with which `bytes` begin, from their first kMagicSize bytes.
Compression FindCompression(absl::string_view bytes);

// Returns a stream of the decompressed contents of `input`: any number of consecutive zstd frames
// (including skippable ones) or gzip members. If the data is damaged or cut off, or followed by
// other data, the stream ends with the fault compressed-corrupt or compressed-truncated after
// everything that could be decompressed. After `most` bytes it ends with the fault
// limit-decompressed-bytes. If there is not enough memory for decompression, it ends with the error
// kResourceExhausted, which is not a fault. Requires a compression other than kNone.
std::unique_ptr<ByteStream> MakeDecompressor(Compression compression,
                                             std::unique_ptr<ByteStream> input,
                                             uint64_t most = ReaderLimits().decompressed_bytes);

}  // namespace gotrace

#endif  // GOTRACE_BYTE_STREAM_H_
