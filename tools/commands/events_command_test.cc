#include "tools/commands/events_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "tracev2/text_form.h"

namespace gotrace::internal {
namespace events_command_test {

constexpr char kTrace[] = "go1.27-gc.trace";

struct Dumped {
  std::string text;
  EventsResult result;
  bool written = false;
};

// Returns what DumpEvents() writes and returns.
Dumped Dump(const std::string& file, size_t jobs, const EventsOptions& options = {},
            ReadMode mode = ReadMode::kStrict) {
  const std::string path = absl::StrCat(testing::TempDir(), "/dumped");
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  Output out(fd, path);
  ReaderOptions reader_options;
  reader_options.jobs = jobs;
  reader_options.decodes_ahead = true;
  reader_options.tuning.jobs_from_bytes = 0;
  reader_options.mode = mode;
  Progress progress(/*prints_along=*/true);
  bool is_first = true;
  FileOutput output({file}, /*has_heading=*/false, &is_first, &out);
  Dumped dumped;
  dumped.result = DumpEvents(options, reader_options, &progress, &output);
  dumped.written = out.Finish().ok();
  close(fd);
  std::ifstream stream(path, std::ios::binary);
  dumped.text.assign(std::istreambuf_iterator<char>(stream), {});
  return dumped;
}

std::string TracePath() { return TestFilePath(absl::StrCat(kTrace, ".zst")); }

// Its last generation is cut short.
std::string CutTracePath() {
  const std::string bytes = ReadTestTrace(kTrace);
  const std::string path = absl::StrCat(testing::TempDir(), "/cut.trace");
  std::ofstream(path, std::ios::binary) << bytes.substr(0, bytes.size() - 3000);
  return path;
}

void ExpectSame(const Dumped& a, const Dumped& b) {
  EXPECT_TRUE(a.written && b.written);
  EXPECT_TRUE(a.text == b.text);
  EXPECT_EQ(a.result.status.message(), b.result.status.message());
  EXPECT_EQ(a.result.events, b.result.events);
  EXPECT_EQ(a.result.losses.dropped_events, b.result.losses.dropped_events);
}

TEST(DumpEventsTest, PrintsTheSameHoweverManyJobs) {
  EventsOptions json;
  json.json = true;
  json.stacks = true;
  json.limit = 2000;
  EventsOptions some;
  some.limit = 3000;
  for (const EventsOptions& options : {EventsOptions(), json, some}) {
    const Dumped one = Dump(TracePath(), 1, options);
    EXPECT_TRUE(one.result.status.ok());
    EXPECT_FALSE(one.text.empty());
    ExpectSame(Dump(TracePath(), 2, options), one);
    ExpectSame(Dump(TracePath(), 5, options), one);
  }
}

TEST(DumpEventsTest, PrintsTheSameUpToAFault) {
  const std::string path = CutTracePath();
  for (const ReadMode mode : {ReadMode::kStrict, ReadMode::kSalvage}) {
    const Dumped one = Dump(path, 1, {}, mode);
    EXPECT_EQ(one.result.status.ok(), mode == ReadMode::kSalvage);
    EXPECT_GT(one.result.events, 1000u);
    ExpectSame(Dump(path, 2, {}, mode), one);
  }
}

// The types of the tasks are strings of the first generation, printed in the second.
TEST(DumpEventsTest, PrintsTheSameWhereTasksOfManyTypesEnd) {
  constexpr int kTasks = 5000;
  std::string begins;
  std::string ends;
  std::string strings;
  const auto add_batch = [](int generation, int time, std::string* text) {
    absl::StrAppend(text, "EventBatch gen=", generation, " m=1 time=", time, " size=auto\n");
  };
  for (int i = 1; i <= kTasks; ++i) {
    if (i % 1000 == 1) {
      add_batch(1, 10 + i, &begins);
      add_batch(1, 0, &strings);
      add_batch(2, 20'000 + i, &ends);
      absl::StrAppend(&strings, "Strings\n");
      if (i == 1) {
        const absl::string_view status =
            "ProcStatus dt=1 p=0 pstatus=1\nGoStatus dt=1 g=1 m=1 gstatus=2\n";
        absl::StrAppend(&begins, status);
        absl::StrAppend(&ends, status);
      }
    }
    absl::StrAppend(&begins, "UserTaskBegin dt=1 task=", i, " parent_task=0 name_string=", i,
                    " stack=0\n");
    absl::StrAppend(&ends, "UserTaskEnd dt=1 task=", i, " stack=0\n");
    absl::StrAppend(&strings, "String id=", i, "\n\tdata=\"type ", i, "\"\n");
  }
  const auto sync = [&](int generation) {
    std::string text;
    add_batch(generation, 0, &text);
    return text + "Frequency freq=1000000000\n";
  };
  const std::string path = absl::StrCat(testing::TempDir(), "/tasks.trace");
  std::ofstream(path, std::ios::binary)
      << *AssembleText(absl::StrCat("Trace Go1.22\n", sync(1), strings, begins, sync(2), ends));
  const Dumped one = Dump(path, 1);
  EXPECT_EQ(one.result.status.message(), "");
  EXPECT_EQ(one.result.events, 2u * kTasks + 7);
  EXPECT_TRUE(absl::StrContains(one.text, "Type=\"type 4999\""));
  for (int i = 0; i < 5; ++i) ExpectSame(Dump(path, 2), one);
}

// A compressed file can only be read from its beginning, a plain one from any generation.
TEST(DumpEventsTest, PrintsTheSameWindowWhetherItCanSkipGenerationsOrNot) {
  for (const TestTrace& trace : SomeTestTraces()) {
    SCOPED_TRACE(trace.name);
    const std::string path = absl::StrCat(testing::TempDir(), "/window.trace");
    std::ofstream(path, std::ios::binary) << ReadTestTrace(trace.name);
    const std::string compressed = TestFilePath(absl::StrCat(trace.name, ".zst"));
    EventsOptions all;
    all.filter.filter.since_start.from = 0;
    const EventsResult whole = Dump(path, 1, all).result;
    const int64_t duration = whole.last_time - whole.first_time;
    constexpr int kWindows = 7;
    for (int i = 0; i < kWindows; ++i) {
      const int64_t from = duration / kWindows * i;
      EventsOptions since_start;
      since_start.filter.filter.since_start = {from, from + duration / 30};
      EventsOptions absolute;
      absolute.json = true;
      absolute.stacks = true;
      absolute.filter.filter.times = {whole.first_time + from,
                                      whole.first_time + from + duration / 30};
      for (const EventsOptions& options : {since_start, absolute}) {
        const Dumped skipping = Dump(path, 1, options);
        const Dumped sequential = Dump(compressed, 1, options);
        EXPECT_TRUE(skipping.result.status.ok()) << skipping.result.status;
        EXPECT_TRUE(skipping.text == sequential.text) << i;
        EXPECT_EQ(skipping.result.first_time, sequential.result.first_time);
        EXPECT_LE(skipping.result.events, sequential.result.events);
      }
    }
  }
}

TEST(DumpEventsTest, ReadsOnlyTheGenerationsOfTheWindow) {
  const std::string path = absl::StrCat(testing::TempDir(), "/window.trace");
  std::ofstream(path, std::ios::binary) << ReadTestTrace(kTrace);
  EventsOptions all;
  all.filter.filter.since_start.from = 0;
  const EventsResult whole = Dump(path, 1, all).result;
  EventsOptions last;
  last.filter.filter.times.from = whole.last_time;
  const EventsResult end = Dump(path, 1, last).result;
  EXPECT_EQ(end.printed, 1u);
  EXPECT_LT(end.events, whole.events / 2);
  // Salvaging reads everything: times of a damaged trace may be wrong.
  EXPECT_EQ(Dump(path, 1, last, ReadMode::kSalvage).result.events, whole.events);
}

TEST(DumpEventsTest, FindsAWallClockTimeWithoutReadingWhatIsBefore) {
  const std::string path = absl::StrCat(testing::TempDir(), "/window.trace");
  std::ofstream(path, std::ios::binary) << ReadTestTrace(kTrace);
  EventsOptions all;
  all.filter.wall_from = absl::InfinitePast();
  const EventsResult whole = Dump(path, 1, all).result;
  ASSERT_TRUE(whole.last_wall.has_value());
  for (const absl::Duration before : {absl::Nanoseconds(0), absl::Milliseconds(20)}) {
    EventsOptions options;
    options.filter.wall_from = *whole.last_wall - before;
    const Dumped skipping = Dump(path, 1, options);
    EXPECT_GT(skipping.result.printed, 0u);
    ExpectSame(Dump(path, 2, options), skipping);
    EXPECT_EQ(skipping.text, Dump(TracePath(), 1, options).text);
  }
}

TEST(DumpEventsTest, FindsAWallClockTimeBeforeTheClockIsSetBack) {
  // Three generations of a second each; before the second one, the clock is set back by an hour.
  std::string text = "Trace Go1.25\n";
  for (int i = 0; i < 3; ++i) {
    const int64_t begin = 1 + 1'000'000'000 * int64_t{i};
    const int64_t wall = 1'000'000 + i - (i == 0 ? 0 : 3600);
    absl::StrAppend(&text, "EventBatch gen=", i + 1, " m=0 time=", begin, " size=auto\nSync\n",
                    "Frequency freq=1000000000\nClockSnapshot dt=0 mono=", begin, " sec=", wall,
                    " nsec=0\nEventBatch gen=", i + 1, " m=7 time=", begin, " size=auto\n",
                    "ProcStatus dt=1 p=0 pstatus=1\nHeapAlloc dt=", 900'000'000,
                    " heapalloc_value=1\n");
  }
  const absl::StatusOr<std::string> bytes = AssembleText(text);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const std::string path = absl::StrCat(testing::TempDir(), "/set_back.trace");
  std::ofstream(path, std::ios::binary) << *bytes;
  EventsOptions options;
  options.filter.wall_from = absl::FromUnixSeconds(1'000'000) + absl::Milliseconds(800);
  const Dumped dumped = Dump(path, 1, options);
  EXPECT_TRUE(dumped.result.status.ok()) << dumped.result.status;
  // The HeapAlloc of the first generation.
  EXPECT_EQ(dumped.result.printed, 1u) << dumped.text;
}

TEST(DumpEventsTest, ReportsWhatCannotBeOpened) {
  for (const size_t jobs : {1, 2}) {
    const Dumped dumped = Dump("/nowhere/trace", jobs);
    EXPECT_EQ(dumped.result.status.message(), "opening /nowhere/trace: No such file or directory");
    EXPECT_EQ(dumped.text, "");
  }
}

TEST(DumpEventsTest, StopsWhereNothingCanBeWritten) {
  for (const size_t jobs : {1, 2}) {
    const int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    Output out(fd, "/dev/full");
    ReaderOptions reader_options;
    reader_options.jobs = jobs;
    reader_options.decodes_ahead = true;
    reader_options.tuning.jobs_from_bytes = 0;
    Progress progress(/*prints_along=*/true);
    const std::string file = TracePath();
    bool is_first = true;
    FileOutput output({file}, /*has_heading=*/false, &is_first, &out);
    const EventsResult result = DumpEvents(EventsOptions(), reader_options, &progress, &output);
    EXPECT_TRUE(result.status.ok());
    EXPECT_FALSE(out.Finish().ok());
    close(fd);
  }
}

}  // namespace events_command_test
}  // namespace gotrace::internal
