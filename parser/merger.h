// Puts the events of all threads in order of time alone.
#ifndef GOTRACE_PARSER_MERGER_H_
#define GOTRACE_PARSER_MERGER_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "parser/frontier.h"
#include "parser/thread_decoder.h"

namespace gotrace {

// Merges what the threads of a frontier wrote, as if the scheduler's model let every event come
// next. In a sound trace of one machine hardly any has to wait, so another core may do this part
// ahead of the one that asks the model; where the model says otherwise, the frontier goes back.
class Merger {
 public:
  // Merges in blocks at `places` places, which are used again. `frontier` must outlive it. With
  // `watches_time`, an event that is followed by an earlier one of its thread is not merged.
  Merger(Frontier* frontier, size_t places, bool watches_time)
      : frontier_(*frontier), watches_time_(watches_time), marks_(places) {}

  // Puts the next events into `room`, as the block at `place`, and moves their threads on. Returns
  // how many: fewer than there is room for where an event needs attention, as for something that it
  // refers to and that is missing, or since its thread's next one cannot be decoded. Requires that
  // no thread of the frontier is parked.
  size_t Merge(absl::Span<DecodedEvent> room, size_t place);

  // Brings the frontier back to where the block at `place` began, and on by as many of its events
  // as have room in `scratch`: they must be what was merged there last, and are merged again.
  void GoBack(size_t place, absl::Span<DecodedEvent> scratch);

 private:
  // Merges into `room`, with no regard to blocks.
  size_t MergeSome(absl::Span<DecodedEvent> room);

  // Merges events of the first thread as long as it stays first, and returns their end in `room`.
  DecodedEvent* MergeRun(absl::Span<DecodedEvent> room);

  Frontier& frontier_;
  const bool watches_time_;
  std::vector<Frontier::Mark> marks_;  // Where each block began.
};

}  // namespace gotrace

#endif  // GOTRACE_PARSER_MERGER_H_
