#include "parser/byte_source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gotrace {
namespace {

// A file in memory, or nothing for an empty one.
class Mapping {
 public:
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (size_ > 0) munmap(data_, size_);
  }

  absl::Status Map(int fd, size_t size, const std::string& name) {
    if (size == 0) return absl::OkStatus();
    void* const data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) return absl::ErrnoToStatus(errno, absl::StrCat("mapping ", name));
    madvise(data, size, MADV_SEQUENTIAL);
    data_ = data;
    size_ = size;
    return absl::OkStatus();
  }

  // Lets the kernel take back the memory of the first `size` bytes, which can be read again. Does
  // so in large steps, since each is a system call.
  void Forget(size_t size) {
    constexpr size_t kStep = 1 << 20;
    size = size / kStep * kStep;
    if (size <= forgotten_) return;
    madvise(static_cast<char*>(data_) + forgotten_, size - forgotten_, MADV_DONTNEED);
    forgotten_ = size;
  }

  absl::string_view bytes() const {
    return absl::string_view(static_cast<const char*>(data_), size_);
  }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
  size_t forgotten_ = 0;
};

// All the bytes are in memory: the window is what remains of them.
class SpanSource final : public ByteSource {
 public:
  // `mapping` may be nullptr, where the bytes belong to the caller.
  SpanSource(absl::string_view bytes, std::unique_ptr<Mapping> mapping)
      : mapping_(std::move(mapping)), size_(bytes.size()) {
    window_ = bytes;
  }

  absl::Status Fill(size_t) override { return absl::OkStatus(); }

  void Release(uint64_t offset) override {
    if (mapping_ != nullptr) mapping_->Forget(offset);
  }

  uint64_t input_size() const override { return size_; }
  uint64_t input_read() const override { return offset_; }

 private:
  const std::unique_ptr<Mapping> mapping_;
  const uint64_t size_;
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

// Reads a stream into blocks. The window lies in the last one; what did not fit it was copied to
// the beginning of the next, so that every batch is contiguous.
class StreamSource final : public ByteSource {
 public:
  StreamSource(std::unique_ptr<ByteStream> stream, uint64_t input_size,
               std::shared_ptr<uint64_t> input_read)
      : stream_(std::move(stream)), input_size_(input_size), input_read_(std::move(input_read)) {}

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
    while (blocks_.size() > 1 && blocks_.front().end_offset <= offset) {
      spare_ = std::move(blocks_.front().data);
      blocks_.pop_front();
    }
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
  static constexpr size_t kBlockSize = 1 << 20;
  static_assert(kBlockSize >= 2 * kMaxFill);

  struct Block {
    std::unique_ptr<char[]> data;
    uint64_t end_offset = 0;  // Of its last byte and one, once it is not the last block.
  };

  // The end of the window, counted from the beginning of the last block.
  size_t WindowEnd() const { return window_.data() + window_.size() - blocks_.back().data.get(); }

  void AddBlock() {
    std::unique_ptr<char[]> data = std::move(spare_);
    if (data == nullptr) data.reset(new char[kBlockSize]);
    if (!window_.empty()) std::memcpy(data.get(), window_.data(), window_.size());
    // What was copied is not needed in its old place: nobody has a view of it yet.
    if (!blocks_.empty()) blocks_.back().end_offset = offset_;
    window_ = absl::string_view(data.get(), window_.size());
    blocks_.push_back({std::move(data), 0});
  }

  const std::unique_ptr<ByteStream> stream_;
  const uint64_t input_size_;
  const std::shared_ptr<uint64_t> input_read_;
  std::deque<Block> blocks_;
  std::unique_ptr<char[]> spare_;  // A released block, kept for the next one.
  bool at_end_ = false;
  absl::Status status_;
};

// Keeps a mapping alive for a decompressor that reads it.
class MappedStream final : public ByteStream {
 public:
  explicit MappedStream(std::unique_ptr<Mapping> mapping)
      : mapping_(std::move(mapping)), stream_(mapping_->bytes()) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    mapping_->Forget(read_);
    absl::StatusOr<size_t> count = stream_.Read(buffer, size);
    read_ += *count;
    return count;
  }

 private:
  const std::unique_ptr<Mapping> mapping_;
  MemoryStream stream_;
  size_t read_ = 0;
};

std::unique_ptr<ByteSource> Decompressed(Compression compression,
                                         std::unique_ptr<ByteStream> stream, uint64_t input_size,
                                         const ReaderLimits& limits) {
  auto count = std::make_shared<uint64_t>(0);
  stream = std::make_unique<CountingStream>(std::move(stream), count);
  if (compression != Compression::kNone) {
    stream = MakeDecompressor(compression, std::move(stream), limits.decompressed_bytes);
  }
  return std::make_unique<StreamSource>(std::move(stream), input_size, std::move(count));
}

absl::StatusOr<int> OpenFd(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("opening ", path));
  return fd;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ByteStream>> OpenStream(const std::string& path) {
  if (path == "-") {
    return std::make_unique<FdStream>(STDIN_FILENO, /*owned=*/false, "the standard input");
  }
  const absl::StatusOr<int> fd = OpenFd(path);
  if (!fd.ok()) return fd.status();
  return std::make_unique<FdStream>(*fd, /*owned=*/true, path);
}

absl::StatusOr<std::unique_ptr<ByteSource>> OpenSource(const std::string& path,
                                                       const ReaderLimits& limits) {
  if (path == "-") return SourceFromStream(*OpenStream(path), limits);
  const absl::StatusOr<int> fd = OpenFd(path);
  if (!fd.ok()) return fd.status();
  auto stream = std::make_unique<FdStream>(*fd, /*owned=*/true, path);
  struct stat info;
  if (fstat(*fd, &info) != 0) return absl::ErrnoToStatus(errno, absl::StrCat("reading ", path));
  // A regular file of no size may have content all the same, as those of procfs do.
  if (!S_ISREG(info.st_mode) || info.st_size == 0)
    return SourceFromStream(std::move(stream), limits);
  auto mapping = std::make_unique<Mapping>();
  const uint64_t size = static_cast<uint64_t>(info.st_size);
  if (absl::Status status = mapping->Map(*fd, size, path); !status.ok()) return status;
  const absl::string_view bytes = mapping->bytes();
  const Compression compression = FindCompression(bytes);
  if (compression == Compression::kNone) {
    return std::make_unique<SpanSource>(bytes, std::move(mapping));
  }
  return Decompressed(compression, std::make_unique<MappedStream>(std::move(mapping)), size,
                      limits);
}

absl::StatusOr<std::unique_ptr<ByteSource>> SourceFromBytes(absl::string_view bytes,
                                                            const ReaderLimits& limits) {
  const Compression compression = FindCompression(bytes);
  if (compression == Compression::kNone) return std::make_unique<SpanSource>(bytes, nullptr);
  return Decompressed(compression, std::make_unique<MemoryStream>(bytes), bytes.size(), limits);
}

absl::StatusOr<std::unique_ptr<ByteSource>> SourceFromStream(std::unique_ptr<ByteStream> stream,
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
  return Decompressed(compression,
                      std::make_unique<PrefixedStream>(std::move(magic), std::move(stream)),
                      /*input_size=*/0, limits);
}

}  // namespace gotrace
