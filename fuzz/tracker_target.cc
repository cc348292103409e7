// State intervals: those of each goroutine, P and thread must partition its life, and must be the
// same however a trace is cut between its generations.
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/interval_log.h"
#include "fuzz/target.h"
#include "gotrace/reader.h"

namespace gotrace::internal {
namespace {

// The trackers of parts of a trace, each of `size` generations.
struct CutTrace {
  size_t size;
  size_t generations = 0;
  std::vector<std::unique_ptr<TrackedTrace>> parts = {};

  void Add(absl::Span<const Event> events) {
    if (events.front().kind() == EventKind::kSync && generations++ % size == 0) {
      parts.push_back(std::make_unique<TrackedTrace>(/*may_follow_another=*/true));
    }
    parts.back()->tracker.Add(events);
  }

  std::string Merge() {
    for (size_t i = 1; i < parts.size(); ++i) {
      parts[0]->tracker.Merge(std::move(parts[i]->tracker));
    }
    FUZZ_CHECK(parts[0]->tracker.Finish().ok(), "");
    return parts[0]->log.All();
  }
};

void CheckMode(absl::string_view input, ReadMode mode) {
  ReaderOptions options;
  options.mode = mode;
  absl::StatusOr<Reader> reader = Reader::FromBytes(input, options);
  if (!reader.ok()) return;
  TrackedTrace whole;
  CutTrace cuts[] = {{1}, {2}, {3}};
  int64_t end = std::numeric_limits<int64_t>::min();
  bool goes_back = false;
  for (absl::Span<const Event> block; !(block = reader->NextBlock()).empty();) {
    for (const Event& event : block) {
      goes_back |= event.time() < end;
      end = std::max(end, event.time());
    }
    whole.tracker.Add(block);
    for (CutTrace& cut : cuts) cut.Add(block);
  }
  FUZZ_CHECK(whole.tracker.Finish().ok(), "");
  // Only the highest time of all makes those of strict reading go back.
  const bool has_gaps = mode != ReadMode::kStrict || goes_back;
  const std::string fault = whole.log.FindFault(end, has_gaps);
  FUZZ_CHECK(fault.empty(), fault);
  FUZZ_CHECK(has_gaps || whole.log.IsInOrder(), "");
  const std::string intervals = whole.log.All();
  for (CutTrace& cut : cuts) {
    if (cut.parts.empty()) continue;
    const std::string merged = cut.Merge();
    FUZZ_CHECK(has_gaps || merged == intervals,
               absl::StrCat("cut by ", cut.size, ":\n", merged, "whole:\n", intervals));
  }
}

}  // namespace

void RunTarget(absl::string_view input) {
  for (const ReadMode mode : {ReadMode::kStrict, ReadMode::kCollect, ReadMode::kSalvage}) {
    CheckMode(input, mode);
  }
}

}  // namespace gotrace::internal
