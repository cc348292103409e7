// Gives gotrace-dump traces that were changed on their way, as they reach its users.
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/subprocess.h"
#include "testing/test_directory.h"

namespace gotrace::internal {
namespace gotrace_dump_transport_test {

constexpr absl::string_view kTrace = "go1.27-annotations.trace";

std::string Crlf(const std::string& bytes) { return absl::StrReplaceAll(bytes, {{"\n", "\r\n"}}); }

// Latin-1 in UTF-16, little-endian.
std::string Utf16(const std::string& bytes) {
  std::string text = "\xff\xfe";
  for (const char c : bytes) text += {c, '\0'};
  return text;
}

// Latin-1 in UTF-8.
std::string Utf8(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    const uint8_t byte = static_cast<uint8_t>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += {static_cast<char>(0xc0 | byte >> 6), static_cast<char>(0x80 | (byte & 0x3f))};
    }
  }
  return text;
}

std::string Chunked(const std::string& bytes) {
  return absl::StrCat("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                      absl::Hex(bytes.size()), "\r\n", bytes, "\r\n0\r\n\r\n");
}

std::string Multipart(const std::string& bytes) {
  return absl::StrCat("--x\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n", bytes,
                      "\r\n--x--\r\n");
}

std::string Base64(const std::string& bytes) { return absl::Base64Escape(bytes) + "\n"; }

std::string Hex(const std::string& bytes) { return absl::BytesToHexString(bytes); }

std::string Json(const std::string& bytes) {
  return absl::StrCat("{\"Trace\":\"", absl::Base64Escape(bytes), "\"}");
}

std::string TextBefore(const std::string& bytes) {
  return "Defaulted container \"app\" out of: app, proxy\n" + bytes;
}

struct Case {
  std::string name;
  std::function<std::string(const std::string&)> change;
  std::vector<std::string> checks;  // What `validate` finds.
  std::string note;                 // How the first note begins.
};

std::vector<Case> AllCases() {
  return {
      {"crlf", Crlf, {"transport-crlf"}, "line feeds were converted to CR LF; "},
      {"utf16",
       [](const std::string& bytes) { return Utf16(Crlf(bytes)); },
       {"transport-utf16", "transport-crlf"},
       "the trace was written as text in UTF-16 (little-endian, Latin-1 or Windows-1252); "},
      {"utf8",
       Utf8,
       {"transport-utf8"},
       "the bytes of the trace were read as characters and written as UTF-8 (Latin-1 or "
       "Windows-1252); "},
      {"http",
       Chunked,
       {"transport-http-header", "transport-chunked"},
       "the trace follows the header of an HTTP message (\"HTTP/1.1 200 OK\"); "},
      {"multipart", Multipart, {"transport-multipart"}, "the trace is one part of a multipart "},
      {"base64", Base64, {"transport-base64"}, "the trace is encoded as base64; "},
      {"hex", Hex, {"transport-hex"}, "the trace is a hex dump; "},
      {"json", Json, {"transport-json", "transport-base64"}, "the trace is a JSON string; "},
      {"text_before",
       TextBefore,
       {"transport-text-before"},
       "text precedes the trace (45 bytes: \"Defaulted container \\\"app\\\" out of: app, "
       "proxy\\n\"); "},
  };
}

// Runs gotrace-dump in a directory of the test's own.
class TransportCommand : public testing::TestWithParam<Case> {
 protected:
  TransportCommand() : directory_(MakeTestDirectory()) {
    std::filesystem::create_directory(directory_ + "/in");
    trace_ = ReadTestTrace(kTrace);
    plain_ = Write("plain.trace", trace_);
  }

  std::string Write(absl::string_view name, const std::string& bytes) const {
    return WriteFile(absl::StrCat(directory_, "/", name), bytes);
  }

  const std::string directory_;
  std::string trace_;
  std::string plain_;  // The path of the trace as it was.
};

TEST_P(TransportCommand, IsReadWithANote) {
  const std::string changed = Write("in/changed", GetParam().change(trace_));
  const std::string note = absl::StrCat("gotrace-dump: ", changed, ": note: ", GetParam().note);
  const std::vector<std::vector<std::string>> kCommands = {{"events"},
                                                           {"events", "--salvage"},
                                                           {"info"},
                                                           {"info", "--salvage"},
                                                           {"footprint"},
                                                           {"footprint", "--salvage"},
                                                           {"wire", "--header"}};
  for (std::vector<std::string> command : kCommands) {
    command.push_back(plain_);
    const std::string expected = DumpOutput(command);
    command.back() = changed;
    const SubprocessResult result = RunDump(command);
    EXPECT_EQ(result.exit_code, 0) << command[0];
    EXPECT_TRUE(result.out == expected) << command[0];
    EXPECT_TRUE(absl::StartsWith(result.err, note)) << result.err;
    EXPECT_TRUE(absl::EndsWith(result.err, "; `gotrace-dump repair` writes the plain trace\n"))
        << result.err;
  }
  SubprocessOptions piped;
  piped.input = ReadFile(changed);
  piped.piece_size = 1000;
  const SubprocessResult result = RunDump({"events", "-"}, piped);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.out == DumpOutput({"events", plain_}));
}

TEST_P(TransportCommand, IsFoundByValidate) {
  const std::string changed = Write("in/changed", GetParam().change(trace_));
  // In a directory, such a file is not skipped.
  for (const std::string& path : {changed, directory_ + "/in"}) {
    const SubprocessResult result = RunDump({"validate", path});
    EXPECT_EQ(result.exit_code, 1);
    for (const std::string& check : GetParam().checks) {
      EXPECT_TRUE(absl::StrContains(result.out, absl::StrCat("[", check, "]\n"))) << result.out;
    }
    EXPECT_TRUE(absl::StrContains(result.out, "; `gotrace-dump repair` writes the plain trace ["))
        << result.out;
    EXPECT_TRUE(absl::StrContains(result.out, absl::StrCat(": broken; 100 % of "))) << result.out;
  }
  const SubprocessResult info = RunDump({"info", directory_ + "/in"});
  EXPECT_EQ(info.exit_code, 0);
  EXPECT_TRUE(absl::StrContains(info.out, "changed ==\nversion ")) << info.out;
}

TEST_P(TransportCommand, IsUndoneByRepair) {
  const std::string changed = Write("in/changed", GetParam().change(trace_));
  const std::string target = directory_ + "/repaired";
  const SubprocessResult result = RunDump({"repair", "-o", target, changed});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(ReadFile(target) == trace_);
  EXPECT_TRUE(absl::StrContains(result.err, ": undone: ")) << result.err;
  EXPECT_TRUE(absl::EndsWith(
      result.err, absl::StrCat(": the trace is sound once that is undone; wrote ", target, "\n")))
      << result.err;
  EXPECT_EQ(RunDump({"repair", "--check", changed}).exit_code, 1);
  SubprocessOptions piped;
  piped.input = ReadFile(changed);
  EXPECT_TRUE(RunDump({"repair", "-o", "-", "-"}, piped).out == trace_);
}

// What is wrong with the trace besides is found and repaired too.
TEST_P(TransportCommand, LeavesOtherDamageToBeFound) {
  const std::string changed = Write("in/changed", GetParam().change(trace_.substr(0, 6000)));
  const std::string cut = Write("cut.trace", trace_.substr(0, 6000));
  const SubprocessResult result = RunDump({"events", "--salvage", changed});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(result.out == RunDump({"events", "--salvage", cut}).out);
  RunDump({"repair", "-o", directory_ + "/a", changed});
  RunDump({"repair", "-o", directory_ + "/b", cut});
  EXPECT_TRUE(ReadFile(directory_ + "/a") == ReadFile(directory_ + "/b"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, TransportCommand, testing::ValuesIn(AllCases()),
                         [](const auto& info) { return info.param.name; });

TEST_F(TransportCommand, BytesThatWereReplacedAreLost) {
  // As a conversion to a string does, which replaces every byte that is not text with U+FFFD.
  std::string replaced;
  for (const char c : trace_) {
    static_cast<uint8_t>(c) < 0x80 ? replaced += c : replaced += "\xef\xbf\xbd";
  }
  const std::string file = Write("in/replaced", replaced);
  const std::string text =
      "byte 0: a conversion to text replaced the bytes of the trace that are not valid UTF-8";
  for (const char* const command : {"events", "info", "footprint", "wire", "repair"}) {
    const SubprocessResult result = RunDump({command, file});
    EXPECT_EQ(result.exit_code, 1) << command;
    EXPECT_EQ(result.out, "") << command;
    EXPECT_TRUE(absl::StartsWith(result.err, absl::StrCat("gotrace-dump: ", file, ": ", text)))
        << result.err;
    EXPECT_TRUE(absl::EndsWith(result.err, "[bytes-replaced]\n")) << result.err;
  }
  const SubprocessResult result = RunDump({"validate", file});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(result.out, "[bytes-replaced]\n")) << result.out;
}

TEST_F(TransportCommand, OtherInputIsCalledWhatItIs) {
  const std::string page = Write("in/page", "<!DOCTYPE html><html><body>502</body></html>\n");
  for (const char* const command : {"events", "info", "footprint", "wire"}) {
    const SubprocessResult result = RunDump({command, page});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_TRUE(absl::StrContains(result.err, "byte 0: expected a trace, found HTML: "))
        << result.err;
  }
}

}  // namespace gotrace_dump_transport_test
}  // namespace gotrace::internal
