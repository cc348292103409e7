#include "parser/order/thread_cursor.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_spec.h"

namespace gotrace::internal {
namespace {

// Returns how many events to decode at a time: `most`, or fewer if the thread's batches have hardly
// more. There may be thousands of generations in which each thread has only a few events.
uint8_t EventsAtOnce(const Generation& generation, const ThreadBatches& thread, size_t most) {
  constexpr size_t kBytesOfEvent = 4;  // Approximately. Some events have two.
  size_t events = 1;
  for (uint32_t i = thread.first; i != EventBatch::kLast && events < most;) {
    const EventBatch& batch = generation.event_batches()[i];
    events += batch.size / kBytesOfEvent;
    i = batch.next;
  }
  return static_cast<uint8_t>(std::min({events, most, ThreadCursor::kMaxAhead}));
}

}  // namespace

ThreadCursor::ThreadCursor(const Generation& generation, const ThreadBatches& thread,
                           const Ahead& ahead)
    : thread_(thread.thread),
      current_(own_),
      last_(own_),
      plain_end_(own_),
      half_size_(EventsAtOnce(generation, thread, ahead.events)),
      decoder_(generation, thread, ahead.check_ids, ahead.use) {
  // Makes sure that no first event is earlier.
  own_[0].time = std::numeric_limits<int64_t>::min();
  own_[0].batch = thread.first;
  own_[0].offset = generation.event_batches()[thread.first].payload_offset;
  if (half_size_ > 1) ahead_.reset(new DecodedEvent[size_t{2} * half_size_]);
}

ThreadCursor::ThreadCursor(const ThreadCursor& other)
    : ThreadCursor(other.decoder_.generation(),
                   {other.thread_, other.current_->batch, other.current_->batch}) {
  state = other.state;
  ticket = other.ticket;
  DecodedEvent* const event = room().data();
  *event = *other.current_;
  event->ids_found = false;
  current_ = last_ = plain_end_ = event;
  // Seek() moves the decoder to the place after the event.
  decoder_.Seek(event->batch, event->offset, event->time);
  DecodedEvent again;
  decoder_.Decode(absl::MakeSpan(&again, 1));
  decoder_.Seek(event->batch, decoder_.offset(), event->time);
}

const DecodedEvent* ThreadCursor::PeekFar() {
  if (!has_peeked_) {
    peeked_ = static_cast<uint8_t>(decoder_.Decode(room()));
    peeked_plain_ = decoder_.plain();
    has_peeked_ = true;
  }
  return peeked_ == 0 ? nullptr : room().data();
}

bool ThreadCursor::IsPlain(bool watches_time) {
  if (!ids_found()) return false;
  const DecodedEvent* const next = Peek();
  return next != nullptr && (!watches_time || next->time >= time());
}

ThreadCursor::Step ThreadCursor::AdvanceFar() {
  PeekFar();
  has_peeked_ = false;
  if (peeked_ == 0 && EndsNext()) return Step::kEnd;
  const absl::Span<DecodedEvent> events = room();
  second_half_ = !second_half_;
  current_ = last_ = plain_end_ = events.data();
  if (peeked_ == 0) {
    events[0].time = decoder_.time();
    events[0].batch = decoder_.batch_index();
    events[0].offset = decoder_.offset();
    return Step::kFault;
  }
  last_ += peeked_ - 1;
  plain_end_ = peeked_plain_ ? last_ : current_;
  return Step::kEvent;
}

ThreadCursor::Rest ThreadCursor::SkipAll() {
  Rest rest;
  decoder_.Seek(current_->batch, current_->offset, current_->time);
  current_ = plain_end_ = last_;
  has_peeked_ = false;
  do {
    ++rest.batches;
    rest.bytes += decoder_.end() - decoder_.pos();
    while (decoder_.pos() != decoder_.end() && decoder_.Decode(room().first(1)) > 0) {
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
  place.batch_offset = decoder_.generation().event_batches()[current_->batch].offset;
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
                                   ", which is not an event type");
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
      fault.message = "expected an argument, found a number that does not fit in 64 bits";
      break;
  }
  return fault;
}

}  // namespace gotrace::internal
