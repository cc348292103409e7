#include "tools/cli/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testing/test_directory.h"

namespace gotrace::internal::output_test {

// The calls of fsync() before and after this file exists.
std::string synced_path;
int syncs_before_path = 0;
int syncs_after_path = 0;

}  // namespace gotrace::internal::output_test

// Replaces the function of the C library.
int fsync(int fd) {
  using namespace gotrace::internal::output_test;
  ++(std::filesystem::exists(synced_path) ? syncs_after_path : syncs_before_path);
  return fdatasync(fd);
}

namespace gotrace::internal {
namespace output_test {

size_t CountFiles(const std::string& directory) {
  const std::filesystem::directory_iterator files(directory);
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

mode_t Permissions(const std::string& path) {
  struct stat info;
  EXPECT_EQ(stat(path.c_str(), &info), 0);
  return info.st_mode & 07777;
}

void WriteAll(int fd, const std::string& text) {
  ASSERT_EQ(write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

TEST(Output, WritesLargeBlocks) {
  const std::string path = MakeTestDirectory() + "/file";
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(fd, 0);
  Output out(fd, "it");
  std::string expected;
  const std::string piece(1000, 'x');
  while (expected.size() + piece.size() < 1 << 20) {
    out.buffer().Append(piece);
    expected += piece;
    out.MaybeFlush();
  }
  EXPECT_EQ(ReadFile(path), "");
  out.buffer().Append(piece);
  expected += piece;
  out.MaybeFlush();
  EXPECT_EQ(ReadFile(path), expected);
  EXPECT_EQ(out.buffer().size(), 0);

  out.buffer().Append("the rest");
  out.Flush();
  EXPECT_EQ(ReadFile(path), expected + "the rest");
  out.Flush();
  EXPECT_EQ(ReadFile(path), expected + "the rest");
  EXPECT_TRUE(out.usable());
  EXPECT_FALSE(out.closed());
  EXPECT_TRUE(out.status().ok());
  close(fd);
}

TEST(Output, TellsAClosedPipeFromAnError) {
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  Output out(ends[1], "it");
  out.Flush();
  EXPECT_TRUE(out.usable());  // Nothing was written, so nothing was noticed.
  out.buffer().Append("text");
  out.Flush();
  EXPECT_TRUE(out.closed());
  EXPECT_FALSE(out.usable());
  EXPECT_TRUE(out.status().ok());
  EXPECT_EQ(out.buffer().size(), 0);
  close(ends[1]);
}

std::atomic<int> alarms = 0;

// A slow reader makes each write wait, and most of them are interrupted.
TEST(Output, GoesOnAfterSignals) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::string expected, found;
  for (int i = 0; expected.size() < 3 << 20; ++i) absl::StrAppend(&expected, i, " ");
  // The reader is not to be interrupted.
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
  std::thread reader([&] {
    char piece[5000];
    for (ssize_t size; (size = read(ends[0], piece, sizeof(piece))) > 0;) {
      found.append(piece, static_cast<size_t>(size));
      usleep(100);
    }
  });
  pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
  struct sigaction action = {}, before;
  action.sa_handler = [](int) { ++alarms; };  // Without SA_RESTART.
  sigaction(SIGALRM, &action, &before);
  const itimerval often = {{0, 1000}, {0, 1000}}, never = {};
  setitimer(ITIMER_REAL, &often, nullptr);
  Output out(ends[1], "it");
  out.buffer().Append(expected);
  const absl::Status status = out.Finish();
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  close(ends[1]);
  reader.join();
  close(ends[0]);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_GT(alarms, 10);
  EXPECT_EQ(found.size(), expected.size());
  EXPECT_TRUE(found == expected);
}

TEST(Output, KeepsTheFirstError) {
  const int fd = open("/dev/full", O_WRONLY);
  ASSERT_GE(fd, 0);
  Output out(fd, "the file");
  out.buffer().Append("text");
  out.Flush();
  EXPECT_EQ(out.status().message(), "writing the file: No space left on device");
  EXPECT_FALSE(out.usable());
  EXPECT_FALSE(out.closed());
  close(fd);
  out.buffer().Append("more");
  out.Flush();
  EXPECT_EQ(out.status().message(), "writing the file: No space left on device");
  EXPECT_EQ(out.buffer().size(), 0);
}

TEST(OutputFile, HasItsNameOnceCommitted) {
  const std::string directory = MakeTestDirectory();
  const std::string path = directory + "/file";
  const mode_t mask = umask(027);
  absl::StatusOr<OutputFile> file = OutputFile::Create(path);
  umask(mask);
  ASSERT_TRUE(file.ok()) << file.status();
  WriteAll(file->fd(), "content");
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(CountFiles(directory), 1);
  EXPECT_TRUE(file->Commit().ok());
  EXPECT_EQ(ReadFile(path), "content");
  EXPECT_EQ(CountFiles(directory), 1);
  EXPECT_EQ(Permissions(path), 0640U);
}

// Otherwise the file could be empty after the machine crashes.
TEST(OutputFile, IsOnDiskBeforeItIsRenamed) {
  synced_path = MakeTestDirectory() + "/file";
  syncs_before_path = syncs_after_path = 0;
  absl::StatusOr<OutputFile> file = OutputFile::Create(synced_path);
  ASSERT_TRUE(file.ok()) << file.status();
  WriteAll(file->fd(), "content");
  EXPECT_TRUE(file->Commit().ok());
  EXPECT_EQ(syncs_before_path, 1);
  EXPECT_EQ(syncs_after_path, 0);
}

TEST(OutputFile, IsRemovedUnlessCommitted) {
  const std::string directory = MakeTestDirectory();
  {
    const absl::StatusOr<OutputFile> file = OutputFile::Create(directory + "/file");
    ASSERT_TRUE(file.ok()) << file.status();
    WriteAll(file->fd(), "content");
  }
  EXPECT_EQ(CountFiles(directory), 0);
}

// Returns whether a signal ends a program that writes a file, and leaves nothing of it.
void ExpectRemovedBy(int signal_number) {
  const std::string directory = MakeTestDirectory();
  const auto write_and_raise = [&] {
    // The test may have inherited it as ignored, as under nohup.
    std::signal(signal_number, SIG_DFL);
    const absl::StatusOr<OutputFile> file = OutputFile::Create(directory + "/file");
    WriteAll(file->fd(), "content");
    if (CountFiles(directory) != 1) _exit(1);
    raise(signal_number);
    _exit(0);
  };
  EXPECT_EXIT(write_and_raise(), testing::KilledBySignal(signal_number), "");
  EXPECT_EQ(CountFiles(directory), 0);
}

TEST(OutputFileDeathTest, IsRemovedBySignals) {
  for (const int signal_number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU}) {
    ExpectRemovedBy(signal_number);
  }
}

// The signal may come between the creation of the file and its removal, wherever that is.
TEST(OutputFile, IsRemovedBySignalsAtAnyTime) {
  const std::string directory = MakeTestDirectory();
  for (int i = 0; i < 200; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      std::signal(SIGTERM, SIG_DFL);
      while (OutputFile::Create(directory + "/file").ok()) continue;
      _exit(1);
    }
    ASSERT_GT(child, 0);
    usleep(static_cast<useconds_t>(1000 + i * 7));
    kill(child, SIGTERM);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    ASSERT_EQ(CountFiles(directory), 0) << "after " << i;
  }
}

TEST(OutputFileDeathTest, IsRemovedForLackOfMemory) {
  const std::string directory = MakeTestDirectory();
  const auto create_and_end = [&] {
    const absl::StatusOr<OutputFile> file = OutputFile::Create(directory + "/file");
    EndForLackOfMemory();
  };
  EXPECT_EXIT(create_and_end(), testing::ExitedWithCode(2), "^gotrace-dump: out of memory; ");
  EXPECT_EQ(CountFiles(directory), 0);
}

// All that are not complete.
TEST(OutputFileDeathTest, SeveralAreRemovedBySignals) {
  const std::string directory = MakeTestDirectory();
  const auto write_and_raise = [&] {
    std::signal(SIGTERM, SIG_DFL);
    std::vector<OutputFile> files;
    for (int i = 0; i < 3; ++i) {
      absl::StatusOr<OutputFile> file = OutputFile::Create(absl::StrCat(directory, "/file", i));
      if (!file.ok()) _exit(1);
      files.push_back(*std::move(file));
    }
    if (!files[1].Commit().ok()) _exit(2);
    raise(SIGTERM);
  };
  EXPECT_EXIT(write_and_raise(), testing::KilledBySignal(SIGTERM), "");
  EXPECT_EQ(CountFiles(directory), 1);
  EXPECT_TRUE(std::filesystem::exists(directory + "/file1"));
}

TEST(OutputFileDeathTest, LeavesIgnoredSignalsAlone) {
  const std::string directory = MakeTestDirectory();
  const auto write_and_raise = [&] {
    std::signal(SIGHUP, SIG_IGN);
    absl::StatusOr<OutputFile> file = OutputFile::Create(directory + "/file");
    raise(SIGHUP);
    _exit(file->Commit().ok() ? 7 : 1);
  };
  EXPECT_EXIT(write_and_raise(), testing::ExitedWithCode(7), "");
  EXPECT_EQ(CountFiles(directory), 1);
}

// A file that is whole stays, whatever ends the program.
TEST(OutputFileDeathTest, StaysOnceCommitted) {
  const std::string directory = MakeTestDirectory();
  const auto commit_and_raise = [&] {
    std::signal(SIGINT, SIG_DFL);
    absl::StatusOr<OutputFile> file = OutputFile::Create(directory + "/file");
    if (!file->Commit().ok()) _exit(1);
    raise(SIGINT);
  };
  EXPECT_EXIT(commit_and_raise(), testing::KilledBySignal(SIGINT), "");
  EXPECT_EQ(CountFiles(directory), 1);
}

// Programs that read all files of a directory leave out hidden ones.
TEST(OutputFile, IsHiddenUntilCommitted) {
  const std::string directory = MakeTestDirectory();
  absl::StatusOr<OutputFile> first = OutputFile::Create(directory + "/file");
  absl::StatusOr<OutputFile> second = OutputFile::Create(directory + "/file");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(CountFiles(directory), 2);
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    EXPECT_EQ(entry.path().filename().string().front(), '.') << entry.path();
  }
  WriteAll(first->fd(), "one");
  WriteAll(second->fd(), "two");
  EXPECT_TRUE(first->Commit().ok());
  EXPECT_EQ(ReadFile(directory + "/file"), "one");
  EXPECT_TRUE(second->Commit().ok());
  EXPECT_EQ(ReadFile(directory + "/file"), "two");
  EXPECT_EQ(CountFiles(directory), 1);
}

TEST(OutputFileDeathTest, TakesOverWhatAKilledProgramLeft) {
  const std::string directory = MakeTestDirectory();
  const auto write_and_raise = [&] {
    const absl::StatusOr<OutputFile> file = OutputFile::Create(directory + "/file");
    WriteAll(file->fd(), "long content");
    raise(SIGKILL);
  };
  for (int i = 0; i < 2; ++i) {
    EXPECT_EXIT(write_and_raise(), testing::KilledBySignal(SIGKILL), "");
    EXPECT_EQ(CountFiles(directory), 1);
  }
  absl::StatusOr<OutputFile> file = OutputFile::Create(directory + "/file");
  ASSERT_TRUE(file.ok()) << file.status();
  WriteAll(file->fd(), "short");
  EXPECT_TRUE(file->Commit().ok());
  EXPECT_EQ(ReadFile(directory + "/file"), "short");
  EXPECT_EQ(CountFiles(directory), 1);
}

TEST(OutputFile, LeavesTheOldFileUnlessCommitted) {
  const std::string directory = MakeTestDirectory();
  const std::string path = directory + "/file";
  std::ofstream(path) << "old and long";
  chmod(path.c_str(), 0604);
  {
    const absl::StatusOr<OutputFile> file = OutputFile::Create(path);
    ASSERT_TRUE(file.ok()) << file.status();
    WriteAll(file->fd(), "new");
  }
  EXPECT_EQ(ReadFile(path), "old and long");
  EXPECT_EQ(CountFiles(directory), 1);

  absl::StatusOr<OutputFile> file = OutputFile::Create(path);
  ASSERT_TRUE(file.ok()) << file.status();
  WriteAll(file->fd(), "new");
  EXPECT_TRUE(file->Commit().ok());
  EXPECT_EQ(ReadFile(path), "new");
  EXPECT_EQ(Permissions(path), 0604U);
}

TEST(OutputFile, LeavesAWriteProtectedFileAlone) {
  const std::string directory = MakeTestDirectory();
  const std::string path = directory + "/file";
  std::ofstream(path) << "old";
  ASSERT_EQ(chmod(path.c_str(), 0444), 0);
  EXPECT_EQ(OutputFile::Create(path).status().message(),
            absl::StrCat("writing ", path, ": the file is write-protected"));
  EXPECT_EQ(ReadFile(path), "old");
  EXPECT_EQ(CountFiles(directory), 1U);
}

TEST(OutputFile, MovesWithItsFile) {
  const std::string directory = MakeTestDirectory();
  absl::StatusOr<OutputFile> file = OutputFile::Create(directory + "/file");
  ASSERT_TRUE(file.ok()) << file.status();
  {
    OutputFile moved = *std::move(file);
    EXPECT_EQ(CountFiles(directory), 1);
    EXPECT_TRUE(moved.Commit().ok());
  }
  EXPECT_EQ(CountFiles(directory), 1);
}

TEST(OutputFile, ReplacesWhatALinkPointsTo) {
  const std::string directory = MakeTestDirectory();
  std::ofstream(directory + "/file") << "old";
  ASSERT_EQ(symlink("file", (directory + "/link").c_str()), 0);
  absl::StatusOr<OutputFile> file = OutputFile::Create(directory + "/link");
  ASSERT_TRUE(file.ok()) << file.status();
  WriteAll(file->fd(), "new");
  EXPECT_TRUE(file->Commit().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(directory + "/link"));
  EXPECT_EQ(ReadFile(directory + "/file"), "new");
}

TEST(OutputFile, MakesWhatALinkPointsTo) {
  const std::string directory = MakeTestDirectory();
  std::filesystem::create_directory(directory + "/inner");
  std::filesystem::create_symlink("inner/file", directory + "/link");
  std::filesystem::create_symlink(directory + "/link", directory + "/linklink");
  absl::StatusOr<OutputFile> file = OutputFile::Create(directory + "/linklink");
  ASSERT_TRUE(file.ok()) << file.status();
  WriteAll(file->fd(), "new");
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(ReadFile(directory + "/inner/file"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(directory + "/link"));
}

// As /dev/stdout does where the shell sends the standard output to a file.
TEST(OutputFile, WritesTheFileThatADescriptorStandsForAsItIs) {
  const std::string path = MakeTestDirectory() + "/file";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(fd, 0);
  WriteAll(fd, "old ");
  absl::StatusOr<OutputFile> file = OutputFile::Create(absl::StrCat("/dev/fd/", fd));
  ASSERT_TRUE(file.ok()) << file.status();
  WriteAll(file->fd(), "new");
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(ReadFile(path), "old new");
  struct stat named, opened;
  ASSERT_EQ(stat(path.c_str(), &named), 0);
  ASSERT_EQ(fstat(fd, &opened), 0);
  EXPECT_EQ(named.st_ino, opened.st_ino);
  EXPECT_EQ(CountFiles(std::filesystem::path(path).parent_path()), 1u);
  close(fd);
}

TEST(OutputFile, WritesDescriptorZero) {
  const std::string path = MakeTestDirectory() + "/file";
  const int standard_input = dup(STDIN_FILENO);
  const int fd = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(dup2(fd, STDIN_FILENO), 0);
  WriteAll(fd, "old ");
  absl::StatusOr<OutputFile> file = OutputFile::Create("/dev/fd/0");
  ASSERT_TRUE(file.ok()) << file.status();
  WriteAll(file->fd(), "new");
  EXPECT_TRUE(file->Commit().ok());
  EXPECT_EQ(ReadFile(path), "old new");
  dup2(standard_input, STDIN_FILENO);
  close(standard_input);
  close(fd);
}

TEST(OutputFile, WritesANamedPipeAsItIs) {
  const std::string directory = MakeTestDirectory();
  const std::string path = directory + "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  absl::StatusOr<OutputFile> file = OutputFile::Create(path);
  ASSERT_TRUE(file.ok()) << file.status();
  WriteAll(file->fd(), "content");
  EXPECT_TRUE(file->Commit().ok());
  char content[16];
  EXPECT_EQ(read(reader, content, sizeof(content)), 7);
  EXPECT_TRUE(std::filesystem::is_fifo(path));
  EXPECT_EQ(CountFiles(directory), 1);
  close(reader);
}

TEST(OutputFile, LinksThatRunInACircleLeadNowhere) {
  const std::string directory = MakeTestDirectory();
  std::filesystem::create_symlink("b", directory + "/a");
  std::filesystem::create_symlink("a", directory + "/b");
  EXPECT_FALSE(OutputFile::Create(directory + "/a").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(directory + "/a"));
}

TEST(OutputFile, TellsWhatIsWrongWithThePath) {
  const std::string directory = MakeTestDirectory();
  EXPECT_EQ(OutputFile::Create(directory + "/no/file").status().message(),
            absl::StrCat("creating ", directory, "/no/file: No such file or directory"));
  EXPECT_EQ(OutputFile::Create(directory).status().message(),
            absl::StrCat("opening ", directory, ": Is a directory"));
}

// The directory may be gone by the time that the file is whole.
TEST(OutputFile, TellsThatItCannotBeCommitted) {
  const std::string directory = MakeTestDirectory();
  const std::string path = directory + "/file";
  absl::StatusOr<OutputFile> file = OutputFile::Create(path);
  ASSERT_TRUE(file.ok()) << file.status();
  std::filesystem::create_directory(path);
  EXPECT_EQ(file->Commit().message(), absl::StrCat("writing ", path, ": Is a directory"));
  EXPECT_EQ(CountFiles(directory), 1);
}

}  // namespace output_test
}  // namespace gotrace::internal
