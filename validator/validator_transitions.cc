// The checks of what goroutines, Ps and threads do.
#include "absl/strings/str_cat.h"
#include "util/quote.h"
#include "validator/validator.h"
#include "validator/validator_inline.h"

namespace gotrace::internal {
namespace {

bool TellsStatus(EventType type) {
  return type == EventType::kGoStatus || type == EventType::kGoStatusStack ||
         type == EventType::kProcStatus;
}

}  // namespace

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
    if (assumed_ != nullptr && TellsStatus(event.type()) && AssumeStatus(event)) return;
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

Validator::Context* Validator::FindContext(int64_t thread) {
  Context* const context = threads_.Find(thread);
  return context == nullptr ? threads_.Insert(thread) : context;
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

void Validator::ReportOpensAtEnd(const Event& event, const Opens& opens) {
  const ResourceId id = event.transition_resource();
  if (!opens.ranges.empty()) {
    ReportUnlessLost(CheckId::kRangeAtEnd, event, id,
                     absl::StrCat("expected the range ", Quoted(NameOf(opens.ranges.First())),
                                  " to end before ", FormatResource(id), " does, found it open"));
  }
  for (const Open& region : opens.regions) {
    if (lost_) break;
    ReportOpen(CheckId::kRegionOpen, region, id,
               absl::StrCat("expected the region ", Quoted(region.name), " to end before ",
                            FormatResource(id), " does, found it open"));
  }
}

std::vector<PastTransition> Validator::HistoryOf(const ResourceId& resource) const {
  if (resource.kind != ResourceKind::kGoroutine && resource.kind != ResourceKind::kProc) return {};
  const Resource* const known = FindResource(resource);
  if (known == nullptr) return {};
  return known->history.List(known->transitions);
}

}  // namespace gotrace::internal
