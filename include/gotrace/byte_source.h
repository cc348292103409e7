// The bytes of a trace, seen through a window that moves forward over a file, memory, or a stream.
#ifndef GOTRACE_BYTE_SOURCE_H_
#define GOTRACE_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_stream.h"
#include "gotrace/reader_limits.h"

namespace gotrace {

// Bytes that a window has shown stay where they are until Release() lets go of them, so that others
// may keep views of them. Not thread-safe.
class ByteSource {
 public:
  // The most that Fill() can be asked for, in bytes.
  static constexpr size_t kMaxFill = 1 << 19;

  virtual ~ByteSource() = default;

  // Makes the window at least `size` bytes long, or as long as the input lasts. Waits for no more
  // bytes of a stream than that, though it takes what is there. Requires size <= kMaxFill. An error
  // is one of I/O or of compression; the window then holds what could be read.
  virtual absl::Status Fill(size_t size) = 0;

  // Lets go of the bytes before `offset`, which must not lie behind the window's beginning.
  virtual void Release(uint64_t offset) = 0;

  // Lets go of the bytes from `begin` up to `end`, at most offset(), of which nobody has a view:
  // what was skipped behind bytes that are still needed. A source that holds nothing need not do
  // anything.
  virtual void ReleaseSkipped(uint64_t /*begin*/, uint64_t /*end*/) {}

  // The size of the input as it stands in the file, compressed or not, if it is known; else 0. A
  // file may have grown since it was opened.
  virtual uint64_t input_size() const = 0;

  // How much of the input was read, in the unit of input_size(). For progress only.
  virtual uint64_t input_read() const = 0;

  // Another source of the same bytes, which stands at `offset` of them and counts as read what is
  // before. Both may be used at once, each by one thread. nullptr if the bytes come only once, as
  // those of a pipe do, or are compressed. The bytes of SourceFromBytes() must outlive it too.
  virtual std::unique_ptr<ByteSource> Fork(uint64_t /*offset*/) const { return nullptr; }

  // Where that gives something, copies at most `size` bytes from `offset` on to `buffer` and
  // returns how many: 0 at the end, and after an error.
  virtual size_t ReadAt(uint64_t /*offset*/, char* /*buffer*/, size_t /*size*/) const { return 0; }

  // Lets the input be as if it was read to its end, by one who had the rest from a fork: what
  // shares a descriptor's position, as the shell's next command does, goes on from there.
  virtual void LeaveAtEnd() {}

  // The bytes at hand, from the current position on.
  absl::string_view window() const { return window_; }

  // Moves the window's beginning forward. Requires size <= window().size().
  void Skip(size_t size) {
    window_.remove_prefix(size);
    offset_ += size;
  }

  // Where the window begins, from the beginning of the (decompressed) trace.
  uint64_t offset() const { return offset_; }

 protected:
  absl::string_view window_;
  uint64_t offset_ = 0;
};

// Reads the file at `path`, or the standard input if it is "-", as it is.
absl::StatusOr<std::unique_ptr<ByteStream>> OpenStream(const std::string& path);

// Reads the file at `path`, or the standard input if it is "-". Zstd and gzip are recognised and
// taken off; what they stand for may have limits.decompressed_bytes. The file is read and not
// mapped, so that whoever shortens it meanwhile causes an error (see FdStream) rather than the end
// of the program. Memory is as for SourceFromStream().
absl::StatusOr<std::unique_ptr<ByteSource>> OpenSource(const std::string& path,
                                                       const ReaderLimits& limits = {});

// Reads `bytes`, which must outlive the source and all views of it unless they are compressed.
absl::StatusOr<std::unique_ptr<ByteSource>> SourceFromBytes(absl::string_view bytes,
                                                            const ReaderLimits& limits = {});

// Reads `stream` to its end. Zstd and gzip are recognised and taken off. Memory holds what was not
// released, blocks of 2 MB of which each may have 0.5 MB that is not used, and up to 8 such blocks
// that were in use before; besides a zstd decompressor the history that its data asks for, at most
// 128 MB.
absl::StatusOr<std::unique_ptr<ByteSource>> SourceFromStream(std::unique_ptr<ByteStream> stream,
                                                             const ReaderLimits& limits = {});

}  // namespace gotrace

#endif  // GOTRACE_BYTE_SOURCE_H_
