#include "gotrace/goroutine_names.h"

namespace gotrace {
namespace {

// The runtime records no more frames of a stack than this. The outermost function of a stack with
// as many is probably not among them.
constexpr size_t kMaxRecordedFrames = 128;

}  // namespace

void GoroutineNames::Add(absl::Span<const Event> events) {
  for (const Event& event : events) {
    const bool is_transition = event.kind() == EventKind::kStateTransition;
    if (is_transition) {
      const ResourceId resource = event.transition_resource();
      if (resource.kind == ResourceKind::kGoroutine) {
        Learn(GoId{resource.id}, event.transition_stack());
      }
    }
    // A status has the stack of the goroutine that it is about, which need not be executing, and a
    // sample may have one of the thread's own stack, on which the scheduler runs.
    const bool is_of_other = (is_transition && event.TransitionHasSameStack()) ||
                             event.kind() == EventKind::kStackSample;
    if (!is_of_other) Learn(event.goroutine(), event.stack());
  }
}

void GoroutineNames::Merge(GoroutineNames&& next) {
  for (const auto& [id, name] : next.names_) Keep(id, *name);
}

absl::string_view GoroutineNames::NameOf(GoId id) const {
  const auto it = names_.find(id);
  return it == names_.end() ? absl::string_view() : *it->second;
}

void GoroutineNames::Learn(GoId id, const Stack& stack) {
  if (stack.none() || id == GoId::kNone || names_.contains(id)) return;
  const size_t size = stack.size();
  if (size == 0 || size >= kMaxRecordedFrames) return;
  const absl::string_view name = stack.frame(size - 1).func;
  if (!name.empty()) Keep(id, name);
}

void GoroutineNames::Keep(GoId id, absl::string_view name) {
  const auto [it, is_new] = names_.try_emplace(id, nullptr);
  if (is_new) it->second = &*texts_.emplace(name).first;
}

}  // namespace gotrace
