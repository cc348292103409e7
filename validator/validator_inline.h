// What is checked of each transition, inline since most events are one. For the validator's own
// files only.
#ifndef GOTRACE_VALIDATOR_VALIDATOR_INLINE_H_
#define GOTRACE_VALIDATOR_VALIDATOR_INLINE_H_

#include <cstdint>
#include <utility>

#include "gotrace/states.h"
#include "validator/validator.h"

namespace gotrace::internal {

// The states that goroutines and Ps have in common.
inline constexpr uint8_t kUndetermined = static_cast<uint8_t>(GoState::kUndetermined);
inline constexpr uint8_t kNotExist = static_cast<uint8_t>(GoState::kNotExist);
static_assert(kUndetermined == static_cast<uint8_t>(ProcState::kUndetermined) &&
              kNotExist == static_cast<uint8_t>(ProcState::kNotExist));

// Whether a goroutine or P in that state executes on a thread.
template <ResourceKind kKind>
bool IsExecuting(uint8_t state) {
  constexpr uint32_t kExecuting =
      kKind == ResourceKind::kProc
          ? 1u << static_cast<int>(ProcState::kRunning)
          : 1u << static_cast<int>(GoState::kRunning) | 1u << static_cast<int>(GoState::kSyscall);
  return (kExecuting >> state & 1) != 0;
}

template <ResourceKind kKind>
[[gnu::always_inline]] inline void Validator::CheckTransition(const Event& event) {
  const int64_t id = event.transition_resource().id;
  const uint8_t from = event.transition_from();
  const uint8_t to = event.transition_to();
  ResourceTable& table = TableOf(kKind);
  Resource* resource = table.Find(id);
  if (resource == nullptr) {
    if (from != kNotExist || to == kUndetermined) [[unlikely]]
      CheckChain(event, nullptr);
    resource = table.Insert(id);
  } else if (resource->state != from || from == kUndetermined || to == kUndetermined) [[unlikely]] {
    CheckChain(event, resource);
  }
  if (from == kNotExist) resource->is_whole = true;
  resource->state = to;
  if (IsExecuting<kKind>(to)) {
    CheckStart<kKind>(event, resource);
  } else if (IsExecuting<kKind>(from)) {
    CheckStop<kKind>(event, resource);
  }
  resource->history.Add(event.offset(), event.tags(), &resource->transitions);
  if (to != kNotExist) return;
  EndOpens(event);
  table.Erase(resource);
}

template <ResourceKind kKind>
[[gnu::always_inline]] inline void Validator::CheckStart(const Event& event, Resource* resource) {
  const int64_t thread = event.thread().value;
  if (event.thread() == ThreadId::kNone) [[unlikely]]
    return ReportNoThread(event);
  Context* context = resource->binding;
  if (context == nullptr || context->id != thread) context = FindContext(thread);
  int64_t& executed = context->executed(kKind);
  if (executed != Context::kNothing && executed != resource->id) [[unlikely]] {
    ReportOccupied(event, executed);
  }
  executed = resource->id;
  resource->binding = context;
}

template <ResourceKind kKind>
[[gnu::always_inline]] inline void Validator::CheckStop(const Event& event, Resource* resource) {
  // What executes stops at its own event, so that the stack is the same.
  if (kKind == ResourceKind::kGoroutine && !event.TransitionHasSameStack() &&
      event.transition_stack() != event.stack()) [[unlikely]] {
    ReportOtherStack(event);
  }
  Context* const context = std::exchange(resource->binding, nullptr);
  if (context == nullptr) [[unlikely]]
    return ReportNotExecuting(event);
  int64_t& executed = context->executed(kKind);
  if (executed != resource->id) [[unlikely]]
    ReportNotOnThread(event, context->id, executed);
  executed = Context::kNothing;
}

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_VALIDATOR_INLINE_H_
