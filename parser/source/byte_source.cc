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

// All the bytes are in memory and the caller's: the window is what remains of them.
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

// Counts what passes through, to tell how far a compressed or piped input was read.
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

// Gives `begin` and then what `rest` gives.
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

// A block of a stream's bytes. A block may be left for the next one with almost kMaxFill bytes
// unused, so it is much larger.
constexpr size_t kBlockSize = 2 << 20;
static_assert(kBlockSize >= 2 * ByteSource::kMaxFill);

// On x86-64 that is the size of a large page, which is had at once: of small ones there are
// hundreds.
struct FreeBlock {
  void operator()(char* data) const { ::operator delete[](data, std::align_val_t(kBlockSize)); }
};
using BlockData = std::unique_ptr<char[], FreeBlock>;

// `is_large` asks for large pages, of which a block that is hardly used would waste most.
BlockData MakeBlock(bool is_large) {
  BlockData data(static_cast<char*>(::operator new[](kBlockSize, std::align_val_t(kBlockSize))));
#ifdef MADV_HUGEPAGE
  // Where there are none, it goes without.
  if (is_large) madvise(data.get(), kBlockSize, MADV_HUGEPAGE);
#endif
  return data;
}

// Reads a stream into blocks. The window lies in the last one; what did not fit it was copied to
// the beginning of the next, so that every batch is contiguous.
class StreamSource final : public ByteSource {
 public:
  // `file` is what `stream` gives the bytes of, as they are, if they can be read again.
  StreamSource(std::unique_ptr<ByteStream> stream, const FdStream* file, uint64_t input_size,
               std::shared_ptr<uint64_t> input_read)
      : stream_(std::move(stream)),
        file_(file),
        input_size_(input_size),
        input_read_(std::move(input_read)) {
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
    // Some call this for each event, and mostly there is nothing to let go of.
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

  void LeaveAtEnd() override {
    if (file_ != nullptr) file_->SeekToEnd();
  }

  std::unique_ptr<ByteSource> Fork(uint64_t offset) const override;
  size_t ReadAt(uint64_t offset, char* buffer, size_t size) const override {
    return file_ == nullptr ? 0 : file_->ReadAt(offset, buffer, size);
  }

 private:
  static constexpr size_t kMostSpares = 8;
  static constexpr uint64_t kNever = static_cast<uint64_t>(-1);

  struct Block {
    BlockData data;
    uint64_t end_offset = 0;  // Of its last byte and one, once it is not the last block.
  };

  // The end of the window, counted from the beginning of the last block.
  size_t WindowEnd() const { return window_.data() + window_.size() - blocks_.back().data.get(); }

  void ReleaseBlocks(uint64_t offset) {
    while (blocks_.size() > 1 && blocks_.front().end_offset <= offset) {
      if (spares_.size() < kMostSpares) spares_.push_back(std::move(blocks_.front().data));
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
    // What was copied is not needed in its old place: nobody has a view of it yet.
    if (!blocks_.empty()) blocks_.back().end_offset = offset_;
    window_ = absl::string_view(data.get(), window_.size());
    blocks_.push_back({std::move(data), 0});
    FindNextRelease();
  }

  const std::unique_ptr<ByteStream> stream_;
  const FdStream* const file_;
  const uint64_t input_size_;
  const std::shared_ptr<uint64_t> input_read_;
  std::deque<Block> blocks_;
  uint64_t next_release_ = kNever;  // From which offset on a block can be released.
  // Released blocks, kept for the next generation: fresh memory costs as much as the reading.
  std::vector<BlockData> spares_;
  bool at_end_ = false;
  absl::Status status_;
};

// A source of what `stream` gives, of which `read` bytes were given before.
std::unique_ptr<StreamSource> MakeSource(std::unique_ptr<ByteStream> stream, const FdStream* file,
                                         uint64_t input_size, uint64_t read) {
  auto count = std::make_shared<uint64_t>(read);
  stream = std::make_unique<CountingStream>(std::move(stream), count);
  return std::make_unique<StreamSource>(std::move(stream), file, input_size, std::move(count));
}

std::unique_ptr<ByteSource> StreamSource::Fork(uint64_t offset) const {
  std::unique_ptr<FdStream> fork = file_ == nullptr ? nullptr : file_->Fork(offset);
  if (fork == nullptr) return nullptr;
  const FdStream* const file = fork.get();
  return MakeSource(std::move(fork), file, input_size_, offset);
}

std::unique_ptr<ByteSource> Decompressed(Compression compression,
                                         std::unique_ptr<ByteStream> stream, uint64_t input_size,
                                         const ReaderLimits& limits) {
  auto count = std::make_shared<uint64_t>(0);
  stream = std::make_unique<CountingStream>(std::move(stream), count);
  stream = MakeDecompressor(compression, std::move(stream), limits.decompressed_bytes);
  return std::make_unique<StreamSource>(std::move(stream), /*file=*/nullptr, input_size,
                                        std::move(count));
}

// Recognises what `stream` gives, of which `size` bytes are to come, or 0 if that is not known.
// `file` is the stream, if it is one of a file, or nullptr.
absl::StatusOr<std::unique_ptr<ByteSource>> Recognised(std::unique_ptr<ByteStream> stream,
                                                       const FdStream* file, uint64_t size,
                                                       const ReaderLimits& limits) {
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
  return MakeSource(std::move(stream), file, size, /*read=*/0);
}

absl::StatusOr<std::unique_ptr<FdStream>> OpenFile(const std::string& path) {
  if (path == "-") {
    return std::make_unique<FdStream>(STDIN_FILENO, /*owned=*/false, "the standard input");
  }
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("opening ", internal::QuotedUnlessPlain(path)));
  }
  // Lets the kernel read ahead more than it does otherwise. There is no harm where it cannot.
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
  return Recognised(*std::move(stream), file, file->size_at_first(), limits);
}

absl::StatusOr<std::unique_ptr<ByteSource>> SourceFromBytes(absl::string_view bytes,
                                                            const ReaderLimits& limits) {
  const Compression compression = FindCompression(bytes);
  if (compression == Compression::kNone) return std::make_unique<SpanSource>(bytes);
  return Decompressed(compression, std::make_unique<MemoryStream>(bytes), bytes.size(), limits);
}

absl::StatusOr<std::unique_ptr<ByteSource>> SourceFromStream(std::unique_ptr<ByteStream> stream,
                                                             const ReaderLimits& limits) {
  return Recognised(std::move(stream), /*file=*/nullptr, /*size=*/0, limits);
}

}  // namespace gotrace
