// A program divides some work among goroutines and waits for all of them. If one of them has much
// more to do than the others, these idle at the end. The program waits for a batch if it waits for
// a WaitGroup, and the goroutine that was busy for longest ended the wait; or if goroutines wait to
// send to that one, as to the shard with most of the keys. One that is not busy, but waits for
// something itself while all others have ended, is a straggler.
#include "analysis/summary/work_batches.h"

#include <algorithm>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/string_view.h"
#include "analysis/core/time_sums.h"
#include "analysis/intervals/runtime_functions.h"
#include "analysis/summary/path_suspicions.h"
#include "analysis/summary/suspicion_place.h"
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

// A straggler lives for this many times as long as half of them do.
constexpr uint64_t kLate = 3;

// Others wait to send to it for a fifth of the trace; and for at least this time.
constexpr int64_t kFedShare = 5;
constexpr uint64_t kMinFed = 20'000'000;

}  // namespace

void WorkBatches::Batch::AddMember(const Member& member) {
  const auto keep_longer = [&](uint64_t Member::*length, Member* longest) {
    const bool is_longer = longest->id == GoId::kNone || member.*length > longest->*length ||
                           (member.*length == longest->*length && member.id < longest->id);
    if (is_longer) *longest = member;
  };
  keep_longer(&Member::busy, &busiest);
  keep_longer(&Member::life, &oldest);
}

void WorkBatches::Batch::Add(GoId id, const Child& child) {
  first_begin = std::min(first_begin, child.begin);
  last_begin = std::max(last_begin, child.begin);
  last_end = std::max(last_end, child.end);
  const Member member = {id, child.busy, static_cast<uint64_t>(child.end - child.begin), child.fed};
  busy.Add(member.busy);
  lives.Add(member.life);
  AddMember(member);
}

void WorkBatches::Batch::Add(const Batch& other) {
  alive += other.alive;
  first_begin = std::min(first_begin, other.first_begin);
  last_begin = std::max(last_begin, other.last_begin);
  last_end = std::max(last_end, other.last_end);
  busy.Merge(other.busy);
  lives.Merge(other.lives);
  for (const Member* const member : {&other.busiest, &other.oldest}) {
    if (member->id != GoId::kNone) AddMember(*member);
  }
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
  if (interval.state == GoState::kRunning || interval.state == GoState::kSyscall)
    child.busy += length;
  child.end = interval.end;
  if (is_woken) AddJoin(interval, !entry.is_older);
  if (interval.ends_life) {
    if (const auto creator = creators_.find(interval.goroutine); creator != creators_.end()) {
      creator->second.is_new |= !entry.is_older;
      creator->second.has_ended = true;
      SettleAll(interval.goroutine);
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
  ++creator.epochs[child->epoch].batches[child->origin].alive;
}

void WorkBatches::AddJoin(const GoInterval& interval, bool is_new) {
  const StackPlace& stack = places_.Of(interval.stack);
  if (stack.is_system || stack.object != WaitObject::kWaitGroup) return;
  Creator& creator = creators_[interval.goroutine];
  creator.is_new |= is_new;
  const int64_t begin = creator.last_join;
  creator.epochs[begin].waker = interval.ended_by.goroutine;
  creator.join_before = creator.last_join;
  creator.last_join = interval.end;
  const auto epoch = creator.epochs.find(begin);
  if (Settle(creator, begin, &epoch->second)) creator.epochs.erase(epoch);
}

void WorkBatches::Complete(const Goroutines::Entry& entry) {
  const Child& child = entry.data;
  if (child.creator == GoId::kNone) return;
  const auto found = creators_.find(child.creator);
  if (found == creators_.end()) return;
  Creator& creator = found->second;
  const auto epoch = creator.epochs.try_emplace(child.epoch).first;
  const auto batch = epoch->second.batches.try_emplace(child.origin).first;
  if (batch->second.alive > 0) --batch->second.alive;
  batch->second.Add(entry.id, child);
  if (!Settle(creator, child.epoch, epoch->second, child.origin, batch->second)) return;
  epoch->second.batches.erase(batch);
  if (epoch->second.batches.empty()) creator.epochs.erase(epoch);
  if (creator.has_ended && creator.epochs.empty()) creators_.erase(found);
}

bool WorkBatches::Settle(const Creator& creator, int64_t begin, const Epoch& epoch,
                         const Origin& origin, const Batch& batch) {
  if (batch.alive > 0 || !creator.IsWhole(begin)) return false;
  if (epoch.waker.has_value()) {
    Evaluate(origin, batch, *epoch.waker == batch.busiest.id, *epoch.waker == batch.oldest.id);
    return true;
  }
  return creator.has_ended && batch.busiest.fed < kMinFed;
}

bool WorkBatches::Settle(const Creator& creator, int64_t begin, Epoch* epoch) {
  absl::erase_if(epoch->batches, [&](const auto& one) {
    return Settle(creator, begin, *epoch, one.first, one.second);
  });
  return creator.IsWhole(begin) && epoch->batches.empty();
}

void WorkBatches::SettleAll(GoId id) {
  const auto found = creators_.find(id);
  Creator& creator = found->second;
  absl::erase_if(creator.epochs,
                 [&](auto& one) { return Settle(creator, one.first, &one.second); });
  if (creator.has_ended && creator.epochs.empty()) creators_.erase(found);
}

void WorkBatches::Evaluate(const Origin& origin, const Batch& batch, bool awaits_busiest,
                           bool awaits_oldest) {
  const bool begins_at_once =
      kBeginShare * (batch.last_begin - batch.first_begin) <= batch.last_end - batch.first_begin;
  if (batch.busy.count() < kMinGoroutines || !begins_at_once) return;
  if (awaits_busiest && AddImbalance(origin, batch)) return;
  if (awaits_oldest) AddStraggler(origin, batch);
}

bool WorkBatches::AddImbalance(const Origin& origin, const Batch& batch) {
  const Member& busiest = batch.busiest;
  const uint64_t mean = batch.busy.sum() / batch.busy.count();
  if (busiest.busy < kUnequal * mean || kBusyShare * busiest.busy < busiest.life) return false;
  Uneven& found = found_[{SuspicionKind::kImbalance, origin}];
  found.lost.Add(busiest.busy - mean);
  found.lengths.Merge(batch.busy);
  found.AddLongest(busiest.busy, busiest.id);
  return true;
}

void WorkBatches::AddStraggler(const Origin& origin, const Batch& batch) {
  const Member& oldest = batch.oldest;
  const uint64_t median = batch.lives.Quantile(0.5);
  Uneven& found = found_[{SuspicionKind::kStraggler, origin}];
  AddTime(static_cast<int64_t>(oldest.life), &found.awaited);
  if (oldest.life < kLate * median) return;
  found.lost.Add(oldest.life - median);
  found.lengths.Merge(batch.lives);
  found.AddLongest(oldest.life, oldest.id);
}

void WorkBatches::Uneven::AddLongest(uint64_t length, GoId id) {
  const bool is_longer =
      goroutine == GoId::kNone || length > longest || (length == longest && id < goroutine);
  if (!is_longer || id == GoId::kNone) return;
  longest = length;
  goroutine = id;
}

void WorkBatches::Uneven::Add(const Uneven& other) {
  lost.Merge(other.lost);
  lengths.Merge(other.lengths);
  AddLongest(other.longest, other.goroutine);
  AddTime(other.awaited, &awaited);
}

void WorkBatches::Merge(WorkBatches& next, const InternerMap& ids) {
  const auto map = [&](const Origin& origin) {
    return Origin{ids(origin.stack), ids(origin.start)};
  };
  for (const auto& [key, more] : next.found_) found_[{key.first, map(key.second)}].Add(more);
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
    for (const auto& [begin, epoch] : more.epochs) {
      Epoch& sum = creator.epochs[epoch_of(id, begin)];
      if (!sum.waker.has_value()) sum.waker = epoch.waker;
      for (const auto& [origin, batch] : epoch.batches) sum.batches[map(origin)].Add(batch);
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
    if (creators_.contains(id)) SettleAll(id);
  }
}

void WorkBatches::Finish(int64_t duration) {
  goroutines_.Finish();
  const uint64_t fed = std::max(kMinFed, static_cast<uint64_t>(duration / kFedShare));
  for (const auto& [id, creator] : creators_) {
    for (const auto& [begin, epoch] : creator.epochs) {
      for (const auto& [origin, batch] : epoch.batches) {
        const bool has_waker = epoch.waker.has_value();
        Evaluate(origin, batch,
                 has_waker ? *epoch.waker == batch.busiest.id : batch.busiest.fed >= fed,
                 has_waker && *epoch.waker == batch.oldest.id);
      }
    }
  }
  creators_.clear();
}

std::vector<Suspicion> WorkBatches::FindCandidates(absl::Span<const WaitHolder> holders,
                                                   int64_t duration) {
  std::vector<Suspicion> candidates;
  for (const auto& [key, found] : found_) {
    Suspicion one = CandidateOf(key, found);
    if (one.Cost() <= 0 || one.Cost() < duration / 100) continue;
    for (const WaitHolder& holder : holders) {
      const bool is_awaited =
          holder.object == WaitObject::kWaitGroup && holder.holder_start == key.second.start;
      if (is_awaited) one.culprits.push_back(CulpritOf(holder, interner_));
    }
    candidates.push_back(std::move(one));
  }
  return candidates;
}

Suspicion WorkBatches::CandidateOf(const UnevenKey& key, const Uneven& found) {
  const auto& [kind, origin] = key;
  const StackPlace& stack = places_.Of(origin.stack);
  Suspicion one;
  one.kind = kind;
  one.lost = found.lost;
  one.others = found.lengths;
  one.peers = found.awaited;
  one.longest = static_cast<int64_t>(found.longest);
  one.goroutine = found.goroutine.value;
  one.start = std::string(interner_.String(origin.start));
  SetPlace(stack.place, interner_, &one);
  one.victims.push_back({.function = std::string(interner_.String(stack.start)),
                         .count = one.lost.count(),
                         .time = one.Cost()});
  return one;
}

}  // namespace gotrace::internal
