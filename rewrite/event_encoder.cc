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
  // The estimate is off by little where the time has more than 53 bits.
  const double estimate = std::ceil((static_cast<double>(time) + 1) / ns_per_tick_) - 1;
  uint64_t ticks = estimate <= 0 ? 0 : static_cast<uint64_t>(estimate);
  while (ticks > 0 && clock_.ToNs(ticks) > time) --ticks;
  while (clock_.ToNs(ticks + 1) <= time) ++ticks;
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
  } else {
    // Readers convert each difference on its own, and round it down.
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
