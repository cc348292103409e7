#include "gotrace/byte_source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <new>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "util/quote.h"

namespace gotrace {
namespace {

// A source of bytes in memory, owned by the caller. The window is always the rest of them.
class SpanSource final : public ByteSource {
 public:
  explicit SpanSource(absl::string_view bytes, uint64_t offset = 0) : bytes_(bytes) {
    window_ = bytes;
    Skip(std::min<uint64_t>(offset, bytes.size()));
  }

  absl::Status Fill(size_t) override { return absl::OkStatus(); }
  void Release(uint64_t) override {}
  uint64_t input_size() const override { return bytes_.size(); }
  uint64_t input_read() const override { return offset_; }

  std::unique_ptr<ByteSource> Fork(uint64_t offset) const override {
    return std::make_unique<SpanSource>(bytes_, offset);
  }
  size_t ReadAt(uint64_t offset, char* buffer, size_t size) const override {
    return bytes_.copy(buffer, size, std::min<uint64_t>(offset, bytes_.size()));
  }

 private:
  const absl::string_view bytes_;
};

// Counts the bytes that pass through, to report how much of a compressed or piped input was read.
class CountingStream final : public ByteStream {
 public:
  CountingStream(std::unique_ptr<ByteStream> input, std::shared_ptr<uint64_t> count)
      : input_(std::move(input)), count_(std::move(count)) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    absl::StatusOr<size_t> read = input_->Read(buffer, size);
    if (read.ok()) *count_ += *read;
    return read;
  }

 private:
  const std::unique_ptr<ByteStream> input_;
  const std::shared_ptr<uint64_t> count_;
};

// Returns the bytes of `begin` and then those of `rest`.
class PrefixedStream final : public ByteStream {
 public:
  PrefixedStream(std::string begin, std::unique_ptr<ByteStream> rest)
      : begin_(std::move(begin)), begin_stream_(begin_), rest_(std::move(rest)) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    absl::StatusOr<size_t> read = begin_stream_.Read(buffer, size);
    return *read > 0 ? read : rest_->Read(buffer, size);
  }

 private:
  const std::string begin_;
  MemoryStream begin_stream_;
  const std::unique_ptr<ByteStream> rest_;
};

// The size of a block of a stream's bytes. Up to almost kMaxFill bytes of a block may stay unused,
// so it is much larger.
constexpr size_t kBlockSize = 2 << 20;
static_assert(kBlockSize >= 2 * ByteSource::kMaxFill);

// Blocks are aligned to their size. On x86-64 that is the size of a large page, which the kernel
// provides at once instead of hundreds of small pages.
struct FreeBlock {
  void operator()(char* data) const { ::operator delete[](data, std::align_val_t(kBlockSize)); }
};
using BlockData = std::unique_ptr<char[], FreeBlock>;

// Allocates a block. `is_large` requests a large page, which would waste memory for a block of
// which little is used.
BlockData MakeBlock(bool is_large) {
  BlockData data(static_cast<char*>(::operator new[](kBlockSize, std::align_val_t(kBlockSize))));
#ifdef MADV_HUGEPAGE
  // If there are no large pages, this has no effect.
  if (is_large) madvise(data.get(), kBlockSize, MADV_HUGEPAGE);
#endif
  return data;
}

// Reads a stream into blocks. The window is in the last block. The part of the window that did not
// fit in a block is copied to the beginning of the next, so every batch is contiguous.
class StreamSource : public ByteSource {
 public:
  StreamSource(std::unique_ptr<ByteStream> stream, uint64_t input_size,
               std::shared_ptr<uint64_t> input_read)
      : stream_(std::move(stream)), input_size_(input_size), input_read_(std::move(input_read)) {
    offset_ = *input_read_;
  }

  absl::Status Fill(size_t size) override {
    if (window_.size() >= size || at_end_) return status_;
    if (blocks_.empty() || kBlockSize - WindowEnd() < size - window_.size()) AddBlock();
    while (window_.size() < size) {
      char* const end = blocks_.back().data.get() + WindowEnd();
      const absl::StatusOr<size_t> read = stream_->Read(end, kBlockSize - WindowEnd());
      if (!read.ok() || *read == 0) {
        at_end_ = true;
        status_ = read.status();
        break;
      }
      window_ = absl::string_view(end - window_.size(), window_.size() + *read);
    }
    return status_;
  }

  void Release(uint64_t offset) override {
    // Some callers call this for each event, when there is usually nothing to release.
    if (offset >= next_release_) ReleaseBlocks(offset);
  }

  void ReleaseSkipped(uint64_t begin, uint64_t end) override {
    if (blocks_.empty()) return;
    // The last block has the window.
    for (size_t i = blocks_.size() - 1; i-- > 1;) {
      if (blocks_[i - 1].end_offset < begin) break;
      if (blocks_[i].end_offset <= end) blocks_.erase(blocks_.begin() + i);
    }
  }

  uint64_t input_size() const override { return input_size_; }
  uint64_t input_read() const override { return *input_read_; }

 private:
  static constexpr size_t kMaxSpares = 8;
  static constexpr uint64_t kNever = static_cast<uint64_t>(-1);

  struct Block {
    BlockData data;
    uint64_t end_offset = 0;  // The offset after its last byte, once it is not the last block.
  };

  // Returns the offset of the window's end in the last block.
  size_t WindowEnd() const { return window_.data() + window_.size() - blocks_.back().data.get(); }

  void ReleaseBlocks(uint64_t offset) {
    while (blocks_.size() > 1 && blocks_.front().end_offset <= offset) {
      if (spares_.size() < kMaxSpares) spares_.push_back(std::move(blocks_.front().data));
      blocks_.pop_front();
    }
    FindNextRelease();
  }

  void FindNextRelease() {
    next_release_ = blocks_.size() > 1 ? blocks_.front().end_offset : kNever;
  }

  void AddBlock() {
    BlockData data;
    if (spares_.empty()) {
      data = MakeBlock(/*is_large=*/!blocks_.empty());
    } else {
      data = std::move(spares_.back());
      spares_.pop_back();
    }
    if (!window_.empty()) std::memcpy(data.get(), window_.data(), window_.size());
    // The copied bytes are not needed in their old place: no views of them exist yet.
    if (!blocks_.empty()) blocks_.back().end_offset = offset_;
    window_ = absl::string_view(data.get(), window_.size());
    blocks_.push_back({std::move(data), 0});
    FindNextRelease();
  }

  const std::unique_ptr<ByteStream> stream_;
  const uint64_t input_size_;
  const std::shared_ptr<uint64_t> input_read_;
  std::deque<Block> blocks_;
  uint64_t next_release_ = kNever;  // The smallest argument of Release() that releases a block.
  // Released blocks, kept for the next generation: new memory costs as much as reading.
  std::vector<BlockData> spares_;
  bool at_end_ = false;
  absl::Status status_;
};

// Returns a source of type S of `stream`, from which `read` bytes were read before, made with
// `arguments`.
template <class S, class... Arguments>
std::unique_ptr<ByteSource> MakeSource(std::unique_ptr<ByteStream> stream, uint64_t input_size,
                                       uint64_t read, Arguments&&... arguments) {
  auto count = std::make_shared<uint64_t>(read);
  stream = std::make_unique<CountingStream>(std::move(stream), count);
  return std::make_unique<S>(std::move(stream), input_size, std::move(count),
                             std::forward<Arguments>(arguments)...);
}

// The bytes of a file descriptor, which can be read from any place if it is a regular file.
class FdSource final : public StreamSource {
 public:
  // `file` is what `stream` reads.
  FdSource(std::unique_ptr<ByteStream> stream, uint64_t input_size,
           std::shared_ptr<uint64_t> input_read, const FdStream* file)
      : StreamSource(std::move(stream), input_size, std::move(input_read)), file_(*file) {}

  void LeaveAtEnd() override { file_.SeekToEnd(); }
  std::unique_ptr<ByteSource> Fork(uint64_t offset) const override {
    std::unique_ptr<FdStream> fork = file_.Fork(offset);
    if (fork == nullptr) return nullptr;
    const FdStream* const file = fork.get();
    return MakeSource<FdSource>(std::move(fork), input_size(), offset, file);
  }
  size_t ReadAt(uint64_t offset, char* buffer, size_t size) const override {
    return file_.ReadAt(offset, buffer, size);
  }

 private:
  const FdStream& file_;
};

// An object that is read with a function.
struct ReadableObject {
  ReadAtFunction read_at;
  uint64_t size = 0;

  // Reads as ReadAtFunction does, or returns 0 at the end.
  absl::StatusOr<size_t> Read(uint64_t offset, char* buffer, size_t length) const {
    length = static_cast<size_t>(std::min<uint64_t>(length, size - std::min(size, offset)));
    if (length == 0) return 0;
    const absl::StatusOr<size_t> read = read_at(offset, buffer, length);
    if (!read.ok() || *read > 0) return read;
    return absl::AbortedError(absl::StrCat("the input shrank while it was being read: it had ",
                                           size, " bytes before, and now ends after ", offset));
  }
};

// Reads an object from front to back.
class ObjectStream final : public ByteStream {
 public:
  ObjectStream(std::shared_ptr<const ReadableObject> object, uint64_t offset)
      : object_(std::move(object)), offset_(offset) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    absl::StatusOr<size_t> read = object_->Read(offset_, buffer, size);
    if (read.ok()) offset_ += *read;
    return read;
  }

 private:
  const std::shared_ptr<const ReadableObject> object_;
  uint64_t offset_;
};

// The bytes of an object, which can be read from any place.
class ObjectSource final : public StreamSource {
 public:
  ObjectSource(std::unique_ptr<ByteStream> stream, uint64_t input_size,
               std::shared_ptr<uint64_t> input_read, std::shared_ptr<const ReadableObject> object)
      : StreamSource(std::move(stream), input_size, std::move(input_read)),
        object_(std::move(object)) {}

  std::unique_ptr<ByteSource> Fork(uint64_t offset) const override {
    return MakeSource<ObjectSource>(std::make_unique<ObjectStream>(object_, offset), input_size(),
                                    offset, object_);
  }
  size_t ReadAt(uint64_t offset, char* buffer, size_t size) const override {
    size_t done = 0;
    while (done < size) {
      const absl::StatusOr<size_t> read = object_->Read(offset + done, buffer + done, size - done);
      if (!read.ok() || *read == 0) break;
      done += *read;
    }
    return done;
  }

 private:
  const std::shared_ptr<const ReadableObject> object_;
};

std::unique_ptr<ByteSource> Decompressed(Compression compression,
                                         std::unique_ptr<ByteStream> stream, uint64_t input_size,
                                         const ReaderLimits& limits) {
  auto count = std::make_shared<uint64_t>(0);
  stream = std::make_unique<CountingStream>(std::move(stream), count);
  stream = MakeDecompressor(compression, std::move(stream), limits.decompressed_bytes);
  return std::make_unique<StreamSource>(std::move(stream), input_size, std::move(count));
}

// Returns a source of `stream`, which is decompressed if it is compressed, and otherwise a source
// of type S, made with `arguments`. `size` is the number of bytes left in it, or 0 if not known.
template <class S, class... Arguments>
absl::StatusOr<std::unique_ptr<ByteSource>> Recognised(std::unique_ptr<ByteStream> stream,
                                                       uint64_t size, const ReaderLimits& limits,
                                                       const Arguments&... arguments) {
  std::string magic;
  while (magic.size() < kMagicSize) {
    char buffer[kMagicSize];
    const absl::StatusOr<size_t> read = stream->Read(buffer, kMagicSize - magic.size());
    if (!read.ok()) return read.status();
    if (*read == 0) break;
    magic.append(buffer, *read);
  }
  const Compression compression = FindCompression(magic);
  stream = std::make_unique<PrefixedStream>(std::move(magic), std::move(stream));
  if (compression != Compression::kNone) {
    return Decompressed(compression, std::move(stream), size, limits);
  }
  return MakeSource<S>(std::move(stream), size, /*read=*/0, arguments...);
}

absl::StatusOr<std::unique_ptr<FdStream>> OpenFile(const std::string& path) {
  if (path == "-") {
    return std::make_unique<FdStream>(STDIN_FILENO, /*owned=*/false, "the standard input");
  }
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("opening ", internal::QuotedUnlessPlain(path)));
  }
  // Makes the kernel read further ahead than by default. Errors do not matter.
  posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  return std::make_unique<FdStream>(fd, /*owned=*/true, path);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ByteStream>> OpenStream(const std::string& path) {
  return OpenFile(path);
}

absl::StatusOr<std::unique_ptr<ByteSource>> OpenSource(const std::string& path,
                                                       const ReaderLimits& limits) {
  absl::StatusOr<std::unique_ptr<FdStream>> stream = OpenFile(path);
  if (!stream.ok()) return stream.status();
  const FdStream* const file = stream->get();
  return Recognised<FdSource>(*std::move(stream), file->size_at_first(), limits, file);
}

absl::StatusOr<std::unique_ptr<ByteSource>> SourceFromBytes(absl::string_view bytes,
                                                            const ReaderLimits& limits) {
  const Compression compression = FindCompression(bytes);
  if (compression == Compression::kNone) return std::make_unique<SpanSource>(bytes);
  return Decompressed(compression, std::make_unique<MemoryStream>(bytes), bytes.size(), limits);
}

absl::StatusOr<std::unique_ptr<ByteSource>> SourceFromStream(std::unique_ptr<ByteStream> stream,
                                                             const ReaderLimits& limits) {
  return Recognised<StreamSource>(std::move(stream), /*size=*/0, limits);
}

absl::StatusOr<std::unique_ptr<ByteSource>> SourceFromReadAt(ReadAtFunction read_at, uint64_t size,
                                                             const ReaderLimits& limits) {
  const auto object =
      std::make_shared<const ReadableObject>(ReadableObject{std::move(read_at), size});
  return Recognised<ObjectSource>(std::make_unique<ObjectStream>(object, 0), size, limits, object);
}

}  // namespace gotrace
