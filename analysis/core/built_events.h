// Events that are made by hand, for tests.
#ifndef GOTRACE_ANALYSIS_CORE_BUILT_EVENTS_H_
#define GOTRACE_ANALYSIS_CORE_BUILT_EVENTS_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/event.h"
#include "gotrace/event_builder.h"
#include "gotrace/event_type.h"
#include "gotrace/states.h"

namespace gotrace::internal {

// The events of a trace with one thread. Each call appends one.
class BuiltEvents {
 public:
  // Returns a builder for events that the other functions cannot make; pass it to Push(). The event
  // happens on `p` and `g`; -1 for none.
  EventBuilder Builder(EventType type, int64_t time, int64_t p = -1, int64_t g = -1) {
    EventBuilder builder(type, tables_);
    builder.Time(time).Thread(ThreadId{1}).Proc(ProcId{p}).Goroutine(GoId{g});
    return builder;
  }
  void Push(const EventBuilder& builder) { events_.push_back(builder.Build()); }

  void Sync(int64_t time, uint64_t n) { Push(EventBuilder::MakeSync(n, tables_).Time(time)); }

  // Adds a transition of the goroutine `g` from one state to another, on `p`.
  void Go(EventType type, int64_t time, int64_t p, int64_t g, GoState from, GoState to,
          absl::string_view reason = "") {
    GoBy(g, type, time, p, g, from, to, reason);
  }
  // Adds the same transition while `by` runs on `p`.
  void GoBy(int64_t by, EventType type, int64_t time, int64_t p, int64_t g, GoState from,
            GoState to, absl::string_view reason = "") {
    EventBuilder builder = Builder(type, time, p, by).Transition(GoId{g}, from, to);
    if (!reason.empty()) builder.Reason(reason);
    Push(builder);
  }

  void Proc(EventType type, int64_t time, int64_t p, ProcState from, ProcState to) {
    Push(Builder(type, time, p).Transition(ProcId{p}, from, to));
  }
  void Number(EventType type, int64_t time, uint64_t value) {
    Push(Builder(type, time).Arg(0, value));
  }

  absl::Span<const Event> events() const { return events_; }

 private:
  const BuiltTables tables_;
  std::vector<Event> events_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_CORE_BUILT_EVENTS_H_
