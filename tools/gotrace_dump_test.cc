// Runs gotrace-dump as its users do. What has a file gotrace_dump_*_test.cc of its own is not here.
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <regex>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gotrace/library_version.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/subprocess.h"
#include "testing/test_directory.h"
#include "tracev2/text_form.h"

namespace gotrace::internal {
namespace gotrace_dump_test {

constexpr char kTrace[] = "go1.27-annotations.trace";

// Printed if a trace is broken.
constexpr char kHint[] =
    "gotrace-dump: `gotrace-dump validate` lists all errors; --salvage keeps everything that can "
    "still be read\n";

std::string CompressedPath(absl::string_view trace) {
  return TestFilePath(absl::StrCat(trace, ".zst"));
}

std::string Gzip(std::string bytes) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

class EachTrace : public testing::TestWithParam<TestTrace> {};
INSTANTIATE_TEST_SUITE_P(Dump, EachTrace, testing::ValuesIn(SomeTestTraces()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& c : name) c = absl::ascii_isalnum(c) ? c : '_';
                           return name;
                         });

TEST_P(EachTrace, EventsPrintsWhatGoPrints) {
  const std::string text = DumpOutput({"events", CompressedPath(GetParam().name)});
  EXPECT_EQ(Sha256Hex(text), GetParam().parsed_sha256);
}

TEST_P(EachTrace, WirePrintsWhatGoPrints) {
  const SubprocessResult result = RunDump({"wire", CompressedPath(GetParam().name)});
  EXPECT_EQ(Sha256Hex(result.out), GetParam().wire_sha256);
  // As Go's tool does, it stops at the experimental events of these versions.
  const bool stops = absl::StrContains(GetParam().name, "-alloc") &&
                     !absl::StartsWith(GetParam().name, "go1.26") &&
                     !absl::StartsWith(GetParam().name, "go1.27");
  EXPECT_EQ(result.exit_code, stops ? 1 : 0);
  EXPECT_EQ(result.err.empty(), !stops);
}

TEST(Dump, WireSaysThatHeaderContinues) {
  const std::string path = CompressedPath("go1.25-alloc.trace");
  EXPECT_EQ(RunDump({"wire", path}).err,
            absl::StrCat("gotrace-dump: ", path,
                         ": byte 167, event HeapObjectFree: expected an event of version 1.25, "
                         "found byte 133 (HeapObjectFree) [event-version]\n"
                         "gotrace-dump: Go's tool stops at such an experimental event too; "
                         "--header prints them all\n"));
  EXPECT_TRUE(
      absl::StartsWith(DumpOutput({"wire", "--header", path}), "Trace Go1.25\nEventBatch "));
}

TEST(Dump, WireWithHeaderOnlyAddsALine) {
  const std::string path = CompressedPath(kTrace);
  EXPECT_EQ(DumpOutput({"wire", "--header", path}), "Trace Go1.26\n" + DumpOutput({"wire", path}));
  EXPECT_EQ(DumpOutput({"wire", "--header", "--noheader", path}), DumpOutput({"wire", path}));
}

TEST(Dump, EventsIsTheDefault) {
  const std::string path = CompressedPath(kTrace);
  const std::string expected = DumpOutput({"events", path});
  EXPECT_EQ(DumpOutput({path}), expected);
  EXPECT_EQ(DumpOutput({"--", path}), expected);
  EXPECT_EQ(DumpOutput({"--format", "go", path}), expected);
  EXPECT_EQ(DumpOutput({path, "-format=go"}), expected);
}

// A person who types nothing but files is shown the summary. Flags, and output that goes elsewhere,
// are for scripts.
TEST(Dump, SummaryIsTheDefaultOnATerminal) {
  const std::string path = CompressedPath(kTrace);
  const std::string summary = DumpOutput({"summary", path});
  EXPECT_EQ(DumpOutput({path}, {.is_terminal = true}), summary);
  EXPECT_EQ(DumpOutput({"--", path}, {.is_terminal = true}), summary);
  const std::string events = DumpOutput({"events", "--kind=Log", path});
  EXPECT_EQ(DumpOutput({"--kind=Log", path}, {.is_terminal = true}), events);
  EXPECT_EQ(DumpOutput({"events", "--kind=Log", path}, {.is_terminal = true}), events);
}

// The same comes out whatever the trace comes from.
TEST(Dump, ReadsFilesAndStreamsAlike) {
  for (const char* const trace : {kTrace, "go1.22-gc.trace"}) {
    const std::string raw = ReadTestTrace(trace);
    const std::string zstd = ReadTestFile(absl::StrCat(trace, ".zst"));
    const std::string raw_path = WriteFile("raw.trace", raw);
    const std::string gzip_path = WriteFile("trace.gz", Gzip(raw));
    for (const std::vector<std::string>& command :
         std::vector<std::vector<std::string>>{{"events"},
                                               {"events", "--format=json", "--stacks"},
                                               {"wire"},
                                               {"wire", "--header"},
                                               {"footprint"},
                                               {"footprint", "--json"},
                                               {"info"},
                                               {"info", "--json"}}) {
      const auto with = [&](const std::string& file) {
        std::vector<std::string> args = command;
        args.push_back(file);
        return args;
      };
      // The output without the name of the file, which is only in JSON.
      const bool tells_name = command.back() == "--json";
      const auto output = [&](const std::string& file, const SubprocessOptions& options = {}) {
        const std::string out = DumpOutput(with(file), options);
        if (!tells_name) return out;
        const std::string name = file == "-" ? "standard input" : file;
        absl::string_view rest = out;
        EXPECT_TRUE(absl::ConsumePrefix(&rest, absl::StrCat("{\"file\":\"", name, "\","))) << out;
        return std::string(rest);
      };
      const std::string expected = output(CompressedPath(trace));
      EXPECT_FALSE(expected.empty());
      EXPECT_EQ(output(raw_path), expected);
      EXPECT_EQ(output(gzip_path), expected);
      EXPECT_EQ(output("-", {.input = zstd}), expected);
      EXPECT_EQ(output("-", {.input = raw}), expected);
      EXPECT_EQ(output("-", {.input = raw, .piece_size = 64 << 10}), expected);
    }
  }
}

TEST(Dump, HelpIsGivenWhateverElseIsAsked) {
  for (const char* const flag : {"--limits=zzz", "--jobs=0"}) {
    EXPECT_EQ(DumpOutput({"info", "--help", flag}), DumpOutput({"info", "--help"}));
    EXPECT_EQ(DumpOutput({"info", flag, "--help"}), DumpOutput({"info", "--help"}));
  }
}

TEST(Dump, ReadsByteAfterByte) {
  for (const std::string& bytes :
       {ReadTestTrace(kTrace), ReadTestFile(absl::StrCat(kTrace, ".zst"))}) {
    for (const char* const command : {"events", "wire", "footprint", "info"}) {
      EXPECT_EQ(DumpOutput({command, "-"}, {.input = bytes, .piece_size = 1}),
                DumpOutput({command, CompressedPath(kTrace)}));
    }
  }
}

TEST(Dump, JsonHasALineForEachEvent) {
  const std::string path = CompressedPath(kTrace);
  const std::string plain = DumpOutput({"--format=json", path});
  const std::string stacks = DumpOutput({"--format=json", "--stacks", path});
  EXPECT_EQ(std::count(plain.begin(), plain.end(), '\n'), 305);
  EXPECT_EQ(std::count(stacks.begin(), stacks.end(), '\n'), 305);
  EXPECT_FALSE(absl::StrContains(plain, "\"stack\":"));
  EXPECT_TRUE(absl::StrContains(stacks, "\"stack\":"));
  EXPECT_EQ(DumpOutput({"--format=json", "--stacks", "--nostacks", path}), plain);
}

// One event of Go's text, with its stacks.
struct TextEvent {
  std::string text;
  absl::string_view head() const { return absl::string_view(text).substr(0, text.find('\n')); }
  bool Has(absl::string_view part) const {
    return absl::StrContains(absl::StrCat(" ", head(), " "), absl::StrCat(" ", part, " "));
  }
  int64_t time() const {
    const std::vector<std::string> words = absl::StrSplit(head(), ' ');
    int64_t time = -1;
    EXPECT_TRUE(words.size() > 4 && absl::SimpleAtoi(absl::StripPrefix(words[4], "Time="), &time))
        << head();
    return time;
  }
};

std::vector<TextEvent> AllEvents() {
  std::vector<TextEvent> events;
  for (const absl::string_view line : absl::StrSplit(DumpOutput({CompressedPath(kTrace)}), '\n')) {
    if (absl::StartsWith(line, "M=")) events.emplace_back();
    if (!events.empty()) absl::StrAppend(&events.back().text, line, "\n");
  }
  EXPECT_EQ(events.size(), 305);
  // A wrong number must not end the other tests.
  events.resize(305);
  if (!events.back().text.empty())
    events.back().text.pop_back();  // The newline after the last one belongs to it.
  return events;
}

// The events that `wanted` holds for.
template <class Wanted>
std::string Select(const std::vector<TextEvent>& events, Wanted wanted) {
  std::string text;
  for (const TextEvent& event : events) {
    if (wanted(event)) text += event.text;
  }
  EXPECT_FALSE(text.empty());
  return text;
}

bool IsAboutGoroutine(const TextEvent& event, int id) {
  return event.Has(absl::StrCat("G=", id)) || event.Has(absl::StrCat("GoID=", id)) ||
         event.Has(absl::StrCat("Scope=Goroutine(", id, ")"));
}

bool IsAboutProc(const TextEvent& event, int id) {
  return event.Has(absl::StrCat("P=", id)) || event.Has(absl::StrCat("ProcID=", id)) ||
         event.Has(absl::StrCat("Scope=Proc(", id, ")"));
}

TEST(Dump, FiltersByKindGoroutineProcAndThread) {
  const std::vector<TextEvent> all = AllEvents();
  const std::string path = CompressedPath(kTrace);
  const auto is_sync = [](const TextEvent& e) { return e.Has("Sync"); };
  const auto is_log = [](const TextEvent& e) { return e.Has("Log"); };
  EXPECT_EQ(DumpOutput({"--kind=Sync", path}), Select(all, is_sync));
  EXPECT_EQ(DumpOutput({"--kind", "sync, LOG", path}),
            Select(all, [&](const TextEvent& e) { return is_sync(e) || is_log(e); }));
  EXPECT_EQ(DumpOutput({"--g=1", path}),
            Select(all, [](const TextEvent& e) { return IsAboutGoroutine(e, 1); }));
  EXPECT_EQ(DumpOutput({"-g", "1,5", path}), Select(all, [](const TextEvent& e) {
              return IsAboutGoroutine(e, 1) || IsAboutGoroutine(e, 5);
            }));
  EXPECT_EQ(DumpOutput({"--p=1", path}),
            Select(all, [](const TextEvent& e) { return IsAboutProc(e, 1); }));
  EXPECT_EQ(DumpOutput({"--m=1928", path}),
            Select(all, [](const TextEvent& e) { return e.Has("M=1928"); }));
  EXPECT_EQ(DumpOutput({"--g=1", "--p=1", "--kind=StateTransition,Metric", path}),
            Select(all, [](const TextEvent& e) {
              return IsAboutGoroutine(e, 1) && IsAboutProc(e, 1) &&
                     (e.Has("StateTransition") || e.Has("Metric"));
            }));
  const SubprocessResult none = RunDump({"--g=99999", path});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(none.err,
            absl::StrCat("gotrace-dump: ", path, ": no event matches; 305 events were read\n"));
  EXPECT_EQ(RunDump({"--g=99999", "--limit=0", path}).err, "");
}

// Times can be copied from the output.
TEST(Dump, FiltersByTimesOfEvents) {
  const std::vector<TextEvent> all = AllEvents();
  const std::string path = CompressedPath(kTrace);
  const int64_t from = all[all.size() / 3].time();
  const int64_t to = all[all.size() / 2].time();
  EXPECT_EQ(DumpOutput({absl::StrCat("--from=@", from), absl::StrCat("--to=@", to), path}),
            Select(all, [&](const TextEvent& e) { return e.time() >= from && e.time() <= to; }));
  EXPECT_EQ(DumpOutput({absl::StrCat("--from=@", from), "--to=1ms", path}),
            Select(all, [&](const TextEvent& e) {
              return e.time() >= from && e.time() - all[0].time() <= 1'000'000;
            }));
  EXPECT_EQ(DumpOutput({absl::StrCat("--to=@", all[0].time()), path}), all[0].text);
  const std::string before = absl::StrCat("--to=@", all[0].time() - 1);
  EXPECT_EQ(RunDump({before, path}).err,
            absl::StrCat("gotrace-dump: ", path, ": ", before,
                         " is earlier than all events: the first is at @", all[0].time(), "\n"));
  const std::string end = absl::StrCat("--from=@", all.back().time());
  EXPECT_EQ(RunDump({end, "--to=1ns", path}).err,
            absl::StrCat("gotrace-dump: ", path, ": ", end,
                         " is later than --to=1ns, so no event is between them\n"));
}

TEST(Dump, FiltersByTimeAndNumber) {
  const std::vector<TextEvent> all = AllEvents();
  const std::string path = CompressedPath(kTrace);
  const int64_t start = all[0].time();
  EXPECT_EQ(DumpOutput({"--from=1s", path}),
            Select(all, [&](const TextEvent& e) { return e.time() - start >= 1'000'000'000; }));
  EXPECT_EQ(DumpOutput({"--to", "0.5ms", path}),
            Select(all, [&](const TextEvent& e) { return e.time() - start <= 500'000; }));
  const auto is_wanted = [&](const TextEvent& e) {
    const int64_t since = e.time() - start;
    return since >= 100'000 && since <= 1'000'100'000 && e.Has("P=0");
  };
  const std::string wanted = Select(all, is_wanted);
  EXPECT_EQ(DumpOutput({"--from=100us", "--to=1.0001s", "--p=0", "--kind=Metric,Log", path}),
            Select(all, [&](const TextEvent& e) {
              return is_wanted(e) && (e.Has("Metric") || e.Has("Log"));
            }));
  EXPECT_EQ(DumpOutput({"--to=0", path}), all[0].text);
  EXPECT_EQ(DumpOutput({"--from=-inf", "--to=inf", path}), DumpOutput({path}));
  const int64_t end = all.back().time();
  for (const std::string& last : {absl::StrCat("@", end), absl::StrCat(end - start, "ns")}) {
    EXPECT_EQ(DumpOutput({"--from", last, path}), all.back().text);
    const SubprocessResult none = RunDump({"--from", last, "--kind=Log", path});
    EXPECT_TRUE(absl::StrContains(none.err, "no event matches")) << none.err;
  }
  for (const std::string& late : {std::string("inf"), absl::StrCat("@", end + 1)}) {
    const SubprocessResult result = RunDump({"--from", late, path});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(
        result.err,
        absl::StrFormat("gotrace-dump: %s: --from=%s is later than all events: the first is at "
                        "@%d, and the last %.9f s after it, at @%d\n",
                        path, late, start, static_cast<double>(end - start) / 1e9, end));
    EXPECT_EQ(RunDump({"--from", late, "--limit=0", path}).err, "");
  }
  EXPECT_EQ(DumpOutput({"--limit=0", path}), "");
  EXPECT_EQ(DumpOutput({"--limit=2", path}), all[0].text + all[1].text);
  EXPECT_EQ(DumpOutput({"--limit=1000000000000", path}), DumpOutput({path}));
  EXPECT_EQ(DumpOutput({"--kind=sync", "--limit", "1", "--from=1ns", path}),
            Select(all, [](const TextEvent& e) { return e.Has("N=2"); }));
}

// The member "wall" of a line of JSON.
std::string WallOf(absl::string_view line) {
  constexpr absl::string_view kKey = "\"wall\":\"";
  const size_t begin = line.find(kKey);
  if (begin == absl::string_view::npos) return "";
  line.remove_prefix(begin + kKey.size());
  return std::string(line.substr(0, line.find('"')));
}

// Lines of JSON whose wall-clock time fits.
template <class Fits>
std::string SelectLines(const std::string& text, Fits fits) {
  std::string selected;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (fits(WallOf(line))) absl::StrAppend(&selected, line, "\n");
  }
  return selected;
}

TEST(Dump, AddsAndFiltersByWallClockTimes) {
  // Of three generations.
  const std::string path = CompressedPath("go1.27-generations.trace");
  const std::string all = DumpOutput({"--format=json", "--wall", path});
  const std::vector<std::string> lines = absl::StrSplit(all, '\n', absl::SkipEmpty());
  EXPECT_EQ(WallOf(lines.front()), "2026-11-21T04:25:07.808796804Z");
  std::string last;
  for (const std::string& line : lines) {
    EXPECT_EQ(WallOf(line).size(), 30u) << line;
    last = std::max(last, WallOf(line));
  }
  // In the middle of the second generation, given in another zone and with fewer digits.
  const std::string selected = SelectLines(all, [](const std::string& wall) {
    return wall >= "2026-11-21T04:25:09.000000000Z" && wall <= "2026-11-21T04:25:10.500000000Z";
  });
  EXPECT_GT(selected.size(), 1000u);
  EXPECT_LT(selected.size(), all.size());
  EXPECT_EQ(DumpOutput({"--format=json", "--wall", "--from=2026-11-21T05:25:09+01:00",
                        "--to=2026-11-21T04:25:10.5Z", path}),
            selected);
  // To the nanosecond, and both ends count.
  const std::string middle = WallOf(lines[lines.size() / 2]);
  EXPECT_EQ(DumpOutput({"--format=json", "--wall", "--from", middle, "--to", middle, path}),
            lines[lines.size() / 2] + "\n");
  EXPECT_EQ(DumpOutput({"--from=2000-01-01T00:00:00Z", "--to=2100-01-01T00:00:00Z", path}),
            DumpOutput({path}));
  EXPECT_EQ(RunDump({"--from", middle, "--to=1ns", path}).out, "");

  const SubprocessResult none = RunDump({"--from=2026-11-21T05:00:00Z", path});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(none.err,
            absl::StrCat("gotrace-dump: ", path,
                         ": no event is between --from and --to: the events that were read are "
                         "from ",
                         WallOf(lines.front()), " to ", last, "\n"));
  // Those of years that nanoseconds since the trace began cannot reach.
  EXPECT_EQ(DumpOutput({"--to=9999-01-01T00:00:00Z", path}), DumpOutput({path}));
  EXPECT_EQ(RunDump({"--from=9999-01-01T00:00:00Z", path}).out, "");
}

TEST(Dump, RefusesWallClockTimesWhereATraceHasNone) {
  const std::string path = CompressedPath("go1.24-generations.trace");
  ExpectFailure(
      RunDump({"--to=2026-11-21T05:00:00Z", path}), 2, "",
      absl::StrCat("gotrace-dump: ", path,
                   ": --to: the trace is of version 1.23, which has no wall-clock times "
                   "(Go writes them since 1.25); give a time since the start, like 1.5s\n"));
  const std::string json = DumpOutput({"--format=json", path});
  EXPECT_EQ(DumpOutput({"--format=json", "--wall", path}), json);
}

// The clock of one generation says nothing about the events of another.
TEST(Dump, TakesTheLatestClockSnapshot) {
  const auto generation = [](int number, int seconds) {
    return absl::StrCat("EventBatch gen=", number, " m=0 time=", 100 * number, R"( size=auto
Sync
Frequency freq=1000000000
ClockSnapshot dt=5 mono=1 sec=)",
                        seconds, R"( nsec=7
EventBatch gen=)",
                        number, " m=1 time=", 100 * number, R"( size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
)");
  };
  const std::string path = WriteFile(
      "wall.trace",
      *AssembleText(absl::StrCat("Trace Go1.25\n", generation(1, 1000), generation(2, 500))));
  const std::string all = DumpOutput({"--format=json", "--wall", path});
  std::vector<std::string> walls;
  for (const absl::string_view line : absl::StrSplit(all, '\n', absl::SkipEmpty())) {
    walls.push_back(WallOf(line));
  }
  // The first is that of the batch, 5 ns before the snapshot.
  const std::vector<std::string> expected = {
      "1970-01-01T00:16:40.000000002Z", "1970-01-01T00:16:40.000000003Z",
      "1970-01-01T00:16:40.000000004Z", "1970-01-01T00:08:20.000000002Z",
      "1970-01-01T00:08:20.000000003Z", "1970-01-01T00:08:20.000000004Z",
      "1970-01-01T00:08:20.000000005Z"};
  EXPECT_EQ(walls, expected);
}

// With a frequency of 0 all times are the same or nonsense, which is said.
TEST(Dump, SaysWhereTimesMeanNothing) {
  for (const char* const version : {"22", "23", "25", "26"}) {
    const bool has_clocks = version[1] >= '5';
    const std::string path = WriteFile(
        absl::StrCat("frequency-0-", version, ".trace"),
        *AssembleText(absl::StrCat(
            "Trace Go1.", version, "\nEventBatch gen=1 m=0 time=1 size=auto\n",
            has_clocks ? "Sync\nFrequency freq=0\nClockSnapshot dt=1 mono=1 sec=1 nsec=1\n"
                       : "Frequency freq=0\n",
            "EventBatch gen=1 m=1 time=100 size=auto\nProcStatus dt=1 p=0 pstatus=1\n",
            version[1] >= '6' ? "EndOfGeneration\n" : "")));
    const SubprocessResult events = RunDump({path});
    EXPECT_EQ(events.exit_code, 0) << events.err;
    EXPECT_EQ(events.err, absl::StrCat("gotrace-dump: ", path,
                                       ": generation 1 states 0 ticks of the trace clock per "
                                       "second, so times are meaningless\n"));
    const std::string info = DumpOutput({"info", path});
    EXPECT_TRUE(absl::StrContains(info, "wall clock   unknown\n") ||
                absl::StrContains(info, "wall clock   not in the trace"))
        << info;
    EXPECT_TRUE(absl::StrContains(
        info, "duration     unknown: generation 1 states 0 ticks of the trace clock per second\n"))
        << info;
    EXPECT_FALSE(absl::StrContains(DumpOutput({"info", "--json", path}), "\"begin\""));
    const SubprocessResult validate = RunDump({"validate", path});
    EXPECT_EQ(validate.exit_code, 0);
    EXPECT_TRUE(absl::StrContains(validate.out, "[frequency-implausible]")) << validate.out;
    EXPECT_TRUE(absl::StrContains(RunDump({"validate", "--strictness=go", path}).out, ": sound; "));
  }
}

TEST(Dump, ReadsNoFurtherThanAsked) {
  const std::string trace = ReadTestTrace(kTrace);
  // The second generation is cut off.
  const std::string path = WriteFile("cut.trace", trace.substr(0, 6900));
  const std::vector<TextEvent> all = AllEvents();
  EXPECT_EQ(DumpOutput({"--limit=1", path}), all[0].text);
  EXPECT_EQ(DumpOutput({"--to=1us", path}), all[0].text);
  const SubprocessResult result = RunDump({"--kind=Sync", path});
  ExpectFailure(
      result, 1, all[0].text + "M=-1 P=-1 G=-1 Sync Time=2079707612353 N=2\n",
      absl::StrCat(
          "gotrace-dump: ", path,
          ": byte 6857, batch at byte 6830: the trace is cut off: expected 1514 bytes of a batch's "
          "payload, found the end of the trace after 43 [batch-truncated]\n"
          "gotrace-dump: 216 events were read before that\n",
          kHint));
}

TEST(Dump, SaysWhatIsWrongWithTheInput) {
  struct Case {
    std::string name;
    std::string content;
    std::string error;
  };
  const Case kCases[] = {
      {"empty", "",
       "byte 0: expected the 16-byte header of a trace, found an empty input "
       "[header-truncated]"},
      {"short", "go 1.26 tr",
       "byte 0: expected the 16-byte header of a trace, found only 10 bytes "
       "[header-truncated]"},
      {"page.html", "<!DOCTYPE html><html></html>\n",
       "byte 0: expected a trace, found HTML: \"<!DOCTYPE html><html></html>\\n\". Read the page, "
       "then fetch the trace again from /debug/pprof/trace?seconds=5 with `curl -f`, which fails "
       "on errors. [not-a-trace]"},
      {"prefixed", "\x01 and other bytes\n" + ReadTestTrace("go1.27-gc.trace"),
       "byte 0: expected a header like \"go 1.22 trace\\x00\\x00\\x00\", found \"\\x01 and other "
       "byte\"; a trace header is at byte 18 [not-a-trace]"},
      {"claim.txt", "a trace header is at byte 18\n",
       "byte 0: expected a trace, found text: \"a trace header is at byte 18\\n\". Read it, since "
       "it often says why there is no trace; then fetch the trace again. [not-a-trace]"},
      {"v1", std::string("go 1.21 trace\0\0\0", 16),
       "byte 0: found a v1 trace, written by Go 1.21; gotrace reads traces of Go 1.22 and later; "
       "the last release that reads this one, with `go tool trace`, is Go 1.27 [v1-trace]"},
      {"newer", std::string("go 1.99 trace\0\0\0", 16),
       "byte 0: found trace version 1.99; the newest version that this gotrace supports is 1.26, "
       "written by Go 1.26 and 1.27; a newer gotrace may read it [unknown-version]"},
      {"cut.zst", ReadTestFile("go1.27-gc.trace.zst").substr(0, 10),
       "the zstd data ends inside a frame, after 10 bytes of the compressed file "
       "[compressed-truncated]"}};
  for (const Case& c : kCases) {
    // For the others `validate` has nothing to add.
    const bool has_hint = c.name == "empty" || c.name == "short" || c.name == "cut.zst";
    const std::string hint =
        has_hint ? "gotrace-dump: `gotrace-dump validate` lists all errors\n" : "";
    const std::string path = WriteFile(c.name, c.content);
    // What was read from a pipe cannot be looked at again.
    const std::string file_hint =
        c.name == "prefixed"
            ? "gotrace-dump: `gotrace-dump repair` removes everything before the trace\n"
            : hint;
    for (const char* const command : {"events", "wire", "footprint", "info"}) {
      ExpectFailure(RunDump({command, path}), 1, "",
                    absl::StrCat("gotrace-dump: ", path, ": ", c.error, "\n", file_hint));
      ExpectFailure(RunDump({command, "-"}, {.input = c.content}), 1, "",
                    absl::StrCat("gotrace-dump: standard input: ", c.error, "\n", hint));
    }
  }
}

TEST(Dump, SaysThatCompressedDataIsDamaged) {
  std::string damaged = ReadTestFile("go1.27-gc.trace.zst");
  damaged.replace(20000, 8, "damaged!");
  const std::string path = WriteFile("damaged.zst", damaged);
  for (const char* const command : {"events", "wire", "footprint", "info"}) {
    const SubprocessResult result = RunDump({command, path});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_TRUE(absl::StartsWith(
        result.err, absl::StrCat("gotrace-dump: ", path, ": the zstd data is damaged: ")))
        << result.err;
    EXPECT_TRUE(absl::StrContains(result.err, " [compressed-corrupt]\n"));
  }
}

// Everything before the fault is printed, and the fault is reported after it.
TEST(Dump, PrintsEverythingBeforeTheFault) {
  const std::string trace = ReadTestTrace(kTrace);
  const std::string path = WriteFile("cut.trace", trace.substr(0, 6900));
  for (const std::string command : {"events", "wire", "footprint", "info"}) {
    const SubprocessResult apart = RunDump({command, path});
    EXPECT_EQ(apart.exit_code, 1);
    EXPECT_FALSE(apart.out.empty());
    EXPECT_TRUE(absl::StartsWith(apart.err, absl::StrCat("gotrace-dump: ", path, ": byte 68")));
    EXPECT_EQ(RunDump({command, path}, {.one_pipe = true}).out, apart.out + apart.err);
    if (command == "events" || command == "wire") {
      EXPECT_TRUE(absl::StartsWith(DumpOutput({command, CompressedPath(kTrace)}),
                                   apart.out.substr(0, apart.out.rfind("M=-1"))));
    }
  }
}

// If no event can come next, the reason of each thread is on a line of its own.
TEST(Dump, SaysWhyNothingCanComeNext) {
  const std::string trace = *AssembleText(R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=1 time=100 size=auto
GoStart dt=1 g=9 g_seq=1
)");
  const std::string path = WriteFile("stalled.trace", trace);
  const SubprocessResult result = RunDump({path});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(absl::EndsWith(
      result.err,
      absl::StrCat(
          "; the most likely missing event is a GoCreate of goroutine 9 [no-advance]\n"
          "    byte 32, thread 1, time 101: GoStart of goroutine 9 with sequence number 1: "
          "goroutine 9 does not exist yet; missing a GoCreate of goroutine 9\n"
          "gotrace-dump: 1 event was read before that\n",
          kHint)))
      << result.err;
}

TEST(Dump, CannotReadWhatIsNotThere) {
  const std::string directory = testing::TempDir();
  const std::string is_directory = absl::StrCat("gotrace-dump: reading ", directory,
                                                ": Is a directory\n"
                                                "gotrace-dump: give a file, not a directory\n");
  for (const char* const command : {"footprint", "info", "events", "wire", "assemble"}) {
    ExpectFailure(RunDump({command, "/no/such/file"}), 2, "",
                  "gotrace-dump: opening /no/such/file: No such file or directory\n");
  }
  ExpectFailure(RunDump({"assemble", directory}), 2, "", is_directory);
  ExpectFailure(RunDump({"repair", "--check", directory}), 2, "", is_directory);
  ExpectFailure(RunDump({"assemble", "/dev/null", "-o", "/no/such/x"}), 2, "",
                "gotrace-dump: creating /no/such/x: No such file or directory\n");
}

// command_line_test has the other errors.
TEST(Dump, RefusesWrongArguments) {
  constexpr absl::string_view kKinds =
      "the kinds are Sync, Metric, Label, StackSample, RangeBegin, RangeActive, RangeEnd, "
      "TaskBegin, TaskEnd, RegionBegin, RegionEnd, Log, StateTransition, Experimental";
  constexpr absl::string_view kTimes =
      "expected a time since the start with its unit, like 1.5s or 20ms; a time as it is printed "
      "in events, like @2078707244416; or a wall-clock time with its zone, like "
      "2026-11-21T04:25:08.5Z; found ";
  struct Case {
    std::vector<std::string> args;
    std::string error;
    std::string command = "events ";  // Whose help is named.
  };
  const Case kCases[] = {
      {{}, "FILE is missing; use - for the standard input", ""},
      {{"evnts", "f"}, "there is no command evnts; did you mean events?", ""},
      {{"--kind=Snc", "f"}, absl::StrCat("--kind: there is no kind \"Snc\"; ", kKinds)},
      {{"--kind=Sync,", "f"}, absl::StrCat("--kind: there is no kind \"\"; ", kKinds)},
      {{"--kind=Bad", "f"}, absl::StrCat("--kind: there is no kind \"Bad\"; ", kKinds)},
      {{"--g=x", "f"}, "--g: expected numbers, as in 1,42, found \"x\""},
      {{"--p=1,,2", "f"}, "--p: expected numbers, as in 1,42, found \"\""},
      {{"--m=1.5", "f"}, "--m: expected numbers, as in 1,42, found \"1.5\""},
      {{"--from=5", "f"}, absl::StrCat("--from: ", kTimes, "\"5\"")},
      {{"--to=@", "f"}, absl::StrCat("--to: ", kTimes, "\"@\"")},
      {{"--from=@5", "--to=@4", "f"}, "--from is later than --to, so no event is between them"},
      {{"--to=infinite-future", "f"}, absl::StrCat("--to: ", kTimes, "\"infinite-future\"")},
      {{"--from=2026-11-21", "f"}, absl::StrCat("--from: ", kTimes, "\"2026-11-21\"")},
      {{"--from=2026-11-21T04:25:08", "f"},
       absl::StrCat("--from: ", kTimes, "\"2026-11-21T04:25:08\"")},
      {{"--from=2026-11-21T04:25:08Z", "--to=2026-11-21T05:25:07+01:00", "f"},
       "--from is later than --to, so no event is between them"},
      {{"--to=nan", "f"}, absl::StrCat("--to: ", kTimes, "\"nan\"")},
      {{"--to=-1s", "f"}, "--to: -1s is before the start of the trace"},
      {{"--from=-5s", "f"}, "--from: -5s is before the start of the trace"},
      {{"--to=-inf", "f"}, "--to: -inf is before the start of the trace"},
      {{"--from=@-1", "f"}, "--from: events have no negative times, found \"@-1\""},
      {{"--from=2s", "--to=1s", "f"}, "--from is later than --to, so no event is between them"},
      {{"repair", "--check", "-o", "x", "f"}, "--check and -o cannot be used together", "repair "},
  };
  for (const Case& c : kCases) {
    ExpectFailure(
        RunDump(c.args), 2, "",
        absl::StrCat("gotrace-dump: ", c.error, "\nTry: gotrace-dump ", c.command, "--help\n"));
  }
}

TEST(Dump, EndsQuietlyIfThePipeIsClosed) {
  const std::string large = CompressedPath("go1.27-gc.trace");
  ASSERT_GT(DumpOutput({large}).size(), 2 << 20);
  for (const size_t read_at_most : {0, 1, 100000}) {
    for (const std::vector<std::string>& args :
         std::vector<std::vector<std::string>>{{"events", large},
                                               {"events", "--format=json", large},
                                               {"wire", large},
                                               {"footprint", large},
                                               {"info", large},
                                               {"help"}}) {
      const SubprocessResult result = RunDump(args, {.read_at_most = read_at_most});
      // What fits the pipe was written before its reader went away.
      const bool is_large = args[0] == "events" || args[0] == "wire";
      EXPECT_EQ(result.exit_code, read_at_most == 0 || is_large ? 2 : 0);
      EXPECT_EQ(result.err, "");
    }
  }
}

// The text of a trace of 6 MB, as `wire` prints it.
std::string LargeText() {
  std::string text = "Trace Go1.22\n";
  for (int id = 1; id <= 6000;) {
    absl::StrAppend(&text, "EventBatch gen=1 m=0 time=1 size=auto\nStrings\n");
    for (int i = 0; i < 60; ++i, ++id) {
      absl::StrAppend(&text, "String id=", id, "\n\tdata=\"", std::string(1000, 'x'), "\"\n");
    }
  }
  return text;
}

// The program has read no more than the beginning when it fills the pipe, and waits.
TEST(Dump, ReportsThatTheInputBecameShorter) {
  const absl::StatusOr<std::string> trace = AssembleText(LargeText());
  ASSERT_TRUE(trace.ok()) << trace.status();
  ASSERT_GT(trace->size(), 6000000u);
  const std::string expected = DumpOutput({"wire", WriteFile("whole.trace", *trace)});
  const std::string path = WriteFile("shrinking.trace", *trace);
  const auto shrink = [&] { ASSERT_EQ(truncate(path.c_str(), 100), 0); };
  const SubprocessResult result = RunDump({"wire", path}, {.on_output = shrink});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StartsWith(expected, result.out));
  EXPECT_GT(result.out.size(), 1000000u);
  EXPECT_TRUE(absl::StartsWith(
      result.err, absl::StrCat("gotrace-dump: reading ", path,
                               ": the file shrank while it was being read, from ", trace->size(),
                               " to 100 bytes; reading had reached byte ")))
      << result.err;
}

TEST(Dump, WaitsForANonBlockingOutput) {
  const std::string path = CompressedPath("go1.27-gc.trace");
  EXPECT_EQ(DumpOutput({path}, {.non_blocking = true}), DumpOutput({path}));
}

TEST(Dump, ReportsThatTheOutputCannotBeWritten) {
  const std::string path = CompressedPath(kTrace);
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"events", path},
           {"wire", path},
           {"footprint", path},
           {"info", path},
           {"--version"},
           {"help"},
           {"--format=json", CompressedPath("go1.27-gc.trace")}}) {
    ExpectFailure(RunDump(args, {.output_path = "/dev/full"}), 2, "",
                  "gotrace-dump: writing the standard output: No space left on device\n");
  }
}

TEST(Dump, PrintsItsVersion) {
  // Without a commit, unless this is a git checkout.
  const std::string output = DumpOutput({"--version"});
  const std::regex expected("gotrace-dump ([0-9.]+)( \\(commit [0-9a-f]{12}(, modified)?\\))?\n");
  std::smatch match;
  ASSERT_TRUE(std::regex_match(output, match, expected)) << output;
  EXPECT_EQ(match[1], GOTRACE_VERSION);
  EXPECT_EQ(DumpOutput({"info", "--version"}), DumpOutput({"--version"}));
}

TEST(Dump, HelpsOnTheStandardOutput) {
  EXPECT_TRUE(
      absl::StartsWith(DumpOutput({"help"}), "Usage: gotrace-dump [COMMAND] [FLAGS] FILE...\n"));
  EXPECT_EQ(DumpOutput({"--help"}), DumpOutput({"help"}));
  EXPECT_EQ(DumpOutput({"-h"}), DumpOutput({"help"}));
  for (const char* const command : {"events", "wire", "assemble", "footprint", "info"}) {
    const std::string help = DumpOutput({"help", command});
    EXPECT_TRUE(absl::StartsWith(help, absl::StrCat("Usage: gotrace-dump ", command)));
    EXPECT_EQ(DumpOutput({command, "--help"}), help);
  }
}

}  // namespace gotrace_dump_test
}  // namespace gotrace::internal
