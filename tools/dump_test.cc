#include "tools/dump.h"

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
namespace {

constexpr char kTrace[] = "go1.27-gc.trace";

struct Dumped {
  std::string text;
  EventsResult result;
  bool written = false;
};

// What DumpEvents() writes and returns.
Dumped Dump(const std::string& file, size_t jobs, const EventsOptions& options = {},
            ReadMode mode = ReadMode::kStrict) {
  const std::string path = absl::StrCat(testing::TempDir(), "/dumped");
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  Output out(fd, path);
  ReaderOptions reader_options;
  reader_options.jobs = jobs;
  reader_options.jobs_from_bytes = 0;
  reader_options.mode = mode;
  Progress progress(/*prints_along=*/true);
  Dumped dumped;
  dumped.result = DumpEvents(file, reader_options, options, &progress, &out);
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

// Their types, which are of the first generation, are told in the second.
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

TEST(DumpEventsTest, TellsWhatCannotBeOpened) {
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
    reader_options.jobs_from_bytes = 0;
    Progress progress(/*prints_along=*/true);
    const EventsResult result =
        DumpEvents(TracePath(), reader_options, EventsOptions(), &progress, &out);
    EXPECT_TRUE(result.status.ok());
    EXPECT_FALSE(out.Finish().ok());
    close(fd);
  }
}

}  // namespace
}  // namespace gotrace::internal
