#include "tracev2/text_form.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "tracev2/wire_reader.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace text_form_test {

// An event as one line, whatever its form: "Stack 1 1 / 2 3 4 5", "String 1 \"data\"".
std::string Describe(const RawEvent& event) {
  TextBuffer out;
  out.Append(EventTypeName(event.type));
  for (const uint64_t arg : event.args) {
    out.Append(' ');
    out.Append(arg);
  }
  if (event.auto_size) out.Append(" auto");
  if (FindEventSpec(event.type)->form == EventForm::kData) {
    out.Append(' ');
    AppendQuoted(event.data, &out);
  }
  return std::string(out.view());
}

// The result of parsing: the events, each on a line, and the error.
struct Parsed {
  std::string events;
  std::string error;
};

Parsed Parse(absl::string_view text) {
  Parsed parsed;
  TextParser parser;
  const auto sink = [&](const RawEvent& event) {
    absl::StrAppend(&parsed.events, Describe(event), "\n");
  };
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::Status status = parser.ParseLine(line, sink);
    if (status.ok()) continue;
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    parsed.error = std::string(status.message());
    return parsed;
  }
  parsed.error = std::string(parser.Finish(sink).message());
  return parsed;
}

// Returns the events of a sound text, to which a header of the newest version is added.
std::string Events(absl::string_view text) {
  const Parsed parsed = Parse(absl::StrCat("Trace Go1.26\n", text));
  EXPECT_EQ(parsed.error, "");
  return parsed.events;
}

// Returns the error in a text, to which a header of the newest version is added.
std::string Error(absl::string_view text) {
  return Parse(absl::StrCat("Trace Go1.26\n", text)).error;
}

TEST(TextFormTest, WritesHeaders) {
  for (const Version version : AllVersions()) {
    TextBuffer out;
    AppendHeaderText(version, &out);
    EXPECT_EQ(out.view(), absl::StrCat("Trace Go1.", static_cast<uint32_t>(version), "\n"));
  }
}

TEST(TextFormTest, ReadsHeaders) {
  for (const Version version : AllVersions()) {
    TextParser parser;
    const auto sink = [](const RawEvent&) { ADD_FAILURE(); };
    EXPECT_FALSE(parser.has_version());
    EXPECT_TRUE(parser.ParseLine("", sink).ok());
    EXPECT_TRUE(parser.ParseLine("  # a comment", sink).ok());
    EXPECT_FALSE(parser.has_version());
    const std::string line = absl::StrCat(" Trace\t Go1.", static_cast<uint32_t>(version), " ");
    EXPECT_TRUE(parser.ParseLine(line, sink).ok());
    ASSERT_TRUE(parser.has_version());
    EXPECT_EQ(parser.version(), version);
    EXPECT_TRUE(parser.Finish(sink).ok());
  }
}

TEST(TextFormTest, RefusesOtherHeaders) {
  const absl::string_view kHeader = "expected a header line like \"Trace Go1.22\", found ";
  const absl::string_view kVersions =
      "expected one of the versions Go1.22, Go1.23, Go1.25 and Go1.26, found ";
  EXPECT_EQ(Parse("").error, absl::StrCat(kHeader, "the end of the text"));
  EXPECT_EQ(Parse("\n # x\n").error, absl::StrCat(kHeader, "the end of the text"));
  for (const absl::string_view line :
       {"Strings", "trace Go1.22", "Trace", "Trace 1.22", "Trace Go1.", "Trace Go1.x",
        "Trace Go2.22", "Trace Go1.+22", "Trace Go1.22x", "Trace Go1.18446744073709551638"}) {
    EXPECT_EQ(Parse(line).error, absl::StrCat(kHeader, "\"", line, "\""));
  }
  for (const absl::string_view line :
       {"Trace Go1.21", "Trace Go1.24", "Trace Go1.27", "Trace Go1.4294967318"}) {
    EXPECT_EQ(Parse(line).error, absl::StrCat(kVersions, "\"", line, "\""));
  }
  EXPECT_EQ(Parse("Trace Go1.22 more").error,
            "expected nothing after the version, found \" more\"");
}

TEST(TextFormTest, ReadsEveryFormOfEvent) {
  EXPECT_EQ(Events("EventBatch gen=1 m=18446744073709551615 time=39758253134 size=472\n"
                   "Stacks\n"
                   "Stack id=11 nframes=2\n"
                   "\tpc=4823940 func=30 file=31 line=33\n"
                   "\tpc=1 func=2 file=3 line=4\n"
                   "Stack id=12 nframes=0\n"
                   "String id=5\n"
                   "\tdata=\"hello\\n\"\n"
                   "GoStart dt=1 g=2 g_seq=3\n"
                   "ExperimentalBatch exp=1 gen=2 m=3 time=4\n"
                   "\tdata=\"\\x00\\xff\"\n"
                   "EndOfGeneration\n"),
            "EventBatch 1 18446744073709551615 39758253134 472\n"
            "Stacks\n"
            "Stack 11 2 4823940 30 31 33 1 2 3 4\n"
            "Stack 12 0\n"
            "String 5 \"hello\\n\"\n"
            "GoStart 1 2 3\n"
            "ExperimentalBatch 1 2 3 4 \"\\x00\\xff\"\n"
            "EndOfGeneration\n");
}

TEST(TextFormTest, SkipsSpaceAndComments) {
  EXPECT_EQ(Events("\n"
                   "   \t \n"
                   "# first\n"
                   "  GoStart   dt=1\tg=2 \xe2\x80\x83 g_seq=3 \xc2\xa0\n"
                   "GoStart dt=1 g=2 g_seq=3 # after the event\n"
                   "GoStart dt=1 g=2 g_seq=3# at once\n"
                   "Stack id=1 nframes=1  # one frame\n"
                   "\n"
                   "# between\n"
                   "pc=1 func=2 file=3 line=4 # frame\n"
                   "String id=1\n"
                   "\n"
                   "\t# still to come\n"
                   "  data = \"a#b = c\"  \n"
                   "ProcStop dt=1\r\n"),
            "GoStart 1 2 3\nGoStart 1 2 3\nGoStart 1 2 3\nStack 1 1 1 2 3 4\n"
            "String 1 \"a#b = c\"\nProcStop 1\n");
}

TEST(TextFormTest, DataMayBeMissingOrEmpty) {
  EXPECT_EQ(Events("String id=1\nString id=2\n\tdata=\"\"\nString id=3\n\n# x\nProcStop dt=1\n"
                   "String id=4\n\tdata=``\nString id=5\n"),
            "String 1 \"\"\nString 2 \"\"\nString 3 \"\"\nProcStop 1\nString 4 \"\"\n"
            "String 5 \"\"\n");
}

TEST(TextFormTest, DataMayBeAnyGoLiteral) {
  EXPECT_EQ(Events("String id=1\ndata=`\\n`\nString id=2\ndata='x'\nString id=3\n"
                   "data=\"\\101\\u4e16\"\n"),
            "String 1 \"\\\\n\"\nString 2 \"x\"\nString 3 \"A世\"\n");
}

TEST(TextFormTest, SizesMayBeComputed) {
  EXPECT_EQ(Events("EventBatch gen=1 m=2 time=3 size=auto\nProcStop dt=1\n"),
            "EventBatch 1 2 3 0 auto\nProcStop 1\n");
  const absl::StatusOr<std::string> bytes =
      AssembleText("Trace Go1.22\nEventBatch gen=1 m=2 time=3 size=auto\nProcStop dt=300\n");
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(*bytes,
            MakeHeader(Version::kGo122) + std::string("\x01\x01\x02\x03\x03\x0b\xac\x02", 8));
}

TEST(TextFormTest, ReportsWhichBatchHasAnotherSize) {
  constexpr absl::string_view kLines[] = {"Trace Go1.26",
                                          "EventBatch gen=1 m=2 time=3 size=3",
                                          "ProcStatus dt=1 p=1 pstatus=1",
                                          "EventBatch gen=1 m=2 time=3 size=4",
                                          "ProcStatus dt=1 p=1 pstatus=1",
                                          "EventBatch gen=1 m=2 time=3 size=auto",
                                          "ProcStatus dt=1 p=1 pstatus=1",
                                          "EventBatch gen=1 m=2 time=3 size=7",
                                          "ProcStatus dt=300 p=1 pstatus=1",
                                          "EndOfGeneration",
                                          "EventBatch gen=2 m=2 time=3 size=0"};
  for (const bool takes : {false, true}) {
    std::string bytes;
    TextAssembler assembler(BatchSizeForm::kShortest, &bytes);
    for (const absl::string_view line : kLines) {
      ASSERT_TRUE(assembler.AddLine(line).ok());
      if (takes) assembler.Taken(assembler.final_size());
    }
    ASSERT_TRUE(assembler.Finish().ok());
    EXPECT_EQ(assembler.wrong_sizes(), 2u);
    ASSERT_TRUE(assembler.first_wrong_size().has_value());
    EXPECT_EQ(assembler.first_wrong_size()->line, 2u);
    EXPECT_EQ(assembler.first_wrong_size()->stated, 3u);
    EXPECT_EQ(assembler.first_wrong_size()->found, 4u);
    // The last batch is checked when the text ends.
    bytes.clear();
    TextAssembler last(BatchSizeForm::kShortest, &bytes);
    for (const absl::string_view line : {kLines[0], kLines[1], kLines[2]}) {
      ASSERT_TRUE(last.AddLine(line).ok());
    }
    EXPECT_EQ(last.wrong_sizes(), 0u);
    ASSERT_TRUE(last.Finish().ok());
    EXPECT_EQ(last.wrong_sizes(), 1u);
  }
}

TEST(TextFormTest, ReportsWhatIsWrong) {
  const absl::string_view cases[][2] = {
      {"Nothing dt=1", R"(expected the name of an event, found "Nothing")"},
      {"gostart dt=1", R"(expected the name of an event, found "gostart")"},
      {"data=\"x\"", R"(expected the name of an event, found "data=\"x\"")"},
      {"GoStart", R"(expected argument dt=NUMBER, found "")"},
      {"GoStart dt=1 g=2", R"(expected argument g_seq=NUMBER, found "")"},
      {"GoStart dt=1 g=2 # g_seq=3", R"(expected argument g_seq=NUMBER, found "")"},
      {"GoStart dt=1 g_seq=2 g=3", R"(expected argument g=NUMBER, found "g_seq=2")"},
      {"GoStart dt 1", R"(expected argument dt=NUMBER, found "dt")"},
      {"GoStart dt= 1", R"(expected argument dt=NUMBER, found "dt=")"},
      {"GoStart dt=-1", R"(expected argument dt=NUMBER, found "dt=-1")"},
      {"GoStart dt=+1", R"(expected argument dt=NUMBER, found "dt=+1")"},
      {"GoStart dt=1_0", R"(expected argument dt=NUMBER, found "dt=1_0")"},
      {"GoStart dt=0x1", R"(expected argument dt=NUMBER, found "dt=0x1")"},
      {"GoStart dt=auto", R"(expected argument dt=NUMBER, found "dt=auto")"},
      {"GoStart dt=18446744073709551616",
       R"(expected argument dt=NUMBER, found "dt=18446744073709551616")"},
      {"EventBatch gen=auto", R"(expected argument gen=NUMBER, found "gen=auto")"},
      {"EventBatch gen=1 m=2 time=3 size=Auto",
       R"(expected argument size=NUMBER, found "size=Auto")"},
      {"ProcStop dt=1 p=2", R"(expected the end of the line, found "p=2")"},
      {"Strings x y ", R"(expected the end of the line, found "x y")"},
      {"Stack id=1 nframes=1\nProcStop dt=1", R"(expected argument pc=NUMBER, found "ProcStop")"},
      {"Stack id=1 nframes=1\npc=1 func=2 file=3", R"(expected argument line=NUMBER, found "")"},
      {"Stack id=1 nframes=1\npc=1 func=2 file=3 line=4 x",
       R"(expected the end of the line, found "x")"},
      {"Stack id=1 nframes=129", "expected at most 128 frames, found nframes=129"},
      {"Stack id=1 nframes=18446744073709551615",
       "expected at most 128 frames, found nframes=18446744073709551615"},
      {"Stack id=1 nframes=3\npc=1 func=2 file=3 line=4",
       "expected 2 more frames, found the end of the text"},
      {"String id=1\ndata=x", R"(expected data= and a Go string, found "data=x")"},
      {"String id=1\ndata=", R"(expected data= and a Go string, found "data=")"},
      {"String id=1\ndata=\"x\" # more",
       R"(expected data= and a Go string, found "data=\"x\" # more")"},
      {"String id=1\ndata=\"x\" \xbf",
       R"(expected data= and a Go string, found "data=\"x\" \xbf")"},
      {"String id=1\nDATA=\"x\"", R"(expected the name of an event, found "DATA=\"x\"")"},
      {"String id=1 data=\"x\"", R"(expected the end of the line, found "data=\"x\"")"},
  };
  for (const auto& c : cases) EXPECT_EQ(Error(c[0]), c[1]) << c[0];
}

TEST(TextFormTest, VersionsHaveTheirEventsOnly) {
  const auto error = [](Version version, const EventSpec& spec) {
    TextBuffer text;
    AppendHeaderText(version, &text);
    RawEvent event;
    event.type = spec.type;
    event.args.assign(spec.arg_count, 0);
    AppendEventText(event, &text);
    return Parse(text.view()).error;
  };
  for (const EventSpec& spec : AllEventSpecs()) {
    for (const Version version : AllVersions()) {
      EXPECT_EQ(error(version, spec),
                VersionHas(version, spec)
                    ? ""
                    : absl::StrCat("expected an event that a trace of version 1.",
                                   static_cast<uint32_t>(version), " may have, found \"", spec.name,
                                   "\""));
    }
  }
}

TEST(TextFormTest, AssemblingReportsTheLine) {
  const absl::Status status =
      AssembleText("# a comment\r\nTrace Go1.22\r\n\r\nProcStop dt=x\r\n").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), R"(line 4: expected argument dt=NUMBER, found "dt=x")");
  EXPECT_EQ(AssembleText("").status().message(),
            "expected a header line like \"Trace Go1.22\", found the end of the text");
  EXPECT_EQ(AssembleText("Trace Go1.22").value(), MakeHeader(Version::kGo122));
}

TEST(TextFormTest, LongDataComesThrough) {
  RawEvent event;
  event.type = EventType::kExperimentalBatch;
  event.args = {1, 2, 3, 4};
  std::string data(kMaxBatchSize, '\0');
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 7);
  event.data = data;
  TextBuffer text;
  AppendEventText(event, &text);
  std::string found;
  TextParser parser;
  const auto sink = [&](const RawEvent& e) { found = std::string(e.data); };
  ASSERT_TRUE(parser.ParseLine("Trace Go1.26", sink).ok());
  for (const absl::string_view line : absl::StrSplit(text.view(), '\n')) {
    ASSERT_TRUE(parser.ParseLine(line, sink).ok());
  }
  EXPECT_EQ(found, data);
}

// The text form of a whole trace, as far as Go's tool prints it if `as_go`.
std::string Disassemble(absl::string_view bytes, bool as_go) {
  const Version version = ParseHeader(bytes).version;
  TextBuffer text;
  if (!as_go) AppendHeaderText(version, &text);
  for (size_t pos = kHeaderSize; pos < bytes.size();) {
    RawEvent event;
    const WireResult result = DecodeRawEvent(bytes.substr(pos), &event);
    EXPECT_EQ(result.status, WireStatus::kOk) << "at byte " << pos;
    if (result.status != WireStatus::kOk) break;
    if (as_go && !GoToolPrints(version, *FindEventSpec(event.type))) break;
    AppendEventText(event, &text);
    pos += result.size;
  }
  return std::string(text.view());
}

class TextFormTraceTest : public testing::TestWithParam<TestTrace> {};

TEST_P(TextFormTraceTest, IsThatOfGo) {
  const std::string text = Disassemble(ReadTestTrace(GetParam().name), /*as_go=*/true);
  EXPECT_EQ(Sha256Hex(text), GetParam().wire_sha256);
}

TEST_P(TextFormTraceTest, BytesComeBack) {
  const std::string bytes = ReadTestTrace(GetParam().name);
  ASSERT_EQ(bytes.size(), GetParam().size);
  const std::string text = Disassemble(bytes, /*as_go=*/false);
  const absl::StatusOr<std::string> padded = AssembleText(text, BatchSizeForm::kPadded);
  ASSERT_TRUE(padded.ok()) << padded.status();
  EXPECT_TRUE(*padded == bytes);

  // Shorter sizes change the bytes, but not the text.
  const absl::StatusOr<std::string> shortest = AssembleText(text, BatchSizeForm::kShortest);
  ASSERT_TRUE(shortest.ok()) << shortest.status();
  EXPECT_LT(shortest->size(), bytes.size());
  EXPECT_TRUE(Disassemble(*shortest, /*as_go=*/false) == text);
}

INSTANTIATE_TEST_SUITE_P(Traces, TextFormTraceTest, testing::ValuesIn(TestTraces()),
                         [](const testing::TestParamInfo<TestTrace>& info) {
                           std::string name;
                           for (const char c : info.param.name) name += isalnum(c) ? c : '_';
                           return name;
                         });

TEST(TextFormTest, GoldensAreThoseOfGo) {
  for (const absl::string_view name : {"go1.22-oddstrings", "go1.25-flight", "go1.27-coroutines"}) {
    const std::string bytes = ReadTestTrace(absl::StrCat(name, ".trace"));
    EXPECT_EQ(Disassemble(bytes, /*as_go=*/true),
              ReadTestFile(absl::StrCat("golden/", name, ".wire.txt")));
  }
}

}  // namespace text_form_test
}  // namespace gotrace::internal
