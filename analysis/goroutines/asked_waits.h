// Which goroutines wait for an answer.
#ifndef GOTRACE_ANALYSIS_GOROUTINES_ASKED_WAITS_H_
#define GOTRACE_ANALYSIS_GOROUTINES_ASKED_WAITS_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/types/span.h"
#include "analysis/intervals/generation_times.h"
#include "analysis/intervals/partial_goroutines.h"
#include "gotrace/event.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"

namespace gotrace::internal {

// Tells goroutines that wait for an answer from those that wait for work, for some time, or for a
// quiet moment. A goroutine asks another one when it creates it, or when it wakes it up from a
// receive or select, unless that one had asked it: then it answers. It waits for the answer if it
// asked since its last receive or select.
//
// This is known only where it happens in one generation of the trace, so that it does not depend on
// where the trace is cut: the question, the answer, and how the goroutine began or what its last
// receive waited for. A wait that a timer ended may end in a later generation.
class AskedWaits {
 public:
  explicit AskedWaits(Interner* interner)
      : receive_(interner->InternString("chan receive")),
        select_(interner->InternString("select")) {}

  // Call it with all events, before the intervals that they end.
  void AddEvents(absl::Span<const Event> events) {
    generations_.AddEvents(events);
    goroutines_.AddEvents(events);
  }

  // Takes the next interval of any goroutine. Returns whether it is a receive or select in which
  // the goroutine waited for an answer, and either a timer ended it or one that had been asked.
  bool Add(const GoInterval& interval);

  // Continues with `next`, which received the following part of the trace.
  void Merge(AskedWaits& next);

 private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::min();

  // What is known of a goroutine. Times are those of the last one of each.
  struct Asking {
    int64_t asks = kNever;      // When it asked another one.
    int64_t is_asked = kNever;  // When `asker` asked it.
    GoId asker = GoId::kNone;
    int64_t wait_end = kNever;  // When a receive or select ended.
    // Since when it is known who asks it: its creation, or the end of a receive or select.
    int64_t known = kNever;

    void Add(const Asking& later);
  };

  bool AddWait(const GoInterval& interval);

  const StringId receive_;
  const StringId select_;
  GenerationTimes generations_;
  PartialGoroutines<Asking> goroutines_{
      [](PartialGoroutines<Asking>::Entry&) {},
      [](PartialGoroutines<Asking>::Entry& rest, PartialGoroutines<Asking>::Entry& entry) {
        entry.data.Add(rest.data);
      }};
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_GOROUTINES_ASKED_WAITS_H_
