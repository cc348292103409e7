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
// quiet moment. A goroutine may ask another one when it creates it, or when it wakes it up from a
// receive or select. It waits for the answer if it asked since its last receive or select, and in a
// line before that of the wait. A worker, which passes on what it has done and then waits for more,
// has the wait first:
//
//   requests <- request     for job := range jobs {
//   answer := <-answers       results <- do(job)
//
// This is known only where it happens in one generation of the trace, so that it does not depend on
// where the trace is cut. A wait that a timer ended may end in a later generation.
class AskedWaits {
 public:
  explicit AskedWaits(Interner* interner)
      : interner_(*interner),
        receive_(interner->InternString("chan receive")),
        select_(interner->InternString("select")) {}

  // Call it with all events, before the intervals that they end.
  void AddEvents(absl::Span<const Event> events) {
    generations_.AddEvents(events);
    goroutines_.AddEvents(events);
  }

  // What is known of a wait.
  enum class Answer : uint8_t {
    kNone,     // It was for no answer.
    kAwaited,  // It was for an answer, and something else ended it, such as a timer.
    kGiven,    // A goroutine that had been asked ended it.
  };

  // Takes the next interval of any goroutine, and says what is known of it if it is a receive or
  // select.
  Answer Add(const GoInterval& interval);

  // Continues with `next`, which received the following part of the trace.
  void Merge(AskedWaits& next, const InternerMap& ids);

 private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::min();

  // What is known of a goroutine. Times are those of the last one of each.
  struct Asking {
    int64_t asks = kNever;  // When it asked `asked`, and where.
    GoId asked = GoId::kNone;
    StackId asks_at = StackId::kNone;
    int64_t is_asked = kNever;  // When `asker` asked it.
    GoId asker = GoId::kNone;
    int64_t wait_end = kNever;  // When a receive or select ended.

    void Add(const Asking& later);
  };

  Answer AddWait(const GoInterval& interval);

  // One goroutine asks another one, by creating it or by ending its wait.
  void Ask(const Cause& asker, const GoInterval& asked, int64_t time);

  // Returns whether a goroutine comes to the first place before it comes to the second one: in the
  // innermost function in which both are, its line is the smaller one, or the same.
  bool IsBefore(StackId first, StackId second) const;

  const Interner& interner_;
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
