// Runs `gotrace-dump convert` as its users do.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "export/fxt/read_back.h"
#include "export/perfetto/read_back.h"
#include "gotrace/fxt_reader.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/subprocess.h"
#include "testing/test_directory.h"

namespace gotrace::internal {
namespace gotrace_dump_convert_test {

constexpr absl::string_view kTrace = "go1.27-generations.trace";

class ConvertCommand : public testing::Test {
 protected:
  ConvertCommand() : directory_(MakeTestDirectory()), target_(directory_ + "/converted") {
    bytes_ = ReadTestTrace(kTrace);
    trace_ = Write("sound.trace", bytes_);
  }

  std::string Write(absl::string_view name, absl::string_view bytes) const {
    return WriteFile(absl::StrCat(directory_, "/", name), bytes);
  }

  std::string ReadTarget() const { return ReadFile(target_); }

  // What the exporter writes at the end.
  static bool IsComplete(absl::string_view json) {
    return absl::StartsWith(json, "{\"displayTimeUnit\":") && absl::EndsWith(json, "}}\n");
  }

  const std::string directory_;
  const std::string target_;
  std::string bytes_;
  std::string trace_;
};

TEST_F(ConvertCommand, WritesTheSameToAFileAndToTheStandardOutput) {
  const std::string out = DumpOutput({"convert", "--to=chrome", trace_});
  EXPECT_TRUE(IsComplete(out));
  EXPECT_EQ(DumpOutput({"convert", "--to", "chrome", "-o", target_, trace_}), "");
  EXPECT_EQ(ReadTarget(), out);
  EXPECT_EQ(DumpOutput({"convert", "--to=Chrome", "-o", "-", "--jobs=1", "-"}, {.input = bytes_}),
            out);
}

TEST_F(ConvertCommand, DoesNotReplaceItsInput) {
  const SubprocessResult result = RunDump({"convert", "--to=chrome", "-o", trace_, trace_});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, " is the input, which would be lost"));
  EXPECT_EQ(DumpOutput({"validate", trace_}).empty(), false);
}

TEST_F(ConvertCommand, KeepsWhatIsBeforeAFault) {
  const std::string cut = Write("cut.trace", bytes_.substr(0, bytes_.size() - 500));
  const SubprocessResult events = RunDump({"events", cut});
  const SubprocessResult result = RunDump({"convert", "--to=chrome", "-o", target_, cut});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, events.err);
  EXPECT_TRUE(IsComplete(ReadTarget()));
  EXPECT_TRUE(absl::StrContains(ReadTarget(), "\"G1 main.main\""));
  const size_t before_fault = ReadTarget().size();
  const SubprocessResult salvaged =
      RunDump({"convert", "--to=chrome", "-o", target_, "--salvage", cut});
  EXPECT_EQ(salvaged.exit_code, 1);
  EXPECT_EQ(salvaged.err, RunDump({"events", "--salvage", cut}).err);
  EXPECT_TRUE(IsComplete(ReadTarget()));
  EXPECT_GT(ReadTarget().size(), before_fault);
}

TEST_F(ConvertCommand, WritesNothingForWhatIsNoTrace) {
  const std::string text = Write("text", "This is a text, and not a trace at all.\n");
  for (const std::string& file : {text, directory_ + "/missing"}) {
    const SubprocessResult result = RunDump({"convert", "--to=chrome", "-o", target_, file});
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, RunDump({"events", file}).err);
    EXPECT_EQ(result.exit_code, file == text ? 1 : 2);
    EXPECT_FALSE(std::filesystem::exists(target_));
  }
}

TEST_F(ConvertCommand, SaysWhyItCannotWrite) {
  const SubprocessResult result = RunDump({"convert", "--to=chrome", "-o", "/dev/full", trace_});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "gotrace-dump: writing /dev/full: No space left on device\n");
  const std::string large = TestFilePath("go1.27-gc.trace.zst");
  const SubprocessResult closed = RunDump({"convert", "--to=chrome", large}, {.read_at_most = 100});
  EXPECT_EQ(closed.exit_code, 2);
  EXPECT_EQ(closed.err, "");
}

// A compressed file can only be read from its beginning, a plain one from any generation.
TEST_F(ConvertCommand, WritesWhatIsInAWindow) {
  const std::string gc = Write("gc.trace", ReadTestTrace("go1.27-gc.trace"));
  const std::string whole = DumpOutput({"convert", "--to=chrome", gc});
  const std::string window =
      DumpOutput({"convert", "--to=chrome", "--from=200ms", "--until=210ms", gc});
  EXPECT_TRUE(IsComplete(window));
  EXPECT_LT(window.size(), whole.size() / 5);
  EXPECT_GT(window.size(), 1000u);
  // Times count from the start of the trace in both.
  EXPECT_FALSE(absl::StrContains(window, "\"ts\":100000"));
  EXPECT_TRUE(absl::StrContains(window, "\"ts\":20"));
}

TEST_F(ConvertCommand, ReadsTwiceWhatMustBeFoundFirst) {
  const std::string whole =
      DumpOutput({"convert", "--to=chrome", "--view=goroutine", "--g=1", trace_});
  const std::string related =
      DumpOutput({"convert", "--to=chrome", "--view=goroutine", "--g=1", "--related", trace_});
  EXPECT_TRUE(IsComplete(related));
  EXPECT_GT(related.size(), whole.size());
  const std::string task = DumpOutput({"convert", "--to=chrome", "--view=task", trace_});
  EXPECT_TRUE(IsComplete(task));
  EXPECT_TRUE(absl::StrContains(task, "\"T"));
  const SubprocessResult piped =
      RunDump({"convert", "--to=chrome", "--view=task", "-"}, {.input = bytes_});
  EXPECT_EQ(piped.exit_code, 2);
  EXPECT_EQ(piped.out, "");
  EXPECT_EQ(piped.err,
            "gotrace-dump: standard input: with these flags the trace is read twice, which works "
            "only with a file\n");
  // A fault is reported once.
  const std::string cut = Write("cut.trace", bytes_.substr(0, bytes_.size() - 500));
  for (const std::string mode : {"--salvage", "--nosalvage"}) {
    EXPECT_EQ(RunDump({"convert", "--to=chrome", "--view=task", mode, cut}).err,
              RunDump({"events", mode, cut}).err);
  }
}

TEST_F(ConvertCommand, ExplainsAnEmptyWindow) {
  for (const std::string window : {"--from=1h", "--until=@5"}) {
    const SubprocessResult result = RunDump({"convert", "--to=chrome", window, trace_});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(IsComplete(result.out));
    EXPECT_TRUE(absl::StrContains(result.err, absl::StrCat(window, " is "))) << result.err;
  }
  const SubprocessResult wall =
      RunDump({"convert", "--to=chrome", "--until=2001-01-01T00:00:00Z", trace_});
  EXPECT_EQ(wall.exit_code, 0);
  EXPECT_TRUE(absl::StrContains(wall.err, "no event is between --from and --until")) << wall.err;
}

TEST_F(ConvertCommand, WritesTheFormsOfTrace2) {
  const std::string normal = DumpOutput({"convert", "--to=trace2-normal", "--brief", trace_});
  EXPECT_TRUE(absl::StartsWith(normal, "version unknown\nstart go-program\nchild_start["));
  const std::string perf = DumpOutput({"convert", "--to=trace2-perf", "--brief", trace_});
  EXPECT_TRUE(absl::StartsWith(perf, "d0 | main                     | version      |     | "));
  const std::string event = DumpOutput({"convert", "--to=trace2-event", trace_});
  EXPECT_TRUE(absl::StartsWith(event, "{\"event\":\"version\",\"sid\":\"20261121T042507.808796Z-"));
  EXPECT_TRUE(absl::StrContains(event, "\"event\":\"region_enter\""));
  const std::string shallow = DumpOutput({"convert", "--to=trace2-event", "--nesting=1", trace_});
  EXPECT_LT(shallow.size(), event.size());
  EXPECT_FALSE(absl::StrContains(shallow, "\"nesting\":2"));
}

TEST_F(ConvertCommand, SaysThatNothingHasWhatTheFiltersAskFor) {
  for (const absl::string_view filter : {"--g=99999", "--kind=Experimental"}) {
    const SubprocessResult result =
        RunDump({"convert", "--to=fxt", std::string(filter), "-o", target_, trace_});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(absl::StrContains(result.err, "no event matches --kind, --g, --p and --m"))
        << result.err;
  }
  EXPECT_EQ(RunDump({"convert", "--to=fxt", "--g=1", "-o", target_, trace_}).err, "");
}

TEST_F(ConvertCommand, SelectsRegionsByTheKindOfTheirEndToo) {
  const std::string task = Write("task.trace", ReadTestTrace("go1.25-annotations.trace"));
  for (const absl::string_view format : {"perfetto", "fxt", "chrome", "trace2-perf"}) {
    const std::string to = absl::StrCat("--to=", format);
    EXPECT_EQ(DumpOutput({"convert", to, "--kind=RegionEnd,TaskEnd,RangeEnd", task}),
              DumpOutput({"convert", to, "--kind=RegionBegin,TaskBegin,RangeBegin", task}))
        << format;
  }
}

TEST_F(ConvertCommand, ExplainsThatToIsNotTheLastTime) {
  const SubprocessResult result = RunDump({"convert", "--to=1.5s", trace_});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(
      absl::StrContains(result.err, "found \"1.5s\"; use --until for the end of the window"))
      << result.err;
}

TEST_F(ConvertCommand, NeedsTheWallClock) {
  const std::string old = Write("old.trace", ReadTestTrace("go1.22-annotations.trace"));
  const SubprocessResult result = RunDump({"convert", "--to=trace2-event", "-o", target_, old});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "the trace has no wall-clock times")) << result.err;
  EXPECT_FALSE(std::filesystem::exists(target_));
  const std::string event =
      DumpOutput({"convert", "--to=trace2-event", "--epoch=2024-02-29T23:59:59.25+01:00", old});
  EXPECT_TRUE(absl::StrContains(event, "\"time\":\"2024-02-29T22:59:59.250000Z\""));
}

// Two programs of one host, with other trace clocks, in one file.
class JoinCommand : public ConvertCommand {
 protected:
  struct Beginning {
    int64_t start = 0;
    ClockSnapshot clocks;
  };

  static Beginning BeginningOf(const std::string& bytes) {
    Reader reader = *Reader::FromBytes(bytes);
    const Event* const first = reader.Next();
    return {first->time(), first->sync().clock_snapshot.value()};
  }

  // What aligns the second trace with the first one.
  int64_t Offset() const {
    const Beginning a = BeginningOf(first_bytes_);
    const Beginning b = BeginningOf(second_bytes_);
    const auto ahead = [](const Beginning& one) {
      return static_cast<int64_t>(one.clocks.mono) - one.clocks.trace_time;
    };
    return ahead(b) - ahead(a);
  }

  // The files that the traces are converted to alone, one after the other.
  std::string BothAlone(const std::vector<std::string>& flags,
                        const std::vector<std::string>& first_flags = {},
                        const std::vector<std::string>& second_flags = {}) const {
    std::vector<std::string> a = {"convert", "--process=first.trace", first_};
    std::vector<std::string> b = {"convert", "--process=second.trace", "--pid=2",
                                  absl::StrCat("--offset=1=", Offset(), "ns"), second_};
    for (std::vector<std::string>* const args : {&a, &b}) {
      args->insert(args->begin() + 1, flags.begin(), flags.end());
    }
    a.insert(a.begin() + 1, first_flags.begin(), first_flags.end());
    b.insert(b.begin() + 1, second_flags.begin(), second_flags.end());
    return RunDump(a).out + RunDump(b).out;
  }

  std::string Joined(std::vector<std::string> flags, int exit_code = 0) const {
    flags.insert(flags.begin(), "convert");
    flags.insert(flags.end(), {first_, second_});
    const SubprocessResult result = RunDump(flags);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    return result.out;
  }

  std::string first_bytes_ = ReadTestTrace("go1.27-annotations.trace");
  std::string second_bytes_ = ReadTestTrace("go1.27-generations.trace");
  std::string first_ = Write("first.trace", first_bytes_);
  std::string second_ = Write("second.trace", second_bytes_);
};

TEST_F(JoinCommand, HasTheFilesOfEachTrace) {
  for (const std::string to : {"--to=perfetto", "--to=fxt"}) {
    EXPECT_TRUE(Joined({to, "-o", "-"}) == BothAlone({to, "-o", "-"})) << to;
    const std::vector<std::string> all = {to, "--stacks", "--threads", "--alloc", "-o", "-"};
    EXPECT_TRUE(Joined(all) == BothAlone(all)) << to;
  }
}

TEST_F(JoinCommand, TheSecondProcessHasTheSameSums) {
  const std::string as_first = DumpOutput({"convert", "--to=perfetto", "-o", "-", second_});
  const std::string as_second =
      DumpOutput({"convert", "--to=perfetto", "--pid=2", "-o", "-", second_});
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  const PerfettoReadBack first = ReadPerfettoBack(as_first, kEnd);
  const PerfettoReadBack second = ReadPerfettoBack(as_second, kEnd);
  EXPECT_EQ(second.problems + second.disorder, "");
  EXPECT_TRUE(second.sums == first.sums);
  EXPECT_GT(first.sums.size(), 5u);

  const ReadBack back_first = ReadFxtBack(DumpOutput({"convert", "--to=fxt", "-o", "-", second_}));
  const ReadBack back_second =
      ReadFxtBack(DumpOutput({"convert", "--to=fxt", "--pid=2", "-o", "-", second_}));
  EXPECT_EQ(back_second.problems, "");
  EXPECT_TRUE(back_second.sums == back_first.sums);
  EXPECT_EQ(back_second.wakeups.size(), back_first.wakeups.size());
  EXPECT_EQ(back_second.flows.size(), back_first.flows.size());
}

// Scheduling records of FXT do not say which process they are about.
TEST_F(JoinCommand, ProcessesShareNoThreadsCpusAndFlows) {
  struct Ids {
    std::set<uint64_t> threads, cpus, flows;
  };
  std::vector<Ids> processes;
  for (const std::string pid : {"1", "2", "3", "48213", "48214"}) {
    const std::string file =
        DumpOutput({"convert", "--to=fxt", "--pid", pid, "--threads", "-o", "-", second_});
    Ids& ids = processes.emplace_back();
    FxtReader reader(*SourceFromBytes(file));
    while (const FxtRecord* const record = reader.Next()) {
      if (record->type == FxtType::kScheduling) {
        ids.cpus.insert(record->index);
        for (const uint64_t id : {record->incoming.thread, record->outgoing.thread}) {
          if (id != 0) ids.threads.insert(id);
        }
      } else if (record->type == FxtType::kEvent) {
        ids.threads.insert(record->thread.thread);
        if (record->kind == static_cast<uint8_t>(FxtEvent::kFlowBegin))
          ids.flows.insert(record->id);
      }
    }
    EXPECT_LE(*ids.threads.rbegin(), 0xffffffffu);
    EXPECT_LT(*ids.cpus.rbegin(), 4096u);
  }
  for (size_t i = 0; i < processes.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      for (const auto member : {&Ids::threads, &Ids::cpus, &Ids::flows}) {
        const std::set<uint64_t>& a = processes[i].*member;
        const std::set<uint64_t>& b = processes[j].*member;
        EXPECT_FALSE(a.empty());
        std::vector<uint64_t> shared;
        std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(shared));
        EXPECT_TRUE(shared.empty()) << i << " " << j << " " << shared[0];
      }
    }
  }
}

// Events of a Chrome file by process, phase and lane: how many, and the sum of their durations and
// that of their times.
using ChromeSums = std::map<std::tuple<int64_t, char, int64_t>, std::tuple<int, int64_t, int64_t>>;

int64_t NanosecondsAfter(absl::string_view line, absl::string_view member) {
  const size_t at = line.find(member);
  if (at == absl::string_view::npos) return 0;
  line.remove_prefix(at + member.size());
  const std::vector<absl::string_view> parts =
      absl::StrSplit(line.substr(0, line.find_first_of(",}")), '.');
  int64_t whole = 0;
  int64_t rest = 0;
  EXPECT_TRUE(absl::SimpleAtoi(parts[0], &whole)) << line;
  if (parts.size() > 1) {
    EXPECT_TRUE(absl::SimpleAtoi(absl::StrCat(parts[1], "00").substr(0, 3), &rest)) << line;
  }
  return whole * 1000 + (absl::StartsWith(parts[0], "-") ? -rest : rest);
}

ChromeSums SumsOf(absl::string_view json, int64_t first_pid, int64_t offset) {
  ChromeSums sums;
  std::set<std::string> ids;
  for (const absl::string_view line : absl::StrSplit(json, '\n')) {
    if (!absl::StartsWith(line, "{\"ph\":\"")) continue;
    const char phase = line[7];
    const int64_t pid = NanosecondsAfter(line, "\"pid\":") / 1000 + first_pid;
    auto& [count, durations, times] = sums[{pid, phase, NanosecondsAfter(line, "\"tid\":") / 1000}];
    ++count;
    durations += NanosecondsAfter(line, "\"dur\":");
    if (phase != 'M') times += NanosecondsAfter(line, "\"ts\":") + offset;
    if (phase == 's' || phase == 'b') {
      const std::string id = absl::StrCat(std::string(1, phase), NanosecondsAfter(line, "\"id\":"));
      EXPECT_TRUE(ids.insert(id).second) << line;
    }
  }
  return sums;
}

TEST_F(JoinCommand, WritesProcessesOfTheirOwnForChrome) {
  for (const std::string view : {"--view=proc", "--view=goroutine"}) {
    const std::string joined = Joined({"--to=chrome", view});
    EXPECT_TRUE(IsComplete(joined));
    ChromeSums expected =
        SumsOf(DumpOutput({"convert", "--to=chrome", view, first_}), /*first_pid=*/0, 0);
    // Times count from the first event of all, which is that of the first trace here.
    const int64_t offset =
        BeginningOf(second_bytes_).start + Offset() - BeginningOf(first_bytes_).start;
    EXPECT_GT(offset, 0);
    expected.merge(
        SumsOf(DumpOutput({"convert", "--to=chrome", view, second_}), /*first_pid=*/3, offset));
    EXPECT_TRUE(SumsOf(joined, 0, 0) == expected) << view;
    EXPECT_TRUE(absl::StrContains(joined, "{\"name\":\"first.trace: STATS\"}"));
    EXPECT_TRUE(absl::StrContains(joined, "{\"name\":\"second.trace: STATS\"}"));
  }
}

TEST_F(JoinCommand, WritesTheSameWindowOfEach) {
  // The first trace ends before the second one begins, and both are cut.
  const int64_t from = BeginningOf(first_bytes_).start + 500'000'000;
  const int64_t until = BeginningOf(second_bytes_).start + Offset() + 500'000;
  const std::vector<std::string> window = {absl::StrCat("--from=@", from),
                                           absl::StrCat("--until=@", until)};
  const std::vector<std::string> second_window = {absl::StrCat("--from=@", from - Offset()),
                                                  absl::StrCat("--until=@", until - Offset())};
  for (const std::string to : {"--to=perfetto", "--to=fxt"}) {
    const std::string joined = Joined({to, window[0], window[1], "-o", "-"});
    EXPECT_TRUE(joined == BothAlone({to, "-o", "-"}, window, second_window)) << to;
    EXPECT_LT(joined.size(), BothAlone({to, "-o", "-"}).size());
    EXPECT_GT(joined.size(), BothAlone({to, "-o", "-"}, window, {"--until=@1"}).size());
  }
  ChromeSums expected = SumsOf(DumpOutput({"convert", "--to=chrome", window[0], window[1], first_}),
                               /*first_pid=*/0, 0);
  expected.merge(
      SumsOf(DumpOutput({"convert", "--to=chrome", second_window[0], second_window[1], second_}),
             /*first_pid=*/3,
             BeginningOf(second_bytes_).start + Offset() - BeginningOf(first_bytes_).start));
  EXPECT_TRUE(SumsOf(Joined({"--to=chrome", window[0], window[1]}), 0, 0) == expected);
}

TEST_F(JoinCommand, KeepsWhatIsSoundInDamagedTraces) {
  for (const std::string to : {"--to=perfetto", "--to=fxt"}) {
    for (const std::string mode : {"--salvage", "--nosalvage"}) {
      first_ = Write("first.trace", first_bytes_);
      second_ = Write("second.trace", second_bytes_.substr(0, second_bytes_.size() - 300));
      EXPECT_TRUE(Joined({to, mode, "-o", "-"}, 1) == BothAlone({to, mode, "-o", "-"})) << to;
      first_ = Write("first.trace", first_bytes_.substr(0, first_bytes_.size() - 300));
      second_ = Write("second.trace", second_bytes_);
      EXPECT_TRUE(Joined({to, mode, "-o", "-"}, 1) == BothAlone({to, mode, "-o", "-"})) << to;
    }
  }
  EXPECT_TRUE(IsComplete(Joined({"--to=chrome"}, 1)));
  // What is not a trace is left out, and the other one is still there.
  first_ = Write("first.trace", "This is a text, and not a trace at all.\n");
  const std::string json = Joined({"--to=chrome"}, 1);
  EXPECT_TRUE(IsComplete(json));
  EXPECT_TRUE(absl::StrContains(json, "\"second.trace: PROCS\""));
}

// Viewers drop what is before 0.
TEST_F(JoinCommand, WritesNoNegativeTimes) {
  const std::string json = Joined({"--to=chrome", "--offset=2=-10s"});
  EXPECT_FALSE(absl::StrContains(json, "\"ts\":-"));
  EXPECT_TRUE(absl::StrContains(json, "\"pid\":3,\"tid\":0,\"ts\":0"));
  const ReadBack moved = ReadFxtBack(Joined({"--to=fxt", "--offset=2=-10h", "-o", "-"}));
  EXPECT_GT(moved.end, 0);
  EXPECT_LT(moved.end, int64_t{40'000} * 1'000'000'000);
}

TEST_F(JoinCommand, OtherFormatsTakeOneTrace) {
  const SubprocessResult result = RunDump({"convert", "--to=trace2-perf", first_, second_});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(
      result.err, "--to=trace2-perf takes one trace; --to=perfetto, fxt and chrome take several"))
      << result.err;
}

TEST_F(ConvertCommand, NeedsTheTasksThatAreAskedFor) {
  const std::string tasks = Write("tasks.trace", ReadTestTrace("go1.27-annotations.trace"));
  for (const std::string view : {"--view=task", "--view=proc"}) {
    const SubprocessResult result =
        RunDump({"convert", "--to=chrome", "--task=99999", view, "-o", target_, tasks});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(absl::StrContains(result.err, "there is no task 99999 in this trace"))
        << result.err;
    EXPECT_FALSE(std::filesystem::exists(target_));
  }
  EXPECT_EQ(DumpOutput({"convert", "--to=chrome", "--task=1", "-o", target_, tasks}), "");
}

}  // namespace gotrace_dump_convert_test
}  // namespace gotrace::internal
