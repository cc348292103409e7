// Compares the times that goroutines spend in each state with those that Go's own internal/trace
// computes, to the nanosecond. Where they differ, DIVERGENCES.md says why.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "analysis/intervals/interval_log.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace go_numbers_test {

struct Times {
  int64_t creation = 0;
  int64_t start = 0;
  int64_t end = 0;
  int64_t running = 0;
  int64_t runnable = 0;
  int64_t syscall = 0;
  int64_t syscall_blocked = 0;
  std::map<std::string, int64_t> waiting;  // By reason, without those of 0.

  friend bool operator==(const Times&, const Times&) = default;

  friend std::ostream& operator<<(std::ostream& out, const Times& times) {
    out << "creation " << times.creation << " start " << times.start << " end " << times.end
        << " running " << times.running << " runnable " << times.runnable << " syscall "
        << times.syscall << " blocked " << times.syscall_blocked;
    for (const auto& [reason, time] : times.waiting) out << " (" << reason << ") " << time;
    return out;
  }
};

using TimesOfGoroutines = std::map<int64_t, Times>;

// What testdata/make_go_numbers.sh stored, by the names of traces.
std::map<std::string, TimesOfGoroutines> ReadGoTimes() {
  std::map<std::string, TimesOfGoroutines> traces;
  const std::string table = ReadTestTrace("goroutine_stats.tsv");
  for (const absl::string_view line : absl::StrSplit(table, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, '\t');
    if (fields.at(1) != "goroutine") continue;
    const auto number = [&](size_t field) {
      int64_t number = 0;
      EXPECT_TRUE(absl::SimpleAtoi(fields.at(field), &number)) << line;
      return number;
    };
    Times times = {number(4), number(5),  number(6),  number(8),
                   number(9), number(10), number(11), {}};
    for (size_t i = 12; i < fields.size(); ++i) {
      absl::string_view text = fields[i];
      if (!absl::ConsumePrefix(&text, "block:")) continue;
      const size_t equals = text.rfind('=');
      int64_t time = 0;
      EXPECT_TRUE(absl::SimpleAtoi(text.substr(equals + 1), &time)) << line;
      if (time != 0) times.waiting[std::string(text.substr(0, equals))] = time;
    }
    traces[std::string(fields[0])][number(2)] = times;
  }
  return traces;
}

// Adds the interval as it is.
void Count(const Interner& interner, const GoInterval& interval, Times* times) {
  const int64_t duration = static_cast<int64_t>(interval.duration());
  if (interval.ends_life) times->end = interval.end;
  switch (interval.state) {
    case GoState::kRunning:
      times->running += duration;
      if (times->start == 0) times->start = interval.begin;
      break;
    case GoState::kRunnable:
      times->runnable += duration;
      break;
    case GoState::kWaiting:
      if (duration != 0) times->waiting[std::string(interner.String(interval.reason))] += duration;
      break;
    case GoState::kSyscall:
      times->syscall += interval.proc_until - interval.begin;
      times->syscall_blocked += interval.end - interval.proc_until;
      break;
    default:
      ADD_FAILURE() << "state " << GoStateName(interval.state);
  }
}

// How often each of Go's own ways was met.
struct Divergences {
  int open_blocked_syscalls = 0;
  int syscalls_before = 0;
  int forever = 0;
  int earlier_lives = 0;
  int running_before = 0;
  int created_in_syscall = 0;
};

// Go does not know until when a syscall that began before the trace had its P: only the sum of both
// times can be compared.
void MergeSyscallTimes(Times* times) {
  times->syscall += times->syscall_blocked;
  times->syscall_blocked = 0;
}

// The times as Go computes them. Changes `go` where only sums can be compared.
TimesOfGoroutines TimesLikeGo(const TrackedTrace& trace, TimesOfGoroutines* go,
                              Divergences* divergences) {
  std::set<int64_t> in_syscall_before;
  TimesOfGoroutines all;
  for (const GoInterval& interval : trace.log.goroutines()) {
    const int64_t id = interval.goroutine.value;
    if (interval.starts_life && all.erase(id) > 0) {
      ++divergences->earlier_lives;
      in_syscall_before.erase(id);
    }
    const bool is_first = !all.contains(id);
    Times& times = all[id];
    if (is_first) times.creation = interval.begin;
    const std::string reason(trace.interner.String(interval.reason));
    if (reason == "forever") {
      // A goroutine that blocks forever counts as ended.
      ++divergences->forever;
      times.end = interval.begin;
      continue;
    }
    Count(trace.interner, interval, &times);
    if (is_first && interval.begin_clipped) {
      if (interval.state == GoState::kRunning) {
        // It starts only with its status.
        ++divergences->running_before;
        times.start = (*go)[id].start;
      }
      if (interval.state == GoState::kSyscall) {
        ++divergences->syscalls_before;
        in_syscall_before.insert(id);
      }
    }
    if (interval.state == GoState::kSyscall && interval.starts_life &&
        interval.proc == ProcId::kNone) {
      // That it has no P yet is not noticed.
      ++divergences->created_in_syscall;
      times.syscall += interval.duration();
      times.syscall_blocked -= interval.duration();
    }
    if (interval.state == GoState::kSyscall && interval.end_clipped &&
        interval.proc_until > interval.begin && interval.proc_until < interval.end) {
      // What it waits for its P is counted as a part of the syscall, and as waiting to run.
      ++divergences->open_blocked_syscalls;
      const int64_t blocked = interval.end - interval.proc_until;
      times.syscall += blocked;
      times.syscall_blocked -= blocked;
      times.runnable += blocked;
    }
  }
  for (const int64_t id : in_syscall_before) {
    MergeSyscallTimes(&all[id]);
    MergeSyscallTimes(&(*go)[id]);
  }
  return all;
}

TEST(GoNumbers, AreThoseOfStateTracker) {
  std::map<std::string, TimesOfGoroutines> go_times = ReadGoTimes();
  Divergences divergences;
  int goroutines = 0;
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const auto go = go_times.find(test.name);
    ASSERT_NE(go, go_times.end());
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    TrackedTrace trace;
    ASSERT_TRUE(ReadInto(*reader, {&trace.tracker}).ok());
    TimesOfGoroutines found = TimesLikeGo(trace, &go->second, &divergences);
    ASSERT_EQ(found.size(), go->second.size());
    for (const auto& [id, expected] : go->second) {
      SCOPED_TRACE(absl::StrCat("goroutine ", id));
      ++goroutines;
      ASSERT_TRUE(found.contains(id));
      EXPECT_EQ(found[id], expected) << trace.log.OfGoroutine(id).substr(0, 3000);
    }
  }
  EXPECT_EQ(goroutines, 2359);
  EXPECT_GT(divergences.open_blocked_syscalls, 0);
  EXPECT_GT(divergences.syscalls_before, 0);
  EXPECT_GT(divergences.forever, 0);
  EXPECT_GT(divergences.earlier_lives, 0);
  EXPECT_GT(divergences.running_before, 0);
  EXPECT_GT(divergences.created_in_syscall, 0);
}

}  // namespace go_numbers_test
}  // namespace gotrace::internal
