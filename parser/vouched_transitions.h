// Reads a trace without most of its state transitions.
#ifndef GOTRACE_PARSER_VOUCHED_TRANSITIONS_H_
#define GOTRACE_PARSER_VOUCHED_TRANSITIONS_H_

#include <cstdint>
#include <functional>

#include "absl/types/span.h"
#include "parser/event.h"
#include "parser/known_resource.h"
#include "parser/reader.h"
#include "parser/stack_watch.h"

namespace gotrace {

// Nine of ten events of most traces are state transitions of goroutines. Who judges them, finds
// nothing that the model of the scheduler, by which a Reader orders events, does not ask for
// already. So a Reader can leave them out, which takes a third of the time of giving them, as long
// as its model vouches for all events:
//
//  - a goroutine or P goes on from the state that it is in, and is in one;
//  - one that is not created was there from the first generation on;
//  - it begins to execute on a thread that executes no other, and stops where it executes;
//  - it does not cease to exist while a range is open on it;
//  - labels have a text, and tasks ids that are not reserved;
//  - what stops the world ends in the generation in which it began;
//  - nothing has a fault.
//
// It gives all events that are no transitions of goroutines; and of those some, too: among them
// the end of each goroutine on which a region or range is open, or ever was.
class VouchedTransitions {
 public:
  // Lets `reader`, which gave nothing yet and must outlive this, leave them out. Where it comes to
  // an event that it cannot vouch for, it calls `on_doubt`, once, before that event is given and
  // after all before it were: SeeKnown() then tells what came of them. From there on it gives all
  // events. ReaderOptions::jobs counts from there on, too.
  VouchedTransitions(Reader* reader, std::function<void()> on_doubt);
  VouchedTransitions(const VouchedTransitions&) = delete;
  VouchedTransitions& operator=(const VouchedTransitions&) = delete;

  // Where the block of events stands that Reader::NextBlock() gave last; or the end, where that
  // gave none. Valid until the next one. Reader::event_count() counts what is left out, too.
  struct Block {
    uint64_t events_before = 0;  // How many events come before it, with those that are left out;
    int64_t time_before = 0;     // and the last one's time in nanoseconds.

    // For each event of the block how many were left out between its beginning and that event.
    absl::Span<const uint64_t> left_out_before;
  };
  Block block() const;

  // Of a block in which something is left out all events are at most so much later than the one
  // before it, in nanoseconds, and so are those that are left out behind its last one.
  static constexpr int64_t kLongestBlock = 1'000'000'000;

  // Lets it give all events that refer to one of the stacks `watched`, which must outlive this and
  // may change between one block and the next; where the block is a kSync event, to stacks of
  // another generation.
  void GiveStacks(const StackWatch* watched);

  // Lets it give all events from here on, as after a doubt.
  void GiveAll();

  // Calls `see` with each goroutine and P, in no order, as it is after all events so far. Only for
  // `on_doubt`.
  void SeeKnown(const std::function<void(const KnownResource&)>& see) const;

  // Whether a goroutine or P exists after all events so far.
  bool Exists(const ResourceId& resource) const;

 private:
  ReaderImpl* const impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_PARSER_VOUCHED_TRANSITIONS_H_
