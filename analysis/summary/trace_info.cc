#include "gotrace/trace_info.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "parser/event/trace_clock.h"

namespace gotrace {

class TraceInfoCollector::Impl {
 public:
  explicit Impl(const Reader* reader) : reader_(*reader) { info_.version = reader->version(); }

  void Add(const Event& event);
  void Finish();
  const TraceInfo& info() const { return info_; }

 private:
  void AddTransition(const Event& event);
  // Returns whether `event`, a kSync one, begins a generation rather than ending the trace.
  bool AddSync(const Event& event);

  const Reader& reader_;
  TraceInfo info_;
  absl::flat_hash_set<int64_t> returning_goroutines_;  // Goroutines whose ids may be used again.
  absl::flat_hash_set<int64_t> procs_;
  absl::flat_hash_set<ThreadId> threads_;
};

void TraceInfoCollector::Impl::Add(const Event& event) {
  if (info_.events++ == 0) info_.begin = info_.end = event.time();
  // Times may go backwards in salvage mode.
  info_.end = std::max(info_.end, event.time());
  ++info_.by_kind[static_cast<size_t>(event.kind())];
  if (event.kind() == EventKind::kStateTransition) AddTransition(event);
  if (event.thread() != ThreadId::kNone && threads_.insert(event.thread()).second) ++info_.threads;
  const bool ends_trace = event.kind() == EventKind::kSync && !AddSync(event);
  if (info_.generations.empty() || ends_trace) return;
  TraceInfo::Generation& generation = info_.generations.back();
  generation.end = std::max(generation.end, event.time());
  ++generation.events;
}

void TraceInfoCollector::Impl::AddTransition(const Event& event) {
  const ResourceId resource = event.transition_resource();
  if (resource.kind == ResourceKind::kProc) {
    if (procs_.insert(resource.id).second) ++info_.procs;
    return;
  }
  const GoState from = static_cast<GoState>(event.transition_from());
  if (from != GoState::kNotExist && from != GoState::kUndetermined) return;
  // Goroutines for calls from C to Go come and go with the same ids. All others are created once,
  // and are too many to be remembered.
  const internal::EventRule& rule = internal::RuleOf(event.type());
  const bool may_return = rule.subject != internal::Subject::kNewGoroutine ||
                          rule.subject_becomes == internal::Becomes::kSyscall;
  if (!may_return || returning_goroutines_.insert(resource.id).second) ++info_.goroutines;
}

bool TraceInfoCollector::Impl::AddSync(const Event& event) {
  const Sync sync = event.sync();
  if (sync.clock_snapshot.has_value() && !info_.wall_begin.has_value()) {
    info_.wall_begin =
        sync.clock_snapshot->wall - absl::Nanoseconds(internal::TraceClock::Subtract(
                                        sync.clock_snapshot->trace_time, info_.begin));
  }
  info_.bytes = event.offset();
  const GenerationInfo& current = reader_.generation();
  const bool is_new = info_.generations.empty() ||
                      info_.generations.back().info.begin_offset != current.begin_offset;
  if (!is_new || current.batches == 0) return false;
  info_.generations.push_back({current, event.time(), event.time(), 0});
  return true;
}

void TraceInfoCollector::Impl::Finish() {
  // After a fault, more was read than the offset of the last event shows.
  info_.bytes = std::max(info_.bytes, reader_.generation().end_offset);
  info_.losses = reader_.losses();
  info_.status = reader_.status();
}

const TraceInfo::Generation* TraceInfo::TimelessGeneration() const {
  const auto found = std::find_if(generations.begin(), generations.end(), [](const Generation& g) {
    return g.info.frequency.has_value() && !internal::IsPlausibleFrequency(*g.info.frequency);
  });
  return found == generations.end() ? nullptr : &*found;
}

TraceInfoCollector::TraceInfoCollector(const Reader* reader)
    : impl_(std::make_unique<Impl>(reader)) {}
TraceInfoCollector::~TraceInfoCollector() = default;

void TraceInfoCollector::Add(absl::Span<const Event> events) {
  for (const Event& event : events) impl_->Add(event);
}

absl::Status TraceInfoCollector::Finish() {
  impl_->Finish();
  return absl::OkStatus();
}

const TraceInfo& TraceInfoCollector::info() const { return impl_->info(); }

TraceInfo ReadTraceInfo(Reader& reader) {
  TraceInfoCollector collector(&reader);
  ReadInto(reader, {&collector}).IgnoreError();  // It is in TraceInfo::status too.
  return collector.info();
}

}  // namespace gotrace
