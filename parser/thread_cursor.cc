#include "parser/thread_cursor.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "tracev2/event_spec.h"

namespace gotrace {

ThreadCursor::ThreadCursor(const Generation& generation, const ThreadBatches& thread,
                           const Ahead& ahead)
    : thread_(thread.thread),
      batch_(thread.first),
      decoder_(generation, thread, ahead.check_ids),
      ahead_size_(ahead.events),
      helper_(ahead.helper),
      request_(&decoder_) {
  if (helper_ != nullptr || ahead_size_ > 1) {
    ahead_.reset(new DecodedEvent[helper_ != nullptr ? 2 * ahead_size_ : ahead_size_]);
  }
  current_ = last_ = room().data();
}

// The decoder of `other` may be at work.
ThreadCursor::ThreadCursor(const ThreadCursor& other)
    : state(other.state),
      ticket(other.ticket),
      thread_(other.thread_),
      payload_offset_(other.payload_offset_),
      batch_(other.batch_),
      decoder_(other.decoder_.generation(), {thread_, batch_, batch_}, /*check_ids=*/false),
      own_(*other.current_),
      request_(&decoder_) {
  current_ = last_ = &own_;
  own_.ids_found = false;
  DecodedEvent again;
  decoder_.Seek(batch_, own_.position, own_.time);
  decoder_.Decode(absl::MakeSpan(&again, 1));
  decoder_.Seek(batch_, decoder_.position(), own_.time);
}

ThreadCursor::Step ThreadCursor::Refill() {
  const absl::Span<DecodedEvent> events = room();
  const bool asked = std::exchange(asked_, false);
  const size_t count = asked ? helper_->Take(&request_) : decoder_.Decode(events);
  if (count == 0 && !decoder_.failed()) return Step::kEnd;
  batch_ = decoder_.batch_index();
  payload_offset_ = decoder_.batch().payload_offset;
  current_ = events.data();
  if (count == 0) {
    last_ = current_;
    events[0].time = decoder_.time();
    events[0].position = decoder_.position();
    return Step::kFault;
  }
  last_ = current_ + count - 1;
  if (helper_ != nullptr) AskForMore();
  return Step::kEvent;
}

void ThreadCursor::AskForMore() {
  second_half_ = !second_half_;
  asked_ = true;
  helper_->Ask(&request_, room());
}

ThreadCursor::Rest ThreadCursor::SkipAll() {
  Rest rest;
  decoder_.Seek(batch_, current_->position, current_->time);
  current_ = last_;
  do {
    ++rest.batches;
    rest.bytes += decoder_.end() - decoder_.pos();
    while (decoder_.pos() != decoder_.end() && decoder_.Decode(absl::MakeSpan(&own_, 1)) > 0) {
      ++rest.events;
    }
    decoder_.SkipBatch();
  } while (decoder_.EnterNextBatch());
  return rest;
}

Place ThreadCursor::place() const {
  Place place;
  place.offset = offset();
  place.generation = decoder_.generation().number();
  place.batch_offset = decoder_.generation().event_batches()[batch_].offset;
  place.thread = thread_;
  place.event = event().type;
  place.time = time();
  return place;
}

Fault ThreadCursor::fault() const {
  const char* const begin = decoder_.pos();
  const char* fault_pos = nullptr;
  const DecodeFault decode_fault = DiagnoseTimedEvent(begin, decoder_.end(), &fault_pos);
  const EventType type = static_cast<EventType>(*begin);
  Fault fault;
  fault.place = place();
  fault.place.event = FindEventSpec(type) == nullptr ? EventType::kNone : type;
  fault.place.time.reset();
  *fault.place.offset += fault_pos - begin;
  switch (decode_fault) {
    case DecodeFault::kUnknownType:
      fault.id = FaultId::kEventType;
      fault.message = absl::StrCat("expected an event, found byte ", static_cast<int>(type),
                                   ", which is no event's type");
      break;
    case DecodeFault::kNotTimed:
      fault.id = FaultId::kEventNotTimed;
      fault.message = absl::StrCat("expected a timed event, found byte ", static_cast<int>(type),
                                   " (", EventTypeName(type), ")");
      break;
    case DecodeFault::kVarintTruncated:
      fault.id = FaultId::kEventVarint;
      fault.message = "expected an argument, found the end of the batch";
      break;
    case DecodeFault::kVarintOverflow:
      fault.id = FaultId::kEventVarint;
      fault.message = "expected an argument, found a number that does not fit 64 bits";
      break;
  }
  return fault;
}

}  // namespace gotrace
