// Follows each goroutine into a state and out of it, as Go's cmd/trace does. How Go clips this
// depends on when the goroutine first ran and when it ended, which GoCompatibleStats knows at the
// end.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "analysis/core/time_sums.h"
#include "analysis/profile/profile_samples.h"
#include "gotrace/event.h"
#include "gotrace/event_kind.h"
#include "gotrace/go_stats.h"
#include "gotrace/profile.h"

namespace gotrace {

class GoCompatibleProfile::Impl {
 public:
  Impl(Interner* interner, ProfileType type, std::string start)
      : interner_(*interner),
        row_(internal::RowOf(type)),
        start_(std::move(start)),
        stats_(interner) {}

  void AddEvents(absl::Span<const Event> events) {
    stats_.Add(events);
    for (const Event& event : events) {
      if (event.kind() == EventKind::kStateTransition) AddTransition(event);
    }
    last_ = events.back().time();
  }

  void Finish();

  absl::Span<const ProfileSample> samples() const { return sorted_; }

 private:
  // A time of a goroutine in the state of the profile.
  struct StateSpan {
    GoId goroutine;
    StackId stack = StackId::kNone;
    int64_t begin = 0;
    int64_t end = 0;
  };

  void AddTransition(const Event& event);

  // Returns the PCs by which Go compares stacks, padded with 0 for short stacks.
  std::vector<uint64_t> PcsOf(StackId stack) const;

  Interner& interner_;
  const internal::ProfileRow& row_;
  const std::string start_;
  GoCompatibleStats stats_;
  absl::flat_hash_map<GoId, StateSpan> open_;
  std::vector<StateSpan> state_spans_;
  int64_t last_ = 0;

  std::vector<ProfileSample> sorted_;
};

void GoCompatibleProfile::Impl::AddTransition(const Event& event) {
  if (event.transition_resource().kind != ResourceKind::kGoroutine) return;
  const GoId id{event.transition_resource().id};
  const bool enters = row_.HasState(static_cast<GoState>(event.transition_to()));
  const auto open = open_.find(id);
  if (open == open_.end()) {
    if (!enters) return;
    if (row_.is_reason != nullptr && !row_.is_reason(event.transition_reason())) return;
    open_.emplace(id, StateSpan{.goroutine = id,
                                .stack = interner_.InternStack(event.stack()),
                                .begin = event.time()});
    return;
  }
  if (enters) return;
  state_spans_.push_back(open->second);
  state_spans_.back().end = event.time();
  open_.erase(open);
}

std::vector<uint64_t> GoCompatibleProfile::Impl::PcsOf(StackId stack) const {
  constexpr size_t kMaxFrames = 128;
  std::vector<uint64_t> pcs;
  for (const FrameId frame : interner_.Frames(stack)) {
    if (pcs.size() == kMaxFrames) break;
    pcs.push_back(interner_.FrameWithIds(frame).pc);
  }
  pcs.resize(kMaxFrames);
  return pcs;
}

void GoCompatibleProfile::Impl::Finish() {
  stats_.Finish().IgnoreError();  // It is always OK.
  absl::flat_hash_map<GoId, const GoroutineSpan*> spans;
  for (const GoroutineSpan& span : stats_.goroutines()) {
    if (start_.empty() || interner_.String(span.name) == start_) {
      spans.emplace(span.goroutine, &span);
    }
  }
  absl::flat_hash_map<std::vector<uint64_t>, ProfileSample> by_pcs;
  for (const StateSpan& state_span : state_spans_) {
    const auto span = spans.find(state_span.goroutine);
    if (span == spans.end()) continue;
    // See A10 in DIVERGENCES.md.
    const int64_t begin = std::max(state_span.begin, span->second->start.value_or(0));
    const int64_t end = std::min(state_span.end, span->second->end.value_or(last_));
    if (begin >= end) continue;
    ProfileSample& sample = by_pcs[PcsOf(state_span.stack)];
    // Of equal stacks, the last is shown.
    sample.key.stack = state_span.stack;
    ++sample.value.count;
    internal::AddTime(internal::Between(begin, end), &sample.value.time);
  }
  for (const auto& [pcs, sample] : by_pcs) sorted_.push_back(sample);
  internal::SortSamples(interner_, &sorted_);
}

GoCompatibleProfile::GoCompatibleProfile(Interner* interner, ProfileType type, std::string start)
    : impl_(std::make_unique<Impl>(interner, type, std::move(start))) {}
GoCompatibleProfile::~GoCompatibleProfile() = default;

void GoCompatibleProfile::AddEvents(absl::Span<const Event> events) { impl_->AddEvents(events); }

void GoCompatibleProfile::Finish(int64_t /*end*/) { impl_->Finish(); }

absl::Span<const ProfileSample> GoCompatibleProfile::samples() const { return impl_->samples(); }

}  // namespace gotrace
