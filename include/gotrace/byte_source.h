// The bytes of a trace, seen through a window that moves forward over a file, memory, or a stream.
#ifndef GOTRACE_BYTE_SOURCE_H_
#define GOTRACE_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_stream.h"
#include "gotrace/reader_limits.h"

namespace gotrace {

// A source of bytes with a window on the part that is currently in memory. Bytes that have been in
// the window stay at their address until they are released with Release(), so views of them may be
// kept. Not thread-safe.
class ByteSource {
 public:
  // The maximum argument of Fill(), in bytes.
  static constexpr size_t kMaxFill = 1 << 19;

  virtual ~ByteSource() = default;

  // Extends the window to at least `size` bytes, or to the end of the input. Takes more bytes if
  // they are available, but does not wait for them. Requires size <= kMaxFill. Returns an I/O error
  // or a compression fault; the window then holds everything that could be read. If the input has
  // changed (kAborted), or reading it was stopped (kCancelled), the window is empty then.
  virtual absl::Status Fill(size_t size) = 0;

  // Releases the bytes before `offset`. Requires offset <= offset().
  virtual void Release(uint64_t offset) = 0;

  // Releases the bytes from `begin` up to `end`, which were skipped while earlier bytes are still
  // needed. Requires that no views of them exist and end <= offset(). A source that holds no memory
  // need not override this.
  virtual void ReleaseSkipped(uint64_t /*begin*/, uint64_t /*end*/) {}

  // Returns the size of the file in bytes, compressed or not, or 0 if it is not known. A file may
  // have grown since it was opened.
  virtual uint64_t input_size() const = 0;

  // Returns how many bytes of the file have been read, in the unit of input_size(). For progress
  // reports only.
  virtual uint64_t input_read() const = 0;

  // Returns another source of the same bytes, positioned at `offset`, which counts the bytes before
  // that as read. Both sources may be used at the same time, each by one thread. Returns nullptr if
  // the bytes can be read only once, as from a pipe, or are compressed. Bytes passed to
  // SourceFromBytes() must outlive the fork too.
  virtual std::unique_ptr<ByteSource> Fork(uint64_t /*offset*/) const { return nullptr; }

  // Copies up to `size` bytes at `offset` to `buffer` and returns their number: 0 at the end, after
  // an error, and for sources that cannot be forked.
  virtual size_t ReadAt(uint64_t /*offset*/, char* /*buffer*/, size_t /*size*/) const { return 0; }

  // Moves the position of the underlying file to its end, for a caller that read the rest through a
  // fork: anything that shares the file descriptor, such as the shell's next command, continues
  // from there.
  virtual void LeaveAtEnd() {}

  // Returns the bytes in memory from the current position on.
  absl::string_view window() const { return window_; }

  // Moves the beginning of the window forward by `size` bytes. Requires size <= window().size().
  void Skip(size_t size) {
    window_.remove_prefix(size);
    offset_ += size;
  }

  // Returns the offset of the window's first byte in the (decompressed) trace.
  uint64_t offset() const { return offset_; }

 protected:
  // The results of window() and offset().
  absl::string_view window_;
  uint64_t offset_ = 0;
};

// Opens the file at `path`, or standard input if it is "-", without decompressing it.
absl::StatusOr<std::unique_ptr<ByteStream>> OpenStream(const std::string& path);

// Opens the file at `path`, or standard input if it is "-". Zstd and gzip input is decompressed, to
// at most limits.decompressed_bytes bytes. The file is read, not mapped, so that truncating it
// meanwhile causes an error (see FdStream) and not a crash. Uses as much memory as
// SourceFromStream().
absl::StatusOr<std::unique_ptr<ByteSource>> OpenSource(const std::string& path,
                                                       const ReaderLimits& limits = {});

// Returns a source of `bytes`, which must outlive the source and all views of it unless they are
// compressed.
absl::StatusOr<std::unique_ptr<ByteSource>> SourceFromBytes(
    absl::string_view bytes ABSL_ATTRIBUTE_LIFETIME_BOUND, const ReaderLimits& limits = {});

// Returns a source of the bytes of `stream`. Waits until its first bytes can be read, since they
// show whether it is compressed. Zstd and gzip input is decompressed. The bytes that were not
// released are kept in blocks of 2 MB, of which up to 0.5 MB each may be unused; up to 8 free
// blocks are kept for reuse. A zstd decompressor also needs as much history as its data requires,
// at most 128 MB.
absl::StatusOr<std::unique_ptr<ByteSource>> SourceFromStream(std::unique_ptr<ByteStream> stream,
                                                             const ReaderLimits& limits = {});

// Reads at least one and at most `size` bytes of an object at `offset` into `buffer`, and returns
// their number, or an error. Called only with offsets inside the object. Several threads may call
// it at once, for ReadParallel() and the like.
using ReadAtFunction =
    std::function<absl::StatusOr<size_t>(uint64_t offset, char* buffer, size_t size)>;

// Returns a source of an object of `size` bytes that `read_at` reads, such as one in an object
// store. Its bytes can be read from any place, so an index, windows that read only the generations
// that they need, and several cores work as for a file. Zstd and gzip input is decompressed, and is
// then read from front to back.
//
// Reading requests up to 2 MB at a time. An index requests the headers of batches, a few dozen
// bytes for each 64 KB, so a function whose requests are slow should cache the bytes around them.
// If `read_at` returns 0, reading ends with kAborted, since the object has become shorter.
absl::StatusOr<std::unique_ptr<ByteSource>> SourceFromReadAt(ReadAtFunction read_at, uint64_t size,
                                                             const ReaderLimits& limits = {});

}  // namespace gotrace

#endif  // GOTRACE_BYTE_SOURCE_H_
