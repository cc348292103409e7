// The decompressors that MakeDecompressor() returns.
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gotrace/byte_stream.h"
#include "gotrace/fault.h"

namespace gotrace {
namespace {

constexpr size_t kInputSize = 256 << 10;

// The common part of both decompressors: the buffer of compressed bytes, and error reporting.
class Decompressor : public ByteStream {
 public:
  absl::StatusOr<size_t> Read(char* buffer, size_t size) final {
    if (!status_.ok()) return status_;
    while (true) {
      if (begin_ == end_ && !at_end_ && !more_held_) {
        if (status_ = Refill(); !status_.ok()) return status_;
      }
      const size_t written = Decompress(buffer, size, &status_);
      more_held_ = written == size;
      // Bytes decompressed before an error are returned first.
      if (written > 0) return Count(written);
      if (!status_.ok()) return status_;
      if (begin_ != end_ || !at_end_) continue;
      if (between_frames()) return 0;
      return status_ = FaultStatus({FaultId::kCompressedTruncated, Place(),
                                    absl::StrCat("the ", name_, " data ends inside a frame, after ",
                                                 input_size_, " bytes of the compressed file")});
    }
  }

 protected:
  Decompressor(absl::string_view name, std::unique_ptr<ByteStream> input, uint64_t most)
      : name_(name), input_(std::move(input)), most_(most), buffer_(new char[kInputSize]) {}

  // Decompresses bytes from begin_ on into at most `size` bytes at `buffer`, moves begin_, and
  // returns how many bytes it wrote. May write some even if it sets `*status` to an error, after
  // which it is not called again.
  virtual size_t Decompress(char* buffer, size_t size, absl::Status* status) = 0;

  // Returns whether the input may end here.
  virtual bool between_frames() const = 0;

  // Returns whether the library may hold output for which there was no room.
  bool more_held() const { return more_held_; }

  // The place of the damage is not reported: where the libraries notice it depends on how much
  // input they get at once.
  absl::Status Corrupt(absl::string_view why) const {
    return FaultStatus({FaultId::kCompressedCorrupt, Place(),
                        absl::StrCat("the ", name_, " data is damaged: ", why)});
  }

  // For data after a complete frame that does not begin another one. All frames before it are
  // complete, so the place is certain.
  absl::Status NotAFrame(absl::string_view frame_word) const {
    return FaultStatus(
        {FaultId::kCompressedCorrupt, Place(),
         absl::StrCat("expected the end of the compressed file or another ", name_, " ", frame_word,
                      " at its byte ", frame_begin_,
                      ", found other data; everything before that is intact: extract it with "
                      "`head -c ",
                      frame_begin_, "`")});
  }

  // Records that the next frame may begin at begin_.
  void BeginFrame() { frame_begin_ = input_size_ - (end_ - begin_); }
  bool is_first_frame() const { return frame_begin_ == 0; }

  // Not a fault of the data.
  absl::Status NoMemory() const {
    return absl::ResourceExhaustedError(
        absl::StrCat("there is not enough memory to decompress the ", name_, " data"));
  }

  const char* begin_ = nullptr;
  const char* end_ = nullptr;

 private:
  // Returns how many of `written` bytes the limit allows, or the fault if that is 0.
  absl::StatusOr<size_t> Count(size_t written) {
    const uint64_t left = most_ - output_size_;
    output_size_ += std::min<uint64_t>(written, left);
    if (written <= left) return written;
    status_ = FaultStatus({FaultId::kLimitDecompressedBytes,
                           Place(),
                           LimitMessage(FaultId::kLimitDecompressedBytes, most_, most_),
                           {}});
    if (left == 0) return status_;
    return static_cast<size_t>(left);
  }

  absl::Status Refill() {
    const absl::StatusOr<size_t> count = input_->Read(buffer_.get(), kInputSize);
    if (!count.ok()) return count.status();
    begin_ = buffer_.get();
    end_ = begin_ + *count;
    input_size_ += *count;
    at_end_ = *count == 0;
    return absl::OkStatus();
  }

  const absl::string_view name_;
  const std::unique_ptr<ByteStream> input_;
  const uint64_t most_;  // The maximum size of the output, in bytes.
  uint64_t output_size_ = 0;
  const std::unique_ptr<char[]> buffer_;
  uint64_t input_size_ = 0;   // The number of compressed bytes read.
  uint64_t frame_begin_ = 0;  // The offset of the current or next frame in them.
  bool at_end_ = false;
  bool more_held_ = false;
  absl::Status status_;
};

class ZstdStream final : public Decompressor {
 public:
  ZstdStream(std::unique_ptr<ByteStream> input, uint64_t most)
      : Decompressor("zstd", std::move(input), most), context_(ZSTD_createDCtx()) {}
  ~ZstdStream() override { ZSTD_freeDCtx(context_); }

 protected:
  size_t Decompress(char* buffer, size_t size, absl::Status* status) override {
    if (context_ == nullptr) {
      *status = NoMemory();
      return 0;
    }
    const size_t room = more_held() ? 0 : InputStep();
    ZSTD_inBuffer in = {begin_, std::min<size_t>(end_ - begin_, room), 0};
    ZSTD_outBuffer out = {buffer, size, 0};
    // Without input, the library would treat the end of a frame as the beginning of the next one.
    if (in.size == 0 && between_frames_) return 0;
    const size_t result = ZSTD_decompressStream(context_, &out, &in);
    if (ZSTD_isError(result) != 0) {
      *status = ErrorOf(result);
      return 0;
    }
    begin_ += in.pos;
    wanted_ = result;
    between_frames_ = result == 0;
    if (between_frames_) BeginFrame();
    return out.pos;
  }

  bool between_frames() const override { return between_frames_; }

 private:
  // Returns how many bytes the library gets at once: never the end of a block together with the
  // header of the next one, since it does not return the output of a call that ends in an error.
  size_t InputStep() const {
    constexpr size_t kBlockHeaderSize = 3;
    if (between_frames_) return 1;
    return wanted_ > kBlockHeaderSize ? wanted_ - kBlockHeaderSize : wanted_;
  }

  absl::Status ErrorOf(size_t result) const {
    switch (ZSTD_getErrorCode(result)) {
      case ZSTD_error_frameParameter_windowTooLarge:
        return Corrupt(
            "it needs more than 128 MB of memory; if it was compressed with `zstd --long`, "
            "decompress it first with `zstd -d --long=31`");
      case ZSTD_error_memory_allocation:
        return NoMemory();
      case ZSTD_error_prefix_unknown:
        if (!is_first_frame()) return NotAFrame("frame");
        [[fallthrough]];
      default:
        return Corrupt(ZSTD_getErrorName(result));
    }
  }

  ZSTD_DCtx* const context_;
  bool between_frames_ = true;
  size_t wanted_ = 0;  // The bytes that the library asked for last, including a block header.
};

class GzipStream final : public Decompressor {
 public:
  GzipStream(std::unique_ptr<ByteStream> input, uint64_t most)
      : Decompressor("gzip", std::move(input), most) {
    // A window of 15 bits; adding 16 selects the gzip format.
    ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK;
  }
  ~GzipStream() override {
    if (ready_) inflateEnd(&stream_);
  }

 protected:
  size_t Decompress(char* buffer, size_t size, absl::Status* status) override {
    if (!ready_) {
      *status = NoMemory();
      return 0;
    }
    if (between_members_) {
      // Tapes and disks pad with zeros. gzip ignores them too if nothing follows.
      while (begin_ != end_ && *begin_ == 0) ++begin_;
      if (begin_ == end_) return 0;
      BeginFrame();
      inflateReset(&stream_);
      between_members_ = false;
    }
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(begin_));
    stream_.avail_in = static_cast<uInt>(end_ - begin_);
    stream_.next_out = reinterpret_cast<Bytef*>(buffer);
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(size, 1 << 30));
    const uInt room = stream_.avail_out;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    begin_ = reinterpret_cast<const char*>(stream_.next_in);
    if (result == Z_STREAM_END) {
      between_members_ = true;
    } else if (result == Z_MEM_ERROR) {
      *status = NoMemory();
    } else if (result == Z_DATA_ERROR && stream_.total_in <= kMemberMagicSize &&
               !is_first_frame()) {
      *status = NotAFrame("member");
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      *status = Corrupt(stream_.msg == nullptr ? zError(result) : stream_.msg);
    }
    return room - stream_.avail_out;
  }

  bool between_frames() const override { return between_members_; }

 private:
  // The size of the magic number of a member. The library rejects a wrong one as a whole.
  static constexpr uLong kMemberMagicSize = 2;

  z_stream stream_ = {};
  bool ready_ = false;
  bool between_members_ = true;
};

}  // namespace

Compression FindCompression(absl::string_view bytes) {
  if (bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b') return Compression::kGzip;
  if (bytes.size() < kMagicSize) return Compression::kNone;
  uint32_t magic = 0;
  for (size_t i = kMagicSize; i > 0; --i) magic = magic << 8 | static_cast<uint8_t>(bytes[i - 1]);
  const bool skippable =
      (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == static_cast<uint32_t>(ZSTD_MAGIC_SKIPPABLE_START);
  return magic == ZSTD_MAGICNUMBER || skippable ? Compression::kZstd : Compression::kNone;
}

std::unique_ptr<ByteStream> MakeDecompressor(Compression compression,
                                             std::unique_ptr<ByteStream> input, uint64_t most) {
  if (compression == Compression::kZstd) {
    return std::make_unique<ZstdStream>(std::move(input), most);
  }
  return std::make_unique<GzipStream>(std::move(input), most);
}

}  // namespace gotrace
