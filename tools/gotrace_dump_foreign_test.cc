// Runs every command on inputs that are not traces: all of them say what the input is, in the same
// words.
#include <fstream>
#include <string>
#include <vector>

#include "absl/base/config.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/subprocess.h"

namespace gotrace::internal {
namespace gotrace_dump_foreign_test {

struct ForeignCase {
  std::string name;
  std::string content;
  std::string what;  // What the input is called.
};

// A tar archive with one file.
std::string Tar(const std::string& content) {
  std::string header(512, '\0');
  header.replace(0, 5, "a.out");
  header.replace(257, 5, "ustar");
  return header + content + std::string(1024, '\0');
}

std::vector<ForeignCase> ForeignCases() {
  const std::string trace = ReadTestTrace("go1.27-annotations.trace");
  return {
      {"xz", absl::StrCat(absl::string_view("\xfd\x37zXZ\0\0\x04", 8), std::string(600, 'z')),
       "data compressed with xz"},
      // The first block of lz4 mostly holds the header of a trace as it is.
      {"lz4", absl::StrCat("\x04\x22\x4d\x18\x64\x40\xa7\xe9\x13", trace.substr(0, 3000)),
       "data compressed with lz4"},
      {"bzip2", absl::StrCat("BZh91AY&SY", std::string(600, '\x80')), "data compressed with bzip2"},
      {"zip", absl::StrCat("PK\x03\x04\x14", trace), "a zip archive"},
      {"tar", Tar(trace), "a tar archive"},
      {"elf", absl::StrCat("\x7f", "ELF\x02\x01\x01", std::string(600, '\0')), "an ELF file"},
      {"pprof", "\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04\x12\x01", "a pprof profile"},
      {"http", "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n\r\nUnknown profile\n",
       "an HTTP response"},
      {"html", "<!DOCTYPE html><html><body>502</body></html>\n", "HTML"},
      {"json", "{\"error\": \"no such page\"}\n", "JSON"},
      {"text", "some words that say nothing of a trace\n", "text"},
  };
}

class ForeignInputTest : public testing::TestWithParam<ForeignCase> {
 protected:
  // Writes the input to a file and returns its path.
  static std::string Write() {
    const std::string path = absl::StrCat(testing::TempDir(), "/", GetParam().name);
    std::ofstream(path, std::ios::binary) << GetParam().content;
    return path;
  }
};

TEST_P(ForeignInputTest, IsCalledWhatItIsByEveryCommand) {
  const std::string path = Write();
  const std::string expected = absl::StrCat("expected a trace, found ", GetParam().what);
  const SubprocessResult validate = RunDump({"validate", path});
  EXPECT_EQ(validate.exit_code, 1);
  // "FILE: error: byte 0: MESSAGE [ID]"
  const std::string line = validate.out.substr(0, validate.out.find('\n'));
  const size_t begin = line.find(expected);
  ASSERT_NE(begin, std::string::npos) << line;
  const std::string message = line.substr(begin, line.rfind(" [") - begin);
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"events"},
                                             {"events", "--salvage"},
                                             {"wire"},
                                             {"info"},
                                             {"info", "--salvage"},
                                             {"footprint"},
                                             {"footprint", "--salvage"},
                                             {"repair", "--check"},
                                             {"repair", "-o", "-"}}) {
    SCOPED_TRACE(command[0]);
    std::vector<std::string> args = command;
    args.push_back(path);
    ExpectFailure(RunDump(args), 1, "",
                  absl::StrCat("gotrace-dump: ", path, ": byte 0: ", message, " [not-a-trace]\n"));
    args.back() = "-";
    ExpectFailure(
        RunDump(args, {.input = GetParam().content}), 1, "",
        absl::StrCat("gotrace-dump: standard input: byte 0: ", message, " [not-a-trace]\n"));
  }
}

TEST_P(ForeignInputTest, IsNoTextFormEither) {
  const SubprocessResult result = RunDump({"assemble", Write()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  // A text is described by its first line.
  const bool is_text = GetParam().what == "text";
  EXPECT_TRUE(absl::StrContains(
      result.err, is_text ? "line 1: expected a header line like \"Trace Go1.22\", found \"some "
                          : absl::StrCat("expected the text form of a trace, found ",
                                         GetParam().what, "; `gotrace-dump wire --header`")))
      << result.err;
}

INSTANTIATE_TEST_SUITE_P(Inputs, ForeignInputTest, testing::ValuesIn(ForeignCases()),
                         [](const auto& info) { return info.param.name; });

TEST(ForeignInput, ATraceIsNoTextForm) {
  const SubprocessResult result =
      RunDump({"assemble", TestFilePath("go1.27-annotations.trace.zst")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(result.err, ": expected the text form of a trace, found a trace; "))
      << result.err;
}

TEST(ForeignInput, ATextFormIsNoTrace) {
  const std::string text =
      DumpOutput({"wire", "--header", TestFilePath("go1.27-annotations.trace.zst")});
  for (const char* const command : {"events", "wire", "info", "footprint", "repair"}) {
    const SubprocessResult result = RunDump({command, "-"}, {.input = text});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_TRUE(absl::StrContains(result.err, "expected a trace, found the text form of a trace: "))
        << result.err;
    EXPECT_TRUE(absl::StrContains(result.err, "gotrace-dump assemble")) << result.err;
  }
}

// Endless input that follows a trace ends the program, with a note.
TEST(ForeignInput, MayFollowATraceWithoutEnd) {
  const std::string trace = ReadTestTrace("go1.27-annotations.trace");
  const std::string path = absl::StrCat(testing::TempDir(), "/trace");
  std::ofstream(path, std::ios::binary) << trace;
  std::vector<std::string> commands = {"validate"};
  // Sanitizers take long for the others.
#if !defined(ABSL_HAVE_ADDRESS_SANITIZER) && !defined(ABSL_HAVE_THREAD_SANITIZER)
  commands.insert(commands.end(), {"info --salvage", "events --salvage", "repair --check"});
#endif
  for (const std::string& command : commands) {
    const SubprocessResult result = RunSubprocess(
        {"/bin/sh", "-c",
         absl::StrCat("{ cat \"$0\"; cat /dev/zero; } | tools/gotrace-dump ", command, " -"), path},
        {});
    EXPECT_EQ(result.exit_code, 1) << command;
    EXPECT_TRUE(absl::StrContains(result.err,
                                  "gotrace-dump: standard input: found almost no batches in the 32 "
                                  "MiB before byte "))
        << result.err;
    if (command == "validate") {
      EXPECT_TRUE(absl::StrContains(result.out, ": broken; 100 % of 305 events")) << result.out;
    }
    if (command == "repair --check") {
      EXPECT_TRUE(absl::StrContains(result.err, ", with 305 events; ")) << result.err;
    }
    if (command == "events --salvage") {
      EXPECT_EQ(result.out, DumpOutput({"events", path}));
    }
  }
}

// Sanitizers need more memory.
#if !defined(ABSL_HAVE_ADDRESS_SANITIZER) && !defined(ABSL_HAVE_THREAD_SANITIZER)
TEST(ForeignInput, WithoutEndTakesLittleMemory) {
  const std::string path = absl::StrCat(testing::TempDir(), "/trace");
  std::ofstream(path, std::ios::binary) << ReadTestTrace("go1.27-annotations.trace");
  for (const std::string command :
       {"events", "info", "goroutines", "validate", "tables --tables=traces",
        "tables --tables=traces --salvage", "sql"}) {
    const SubprocessResult result =
        RunSubprocess({"/bin/sh", "-c",
                       absl::StrCat("{ cat \"$0\"; cat /dev/zero; } | tools/gotrace-dump ", command,
                                    " - ", command == "sql" ? "'SELECT count(*) FROM events'" : ""),
                       path},
                      {.address_space = 200 << 20});
    EXPECT_EQ(result.exit_code, 1) << command << ": " << result.err;
    EXPECT_FALSE(absl::StrContains(result.err, "out of memory")) << command << ": " << result.err;
  }
}
#endif

}  // namespace gotrace_dump_foreign_test
}  // namespace gotrace::internal
