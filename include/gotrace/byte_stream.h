// Bytes that can be read once, from front to back.
#ifndef GOTRACE_BYTE_STREAM_H_
#define GOTRACE_BYTE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gotrace/reader_limits.h"

namespace gotrace {

class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // Reads at least one and at most `size` bytes into `buffer` and returns how many; 0 at the end.
  // Waits for as little as it can, so that a growing pipe is followed closely. After an error the
  // stream gives the same error again or the end.
  virtual absl::StatusOr<size_t> Read(char* buffer, size_t size) = 0;
};

// Reads bytes in memory, which must outlive the stream.
class MemoryStream : public ByteStream {
 public:
  explicit MemoryStream(absl::string_view bytes) : bytes_(bytes) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override;

 private:
  absl::string_view bytes_;
};

// Reads a file descriptor: a pipe, a socket, a file from its current position. A file that grows
// meanwhile is read to the end that it has once reading comes there. One that ends before the size
// that it had when the stream was made, because it became shorter, gives the error kAborted: its
// end would pass for the end of what it held.
class FdStream : public ByteStream {
 public:
  // `name` is for error messages, which quote it unless it is plain. The descriptor is closed with
  // the stream if `owned`.
  FdStream(int fd, bool owned, const std::string& name);
  ~FdStream() override;
  FdStream(const FdStream&) = delete;
  FdStream& operator=(const FdStream&) = delete;

  // Goes on after a signal (EINTR) and waits where a non-blocking descriptor has nothing yet.
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override;

  // How many bytes a regular file had behind its position when the stream was made; 0 for all else.
  uint64_t size_at_first() const { return end_at_first_ - begin_; }

  // Another stream of what this one gives behind its first `offset` bytes, which leaves the
  // descriptor's position as it is. nullptr if it is no regular file. Another thread may read this
  // one meanwhile; so it may for ReadAt().
  std::unique_ptr<FdStream> Fork(uint64_t offset) const;

  // Reads at most `size` of those bytes into `buffer` and returns how many: 0 at the end, for what
  // is no regular file, and after an error.
  size_t ReadAt(uint64_t offset, char* buffer, size_t size) const;

  // Moves the descriptor's position to the end of the file, if it is one.
  void SeekToEnd() const;

 private:
  // For Fork(): reads the file of `other` from `position` on through `fd`, a duplicate of its own.
  FdStream(const FdStream& other, int fd, uint64_t position);

  bool is_file() const { return end_at_first_ > 0; }

  // What the end of the input means.
  absl::StatusOr<size_t> End() const;

  const int fd_;
  const bool owned_;
  const std::string name_;
  const bool keeps_position_ = false;  // Whether the descriptor's is not the one to read at.
  // Of a regular file, in bytes; 0 for all else.
  uint64_t begin_ = 0;
  uint64_t position_ = 0;
  uint64_t end_at_first_ = 0;
};

// The compressions that are recognised by their first bytes.
enum class Compression { kNone, kZstd, kGzip };

// How many bytes FindCompression() needs.
inline constexpr size_t kMagicSize = 4;

// What compressed data `bytes` begins with, judged by no more than kMagicSize bytes.
Compression FindCompression(absl::string_view bytes);

// A stream of what the compressed bytes of `input` stand for: any number of zstd frames (skippable
// ones too) or of gzip members, one after the other. A damaged or cut off one gives what can be had
// and then a fault, compressed-corrupt or compressed-truncated; so do whole ones with other data
// behind them. Requires a compression other than kNone. Behind `most` bytes it ends with the fault
// limit-decompressed-bytes, and where there is no memory for what the data asks for, with
// kResourceExhausted and no fault.
std::unique_ptr<ByteStream> MakeDecompressor(Compression compression,
                                             std::unique_ptr<ByteStream> input,
                                             uint64_t most = ReaderLimits().decompressed_bytes);

}  // namespace gotrace

#endif  // GOTRACE_BYTE_STREAM_H_
