#include "gotrace/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace byte_source_test {

// Returns bytes in which no two longer sequences are equal, so that a wrong position shows.
std::string MakeBytes(size_t size) {
  std::mt19937 random(7);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

std::string TempPath(absl::string_view name) {
  return absl::StrCat(testing::TempDir(), "/byte_source_test.", name);
}

std::string WriteFile(absl::string_view name, absl::string_view bytes) {
  const std::string path = TempPath(name);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path;
}

std::unique_ptr<ByteSource> Open(const std::string& path) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenSource(path);
  EXPECT_TRUE(source.ok()) << source.status();
  return *std::move(source);
}

std::unique_ptr<ByteSource> FromStream(std::unique_ptr<ByteStream> stream) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromStream(std::move(stream));
  EXPECT_TRUE(source.ok()) << source.status();
  return *std::move(source);
}

std::unique_ptr<ByteSource> FromBytes(absl::string_view bytes) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromBytes(bytes);
  EXPECT_TRUE(source.ok()) << source.status();
  return *std::move(source);
}

// Returns a source of the object `bytes`, of which each request gets at most `piece` bytes.
std::unique_ptr<ByteSource> FromObject(absl::string_view bytes, size_t piece) {
  const auto read_at = [=](uint64_t offset, char* buffer, size_t size) -> absl::StatusOr<size_t> {
    EXPECT_LT(offset, bytes.size());
    EXPECT_LE(size, bytes.size() - offset);
    EXPECT_GT(size, 0u);
    return bytes.copy(buffer, std::min(size, piece), offset);
  };
  absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromReadAt(read_at, bytes.size());
  EXPECT_TRUE(source.ok()) << source.status();
  return *std::move(source);
}

// Reads all of `source` in pieces of random sizes, keeping views of them. Releases some from time
// to time, and checks that the others do not change.
void ExpectGives(ByteSource* source, absl::string_view bytes, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::pair<uint64_t, absl::string_view>> views;
  const auto check = [&] {
    for (const auto& [offset, view] : views) {
      ASSERT_TRUE(view == bytes.substr(offset, view.size())) << offset;
    }
  };
  while (true) {
    const size_t most = random() % 4 == 0 ? ByteSource::kMaxFill : 5000;
    const size_t want = 1 + random() % most;
    ASSERT_TRUE(source->Fill(want).ok());
    ASSERT_GE(source->window().size(), std::min<size_t>(want, bytes.size() - source->offset()));
    ASSERT_TRUE(source->window() == bytes.substr(source->offset(), source->window().size()));
    if (source->window().empty()) break;
    const size_t taken = std::min(want, source->window().size());
    views.emplace_back(source->offset(), source->window().substr(0, taken));
    source->Skip(taken);
    if (random() % 2 != 0) continue;
    check();
    const size_t kept = random() % views.size();
    source->Release(views[kept].first);
    views.erase(views.begin(), views.begin() + kept);
    check();
  }
  check();
  EXPECT_EQ(source->offset(), bytes.size());
}

TEST(ByteSourceTest, ReturnsTheSameBytesFromEverySource) {
  const std::string bytes = MakeBytes(4000000);
  const std::string zstd = Zstd(bytes);
  const std::string gzip = Gzip(bytes);
  ExpectGives(FromBytes(bytes).get(), bytes, 1);
  ExpectGives(FromBytes(zstd).get(), bytes, 2);
  ExpectGives(FromBytes(gzip).get(), bytes, 3);
  ExpectGives(Open(WriteFile("plain", bytes)).get(), bytes, 4);
  ExpectGives(Open(WriteFile("zst", zstd)).get(), bytes, 5);
  ExpectGives(Open(WriteFile("gz", gzip)).get(), bytes, 6);
  for (const size_t piece : {size_t{1} << 30, size_t{65536}, size_t{977}}) {
    ExpectGives(FromObject(bytes, piece).get(), bytes, 10);
    ExpectGives(FromObject(zstd, piece).get(), bytes, 11);
    ExpectGives(FromObject(gzip, piece).get(), bytes, 12);
    ExpectGives(FromStream(std::make_unique<PieceStream>(bytes, piece)).get(), bytes, 7);
    ExpectGives(FromStream(std::make_unique<PieceStream>(zstd, piece)).get(), bytes, 8);
    ExpectGives(FromStream(std::make_unique<PieceStream>(gzip, piece)).get(), bytes, 9);
  }
}

TEST(ByteSourceTest, ViewsStayValidUntilReleased) {
  // Several blocks, released at many different places.
  const std::string bytes = MakeBytes(5000000);
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    ExpectGives(FromStream(std::make_unique<PieceStream>(bytes, 1 << 30)).get(), bytes, seed);
  }
}

TEST(ByteSourceTest, ReturnsShortInputsInPiecesOfOneByte) {
  for (const size_t size : {0, 1, 2, 3, 4, 5, 100, 3000}) {
    const std::string bytes = MakeBytes(size);
    ExpectGives(FromStream(std::make_unique<PieceStream>(bytes, 1)).get(), bytes, 1);
    ExpectGives(FromStream(std::make_unique<PieceStream>(Zstd(bytes), 1)).get(), bytes, 2);
    ExpectGives(FromStream(std::make_unique<PieceStream>(Gzip(bytes), 1)).get(), bytes, 3);
  }
}

TEST(ByteSourceTest, LargeWindowsAreContiguousWhereverTheyBegin) {
  const std::string bytes = MakeBytes(5000000);
  for (const size_t step : {size_t{400000}, size_t{524287}, size_t{333333}}) {
    const auto source = FromStream(std::make_unique<PieceStream>(bytes, 100000));
    while (source->offset() + ByteSource::kMaxFill <= bytes.size()) {
      ASSERT_TRUE(source->Fill(ByteSource::kMaxFill).ok());
      ASSERT_GE(source->window().size(), ByteSource::kMaxFill);
      ASSERT_TRUE(source->window() ==
                  absl::string_view(bytes).substr(source->offset(), source->window().size()));
      source->Release(source->offset());
      source->Skip(step);
    }
  }
}

// Counts the reads that a source makes.
class CountedStream : public PieceStream {
 public:
  CountedStream(std::string bytes, size_t piece, int* reads)
      : PieceStream(std::move(bytes), piece), reads_(reads) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    ++*reads_;
    return PieceStream::Read(buffer, size);
  }

 private:
  int* const reads_;
};

TEST(ByteSourceTest, ReadsNoMoreThanItMust) {
  int reads = 0;
  const auto source = FromStream(std::make_unique<CountedStream>(MakeBytes(1000), 10, &reads));
  EXPECT_EQ(reads, 1);
  ASSERT_TRUE(source->Fill(4).ok());
  EXPECT_EQ(reads, 1);
  ASSERT_TRUE(source->Fill(14).ok());
  EXPECT_EQ(reads, 2);
  EXPECT_EQ(source->window().size(), 14u);
  source->Skip(4);
  ASSERT_TRUE(source->Fill(10).ok());
  EXPECT_EQ(reads, 2);
  ASSERT_TRUE(source->Fill(11).ok());
  EXPECT_EQ(reads, 3);
}

TEST(ByteSourceTest, ReportsHowMuchWasRead) {
  const std::string bytes = MakeBytes(3000000);
  const std::string zstd = Zstd(bytes);
  for (const absl::string_view input : {absl::string_view(bytes), absl::string_view(zstd)}) {
    const auto source = FromBytes(input);
    EXPECT_EQ(source->input_size(), input.size());
    uint64_t last = source->input_read();
    EXPECT_LT(last, input.size());
    while (source->Fill(1000).ok() && !source->window().empty()) {
      source->Skip(source->window().size());
      EXPECT_GE(source->input_read(), last);
      last = source->input_read();
    }
    EXPECT_EQ(last, input.size());
  }
  const auto stream = FromStream(std::make_unique<PieceStream>(bytes, 1000));
  EXPECT_EQ(stream->input_size(), 0u);
  ASSERT_TRUE(stream->Fill(1000).ok());
  EXPECT_EQ(stream->input_read(), stream->window().size());
}

TEST(ByteSourceTest, WhatCouldBeReadComesBeforeAnError) {
  const std::string bytes = MakeBytes(1000);
  const absl::Status error = absl::UnavailableError("the line is dead");
  const auto source = FromStream(std::make_unique<PieceStream>(bytes, 300, error));
  EXPECT_TRUE(source->Fill(900).ok());
  source->Skip(500);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(source->Fill(501), error);
    EXPECT_EQ(source->window(), absl::string_view(bytes).substr(500));
  }
  const absl::StatusOr<std::unique_ptr<ByteSource>> at_once =
      SourceFromStream(std::make_unique<PieceStream>("go", 300, error));
  EXPECT_EQ(at_once.status(), error);
}

TEST(ByteSourceTest, WhatCouldBeReadComesBeforeThatAFileBecameShorter) {
  const std::string bytes = MakeBytes(6000000);
  for (const std::string& content : {bytes, Zstd(bytes), Gzip(bytes)}) {
    const std::string path = WriteFile("shrinking", content);
    const auto source = Open(path);
    EXPECT_EQ(source->input_size(), content.size());
    ASSERT_TRUE(source->Fill(1000).ok());
    ASSERT_EQ(truncate(path.c_str(), 5000000), 0);
    absl::Status status;
    while (status.ok()) {
      ASSERT_LT(source->offset(), 5000000u);
      source->Skip(source->window().size());
      status = source->Fill(1000);
      ASSERT_TRUE(source->window() == bytes.substr(source->offset(), source->window().size()));
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
    EXPECT_GT(source->offset() + source->window().size(), 4000000u);
    EXPECT_EQ(source->Fill(1000), status);
  }
}

TEST(ByteSourceTest, CutCompressedInputsGiveWhatTheyHold) {
  const std::string bytes = MakeBytes(300000);
  for (const std::string& compressed : {Zstd(bytes), Gzip(bytes)}) {
    const auto source = FromBytes(absl::string_view(compressed).substr(0, compressed.size() - 9));
    const absl::Status status = source->Fill(bytes.size());
    EXPECT_TRUE(IsFault(status, FaultId::kCompressedTruncated, std::nullopt));
    EXPECT_GT(source->window().size(), 100000u);
    EXPECT_TRUE(absl::StartsWith(bytes, source->window()));
    EXPECT_EQ(source->Fill(bytes.size()), status);
  }
}

TEST(ByteSourceTest, FilesMemoryAndObjectsCanBeForked) {
  const std::string bytes = MakeBytes(5000000);
  const absl::string_view rest = absl::string_view(bytes).substr(1234567);
  const std::unique_ptr<ByteSource> sources[] = {FromBytes(bytes), Open(WriteFile("fork", bytes)),
                                                 FromObject(bytes, 70)};
  for (const auto& source : sources) {
    const auto fork = source->Fork(1234567);
    EXPECT_EQ(fork->offset(), 1234567u);
    EXPECT_EQ(fork->input_size(), bytes.size());
    EXPECT_EQ(fork->input_read(), 1234567u);
    // A fork can be forked.
    const auto again = fork->Fork(0);
    ExpectGives(again.get(), bytes, 1);
    std::string read;
    while (true) {
      ASSERT_TRUE(fork->Fill(100000).ok());
      if (fork->window().empty()) break;
      absl::StrAppend(&read, fork->window());
      fork->Skip(fork->window().size());
    }
    EXPECT_TRUE(read == rest);
    EXPECT_EQ(fork->input_read(), bytes.size());
    ExpectGives(source.get(), bytes, 2);
    char buffer[100];
    EXPECT_EQ(source->ReadAt(1234567, buffer, 100), 100u);
    EXPECT_TRUE(absl::string_view(buffer, 100) == rest.substr(0, 100));
    EXPECT_EQ(source->ReadAt(bytes.size() - 7, buffer, 100), 7u);
    EXPECT_EQ(source->ReadAt(bytes.size() + 7, buffer, 100), 0u);
    EXPECT_TRUE(source->Fork(bytes.size() + 7)->window().empty());
    source->LeaveAtEnd();
  }
}

TEST(ByteSourceTest, WhatComesOnlyOnceCannotBeForked) {
  const std::string zstd = Zstd("some bytes");
  for (const auto& source :
       {FromBytes(zstd), Open(WriteFile("fork.zst", zstd)), FromObject(zstd, 9),
        FromStream(std::make_unique<PieceStream>("some bytes", 3))}) {
    EXPECT_EQ(source->Fork(0), nullptr);
    char byte;
    EXPECT_EQ(source->ReadAt(0, &byte, 1), 0u);
  }
}

TEST(ByteSourceTest, ReportsErrorsOfAnObjectAndThatItBecameShorter) {
  const std::string bytes = MakeBytes(3000000);
  for (const absl::Status& expected :
       {absl::UnavailableError("no connection"),
        absl::AbortedError("the input shrank while it was being read: it had 3000000 bytes before, "
                           "and now ends after 2500000")}) {
    const auto read_at = [&](uint64_t offset, char* buffer, size_t size) -> absl::StatusOr<size_t> {
      if (offset < 2500000) return bytes.copy(buffer, std::min(size, 2500000 - offset), offset);
      if (absl::IsUnavailable(expected)) return expected;
      return 0;
    };
    const auto source = *SourceFromReadAt(read_at, bytes.size());
    std::string read;
    absl::Status status;
    while (status.ok()) {
      status = source->Fill(100000);
      absl::StrAppend(&read, source->window());
      source->Skip(source->window().size());
    }
    EXPECT_EQ(status, expected);
    EXPECT_TRUE(read == absl::string_view(bytes).substr(0, 2500000));
    char buffer[100];
    EXPECT_EQ(source->ReadAt(2500000 - 7, buffer, 100), 7u);
  }
}

TEST(ByteSourceTest, MissingFilesAreNotFound) {
  const std::string path = TempPath("missing");
  const absl::Status status = OpenSource(path).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StartsWith(status.message(), absl::StrCat("opening ", path))) << status;
}

TEST(ByteSourceTest, DirectoriesCannotBeRead) {
  const absl::Status status = OpenSource(testing::TempDir()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StartsWith(status.message(), absl::StrCat("reading ", testing::TempDir())))
      << status;
}

TEST(ByteSourceTest, EmptyInputsHaveNoBytes) {
  for (const auto& source : {Open(WriteFile("empty", "")), FromBytes(""),
                             FromStream(std::make_unique<MemoryStream>("")), Open("/dev/null")}) {
    EXPECT_TRUE(source->Fill(16).ok());
    EXPECT_TRUE(source->window().empty());
    EXPECT_EQ(source->offset(), 0u);
    source->Release(0);
  }
}

TEST(ByteSourceTest, ReadsFifos) {
  const std::string path = TempPath("fifo");
  unlink(path.c_str());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const std::string bytes = MakeBytes(300000);
  std::thread writer([&] { std::ofstream(path, std::ios::binary) << bytes; });
  const auto source = Open(path);
  ExpectGives(source.get(), bytes, 1);
  writer.join();
}

// Whatever shares the file's position then continues at the end.
TEST(ByteSourceTest, AFilesPositionCanBeLeftAtItsEnd) {
  const int fd = open(WriteFile("position", MakeBytes(5000000)).c_str(), O_RDONLY);
  ASSERT_EQ(dup2(fd, STDIN_FILENO), STDIN_FILENO);
  const auto source = Open("-");
  const auto fork = source->Fork(3000000);
  ASSERT_TRUE(fork->Fill(100000).ok());
  EXPECT_LT(lseek(fd, 0, SEEK_CUR), 3000000);
  source->LeaveAtEnd();
  EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 5000000);
  close(fd);
}

TEST(ByteSourceTest, ReadsTheStandardInput) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
  close(ends[0]);
  ASSERT_EQ(write(ends[1], "some bytes", 10), 10);
  close(ends[1]);
  ExpectGives(Open("-").get(), "some bytes", 1);
  EXPECT_NE(fcntl(STDIN_FILENO, F_GETFD), -1);
}

}  // namespace byte_source_test
}  // namespace gotrace::internal
