// The checks of what goroutines, Ps and threads do.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tracev2/quote.h"
#include "validator/validator.h"

namespace gotrace {
namespace {

// The states that goroutines and Ps have in common.
constexpr uint8_t kUndetermined = static_cast<uint8_t>(GoState::kUndetermined);
constexpr uint8_t kNotExist = static_cast<uint8_t>(GoState::kNotExist);
static_assert(kUndetermined == static_cast<uint8_t>(ProcState::kUndetermined) &&
              kNotExist == static_cast<uint8_t>(ProcState::kNotExist));

// For each state of a goroutine or P whether it executes on a thread, as a bit.
constexpr uint32_t kGoExecuting =
    1u << static_cast<int>(GoState::kRunning) | 1u << static_cast<int>(GoState::kSyscall);
constexpr uint32_t kProcExecuting = 1u << static_cast<int>(ProcState::kRunning);

bool TellsStatus(EventType type) {
  return type == EventType::kGoStatus || type == EventType::kGoStatusStack ||
         type == EventType::kProcStatus;
}

}  // namespace

void Validator::CheckTransition(const Event& event) {
  // Only a goroutine that is created has another stack than the event.
  if (event.type() == EventType::kGoCreate || event.type() == EventType::kGoCreateBlocked) {
    const Stack stack = event.transition_stack();
    if (!checked_stacks_.Has(stack.id())) CheckStack(event, stack);
  }
  if (first_sync_ == 0) first_sync_ = last_sync_;
  // Two values rather than a ResourceId, which is slow to pass on.
  const ResourceKind kind = event.transition_resource().kind;
  const int64_t id = event.transition_resource().id;
  const uint8_t from = event.transition_from();
  const uint8_t to = event.transition_to();
  ResourceTable& table = TableOf(kind);
  Resource* resource = table.Find(id);
  if (resource == nullptr) {
    if (from != kNotExist || to == kUndetermined) CheckChain(event, nullptr);
    resource = table.Insert(id);
    if (has_strays_) TakeStrays({kind, id}, resource);
  } else if (resource->state != from || from == kUndetermined || to == kUndetermined) {
    CheckChain(event, resource);
  }
  if (from == kNotExist) resource->is_whole = true;
  resource->state = to;
  const uint32_t executing = kind == ResourceKind::kProc ? kProcExecuting : kGoExecuting;
  if ((executing >> to & 1) != 0) {
    CheckStart(event, kind, resource);
  } else if ((executing >> from & 1) != 0) {
    CheckStop(event, kind, resource);
  }
  resource->last[resource->count++ % Resource::kRemembered] = PackedTransition(event);
  if (to != kNotExist) return;
  if (resource->opens != nullptr) EndOpens(event, {kind, id}, *resource->opens);
  table.Erase(resource);
}

// For all but the plain case, that the state is known and the one that is gone on from.
void Validator::CheckChain(const Event& event, const Resource* resource) {
  const ResourceId id = event.transition_resource();
  const uint8_t from = event.transition_from();
  const uint8_t to = event.transition_to();
  const auto states = [&] { return FormatTransition(id.kind, from, to); };
  if (to == kUndetermined) {
    doubtful_ = true;
    Report(CheckId::kStateUndetermined, event, id,
           absl::StrCat("expected ", FormatResource(id), " to go into a state, found ", states()));
  }
  if (from == kUndetermined && last_sync_ > first_sync_) {
    ReportUnlessLost(
        CheckId::kStateAppears, event, id,
        absl::StrCat("expected ", FormatResource(id),
                     " to be known since the first generation or its creation, found ", states()));
  }
  if (resource == nullptr) {
    if (from == kUndetermined || from == kNotExist) return;
    // A generation confirms the statuses of what was known before the loss.
    if (has_resumed_ && last_sync_ == first_sync_ && TellsStatus(event.type())) return;
    ReportUnlessLost(CheckId::kStateUnknown, event, id,
                     absl::StrCat("expected the status or the creation of ", FormatResource(id),
                                  " first, found ", states()));
  } else if (resource->state != from) {
    ReportUnlessLost(
        CheckId::kStateMismatch, event, id,
        absl::StrCat("expected ", FormatResource(id), " to go on from ",
                     FormatTransition(id.kind, resource->state, to), ", found ", states()));
  }
}

void Validator::CheckStart(const Event& event, ResourceKind kind, Resource* resource) {
  const int64_t thread = event.thread().value;
  if (event.thread() == ThreadId::kNone) return ReportNoThread(event);
  Context* context = resource->binding;
  if (context == nullptr || context->id != thread) {
    context = threads_.Find(thread);
    if (context == nullptr) context = threads_.Insert(thread);
  }
  int64_t& executed = context->executed(kind);
  if (executed != Context::kNothing && executed != resource->id) ReportOccupied(event, executed);
  executed = resource->id;
  resource->binding = context;
}

void Validator::CheckStop(const Event& event, ResourceKind kind, Resource* resource) {
  // What executes stops at its own event, so that the stack is the same.
  if (kind == ResourceKind::kGoroutine && event.transition_stack() != event.stack()) {
    ReportOtherStack(event);
  }
  Context* const context = std::exchange(resource->binding, nullptr);
  if (context == nullptr) return ReportNotExecuting(event);
  int64_t& executed = context->executed(kind);
  if (executed != resource->id) ReportNotOnThread(event, context->id, executed);
  executed = Context::kNothing;
}

void Validator::ReportNoThread(const Event& event) {
  const ResourceId id = event.transition_resource();
  Report(CheckId::kThreadMissing, event, id,
         absl::StrCat("expected a thread that executes ", FormatResource(id), ", found none"));
}

void Validator::ReportOccupied(const Event& event, int64_t executed) {
  const ResourceId id = event.transition_resource();
  ReportUnlessLost(
      CheckId::kThreadOccupied, event, id,
      absl::StrCat("expected thread ", event.thread().value, " to be free for ", FormatResource(id),
                   ", found it with ", FormatResource({id.kind, executed})));
}

void Validator::ReportOtherStack(const Event& event) {
  const ResourceId id = event.transition_resource();
  Report(CheckId::kStackMismatch, event, id,
         absl::StrCat("expected stack ", event.stack().id(), " of the event, found ",
                      event.transition_stack().id()));
}

void Validator::ReportNotExecuting(const Event& event) {
  const ResourceId id = event.transition_resource();
  ReportUnlessLost(CheckId::kNotExecuting, event, id,
                   absl::StrCat("expected a thread that executes ", FormatResource(id),
                                ", found none when it stops"));
}

void Validator::ReportNotOnThread(const Event& event, int64_t thread, int64_t executed) {
  const ResourceId id = event.transition_resource();
  ReportUnlessLost(
      CheckId::kNotExecuting, event, id,
      absl::StrCat(
          "expected thread ", thread, " to execute ", FormatResource(id), " until it stops, found ",
          executed == Context::kNothing ? "nothing" : FormatResource({id.kind, executed})));
}

void Validator::TakeStrays(const ResourceId& id, Resource* resource) {
  const auto found = opens_.find({id.kind, id.id});
  if (found != opens_.end()) resource->opens = &found->second;
}

// The resource does not exist any more: nothing of it is kept open.
void Validator::EndOpens(const Event& event, const ResourceId& id, const Opens& opens) {
  if (!opens.ranges.empty()) {
    ReportUnlessLost(
        CheckId::kRangeAtEnd, event, id,
        absl::StrCat("expected the range ", Quoted(NameOf(opens.ranges.begin()->second)),
                     " to end before ", FormatResource(id), " does, found it open"));
  }
  for (const Open& region : opens.regions) {
    if (lost_) break;
    ReportOpen(CheckId::kRegionOpen, region, id,
               absl::StrCat("expected the region ", Quoted(region.name), " to end before ",
                            FormatResource(id), " does, found it open"));
  }
  opens_.erase({id.kind, id.id});
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
    history.push_back(known->last[i % Resource::kRemembered].Unpack());
  }
  return history;
}

}  // namespace gotrace
