#include "gotrace/byte_stream.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace byte_stream_test {

std::string RandomBytes(size_t size) {
  std::mt19937 random(static_cast<uint32_t>(size));
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

void Sleep() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

struct Pipe {
  Pipe() { EXPECT_EQ(pipe(ends), 0); }
  int read_end() const { return ends[0]; }
  void Write(absl::string_view bytes) const {
    EXPECT_EQ(write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void CloseWriteEnd() const { close(ends[1]); }
  int ends[2] = {-1, -1};
};

TEST(MemoryStreamTest, ReturnsAllBytesAndThenNone) {
  for (const size_t size : {1, 2, 3, 100}) {
    MemoryStream stream("abcdefg");
    EXPECT_EQ(ReadStream(&stream, size).bytes, "abcdefg");
    char byte = 0;
    EXPECT_EQ(stream.Read(&byte, 1).value(), 0u);
  }
  MemoryStream empty("");
  EXPECT_EQ(ReadStream(&empty).bytes, "");
}

TEST(FdStreamTest, ReturnsAvailableBytesWithoutWaitingForMore) {
  Pipe pipe;
  FdStream stream(pipe.read_end(), /*owned=*/true, "the pipe");
  char buffer[100];
  pipe.Write("abc");
  EXPECT_EQ(stream.Read(buffer, sizeof buffer).value(), 3u);
  pipe.Write("defg");
  EXPECT_EQ(stream.Read(buffer, 2).value(), 2u);
  EXPECT_EQ(absl::string_view(buffer, 2), "de");
  EXPECT_EQ(stream.Read(buffer, sizeof buffer).value(), 2u);
  EXPECT_EQ(absl::string_view(buffer, 2), "fg");
  pipe.CloseWriteEnd();
  EXPECT_EQ(stream.Read(buffer, sizeof buffer).value(), 0u);
  EXPECT_EQ(stream.Read(buffer, sizeof buffer).value(), 0u);
}

TEST(FdStreamTest, WaitsWhereANonBlockingDescriptorHasNothing) {
  Pipe pipe;
  ASSERT_EQ(fcntl(pipe.read_end(), F_SETFL, O_NONBLOCK), 0);
  FdStream stream(pipe.read_end(), /*owned=*/true, "the pipe");
  std::thread writer([&] {
    for (const char* const piece : {"one ", "two ", "three"}) {
      Sleep();
      pipe.Write(piece);
    }
    Sleep();
    pipe.CloseWriteEnd();
  });
  const StreamContent content = ReadStream(&stream);
  writer.join();
  EXPECT_TRUE(content.status.ok());
  EXPECT_EQ(content.bytes, "one two three");
}

std::atomic<int> signals{0};

TEST(FdStreamTest, ContinuesAfterSignals) {
  // Without SA_RESTART a signal ends read() with EINTR.
  struct sigaction action = {};
  action.sa_handler = [](int) { ++signals; };
  ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
  Pipe pipe;
  FdStream stream(pipe.read_end(), /*owned=*/true, "the pipe");
  const pthread_t reader = pthread_self();
  std::thread writer([&] {
    for (int i = 0; i < 5; ++i) {
      Sleep();
      pthread_kill(reader, SIGUSR1);
      // Two pending signals would be delivered as one.
      while (signals <= i) Sleep();
    }
    pipe.Write("after signals");
    pipe.CloseWriteEnd();
  });
  const StreamContent content = ReadStream(&stream);
  writer.join();
  EXPECT_TRUE(content.status.ok()) << content.status;
  EXPECT_EQ(content.bytes, "after signals");
  EXPECT_EQ(signals, 5);
}

TEST(FdStreamTest, ReportsErrorsWithItsName) {
  FdStream stream(-1, /*owned=*/false, "the input");
  char byte = 0;
  const absl::Status status = stream.Read(&byte, 1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StartsWith(status.message(), "reading the input")) << status;
  EXPECT_FALSE(FaultOf(status).has_value());
}

TEST(FdStreamTest, ClosesWhatItOwns) {
  Pipe pipe;
  { FdStream stream(pipe.read_end(), /*owned=*/false, "x"); }
  EXPECT_NE(fcntl(pipe.read_end(), F_GETFD), -1);
  { FdStream stream(pipe.read_end(), /*owned=*/true, "x"); }
  EXPECT_EQ(fcntl(pipe.read_end(), F_GETFD), -1);
  pipe.CloseWriteEnd();
}

// Opens an unnamed temporary file of `size` bytes for reading and writing.
int TemporaryFile(size_t size) {
  std::string path = absl::StrCat(testing::TempDir(), "/byte_stream_test.XXXXXX");
  const int fd = mkstemp(path.data());
  EXPECT_GE(fd, 0);
  unlink(path.c_str());
  const std::string bytes = RandomBytes(size);
  EXPECT_EQ(pwrite(fd, bytes.data(), size, 0), static_cast<ssize_t>(size));
  return fd;
}

TEST(FdStreamTest, ReportsThatAFileBecameShorter) {
  // After the read position, at it, and before it.
  for (const int end : {250, 100, 0}) {
    const int fd = TemporaryFile(300);
    FdStream stream(fd, /*owned=*/true, "the file");
    char buffer[100];
    ASSERT_EQ(stream.Read(buffer, sizeof buffer).value(), 100u);
    ASSERT_EQ(ftruncate(fd, end), 0);
    const StreamContent rest = ReadStream(&stream, 1000);
    EXPECT_EQ(rest.bytes, RandomBytes(300).substr(100, std::max(end, 100) - 100));
    EXPECT_EQ(rest.status, absl::AbortedError(absl::StrCat(
                               "reading the file: the file shrank while it was being read, from "
                               "300 to ",
                               end, " bytes; reading had reached byte ", std::max(end, 100))));
    EXPECT_EQ(stream.Read(buffer, 1).status(), rest.status);
  }
}

TEST(FdStreamTest, AFileMayBecomeShorterOnceItWasRead) {
  const int fd = TemporaryFile(300);
  FdStream stream(fd, /*owned=*/true, "the file");
  char buffer[300];
  ASSERT_EQ(stream.Read(buffer, sizeof buffer).value(), 300u);
  ASSERT_EQ(ftruncate(fd, 0), 0);
  EXPECT_EQ(stream.Read(buffer, 1).value(), 0u);
}

TEST(FdStreamTest, ReadsAFileFromItsPositionAndAsFarAsItHasGrown) {
  const int fd = TemporaryFile(300);
  ASSERT_EQ(lseek(fd, 120, SEEK_SET), 120);
  FdStream stream(fd, /*owned=*/true, "the file");
  EXPECT_EQ(stream.size_at_first(), 180u);
  ASSERT_EQ(pwrite(fd, "more", 4, 300), 4);
  const StreamContent content = ReadStream(&stream, 7);
  EXPECT_TRUE(content.status.ok()) << content.status;
  EXPECT_EQ(content.bytes, absl::StrCat(RandomBytes(300).substr(120), "more"));
}

TEST(FdStreamTest, OnlyFilesHaveASize) {
  Pipe pipe;
  FdStream stream(pipe.read_end(), /*owned=*/true, "the pipe");
  EXPECT_EQ(stream.size_at_first(), 0u);
  EXPECT_EQ(stream.Fork(0), nullptr);
  char byte;
  EXPECT_EQ(stream.ReadAt(0, &byte, 1), 0u);
  pipe.CloseWriteEnd();
}

TEST(FdStreamTest, AForkReadsOnItsOwn) {
  const std::string bytes = RandomBytes(300);
  const int fd = TemporaryFile(300);
  ASSERT_EQ(lseek(fd, 20, SEEK_SET), 20);
  std::unique_ptr<FdStream> fork;
  {
    FdStream stream(fd, /*owned=*/true, "the file");
    fork = stream.Fork(100);
    const std::unique_ptr<FdStream> at_end = stream.Fork(280);
    char buffer[50];
    ASSERT_EQ(fork->Read(buffer, 50).value(), 50u);
    EXPECT_EQ(absl::string_view(buffer, 50), bytes.substr(120, 50));
    EXPECT_EQ(ReadStream(&stream, 64).bytes, bytes.substr(20));
    EXPECT_EQ(ReadStream(at_end.get(), 64).bytes, "");
    EXPECT_EQ(stream.ReadAt(270, buffer, 50), 10u);
    EXPECT_EQ(absl::string_view(buffer, 10), bytes.substr(290));
    EXPECT_EQ(stream.ReadAt(280, buffer, 50), 0u);
  }
  // The fork outlives the original, and shares the descriptor's position only if asked to.
  EXPECT_EQ(ReadStream(fork.get(), 64).bytes, bytes.substr(170));
}

TEST(FdStreamTest, AForkReportsThatTheFileBecameShorter) {
  const int fd = TemporaryFile(300);
  const FdStream stream(fd, /*owned=*/true, "the file");
  const std::unique_ptr<FdStream> fork = stream.Fork(100);
  ASSERT_EQ(ftruncate(fd, 200), 0);
  const StreamContent content = ReadStream(fork.get(), 64);
  EXPECT_EQ(content.bytes, RandomBytes(300).substr(100, 100));
  EXPECT_EQ(content.status.code(), absl::StatusCode::kAborted);
}

TEST(FindCompressionTest, GoesByTheFirstBytes) {
  struct {
    absl::string_view bytes;
    Compression compression;
  } const cases[] = {
      {"", Compression::kNone},
      {"\x1f", Compression::kNone},
      {"\x1f\x8b", Compression::kGzip},
      {"\x1f\x8b\x08", Compression::kGzip},
      {"\x1f\x8cxx", Compression::kNone},
      {"\x28\xb5\x2f", Compression::kNone},
      {"\x28\xb5\x2f\xfd", Compression::kZstd},
      {"\x28\xb5\x2f\xfdmore", Compression::kZstd},
      {"\x28\xb5\x2f\xfe", Compression::kNone},
      {"\x50\x2a\x4d\x18", Compression::kZstd},
      {"\x5f\x2a\x4d\x18", Compression::kZstd},
      {"\x4f\x2a\x4d\x18", Compression::kNone},
      {"\x60\x2a\x4d\x18", Compression::kNone},
      {"go 1.22 trace", Compression::kNone},
  };
  for (const auto& c : cases) EXPECT_EQ(FindCompression(c.bytes), c.compression) << c.bytes;
}

// Compresses with zstd and a checksum, so that any damage is detected.
std::string ZstdChecked(absl::string_view bytes) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress2(context, out.data(), out.size(), bytes.data(), bytes.size()));
  ZSTD_freeCCtx(context);
  return out;
}

std::string Skippable(absl::string_view content) {
  std::string frame("\x53\x2a\x4d\x18", 4);
  for (int shift = 0; shift < 32; shift += 8) {
    frame.push_back(static_cast<char>(content.size() >> shift));
  }
  return absl::StrCat(frame, content);
}

class DecompressorTest : public testing::TestWithParam<Compression> {
 protected:
  bool zstd() const { return GetParam() == Compression::kZstd; }
  absl::string_view name() const { return zstd() ? "zstd" : "gzip"; }
  std::string Compress(absl::string_view bytes) const {
    return zstd() ? ZstdChecked(bytes) : Gzip(bytes);
  }
  StreamContent Decompress(const std::string& bytes, size_t piece = 1 << 20,
                           size_t size = 1 << 16) const {
    const auto stream = MakeDecompressor(GetParam(), std::make_unique<PieceStream>(bytes, piece));
    StreamContent content = ReadStream(stream.get(), size);
    char byte = 0;
    const absl::StatusOr<size_t> again = stream->Read(&byte, 1);
    EXPECT_EQ(again.status(), content.status);
    EXPECT_EQ(again.value_or(0), 0u);
    return content;
  }
};

TEST_P(DecompressorTest, ReturnsTheContentHoweverItIsRead) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{1000}, size_t{70000}}) {
    for (const std::string& content : {RandomBytes(size), std::string(size, 'x')}) {
      const std::string compressed = Compress(content);
      EXPECT_EQ(FindCompression(compressed), GetParam());
      for (const size_t piece : {size_t{1}, size_t{3}, size_t{1} << 20}) {
        for (const size_t buffer : {size_t{1}, size_t{5}, size_t{1000}, size_t{1} << 20}) {
          const StreamContent found = Decompress(compressed, piece, buffer);
          ASSERT_TRUE(found.status.ok()) << found.status;
          ASSERT_TRUE(found.bytes == content) << size << " " << piece << " " << buffer;
        }
      }
    }
  }
}

TEST_P(DecompressorTest, ReadsMoreThanItsBufferHolds) {
  const std::string content = RandomBytes(1500000);
  const StreamContent found = Decompress(Compress(content), 1 << 30, 1 << 20);
  EXPECT_TRUE(found.status.ok()) << found.status;
  EXPECT_TRUE(found.bytes == content);
}

TEST_P(DecompressorTest, ReadsFramesOneAfterTheOther) {
  std::string compressed;
  std::string content;
  for (const size_t size : {5, 0, 3000, 1, 0}) {
    content += RandomBytes(size);
    compressed += Compress(RandomBytes(size));
    if (zstd()) compressed += Skippable(RandomBytes(size));
  }
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{1} << 20}) {
    for (const size_t buffer : {size_t{1}, size_t{1} << 20}) {
      const StreamContent found = Decompress(compressed, piece, buffer);
      EXPECT_TRUE(found.status.ok()) << found.status;
      EXPECT_TRUE(found.bytes == content) << piece << " " << buffer;
    }
  }
}

TEST_P(DecompressorTest, NoInputIsNoContent) {
  const StreamContent found = Decompress("");
  EXPECT_TRUE(found.status.ok()) << found.status;
  EXPECT_EQ(found.bytes, "");
}

TEST_P(DecompressorTest, EveryCutIsTruncated) {
  const std::string first = absl::StrCat(RandomBytes(100), std::string(300, 'x'));
  const std::string second = RandomBytes(50);
  const size_t boundary = Compress(first).size();
  const std::string compressed = Compress(first) + Compress(second);
  for (size_t size = 1; size < compressed.size(); ++size) {
    const StreamContent found = Decompress(compressed.substr(0, size));
    EXPECT_TRUE(absl::StartsWith(first + second, found.bytes));
    EXPECT_GE(found.bytes.size(), size >= boundary ? first.size() : 0);
    if (size == boundary) {
      EXPECT_TRUE(found.status.ok()) << found.status;
      continue;
    }
    EXPECT_TRUE(IsFault(found.status, FaultId::kCompressedTruncated, std::nullopt)) << size;
    EXPECT_EQ(found.status.message(),
              absl::StrCat("the ", name(), " data ends inside a frame, after ", size,
                           " bytes of the compressed file [compressed-truncated]"));
  }
}

TEST_P(DecompressorTest, DamageNeverPassesForContent) {
  const std::string content = absl::StrCat(RandomBytes(100), std::string(300, 'x'));
  const std::string compressed = Compress(content);
  int corrupt = 0;
  for (size_t i = 0; i < compressed.size(); ++i) {
    for (const int bit : {0, 3, 7}) {
      std::string damaged = compressed;
      damaged[i] = static_cast<char>(damaged[i] ^ 1 << bit);
      const StreamContent found = Decompress(damaged);
      if (found.status.ok()) {
        // Some bits have no effect: the time in a gzip header, the padding of a block's last byte.
        EXPECT_EQ(found.bytes, content) << i;
        continue;
      }
      const std::optional<Fault> fault = FaultOf(found.status);
      ASSERT_TRUE(fault.has_value()) << found.status;
      if (fault->id == FaultId::kCompressedCorrupt) {
        ++corrupt;
      } else {
        EXPECT_EQ(fault->id, FaultId::kCompressedTruncated) << found.status;
      }
    }
  }
  EXPECT_GT(corrupt, static_cast<int>(compressed.size()));
}

TEST_P(DecompressorTest, DistinguishesCorruptFromTruncated) {
  const std::string content = RandomBytes(1000);
  std::string damaged = Compress(content);
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  const StreamContent found = Decompress(damaged);
  EXPECT_TRUE(IsFault(found.status, FaultId::kCompressedCorrupt, std::nullopt));
  EXPECT_TRUE(
      absl::StartsWith(found.status.message(), absl::StrCat("the ", name(), " data is damaged: ")))
      << found.status;
}

TEST_P(DecompressorTest, ReportsWhereFramesEndAndOtherDataBegins) {
  const std::string content = RandomBytes(1000);
  const std::string whole = Compress(content) + Compress(content);
  for (const size_t piece : {1, 2, 3, 1 << 16}) {
    const StreamContent found = Decompress(whole + "other data", piece);
    EXPECT_TRUE(found.bytes == content + content);
    EXPECT_TRUE(IsFault(found.status, FaultId::kCompressedCorrupt, std::nullopt));
    EXPECT_EQ(found.status.message(),
              absl::StrCat("expected the end of the compressed file or another ", name(),
                           zstd() ? " frame" : " member", " at its byte ", whole.size(),
                           ", found other data; everything before that is intact: extract it with "
                           "`head -c ",
                           whole.size(), "` [compressed-corrupt]"));
  }
  // A frame with an intact beginning that is damaged after it.
  std::string damaged = whole + Compress(content);
  damaged[whole.size() + (zstd() ? 10 : 2)] ^= 0x10;
  const StreamContent found = Decompress(damaged);
  EXPECT_TRUE(
      absl::StartsWith(found.status.message(), absl::StrCat("the ", name(), " data is damaged: ")))
      << found.status;
}

// The checksum is in the last eight bytes of gzip and the last four of zstd.
TEST_P(DecompressorTest, ReturnsEverythingBeforeAWrongChecksum) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{1000}, size_t{300'000}}) {
    const std::string content = absl::StrCat(RandomBytes(size / 2), std::string(size / 2, 'x'));
    std::string damaged = Compress(content);
    const size_t place = damaged.size() - (zstd() ? 4 : 8);
    damaged[place] = static_cast<char>(damaged[place] ^ 1);
    for (const size_t buffer : {size_t{1}, size_t{1000}, size_t{1} << 20}) {
      const StreamContent found = Decompress(damaged, 1 << 16, buffer);
      EXPECT_TRUE(IsFault(found.status, FaultId::kCompressedCorrupt, std::nullopt));
      EXPECT_TRUE(found.bytes == content) << size << " " << buffer << " " << found.bytes.size();
    }
  }
}

// How much is returned does not depend on how the input arrives, or on the size of the reads.
TEST_P(DecompressorTest, ReturnsEverythingBeforeDamage) {
  std::string content;
  for (uint64_t i = 0; i < 100'000; ++i) absl::StrAppend(&content, i * i % 99'991, " ");
  std::string damaged = Compress(content);
  for (const size_t percent : {50, 80, 99}) {
    const size_t place = damaged.size() * percent / 100;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x10);
    const StreamContent expected = Decompress(damaged);
    EXPECT_TRUE(IsFault(expected.status, FaultId::kCompressedCorrupt, std::nullopt));
    // A zstd frame is made of blocks of 128 KB, a gzip member of single symbols.
    const size_t before = content.size() * percent / 100 / 2;
    EXPECT_GE(expected.bytes.size(), zstd() ? before / 131072 * 131072 : before);
    EXPECT_TRUE(absl::StartsWith(content, expected.bytes.substr(0, before)));
    for (const size_t piece : {1, 1000, 100'000}) {
      for (const size_t buffer : {7, 4096, 1 << 20}) {
        const StreamContent found = Decompress(damaged, piece, buffer);
        EXPECT_TRUE(found.bytes == expected.bytes) << piece << " " << buffer;
        EXPECT_EQ(found.status, expected.status);
      }
    }
    damaged[place] = static_cast<char>(damaged[place] ^ 0x10);
  }
}

TEST(GzipTest, ZerosAfterAMemberAreIgnored) {
  const std::string padded = Gzip("trace") + std::string(512, '\0');
  for (const absl::string_view after : {"", "x"}) {
    const auto stream = MakeDecompressor(
        Compression::kGzip, std::make_unique<PieceStream>(absl::StrCat(padded, after), 100));
    const StreamContent found = ReadStream(stream.get());
    EXPECT_EQ(found.bytes, "trace");
    EXPECT_EQ(found.status.ok(), after.empty()) << found.status;
  }
}

TEST_P(DecompressorTest, ErrorsOfTheInputPassThrough) {
  const std::string content = RandomBytes(1000);
  const std::string compressed = Compress(content);
  for (const size_t size : {size_t{0}, compressed.size() / 2, compressed.size()}) {
    const auto stream = MakeDecompressor(
        GetParam(), std::make_unique<PieceStream>(compressed.substr(0, size), 100,
                                                  absl::UnavailableError("the line is dead")));
    const StreamContent found = ReadStream(stream.get());
    EXPECT_EQ(found.status, absl::UnavailableError("the line is dead"));
    EXPECT_TRUE(absl::StartsWith(content, found.bytes));
    EXPECT_TRUE(size < compressed.size() || found.bytes == content);
  }
}

// Output that the library still holds is returned before reading more input, which may take long to
// arrive.
TEST_P(DecompressorTest, AsksForNoInputWhileItHoldsContent) {
  const std::string content(200000, 'x');
  const std::string compressed = Compress(content);
  ASSERT_LT(compressed.size(), 1000u);
  // Without the checksum at the end, so that all of it is content.
  const auto stream = MakeDecompressor(
      GetParam(), std::make_unique<PieceStream>(compressed.substr(0, compressed.size() - 4), 1000,
                                                absl::UnavailableError("the line is dead")));
  const StreamContent found = ReadStream(stream.get(), 1000);
  EXPECT_EQ(found.status, absl::UnavailableError("the line is dead"));
  EXPECT_TRUE(found.bytes == content) << found.bytes.size();
}

INSTANTIATE_TEST_SUITE_P(Compressions, DecompressorTest,
                         testing::Values(Compression::kZstd, Compression::kGzip),
                         [](const testing::TestParamInfo<Compression>& info) {
                           return info.param == Compression::kZstd ? "Zstd" : "Gzip";
                         });

}  // namespace byte_stream_test
}  // namespace gotrace::internal
