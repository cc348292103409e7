#include "gotrace/byte_sink.h"

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace byte_sink_test {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void WriteFile(const std::string& path, absl::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// An empty directory of the test's own.
std::string NewDirectory() {
  static int count = 0;
  const std::string path = absl::StrCat(testing::TempDir(), "/byte_sink", ++count);
  std::filesystem::remove_all(path);
  std::filesystem::create_directory(path);
  return path;
}

size_t FilesIn(const std::string& directory) {
  return std::distance(std::filesystem::directory_iterator(directory),
                       std::filesystem::directory_iterator());
}

TEST(ByteSink, KeepsTheOrderOfPiecesOfAllSizes) {
  std::string expected;
  std::string bytes = "before ";
  const auto sink = SinkToString(&bytes);
  for (size_t size : {1, 0, 300000, 5, 262143, 1, 262144, 262145, 100, 262044, 3}) {
    const std::string piece(size, static_cast<char>('a' + expected.size() % 26));
    sink->Append(piece);
    expected += piece;
  }
  EXPECT_EQ(sink->size(), expected.size());
  ASSERT_TRUE(sink->Finish().ok());
  EXPECT_EQ(bytes, "before " + expected);
}

TEST(ByteSink, KeepsTheFirstError) {
  struct Failing : ByteSink {
    int writes = 0;
    int commits = 0;
    absl::Status Write(absl::string_view) override {
      return absl::DataLossError(absl::StrCat("write ", ++writes));
    }
    absl::Status Commit() override { return ++commits, absl::OkStatus(); }
  };
  Failing sink;
  sink.Append("a");
  EXPECT_TRUE(sink.status().ok());
  sink.Flush();
  EXPECT_EQ(sink.status().message(), "write 1");
  sink.Append(std::string(1 << 20, 'b'));
  EXPECT_EQ(sink.Finish().message(), "write 1");
  EXPECT_EQ(sink.writes, 1);
  EXPECT_EQ(sink.commits, 0);
}

TEST(ByteSink, GivesAFileItsNameOnlyWhenItIsComplete) {
  const std::string directory = NewDirectory();
  const std::string path = directory + "/out";
  WriteFile(path, "old");
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  {
    auto sink = SinkToFile(path);
    ASSERT_TRUE(sink.ok()) << sink.status();
    (*sink)->Append("new");
    (*sink)->Flush();
    EXPECT_EQ(ReadFile(path), "old");
    EXPECT_EQ(FilesIn(directory), 2u);
    ASSERT_TRUE((*sink)->Finish().ok());
    EXPECT_EQ(ReadFile(path), "new");
  }
  EXPECT_EQ(ReadFile(path), "new");
  EXPECT_EQ(FilesIn(directory), 1u);
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
  {
    auto sink = SinkToFile(path);
    (*sink)->Append("not finished");
    (*sink)->Flush();
  }
  EXPECT_EQ(ReadFile(path), "new");
  EXPECT_EQ(FilesIn(directory), 1u);
}

TEST(ByteSink, FollowsLinksAndLeavesProtectedFiles) {
  const std::string directory = NewDirectory();
  std::filesystem::create_directory(directory + "/sub");
  std::filesystem::create_symlink("sub/target", directory + "/link");
  auto sink = SinkToFile(directory + "/link");
  ASSERT_TRUE(sink.ok()) << sink.status();
  (*sink)->Append("x");
  ASSERT_TRUE((*sink)->Finish().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(directory + "/link"));
  EXPECT_EQ(ReadFile(directory + "/sub/target"), "x");
  ASSERT_EQ(chmod((directory + "/sub/target").c_str(), 0444), 0);
  EXPECT_EQ(SinkToFile(directory + "/link").status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(SinkToFile(directory + "/none/out").status().code(), absl::StatusCode::kNotFound);
}

TEST(ByteSink, WritesDevicesAndDescriptorsDirectly) {
  auto null = SinkToFile("/dev/null");
  ASSERT_TRUE(null.ok());
  (*null)->Append("x");
  EXPECT_TRUE((*null)->Finish().ok());
  auto full = SinkToFile("/dev/full");
  ASSERT_TRUE(full.ok());
  (*full)->Append("x");
  EXPECT_EQ((*full)->Finish().code(), absl::StatusCode::kResourceExhausted);

  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const auto sink = SinkToDescriptor(ends[1], "pipe");
  sink->Append("hello");
  ASSERT_TRUE(sink->Finish().ok());
  char buffer[10];
  EXPECT_EQ(read(ends[0], buffer, sizeof(buffer)), 5);
  EXPECT_EQ(absl::string_view(buffer, 5), "hello");
  close(ends[0]);
  signal(SIGPIPE, SIG_IGN);
  const auto closed = SinkToDescriptor(ends[1], "a pipe");
  closed->Append("x");
  const absl::Status status = closed->Finish();
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("writing a pipe"), absl::string_view::npos) << status;
  close(ends[1]);
}

}  // namespace byte_sink_test
}  // namespace gotrace::internal
