#include "parser/thread_cursor.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tracev2/event_spec.h"

namespace gotrace {

ThreadCursor::ThreadCursor(const Generation& generation, const ThreadBatches& thread,
                           const Ahead& ahead)
    : thread_(thread.thread),
      current_(own_),
      last_(own_),
      plain_end_(own_),
      batch_(thread.first),
      half_size_(static_cast<uint8_t>(std::min(ahead.events, kMostAhead))),
      decoder_(generation, thread, ahead.check_ids) {
  // No first event is earlier.
  own_[0].time = std::numeric_limits<int64_t>::min();
  if (half_size_ > 1) ahead_.reset(new DecodedEvent[size_t{2} * half_size_]);
}

ThreadCursor::ThreadCursor(const ThreadCursor& other)
    : state(other.state),
      ticket(other.ticket),
      thread_(other.thread_),
      current_(&own_[1]),
      last_(&own_[1]),
      plain_end_(&own_[1]),
      payload_offset_(other.payload_offset_),
      batch_(other.batch_),
      half_size_(1),
      decoder_(other.decoder_.generation(), {thread_, batch_, batch_}, /*check_ids=*/false),
      own_{{}, *other.current_} {
  own_[1].ids_found = false;
  // The decoder of `other` stands further on.
  decoder_.Seek(batch_, own_[1].position, own_[1].time);
  decoder_.Decode(absl::MakeSpan(&own_[0], 1));
  decoder_.Seek(batch_, decoder_.position(), own_[1].time);
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
  batch_ = decoder_.batch_index();
  payload_offset_ = decoder_.batch().payload_offset;
  current_ = last_ = plain_end_ = events.data();
  if (peeked_ == 0) {
    events[0].time = decoder_.time();
    events[0].position = decoder_.position();
    return Step::kFault;
  }
  last_ += peeked_ - 1;
  plain_end_ = peeked_plain_ ? last_ : current_;
  return Step::kEvent;
}

ThreadCursor::Rest ThreadCursor::SkipAll() {
  Rest rest;
  decoder_.Seek(batch_, current_->position, current_->time);
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
