// Runs the commands with --limits as their users do.
#include <fstream>
#include <string>
#include <vector>

#include "absl/base/config.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testing/subprocess.h"
#include "tracev2/text_form.h"

namespace gotrace::internal {
namespace gotrace_dump_limits_test {

// Two Ps.
std::string TracePath() {
  const std::string path = absl::StrCat(testing::TempDir(), "/limits.trace");
  std::ofstream(path, std::ios::binary) << *AssembleText(
      "Trace Go1.22\nEventBatch gen=1 m=0 time=1 size=auto\nFrequency freq=1000000000\n"
      "EventBatch gen=1 m=1 time=1 size=auto\nProcStatus dt=1 p=0 pstatus=2\n"
      "ProcStatus dt=1 p=1 pstatus=2\n");
  return path;
}

TEST(Limits, EveryCommandKeepsToThem) {
  const std::string path = TracePath();
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"events"}, {"events", "--salvage"}, {"info"}, {"validate"}, {"repair", "--check"}}) {
    SCOPED_TRACE(command.back());
    std::vector<std::string> args = command;
    args.insert(args.end(), {"--limits=procs=2,threads=1K", path});
    EXPECT_EQ(RunDump(args).exit_code, 0);
    args[args.size() - 2] = "--limits=threads=1K,procs=1";
    const SubprocessResult result = RunDump(args);
    EXPECT_EQ(result.exit_code, 1);
    const std::string said = absl::StrCat(result.out, result.err);
    EXPECT_TRUE(absl::StrContains(said, "[limit-procs]")) << said;
    EXPECT_TRUE(
        absl::StrContains(said, "if you trust the trace, raise the limit with --limits=procs=N"))
        << said;
  }
}

TEST(Limits, OfWhatIsCompressed) {
  const std::string path = absl::StrCat(testing::TempDir(), "/limits.zst");
  // The header of a trace in a frame whose one block is not compressed.
  std::ofstream(path, std::ios::binary)
      << std::string("\x28\xb5\x2f\xfd\x20\x10\x81\0\0go 1.22 trace\0\0\0", 25);
  for (const std::string command : {"wire", "footprint", "events", "validate", "repair"}) {
    const SubprocessResult result = RunDump({command, "--limits=decompressed-bytes=15", path});
    EXPECT_EQ(result.exit_code, 1) << command;
    EXPECT_TRUE(
        absl::StrContains(absl::StrCat(result.out, result.err), "[limit-decompressed-bytes]"))
        << result.err;
  }
  EXPECT_EQ(RunDump({"wire", "--limits=decompressed-bytes=16", path}).exit_code, 0);
}

TEST(Limits, WrongOnesAreReportedBeforeAnythingIsRead) {
  const std::vector<std::vector<std::string>> cases = {
      {"events", "memory=1G", "--limits: there is no limit \"memory\"; expected generation-bytes,"},
      {"events", "threads",
       "--limits: expected a number, like threads=500000 or threads=4G, found \"threads\""},
      {"info", "threads=-1", "found \"threads=-1\""},
      {"info", "threads=99999999T", "found \"threads=99999999T\""},
      {"info", "generation-bytes=9GB", "--limits: the maximum of generation-bytes is 8G"},
      {"validate", "threads=5,", "there is no limit \"\""},
      {"wire", "threads=5", "there is no limit \"threads\"; expected decompressed-bytes"},
      {"assemble", "threads=5", "--limits is a flag of"},
  };
  for (const std::vector<std::string>& c : cases) {
    const SubprocessResult result = RunDump({c[0], absl::StrCat("--limits=", c[1]), "/nowhere"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(absl::StrContains(result.err, c[2])) << result.err;
  }
}

// Sanitizers need more than is allowed here before the program begins.
#if !defined(ABSL_HAVE_ADDRESS_SANITIZER) && !defined(ABSL_HAVE_THREAD_SANITIZER)
TEST(Limits, MemoryThatIsNotThereEndsWithASentence) {
  const std::string path = absl::StrCat(testing::TempDir(), "/strings.trace");
  std::string text = "Trace Go1.22\nEventBatch gen=1 m=0 time=1 size=auto\nStrings\n";
  for (int i = 1; i < 400'000; ++i) {
    // Batches hold 64 KB.
    if (i % 10'000 == 0) absl::StrAppend(&text, "EventBatch gen=1 m=0 time=1 size=auto\nStrings\n");
    absl::StrAppend(&text, "String id=", i, "\n\tdata=\"\"\n");
  }
  std::ofstream(path, std::ios::binary) << *AssembleText(text);
  for (const std::string command : {"info", "validate"}) {
    const SubprocessResult result = RunDump({command, path}, {.address_space = 20 << 20});
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_TRUE(absl::StartsWith(result.err, "gotrace-dump: out of memory; ")) << result.err;
  }
}

TEST(Limits, WhatThereIsNoMemoryToUnpackIsNotCalledDamaged) {
  const std::string path = absl::StrCat(testing::TempDir(), "/window.zst");
  // The header of a trace in a frame that asks for a window of 128 MB.
  std::ofstream(path, std::ios::binary)
      << std::string("\x28\xb5\x2f\xfd\0\x88\x81\0\0go 1.26 trace\0\0\0", 25);
  for (const std::string command : {"events", "info", "validate", "repair"}) {
    EXPECT_EQ(RunDump({command, path}).exit_code, 0) << command;
    const SubprocessResult result = RunDump({command, path}, {.address_space = 100 << 20});
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_TRUE(absl::StrContains(absl::StrCat(result.out, result.err),
                                  "there is not enough memory to decompress the zstd data"))
        << result.out << result.err;
  }
}
#endif

}  // namespace gotrace_dump_limits_test
}  // namespace gotrace::internal
