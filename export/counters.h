// Counters that exporters for viewers derive from events.
#ifndef GOTRACE_EXPORT_COUNTERS_H_
#define GOTRACE_EXPORT_COUNTERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gotrace/event_type.h"
#include "gotrace/states.h"

namespace gotrace::internal {

// A counter with the values of a metric.
struct MetricCounter {
  EventType type;
  absl::string_view name;
  absl::string_view unit;
  bool counts_bytes;
};
inline constexpr MetricCounter kMetricCounters[] = {
    {EventType::kHeapAlloc, "heap", "bytes", true},
    {EventType::kHeapGoal, "heap goal", "bytes", true},
    {EventType::kProcsChange, "GOMAXPROCS", "threads", false},
};

// Counters of the goroutines in each state, and of busy Ps. They may change with every event, so
// they are written at most every 100 microseconds.
class StateCounters {
 public:
  struct Spec {
    absl::string_view name;
    absl::string_view unit;
  };
  static constexpr Spec kSpecs[] = {
      {"runnable goroutines", "goroutines"},
      {"running goroutines", "goroutines"},
      {"waiting goroutines", "goroutines"},
      {"goroutines in syscalls", "goroutines"},
      {"busy Ps", "Ps"},
  };

  // Called with the index in kSpecs of a counter, and its value since `time`.
  using WriteCounter = std::function<void(int64_t time, size_t counter, uint64_t value)>;
  explicit StateCounters(WriteCounter write) : write_(std::move(write)) {
    written_.fill(std::numeric_limits<uint64_t>::max());
  }

  // Begins a generation, and writes the values of the previous one. They cannot be written earlier,
  // since statuses apply from the beginning of their generation, and some come at its end.
  void BeginGeneration();

  // Begins to write, with the values at `time`, after all transitions of that time.
  void Begin(int64_t time);

  // Must come before a transition is counted, with its time.
  void Advance(int64_t time);

  // Count a goroutine, or a P, that leaves `from` and enters `to`. `is_late` means that it has been
  // in `to` since the generation began, as its first status states.
  void Count(GoState from, GoState to, bool is_late);
  void Count(ProcState from, ProcState to, bool is_late);

  // Writes all values, which last until `time`.
  void Finish(int64_t time);

 private:
  // Notes the values since the transition before, unless values were noted shortly before
  // `time`.
  void WriteDue(int64_t time);
  // Records the first values, unless that was already done.
  void NoteFirst();
  void Change(size_t value, int64_t by, bool is_late);
  void Note(int64_t time, bool all);
  void Flush();

  const WriteCounter write_;

  // By GoState, and busy Ps at the end. The first two states do not have a counter.
  static constexpr size_t kFirstCounter = static_cast<size_t>(GoState::kRunnable);
  static constexpr size_t kBusyProcs = kFirstCounter + std::size(kSpecs) - 1;
  using Values = std::array<int64_t, kBusyProcs + 1>;
  Values values_ = {};
  Values late_ = {};  // The changes that were stated late.

  // Values that are not written yet, without the changes that were stated late.
  struct Sample {
    int64_t time = 0;
    bool all = false;  // Whether to write unchanged values too.
    Values values = {};
  };
  std::vector<Sample> samples_;

  std::array<uint64_t, std::size(kSpecs)> written_;

  bool has_begun_ = false;
  bool has_first_ = false;  // Whether the first values were recorded.
  int64_t decided_ = 0;     // When it was last decided whether to write.
  int64_t last_ = 0;        // When the values last changed.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_COUNTERS_H_
