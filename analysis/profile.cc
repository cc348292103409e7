// Most samples are the intervals of goroutines, added up by what they have in common. A running
// goroutine has no stack, and so the function that it started in must be known from an earlier
// interval. Where only part of a trace is read, goroutines are known by an earlier part: the
// samples of those that are older than the part are kept with the goroutine until it is merged.
#include "gotrace/profile.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analysis/profile_samples.h"
#include "gotrace/event.h"
#include "gotrace/event_kind.h"
#include "util/dense_table.h"

namespace gotrace {

using internal::AddSample;
using internal::DenseTable;
using internal::kSlotsForGoroutines;
using internal::SampleMap;
using internal::SampleSource;

namespace {

ProfileKey MapIds(const InternerMap& ids, const ProfileKey& key) {
  ProfileKey mapped = key;
  mapped.stack = ids(key.stack);
  mapped.waker = ids(key.waker);
  mapped.reason = ids(key.reason);
  mapped.start = ids(key.start);
  return mapped;
}

SampleMap MapIds(const InternerMap& ids, const SampleMap& samples) {
  SampleMap mapped;
  mapped.reserve(samples.size());
  for (const auto& [key, value] : samples) mapped.emplace(MapIds(ids, key), value);
  return mapped;
}

// Shares the time of running goroutines out over their CPU samples: over those of all goroutines
// with the same key, but for the stack. Leaves it as it is where there are no samples.
void Weight(const Interner& interner, std::vector<ProfileSample>* samples) {
  struct Group {
    ProfileSample* time = nullptr;
    std::vector<ProfileSample*> samples;
    uint64_t count = 0;
  };
  absl::flat_hash_map<ProfileKey, Group> groups;
  for (ProfileSample& sample : *samples) {
    ProfileKey key = sample.key;
    key.stack = StackId::kNone;
    Group& group = groups[key];
    if (sample.value.count == 0) {
      group.time = &sample;
    } else {
      group.samples.push_back(&sample);
      group.count += sample.value.count;
    }
  }
  for (auto& [key, group] : groups) {
    if (group.time == nullptr || group.count == 0) continue;
    const uint64_t time = static_cast<uint64_t>(std::exchange(group.time->value.time, 0));
    // What is left over goes to the first samples, a nanosecond each.
    uint64_t rest = time % group.count;
    for (ProfileSample* const sample : group.samples) {
      const uint64_t extra = std::min(rest, sample->value.count);
      rest -= extra;
      sample->value.time = static_cast<int64_t>(sample->value.count * (time / group.count) + extra);
    }
  }
  const auto is_empty = [](const ProfileSample& sample) { return sample.value == ProfileValue(); };
  samples->erase(std::remove_if(samples->begin(), samples->end(), is_empty), samples->end());
  internal::SortSamples(interner, samples);
}

}  // namespace

class Profile::Impl {
 public:
  Impl(Interner* interner, Options options)
      : interner_(*interner), options_(std::move(options)), row_(internal::RowOf(options_.type)) {}

  void AddEvents(absl::Span<const Event> events);
  void AddGoroutine(const GoInterval& interval);
  void Merge(Impl& next, const InternerMap& ids);
  void Finish(int64_t end);

  absl::Span<const ProfileSample> samples() const { return sorted_; }

 private:
  // A goroutine.
  struct Entry {
    GoId id;
    StringId start = StringId::kEmpty;  // The function that it started in, as far as is known.
    bool is_seen = false;   // Whether there was an interval. There may be events before.
    bool is_older = false;  // Whether its beginning is not here.
    bool has_ended = false;
    SampleMap pending;  // Samples of one whose `start` may become known later.
  };

  // An assist. If it `is_older`, it was there when the first generation began, at `begin`.
  struct Assist {
    int64_t begin = 0;
    StackId stack = StackId::kNone;
    bool is_older = false;
    int64_t end = 0;
  };
  using Assists = absl::flat_hash_map<GoId, Assist>;

  Entry& EntryOf(GoId id) {
    Entry* const entry = live_.Find(id);
    return entry != nullptr ? *entry : *live_.Insert(id);
  }

  // A key of `goroutine`.
  ProfileKey KeyOf(StackId stack, GoState state, GoId goroutine, ProcId proc) const {
    ProfileKey key;
    key.stack = stack;
    key.state = state;
    if (options_.by_goroutine) key.goroutine = goroutine;
    if (options_.by_proc) key.proc = proc;
    return key;
  }

  bool CountsReason(StringId reason);
  void AddInterval(const GoInterval& interval, Entry* entry);
  void AddCpuSample(const Event& event);
  void AddAssist(const Event& event);
  void BookAssist(GoId goroutine, StackId stack, int64_t begin, int64_t end);
  void MergeAssists(Impl& next, const InternerMap& ids);

  void Add(ProfileKey key, const ProfileValue& value, Entry* entry) {
    if (entry->start == StringId::kEmpty || entry->is_older) {
      AddSample(key, value, &entry->pending);
    } else {
      AddTo(entry->start, key, value);
    }
  }

  // Adds a sample of a goroutine that started in `start`.
  void AddTo(StringId start, ProfileKey key, const ProfileValue& value) {
    if (!options_.start.empty() && interner_.String(start) != options_.start) return;
    key.start = start;
    AddSample(key, value, &samples_);
  }

  // Adds the pending samples of a goroutine, of which all is known.
  void Settle(Entry* entry) {
    for (const auto& [key, value] : entry->pending) AddTo(entry->start, key, value);
    entry->pending.clear();
  }

  // Takes a goroutine that has ended.
  void Retire(Entry entry) {
    if (!entry.is_older) return Settle(&entry);
    entry.has_ended = true;
    ended_older_.push_back(std::move(entry));
  }

  // Adds the rest of a goroutine, from the part of the trace that follows.
  void Continue(const Entry& rest, Entry* entry);

  Interner& interner_;
  const Options options_;
  const internal::ProfileRow& row_;

  SampleMap samples_;
  std::vector<ProfileSample> sorted_;

  DenseTable<Entry> live_{kSlotsForGoroutines};
  std::vector<Entry> ended_older_;     // That ended, and whose beginning is not here.
  std::vector<Entry> ended_in_merge_;  // That ended after last_event_.
  int64_t last_event_ = std::numeric_limits<int64_t>::min();

  enum : uint8_t { kUnknown, kCounts, kDoesNotCount };
  std::vector<uint8_t> reasons_;  // By StringId.

  Assists open_;
  Assists ended_;  // That are older than the first event, and ended.
  int64_t generation_begin_ = 0;
  bool is_first_generation_ = true;
  bool has_events_ = false;
};

void Profile::Impl::AddEvents(absl::Span<const Event> events) {
  last_event_ = std::max(last_event_, events.back().time());
  if (row_.source == SampleSource::kCpuSamples) {
    for (const Event& event : events) {
      if (event.kind() == EventKind::kStackSample) AddCpuSample(event);
    }
  } else if (row_.source == SampleSource::kAssists) {
    for (const Event& event : events) {
      if (event.kind() == EventKind::kSync) {
        is_first_generation_ = !has_events_;
        has_events_ = true;
        generation_begin_ = event.time();
      } else {
        AddAssist(event);
      }
    }
  }
}

void Profile::Impl::AddCpuSample(const Event& event) {
  const GoId id = event.goroutine();
  if (id == GoId::kNone || !options_.filter.Selects(id)) return;
  if (!options_.filter.times.Has(event.time())) return;
  Add(KeyOf(interner_.InternStack(event.stack()), GoState::kRunning, id, event.proc()),
      {.count = 1}, &EntryOf(id));
}

void Profile::Impl::AddAssist(const Event& event) {
  switch (event.type()) {
    case EventType::kGCMarkAssistBegin:
      open_[event.goroutine()] = {.begin = event.time(),
                                  .stack = interner_.InternStack(event.stack())};
      break;
    case EventType::kGCMarkAssistActive:
      // It was open when the generation began.
      open_.emplace(GoId{event.range_parts().scope.id},
                    Assist{.begin = generation_begin_, .is_older = is_first_generation_});
      break;
    case EventType::kGCMarkAssistEnd: {
      const auto open = open_.find(event.goroutine());
      if (open == open_.end()) {
        ended_.emplace(event.goroutine(), Assist{.begin = event.time(), .end = event.time()});
        break;
      }
      if (open->second.is_older) {
        open->second.end = event.time();
        ended_.emplace(*open);
      } else {
        BookAssist(open->first, open->second.stack, open->second.begin, event.time());
      }
      open_.erase(open);
      break;
    }
    default:
      break;
  }
}

void Profile::Impl::BookAssist(GoId goroutine, StackId stack, int64_t begin, int64_t end) {
  begin = std::max(begin, options_.filter.times.from);
  end = std::min(end, options_.filter.times.to);
  if (!options_.filter.Selects(goroutine) || begin >= end) return;
  Add(KeyOf(stack, GoState::kUndetermined, goroutine, ProcId::kNone),
      {.count = 1, .time = end - begin}, &EntryOf(goroutine));
}

bool Profile::Impl::CountsReason(StringId reason) {
  if (row_.is_reason == nullptr) return true;
  const size_t index = static_cast<size_t>(reason);
  if (index >= reasons_.size()) reasons_.resize(index + 1, kUnknown);
  uint8_t& known = reasons_[index];
  if (known == kUnknown) {
    known = row_.is_reason(interner_.String(reason)) ? kCounts : kDoesNotCount;
  }
  return known == kCounts;
}

void Profile::Impl::AddGoroutine(const GoInterval& interval) {
  if (!options_.filter.Selects(interval.goroutine)) return;
  Entry* entry = &EntryOf(interval.goroutine);
  if (interval.starts_life && entry->is_seen) [[unlikely]] {
    // The end of the one before is missing.
    Retire(std::move(*entry));
    live_.Erase(entry);
    entry = live_.Insert(interval.goroutine);
  }
  if (!entry->is_seen) {
    entry->is_seen = true;
    entry->is_older = !interval.starts_life;
  }
  if (entry->start == StringId::kEmpty && interval.stack != StackId::kNone) {
    entry->start = interner_.FrameWithIds(interner_.Frames(interval.stack).back()).func;
    if (entry->start != StringId::kEmpty && !entry->is_older) Settle(entry);
  }
  AddInterval(interval, entry);
  if (!interval.ends_life) return;
  if (interval.end > last_event_) {
    ended_in_merge_.push_back(std::move(*entry));
  } else {
    Retire(std::move(*entry));
  }
  live_.Erase(entry);
}

void Profile::Impl::AddInterval(const GoInterval& interval, Entry* entry) {
  if (row_.source == SampleSource::kCreations) {
    if (!interval.starts_life) return;
    return Add(KeyOf(interval.begun_by.stack, GoState::kUndetermined, interval.goroutine,
                     interval.begun_by.proc),
               {.count = 1}, entry);
  }
  if (!row_.HasState(interval.state) || !CountsReason(interval.reason)) return;
  if (row_.source == SampleSource::kWakeUps && interval.ended_by.kind == CauseKind::kUnknown) {
    return;
  }
  const bool has_cause = row_.is_cause && interval.begun_by.stack != StackId::kNone;
  ProfileKey key = KeyOf(has_cause ? interval.begun_by.stack : interval.stack, interval.state,
                         interval.goroutine, interval.proc);
  key.reason = interval.reason;
  if (row_.source == SampleSource::kWakeUps) {
    key.woken_by = interval.ended_by.kind;
    key.waker = interval.ended_by.stack;
  }
  // CPU samples are counted where they are.
  const uint64_t count = row_.source == SampleSource::kCpuSamples ? 0 : 1;
  Add(key, {count, static_cast<int64_t>(interval.duration())}, entry);
}

void Profile::Impl::Continue(const Entry& rest, Entry* entry) {
  if (!entry->is_seen) {
    entry->is_seen = rest.is_seen;
    entry->is_older = rest.is_older;
  }
  if (entry->start == StringId::kEmpty && rest.start != StringId::kEmpty) {
    entry->start = rest.start;
    if (!entry->is_older) Settle(entry);
  }
  for (const auto& [key, value] : rest.pending) Add(key, value, entry);
}

void Profile::Impl::MergeAssists(Impl& next, const InternerMap& ids) {
  for (const auto& [id, ended] : next.ended_) {
    const auto open = open_.find(id);
    if (open == open_.end()) {
      ended_.emplace(id, ended);
      continue;
    }
    Assist whole = open->second;
    whole.end = ended.end;
    if (whole.is_older) {
      ended_.emplace(id, whole);
    } else {
      BookAssist(id, whole.stack, whole.begin, whole.end);
    }
    open_.erase(open);
  }
  for (auto& [id, open] : next.open_) {
    if (open.is_older && open_.contains(id)) continue;
    open.stack = ids(open.stack);
    open_.insert_or_assign(id, open);
  }
  generation_begin_ = next.generation_begin_;
  has_events_ |= next.has_events_;
}

void Profile::Impl::Merge(Impl& next, const InternerMap& ids) {
  MergeAssists(next, ids);
  for (const auto& [key, value] : next.samples_) AddSample(MapIds(ids, key), value, &samples_);
  // A goroutine that goes on in `next` is here, or among those that the border's intervals ended.
  std::vector<Entry> rests = std::move(next.ended_older_);
  for (Entry* const entry : next.live_.Sorted()) rests.push_back(std::move(*entry));
  for (Entry& rest : rests) {
    rest.start = ids(rest.start);
    rest.pending = MapIds(ids, rest.pending);
    Entry* before = live_.Find(rest.id);
    if (before != nullptr && rest.is_seen && !rest.is_older) {
      // A new one. The end of the one before is missing.
      Retire(std::move(*before));
      live_.Erase(before);
      before = nullptr;
    }
    if (before != nullptr) {
      Continue(rest, before);
      if (!rest.has_ended) continue;
      Retire(std::move(*before));
      live_.Erase(before);
    } else if (rest.has_ended) {
      ended_older_.push_back(std::move(rest));
    } else {
      *live_.Insert(rest.id) = std::move(rest);
    }
  }
  for (Entry& entry : ended_in_merge_) {
    // What events say of it has come apart from it.
    Entry* const rest = live_.Find(entry.id);
    if (rest != nullptr && !rest->is_seen) {
      Continue(*rest, &entry);
      live_.Erase(rest);
    }
    Retire(std::move(entry));
  }
  ended_in_merge_.clear();
  last_event_ = std::max(last_event_, next.last_event_);
}

void Profile::Impl::Finish(int64_t end) {
  for (const auto& [id, ended] : ended_) BookAssist(id, ended.stack, ended.begin, ended.end);
  for (const auto& [id, open] : open_) BookAssist(id, open.stack, open.begin, end);
  for (Entry& entry : ended_older_) Settle(&entry);
  for (Entry* const entry : live_.Sorted()) Settle(entry);
  sorted_ = internal::SortedSamples(samples_, interner_);
  if (row_.source == SampleSource::kCpuSamples) Weight(interner_, &sorted_);
}

Profile::Profile(Interner* interner, Options options)
    : impl_(std::make_unique<Impl>(interner, std::move(options))) {}
Profile::~Profile() = default;

void Profile::AddEvents(absl::Span<const Event> events) { impl_->AddEvents(events); }

void Profile::AddGoroutine(const GoInterval& interval) { impl_->AddGoroutine(interval); }

void Profile::Merge(IntervalConsumer&& next, const InternerMap& ids) {
  impl_->Merge(*static_cast<Profile&>(next).impl_, ids);
}

void Profile::Finish(int64_t end) { impl_->Finish(end); }

absl::Span<const ProfileSample> Profile::samples() const { return impl_->samples(); }

}  // namespace gotrace
