// Fuzzes the conversion of traces to FXT: the file is sound, and says the same of the states of
// goroutines as the trace.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "export/fxt/fxt_validator.h"
#include "export/fxt/read_back.h"
#include "fuzz/target.h"
#include "gotrace/fxt_exporter.h"
#include "gotrace/reader.h"
#include "gotrace/state_tracker.h"

namespace gotrace::internal {
namespace {

using Sums = std::map<uint64_t, std::array<uint64_t, 6>>;

// How long each goroutine is in each state, in a window.
struct TrackedSums final : public IntervalConsumer {
  void AddGoroutine(const GoInterval& interval) override {
    const int64_t begin = std::max(interval.begin, from);
    const int64_t end = std::min(interval.end, to);
    if (end <= begin) return;
    sums[static_cast<uint64_t>(interval.goroutine.value)][static_cast<int>(interval.state)] +=
        static_cast<uint64_t>(end) - static_cast<uint64_t>(begin);
  }

  int64_t from = std::numeric_limits<int64_t>::min();
  int64_t to = std::numeric_limits<int64_t>::max();
  Sums sums;
};

std::string Show(const Sums& sums) {
  std::string text;
  for (const auto& [thread, by_state] : sums) {
    std::string line = absl::StrCat(thread, ":");
    uint64_t total = 0;
    for (const GoState state :
         {GoState::kRunnable, GoState::kRunning, GoState::kWaiting, GoState::kSyscall}) {
      absl::StrAppend(&line, " ", by_state[static_cast<int>(state)]);
      total += by_state[static_cast<int>(state)];
    }
    if (total > 0) absl::StrAppend(&text, line, "\n");
  }
  return text;
}

void CheckWindow(absl::string_view input, ReadMode mode, int64_t from, int64_t to, int64_t* first,
                 int64_t* last) {
  ReaderOptions reader_options;
  reader_options.mode = mode;
  absl::StatusOr<Reader> reader = Reader::FromBytes(input, reader_options);
  if (!reader.ok()) return;
  FxtOptions options;
  options.filter.times = {from, to};
  options.stacks = options.threads = options.alloc = true;
  std::string fxt;
  const std::unique_ptr<ByteSink> sink = SinkToString(&fxt);
  FxtExporter exporter(sink.get(), options);
  Interner interner;
  TrackedSums tracked;
  tracked.from = from;
  tracked.to = to;
  StateTracker tracker(&interner, &tracked);
  bool is_ordered = true;
  *first = std::numeric_limits<int64_t>::max();
  *last = std::numeric_limits<int64_t>::min();
  for (absl::Span<const Event> block; !(block = reader->NextBlock()).empty();) {
    for (const Event& event : block) {
      is_ordered &= event.time() >= *last;
      *first = std::min(*first, event.time());
      *last = std::max(*last, event.time());
    }
    exporter.Add(block);
    tracker.Add(block);
  }
  FUZZ_CHECK(tracker.Finish().ok() && exporter.Finish().ok() && sink->Finish().ok(), "");
  FUZZ_CHECK(exporter.dropped_records() == 0, "");
  const ValidationReport report = ValidateFxt(*SourceFromBytes(fxt), {});
  for (const Finding& finding : report.findings) FUZZ_CHECK(false, FormatFinding(finding));
  // If times go back, the order of time is not that of the events.
  if (!is_ordered || mode != ReadMode::kStrict) return;
  const ReadBack back = ReadFxtBack(fxt);
  FUZZ_CHECK(back.problems.empty(), back.problems);
  FUZZ_CHECK(Show(back.sums) == Show(tracked.sums),
             absl::StrCat("FXT:\n", Show(back.sums), "trace:\n", Show(tracked.sums)));
}

}  // namespace

void RunTarget(absl::string_view input) {
  constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  int64_t first = 0, last = 0;
  CheckWindow(input, ReadMode::kSalvage, kFirst, kLast, &first, &last);
  CheckWindow(input, ReadMode::kStrict, kFirst, kLast, &first, &last);
  if (first >= last) return;
  const int64_t middle =
      first +
      static_cast<int64_t>((static_cast<uint64_t>(last) - static_cast<uint64_t>(first)) / 2);
  int64_t ignored;
  CheckWindow(input, ReadMode::kStrict, middle, kLast, &ignored, &ignored);
  CheckWindow(input, ReadMode::kStrict, first, middle, &ignored, &ignored);
}

}  // namespace gotrace::internal
