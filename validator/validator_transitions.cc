// The checks of what goroutines, Ps and threads do.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "validator/validator.h"

namespace gotrace {
namespace {

bool IsExecuting(GoState state) { return state == GoState::kRunning || state == GoState::kSyscall; }
bool IsExecuting(ProcState state) { return state == ProcState::kRunning; }

// The id of what the thread executes, of the same kind as `resource`.
template <class ContextType>
int64_t Executed(const ContextType& context, const ResourceId& resource) {
  return resource.kind == ResourceKind::kProc ? context.proc.value : context.goroutine.value;
}

template <class ContextType>
void SetExecuted(const ResourceId& resource, int64_t id, ContextType* context) {
  if (resource.kind == ResourceKind::kProc) {
    context->proc = ProcId{id};
  } else {
    context->goroutine = GoId{id};
  }
}

bool TellsStatus(EventType type) {
  return type == EventType::kGoStatus || type == EventType::kGoStatusStack ||
         type == EventType::kProcStatus;
}

constexpr int64_t kNothing = -1;
static_assert(GoId().value == kNothing && ProcId().value == kNothing);

}  // namespace

Validator::Change Validator::ChangeOf(const StateTransition& transition) {
  const auto make = [&](auto from, auto to) {
    using State = decltype(from);
    return Change{
        transition.resource,          static_cast<uint8_t>(from), static_cast<uint8_t>(to),
        from == State::kUndetermined, from == State::kNotExist,   IsExecuting(from),
        to == State::kUndetermined,   to == State::kNotExist,     IsExecuting(to)};
  };
  return transition.resource.kind == ResourceKind::kProc
             ? make(transition.proc_from, transition.proc_to)
             : make(transition.go_from, transition.go_to);
}

void Validator::CheckTransition(const Event& event) {
  const StateTransition transition = event.state_transition();
  CheckStack(event, transition.stack);
  const Change change = ChangeOf(transition);
  if (first_sync_ == 0) first_sync_ = last_sync_;
  CheckChain(event, change, FindResource(change.resource));
  Resource& resource = GetResource(change.resource);
  if (change.from_not_exist) resource.is_whole = true;
  resource.state = change.to;
  if (change.to_executing) {
    CheckStart(event, change, &resource);
  } else if (change.from_executing) {
    CheckStop(event, transition, change, &resource);
  }
  Remember(event, change, &resource);
  if (change.to_not_exist) EndResource(event, change);
}

void Validator::CheckChain(const Event& event, const Change& change, const Resource* resource) {
  const ResourceId& id = change.resource;
  const auto states = [&] { return FormatTransition(id.kind, change.from, change.to); };
  if (change.to_undetermined) {
    doubtful_ = true;
    Report(CheckId::kStateUndetermined, event, id,
           absl::StrCat("expected ", FormatResource(id), " to go into a state, found ", states()));
  }
  if (change.from_undetermined && last_sync_ > first_sync_) {
    ReportUnlessLost(
        CheckId::kStateAppears, event, id,
        absl::StrCat("expected ", FormatResource(id),
                     " to be known since the first generation or its creation, found ", states()));
  }
  if (resource == nullptr) {
    if (change.from_undetermined || change.from_not_exist) return;
    // A generation confirms the statuses of what was known before the loss.
    if (has_resumed_ && last_sync_ == first_sync_ && TellsStatus(event.type())) return;
    ReportUnlessLost(CheckId::kStateUnknown, event, id,
                     absl::StrCat("expected the status or the creation of ", FormatResource(id),
                                  " first, found ", states()));
  } else if (resource->state != change.from) {
    ReportUnlessLost(
        CheckId::kStateMismatch, event, id,
        absl::StrCat("expected ", FormatResource(id), " to go on from ",
                     FormatTransition(id.kind, resource->state, change.to), ", found ", states()));
  }
}

void Validator::CheckStart(const Event& event, const Change& change, Resource* resource) {
  const ResourceId& id = change.resource;
  if (event.thread() == ThreadId::kNone) {
    Report(CheckId::kThreadMissing, event, id,
           absl::StrCat("expected a thread that executes ", FormatResource(id), ", found none"));
    return;
  }
  Context* context = resource->binding;
  if (context == nullptr || context->thread != event.thread()) {
    context = &threads_[event.thread()];
    context->thread = event.thread();
  }
  const int64_t executed = Executed(*context, id);
  if (executed != kNothing && executed != id.id) {
    ReportUnlessLost(
        CheckId::kThreadOccupied, event, id,
        absl::StrCat("expected thread ", event.thread().value, " to be free for ",
                     FormatResource(id), ", found it with ", FormatResource({id.kind, executed})));
  }
  SetExecuted(id, id.id, context);
  resource->binding = context;
}

void Validator::CheckStop(const Event& event, const StateTransition& transition,
                          const Change& change, Resource* resource) {
  const ResourceId& id = change.resource;
  // What executes stops at its own event, so that the stack is the same.
  if (id.kind == ResourceKind::kGoroutine && transition.stack != event.stack()) {
    Report(CheckId::kStackMismatch, event, id,
           absl::StrCat("expected stack ", event.stack().id(), " of the event, found ",
                        transition.stack.id()));
  }
  Context* const context = std::exchange(resource->binding, nullptr);
  if (context == nullptr) {
    ReportUnlessLost(CheckId::kNotExecuting, event, id,
                     absl::StrCat("expected a thread that executes ", FormatResource(id),
                                  ", found none when it stops"));
    return;
  }
  if (const int64_t executed = Executed(*context, id); executed != id.id) {
    ReportUnlessLost(
        CheckId::kNotExecuting, event, id,
        absl::StrCat("expected thread ", context->thread.value, " to execute ", FormatResource(id),
                     " until it stops, found ",
                     executed == kNothing ? "nothing" : FormatResource({id.kind, executed})));
  }
  SetExecuted(id, kNothing, context);
}

// The resource does not exist any more: nothing of it is kept.
void Validator::EndResource(const Event& event, const Change& change) {
  const ResourceId& id = change.resource;
  const std::pair<ResourceKind, int64_t> key(id.kind, id.id);
  if (const auto ranges = ranges_.find(key); ranges != ranges_.end()) {
    if (!ranges->second.empty()) {
      ReportUnlessLost(
          CheckId::kRangeAtEnd, event, id,
          absl::StrCat("expected the range \"", ranges->second.back().name, "\" to end before ",
                       FormatResource(id), " does, found it open"));
    }
    ranges_.erase(ranges);
  }
  if (const auto regions = regions_.find(key); regions != regions_.end()) {
    for (const Open& region : regions->second) {
      if (lost_) break;
      ReportOpen(CheckId::kRegionOpen, region, id,
                 absl::StrCat("expected the region \"", region.name, "\" to end before ",
                              FormatResource(id), " does, found it open"));
    }
    regions_.erase(regions);
  }
  (id.kind == ResourceKind::kProc ? procs_ : goroutines_).erase(id.id);
}

Validator::Resource& Validator::GetResource(const ResourceId& id) {
  std::unique_ptr<Resource>& resource =
      (id.kind == ResourceKind::kProc ? procs_ : goroutines_)[id.id];
  if (resource == nullptr) resource = std::make_unique<Resource>();
  return *resource;
}

Validator::Resource* Validator::FindResource(const ResourceId& id) const {
  const ResourceMap& resources = id.kind == ResourceKind::kProc ? procs_ : goroutines_;
  const auto found = resources.find(id.id);
  return found == resources.end() ? nullptr : found->second.get();
}

void Validator::Remember(const Event& event, const Change& change, Resource* resource) {
  resource->last[resource->count++ % Resource::kRemembered] = {event.offset(), event.type(),
                                                               change.from, change.to};
}

std::vector<PastTransition> Validator::HistoryOf(const ResourceId& resource) const {
  std::vector<PastTransition> history;
  if (resource.kind != ResourceKind::kGoroutine && resource.kind != ResourceKind::kProc) {
    return history;
  }
  const Resource* const known = FindResource(resource);
  if (known == nullptr) return history;
  const uint32_t size = std::min(known->count, Resource::kRemembered);
  for (uint32_t i = known->count - size; i < known->count; ++i) {
    history.push_back(known->last[i % Resource::kRemembered]);
  }
  return history;
}

}  // namespace gotrace
