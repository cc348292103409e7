// When the generations of a trace began.
#ifndef GOTRACE_ANALYSIS_SUMMARY_GENERATION_BEGINS_H_
#define GOTRACE_ANALYSIS_SUMMARY_GENERATION_BEGINS_H_

#include <optional>

#include "absl/time/time.h"
#include "gotrace/event.h"
#include "gotrace/event_kind.h"
#include "gotrace/trace_summary.h"

namespace gotrace::internal {

// Finds the generations of a trace in its events.
class GenerationBegins {
 public:
  // Adds the next event. Calls `found` with a TraceSummary::Generation when it is the first event
  // of a generation after its kSync event: the kSync event that ends the trace begins none.
  template <class Found>
  void Add(const Event& event, const Found& found) {
    if (event.kind() == EventKind::kSync) {
      next_.emplace();
      next_->begin = event.time();
      const std::optional<ClockSnapshot> snapshot = event.sync().clock_snapshot;
      if (snapshot.has_value()) next_->wall = absl::ToUnixNanos(snapshot->wall);
    } else if (next_.has_value()) {
      found(*next_);
      next_.reset();
    }
  }

 private:
  std::optional<TraceSummary::Generation> next_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_SUMMARY_GENERATION_BEGINS_H_
