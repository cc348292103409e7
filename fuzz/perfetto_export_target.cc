// Fuzzes the conversion of traces to Perfetto's format: the file is valid, and says the same of the
// states of goroutines as the trace.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "export/perfetto/read_back.h"
#include "fuzz/target.h"
#include "gotrace/perfetto_exporter.h"
#include "gotrace/reader.h"
#include "gotrace/state_tracker.h"

namespace gotrace::internal {
namespace {

using Sums = std::map<int64_t, std::array<uint64_t, 6>>;

// How long each goroutine is in each state, in a window.
struct TrackedSums final : public IntervalConsumer {
  void AddGoroutine(const GoInterval& interval) override {
    const int64_t id = interval.goroutine.value;
    if (interval.state == GoState::kRunning) runs[interval.proc].push_back(interval);
    const bool has_cpu = interval.state != GoState::kRunning || interval.proc != ProcId::kNone;
    if (!has_cpu || ended.contains(id)) left_out.insert(id);
    if (interval.ends_life) ended.insert(id);
    const int64_t begin = std::max(interval.begin, window.from);
    const int64_t end = std::min(interval.end, window.to);
    if (end <= begin) return;
    sums[id][static_cast<int>(interval.state)] +=
        static_cast<uint64_t>(end) - static_cast<uint64_t>(begin);
  }

  void AddProc(const ProcInterval& interval) override {
    if (interval.state == ProcState::kRunning) running_procs[interval.proc].push_back(interval);
  }

  // Whether goroutines run one after the other on each P, and only while it runs. What a program
  // writes says so, and Perfetto can show nothing else.
  bool CanBeShown() const {
    for (const auto& [proc, intervals] : runs) {
      if (proc == ProcId::kNone) continue;
      const auto found = running_procs.find(proc);
      if (found == running_procs.end()) return false;
      // Both are in the order of their ends.
      auto running = found->second.begin();
      int64_t free_from = std::numeric_limits<int64_t>::min();
      for (const Interval& run : intervals) {
        while (running != found->second.end() && running->end < run.end) ++running;
        if (running == found->second.end() || running->begin > run.begin) return false;
        if (run.begin < free_from) return false;
        free_from = run.end;
      }
    }
    return true;
  }

  EventFilter::Times window;
  Sums sums;
  std::map<ProcId, std::vector<Interval>> runs, running_procs;
  std::set<int64_t> ended;
  // Those that run on no known P, as Perfetto's threads must run on a CPU, and those that exist
  // again after their end, which is not known when they are written.
  std::set<int64_t> left_out;
};

// Whether the goroutine may have another tid than its id, or may be one that only has such a tid.
bool MayBeRenamed(int64_t id) { return id <= 0 || id > (int64_t{1} << 31) - (1 << 20); }

std::string Show(const Sums& sums, const std::set<int64_t>& left_out) {
  std::vector<std::string> lines;
  for (const auto& [goroutine, by_state] : sums) {
    if (left_out.contains(goroutine)) continue;
    std::string line = MayBeRenamed(goroutine) ? "renamed:" : absl::StrCat(goroutine, ":");
    uint64_t total = 0;
    for (const GoState state :
         {GoState::kRunnable, GoState::kRunning, GoState::kWaiting, GoState::kSyscall}) {
      absl::StrAppend(&line, " ", by_state[static_cast<int>(state)]);
      total += by_state[static_cast<int>(state)];
    }
    if (total > 0) lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  return absl::StrJoin(lines, "\n");
}

// Converts what is in the time window. Returns the times of the first and the last event.
EventFilter::Times CheckWindow(absl::string_view input, ReadMode mode, EventFilter::Times window) {
  EventFilter::Times seen = {std::numeric_limits<int64_t>::max(),
                             std::numeric_limits<int64_t>::min()};
  ReaderOptions reader_options;
  reader_options.mode = mode;
  absl::StatusOr<Reader> reader = Reader::FromBytes(input, reader_options);
  if (!reader.ok()) return seen;
  PerfettoOptions options;
  options.filter.times = window;
  options.stacks = options.alloc = options.threads = true;
  std::string file;
  const std::unique_ptr<ByteSink> sink = SinkToString(&file);
  PerfettoExporter exporter(sink.get(), options);
  Interner interner;
  TrackedSums tracked;
  tracked.window = window;
  StateTracker tracker(&interner, &tracked);
  for (absl::Span<const Event> block; !(block = reader->NextBlock()).empty();) {
    for (const Event& event : block) {
      seen.from = std::min(seen.from, event.time());
      seen.to = std::max(seen.to, event.time());
    }
    exporter.Add(block);
    tracker.Add(block);
  }
  FUZZ_CHECK(tracker.Finish().ok() && exporter.Finish().ok() && sink->Finish().ok(), "");
  const PerfettoReadBack back = ReadPerfettoBack(file, std::min(window.to, seen.to));
  FUZZ_CHECK(back.problems.empty(), back.problems);
  // In a damaged trace, times may go back.
  if (mode != ReadMode::kStrict) return seen;
  FUZZ_CHECK(back.disorder.empty(), back.disorder);
  if (!tracked.CanBeShown()) return seen;
  if (std::any_of(tracked.left_out.begin(), tracked.left_out.end(), MayBeRenamed)) return seen;
  const std::string shown = Show(back.sums, tracked.left_out);
  const std::string expected = Show(tracked.sums, tracked.left_out);
  FUZZ_CHECK(shown == expected, absl::StrCat("Perfetto:\n", shown, "trace:\n", expected));
  return seen;
}

}  // namespace

void RunTarget(absl::string_view input) {
  CheckWindow(input, ReadMode::kSalvage, {});
  const auto [first, last] = CheckWindow(input, ReadMode::kStrict, {});
  if (first >= last) return;
  const int64_t middle =
      first +
      static_cast<int64_t>((static_cast<uint64_t>(last) - static_cast<uint64_t>(first)) / 2);
  CheckWindow(input, ReadMode::kStrict, {middle, EventFilter::Times().to});
  CheckWindow(input, ReadMode::kStrict, {first, middle});
}

}  // namespace gotrace::internal
