// A program divides some work among goroutines and waits for all of them. If one of them has much
// more to do than the others, these idle at the end. The program waits for a batch if it waits for
// a WaitGroup, and the goroutine that was busy for longest ended the wait; or if goroutines wait to
// send to that one, as to the shard with most of the keys.
#include "analysis/summary/work_batches.h"

#include <algorithm>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/string_view.h"
#include "analysis/intervals/runtime_functions.h"
#include "gotrace/states.h"

namespace gotrace::internal {
namespace {

using Suspicion = TraceSummary::Suspicion;

// A batch has at least so many goroutines, which all began within this part of its time.
constexpr uint64_t kMinGoroutines = 3;
constexpr int64_t kBeginShare = 10;

// One is busy for this many times as long as they are on average, and for half of its life.
constexpr uint64_t kUnequal = 2;
constexpr uint64_t kBusyShare = 2;

// Others wait to send to it for a fifth of the trace; and for at least this time.
constexpr int64_t kFedShare = 5;
constexpr uint64_t kMinFed = 20'000'000;

}  // namespace

void WorkBatches::Batch::AddLongest(GoId id, uint64_t time, uint64_t life, uint64_t fed) {
  const bool is_longer =
      longest == GoId::kNone || time > longest_busy || (time == longest_busy && id < longest);
  if (!is_longer) return;
  longest = id;
  longest_busy = time;
  longest_life = life;
  longest_fed = fed;
}

void WorkBatches::Batch::Add(GoId id, const Child& child) {
  first_begin = std::min(first_begin, child.begin);
  last_begin = std::max(last_begin, child.begin);
  last_end = std::max(last_end, child.end);
  busy.Add(child.busy);
  AddLongest(id, child.busy, static_cast<uint64_t>(child.end - child.begin), child.fed);
}

void WorkBatches::Batch::Add(const Batch& other) {
  alive += other.alive;
  first_begin = std::min(first_begin, other.first_begin);
  last_begin = std::max(last_begin, other.last_begin);
  last_end = std::max(last_end, other.last_end);
  busy.Merge(other.busy);
  if (other.longest == GoId::kNone) return;
  AddLongest(other.longest, other.longest_busy, other.longest_life, other.longest_fed);
}

WorkBatches::Batch& WorkBatches::Creator::BatchOf(const Origin& origin, int64_t epoch) {
  const auto found = absl::c_find_if(
      batches, [&](const Batch& batch) { return batch.origin == origin && batch.epoch == epoch; });
  if (found != batches.end()) return *found;
  Batch& batch = batches.emplace_back();
  batch.origin = origin;
  batch.epoch = epoch;
  return batch;
}

const WorkBatches::Join* WorkBatches::Creator::FindJoin(int64_t epoch) const {
  const auto found = absl::c_find_if(joins, [&](const Join& join) { return join.epoch == epoch; });
  return found == joins.end() ? nullptr : &*found;
}

void WorkBatches::AddGoroutine(const GoInterval& interval) {
  const uint64_t length = interval.Seen().duration();
  const bool is_woken = interval.state == GoState::kWaiting && !interval.end_clipped &&
                        interval.ended_by.kind == CauseKind::kGoroutine;
  if (is_woken && interval.ended_by.goroutine != GoId::kNone &&
      interner_.String(interval.reason) == "chan send") {
    goroutines_.Of(interval.ended_by.goroutine).data.fed += length;
  }
  auto& entry = goroutines_.Begin(interval);
  Child& child = entry.data;
  if (interval.starts_life) AddCreation(interval, &child);
  if (interval.state != GoState::kWaiting) child.busy += length;
  child.end = interval.end;
  if (is_woken) AddJoin(interval, !entry.is_older);
  if (interval.ends_life) {
    if (const auto creator = creators_.find(interval.goroutine); creator != creators_.end()) {
      creator->second.is_new |= !entry.is_older;
      creator->second.has_ended = true;
      Prune(interval.goroutine);
    }
  }
  goroutines_.End(interval, entry);
}

void WorkBatches::AddCreation(const GoInterval& interval, Child* child) {
  const Cause& cause = interval.begun_by;
  const StringId start = interner_.RootFunctionId(interval.stack);
  if (cause.kind != CauseKind::kGoroutine || cause.goroutine == GoId::kNone ||
      cause.stack == StackId::kNone || start == StringId::kEmpty ||
      IsOfSystem(interner_.String(start))) {
    return;
  }
  // Its creator may have waited between the creation and the end of this interval.
  Creator& creator = creators_[cause.goroutine];
  if (interval.begin < creator.join_before) return;
  child->creator = cause.goroutine;
  child->origin = {cause.stack, start};
  child->epoch = interval.begin < creator.last_join ? creator.join_before : creator.last_join;
  child->begin = interval.begin;
  ++creator.BatchOf(child->origin, child->epoch).alive;
}

void WorkBatches::AddJoin(const GoInterval& interval, bool is_new) {
  const StackPlace& stack = places_.Of(interval.stack);
  if (stack.is_system || stack.object != WaitObject::kWaitGroup) return;
  Creator& creator = creators_[interval.goroutine];
  creator.is_new |= is_new;
  creator.joins.push_back({creator.last_join, interval.ended_by.goroutine});
  creator.join_before = creator.last_join;
  creator.last_join = interval.end;
  Prune(interval.goroutine);
}

void WorkBatches::Complete(const Goroutines::Entry& entry) {
  const Child& child = entry.data;
  if (child.creator == GoId::kNone) return;
  const auto creator = creators_.find(child.creator);
  if (creator == creators_.end()) return;
  Batch& batch = creator->second.BatchOf(child.origin, child.epoch);
  if (batch.alive > 0) --batch.alive;
  batch.Add(entry.id, child);
  Prune(child.creator);
}

// Evaluates the batches that have ended, and forgets what is not needed any more. The first batches
// of a creator that is older than this part of the trace may have begun in an earlier one.
void WorkBatches::Prune(GoId id) {
  const auto found = creators_.find(id);
  Creator& creator = found->second;
  const auto is_whole = [&](int64_t epoch) { return epoch != kNever || creator.is_new; };
  std::vector<Batch> open;
  for (Batch& batch : creator.batches) {
    const Join* const join = creator.FindJoin(batch.epoch);
    if (batch.alive > 0 || !is_whole(batch.epoch)) {
      open.push_back(std::move(batch));
    } else if (join != nullptr) {
      Evaluate(batch, join->waker == batch.longest);
    } else if (!creator.has_ended || batch.longest_fed >= kMinFed) {
      open.push_back(std::move(batch));
    }
  }
  creator.batches = std::move(open);
  std::erase_if(creator.joins, [&](const Join& join) {
    return is_whole(join.epoch) && absl::c_none_of(creator.batches, [&](const Batch& batch) {
             return batch.epoch == join.epoch;
           });
  });
  if (creator.has_ended && creator.batches.empty() && creator.joins.empty()) creators_.erase(found);
}

void WorkBatches::Evaluate(const Batch& batch, bool is_awaited) {
  const uint64_t count = batch.busy.count();
  if (!is_awaited || count < kMinGoroutines) return;
  const uint64_t mean = batch.busy.sum() / count;
  const bool begins_at_once =
      kBeginShare * (batch.last_begin - batch.first_begin) <= batch.last_end - batch.first_begin;
  if (!begins_at_once || batch.longest_busy < kUnequal * mean ||
      kBusyShare * batch.longest_busy < batch.longest_life) {
    return;
  }
  Imbalance& found = found_[batch.origin];
  found.lost.Add(batch.longest_busy - mean);
  found.busy.Merge(batch.busy);
  if (found.goroutine == GoId::kNone || batch.longest_busy > found.longest ||
      (batch.longest_busy == found.longest && batch.longest < found.goroutine)) {
    found.longest = batch.longest_busy;
    found.goroutine = batch.longest;
  }
}

void WorkBatches::Merge(WorkBatches& next, const InternerMap& ids) {
  const auto map = [&](const Origin& origin) {
    return Origin{ids(origin.stack), ids(origin.start)};
  };
  for (const auto& [origin, more] : next.found_) {
    Imbalance& found = found_[map(origin)];
    found.lost.Merge(more.lost);
    found.busy.Merge(more.busy);
    if (found.goroutine == GoId::kNone || more.longest > found.longest ||
        (more.longest == found.longest && more.goroutine < found.goroutine)) {
      found.longest = more.longest;
      found.goroutine = more.goroutine;
    }
  }
  // Creators that are older than the next part had waited for a WaitGroup before it.
  absl::flat_hash_map<GoId, int64_t> joined_before;
  for (const auto& [id, more] : next.creators_) {
    const auto own = creators_.find(id);
    if (own != creators_.end() && !more.is_new) joined_before[id] = own->second.last_join;
  }
  const auto epoch_of = [&](GoId creator, int64_t epoch) {
    const auto before = joined_before.find(creator);
    return epoch != kNever || before == joined_before.end() ? epoch : before->second;
  };
  for (const auto& [id, more] : next.creators_) {
    Creator& creator = creators_[id];
    for (Batch batch : more.batches) {
      batch.origin = map(batch.origin);
      batch.epoch = epoch_of(id, batch.epoch);
      creator.BatchOf(batch.origin, batch.epoch).Add(batch);
    }
    for (const Join& join : more.joins) {
      creator.joins.push_back({epoch_of(id, join.epoch), join.waker});
    }
    if (more.last_join != kNever) {
      creator.join_before = more.join_before != kNever ? more.join_before : epoch_of(id, kNever);
      creator.last_join = more.last_join;
    }
    creator.is_new |= more.is_new;
    creator.has_ended |= more.has_ended;
  }
  goroutines_.Merge(next.goroutines_, [&](Child* child) {
    child->origin = map(child->origin);
    child->epoch = epoch_of(child->creator, child->epoch);
  });
  for (const auto& [id, more] : next.creators_) {
    if (creators_.contains(id)) Prune(id);
  }
}

void WorkBatches::Finish(int64_t duration) {
  goroutines_.Finish();
  for (const auto& [id, creator] : creators_) {
    for (const Batch& batch : creator.batches) {
      const Join* const join = creator.FindJoin(batch.epoch);
      const uint64_t fed = std::max(kMinFed, static_cast<uint64_t>(duration / kFedShare));
      Evaluate(batch, join != nullptr ? join->waker == batch.longest : batch.longest_fed >= fed);
    }
  }
  creators_.clear();
}

std::vector<Suspicion> WorkBatches::FindCandidates(int64_t duration) {
  std::vector<Suspicion> candidates;
  for (const auto& [origin, found] : found_) {
    const StackPlace& stack = places_.Of(origin.stack);
    const auto text = [&](StringId id) { return std::string(interner_.String(id)); };
    Suspicion one;
    one.kind = SuspicionKind::kImbalance;
    one.lost = found.lost;
    one.others = found.busy;
    if (one.Cost() <= 0 || one.Cost() < duration / 100) continue;
    one.longest = static_cast<int64_t>(found.longest);
    one.goroutine = found.goroutine.value;
    one.start = text(origin.start);
    one.function = text(stack.place.function);
    one.library = text(stack.place.library);
    one.line = stack.place.line;
    one.places.push_back({one.function, one.library, text(stack.place.file), one.line,
                          one.lost.count(), one.Cost()});
    one.victims.push_back(
        {.function = text(stack.start), .count = one.lost.count(), .time = one.Cost()});
    candidates.push_back(std::move(one));
  }
  return candidates;
}

}  // namespace gotrace::internal
