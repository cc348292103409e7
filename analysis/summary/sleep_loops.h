// Loops in which goroutines sleep until they find something to do.
#ifndef GOTRACE_ANALYSIS_SUMMARY_SLEEP_LOOPS_H_
#define GOTRACE_ANALYSIS_SUMMARY_SLEEP_LOOPS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "analysis/intervals/partial_goroutines.h"
#include "analysis/intervals/stack_places.h"
#include "gotrace/event.h"
#include "gotrace/histogram.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"
#include "gotrace/trace_summary.h"
#include "gotrace/wait_stats.h"

namespace gotrace::internal {

// Counts sleeps that are followed by another one of the same goroutine with the same stack, by what
// the goroutine did between the two. Mergeable, as an analysis. Memory is in proportion to the
// goroutines that exist at a time, to the events of a generation, and to the places of such sleeps.
class SleepLoops {
 public:
  // `*interner` must outlive this object.
  explicit SleepLoops(Interner* interner) : interner_(*interner), places_(interner) {}

  void AddEvents(absl::Span<const Event> events);
  void AddGoroutine(const GoInterval& interval);
  void Merge(SleepLoops& next, const InternerMap& ids);
  void Finish() { goroutines_.Finish(); }

  // Returns the loops that can be suspected of polling, in this trace or together with others,
  // after Finish(). `duration` is the length of the trace.
  std::vector<TraceSummary::Suspicion> FindCandidates(int64_t duration) const;

 private:
  struct Key {
    StringId start = StringId::kEmpty;
    WaitPlace place;

    friend bool operator==(const Key&, const Key&) = default;

    template <class H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.start, key.place);
    }
  };

  // Sleeps in one place. The halves of their lengths are counted: what the goroutine waits for came
  // at any time of the sleep, so it waited for half of it on average.
  struct Loop {
    Histogram active;               // The goroutine did something that others see.
    std::map<int, Histogram> idle;  // It only ran: by the bucket of the time for which it did.
  };

  struct Sleep {
    StackId stack = StackId::kNone;
    uint64_t length = 0;
  };

  // What a goroutine did between two sleeps.
  struct Gap {
    uint64_t run = 0;

    // Whether it woke a goroutine, other than by releasing a lock, or created one, was in a
    // syscall, or waited for anything but a lock.
    bool is_active = false;

    // Whether it was in a mark assist: then it does not count, since that takes long by chance.
    bool has_assist = false;

    void Add(const Gap& next) {
      run += next.run;
      is_active |= next.is_active;
      has_assist |= next.has_assist;
    }
  };

  // A goroutine, or its part in this part of the trace.
  struct Goroutine {
    Gap head;                        // Until the first sleep, if there is one.
    StackId first = StackId::kNone;  // The stack of the first sleep; kNone if there is none.
    Sleep last;
    Gap since;  // Since the last sleep, or since the beginning.

    // When it woke or created goroutines, and when it began mark assists, after its last interval.
    std::vector<int64_t> effects;
    std::vector<int64_t> assists;
  };
  using Goroutines = PartialGoroutines<Goroutine>;

  bool IsForOthers(const Event& event);
  void AddSleep(const Sleep& sleep, Goroutine* goroutine);
  void Count(const Sleep& sleep, const Gap& gap);
  void Continue(const Goroutine& rest, Goroutine* goroutine);

  Interner& interner_;
  StackPlaces places_;
  absl::flat_hash_map<Key, Loop> loops_;
  Goroutines goroutines_{[](Goroutines::Entry& /*entry*/) {},
                         [this](Goroutines::Entry& rest, Goroutines::Entry& entry) {
                           Continue(rest.data, &entry.data);
                         }};
};

// Returns whether a candidate for kPolling is above the thresholds that only its kind has.
bool IsPolling(const TraceSummary::Suspicion& candidate);

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_SUMMARY_SLEEP_LOOPS_H_
