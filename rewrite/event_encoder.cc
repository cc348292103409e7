#include "rewrite/event_encoder.h"

#include <algorithm>
#include <cmath>

#include "gotrace/internal/limits.h"
#include "parser/order/batch_decoder.h"
#include "tracev2/batch_encoder.h"

namespace gotrace::internal {

EventEncoder::EventEncoder(uint64_t generation, uint64_t ticks_per_second, std::string* out)
    : generation_(generation),
      clock_(ticks_per_second),
      ns_per_tick_(1e9 / static_cast<double>(ticks_per_second)),
      out_(*out) {}

uint64_t EventEncoder::TicksAt(int64_t time) const {
  if (time <= 0) return 0;
  // The estimate is off by a tick or two, or by some of its last places if it has more than 53
  // bits.
  const double estimate = std::ceil((static_cast<double>(time) + 1) / ns_per_tick_) - 1;
  const uint64_t guess = estimate <= 0 ? 0 : static_cast<uint64_t>(estimate);
  const uint64_t error = 2 + (guess >> 49);
  // Bisects: the tick is one of `ticks` to `ticks + others`.
  uint64_t ticks = guess < error ? 0 : guess - error;
  uint64_t others = guess + error - ticks;
  while (others > 0) {
    const uint64_t half = (others + 1) / 2;
    if (clock_.ToNs(ticks + half) <= time) {
      ticks += half;
      others -= half;
    } else {
      others = half - 1;
    }
  }
  return ticks;
}

void EventEncoder::Add(ThreadId thread_id, EventType type, absl::Span<const uint64_t> args,
                       int64_t time) {
  time = std::clamp<int64_t>(time, 0, kMaxTime);
  const auto [it, is_new] = index_.try_emplace(thread_id, threads_.size());
  if (is_new) threads_.emplace_back().id = thread_id;
  Thread& thread = threads_[it->second];
  const int64_t earliest = it->second == last_thread_ ? last_time_ : last_time_ + 1;
  if (thread.payload.size() + kMaxTimedEventSize > kMaxBatchSize) Flush(&thread);
  uint64_t ticks = 0;
  if (thread.payload.empty()) {
    thread.base = std::max(TicksAt(time), TicksFrom(earliest));
    thread.time = clock_.ToNs(thread.base);
    // At times that need more than 53 bits, the clock skips some.
    if (thread.base >= uint64_t{1} << 53) ticks = TicksAt(time - thread.time);
    thread.time += clock_.ToNs(ticks);
  } else {
    // Readers convert each difference separately, and round it down.
    ticks = std::max(TicksAt(time - thread.time), TicksFrom(earliest - thread.time));
    thread.time += clock_.ToNs(ticks);
  }
  AppendTimedEvent(type, ticks, args, &thread.payload);
  last_thread_ = it->second;
  last_time_ = thread.time;
}

void EventEncoder::Flush(Thread* thread) {
  if (thread->payload.empty()) return;
  AppendBatch({generation_, static_cast<uint64_t>(thread->id.value), thread->base}, thread->payload,
              BatchSizeForm::kShortest, &out_);
  thread->payload.clear();
}

void EventEncoder::Finish() {
  for (Thread& thread : threads_) Flush(&thread);
}

}  // namespace gotrace::internal
