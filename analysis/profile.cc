// Most samples are the intervals of goroutines, added up by what they have in common. A running
// goroutine has no stack, and so the function that it started in must be known from an earlier
// interval. Where only part of a trace is read, that may be an interval of an earlier part: so the
// samples of goroutines that are older than the part are kept with them until it is merged.
#include "gotrace/profile.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analysis/partial_goroutines.h"
#include "analysis/profile_samples.h"
#include "analysis/region_parts.h"
#include "analysis/time_sums.h"
#include "gotrace/event.h"
#include "gotrace/event_kind.h"

namespace gotrace {

using internal::AddSample;
using internal::PartialGoroutines;
using internal::RegionParts;
using internal::SampleMap;
using internal::SampleSource;

namespace {

ProfileKey MapIds(const InternerMap& ids, const ProfileKey& key) {
  ProfileKey mapped = key;
  mapped.stack = ids(key.stack);
  mapped.waker = ids(key.waker);
  mapped.reason = ids(key.reason);
  mapped.start = ids(key.start);
  mapped.region = ids(key.region);
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
      : interner_(*interner), options_(std::move(options)), row_(internal::RowOf(options_.type)) {
    if (options_.has_regions()) regions_.emplace(interner, options_.task, options_.region);
  }

  void AddEvents(absl::Span<const Event> events);
  void AddGoroutine(const GoInterval& interval);
  void Merge(Impl& next, const InternerMap& ids);
  void Finish(int64_t end);

  absl::Span<const ProfileSample> samples() const { return sorted_; }

 private:
  struct Data {
    StringId start = StringId::kEmpty;  // The function that it started in, as far as is known.
    SampleMap pending;                  // Samples, as long as `start` may become known later.
  };
  using Goroutines = PartialGoroutines<Data>;

  // An assist. If it `is_older`, it was there when the first generation began, at `begin`.
  struct Assist {
    int64_t begin = 0;
    StackId stack = StackId::kNone;
    bool is_older = false;
    int64_t end = 0;
    RegionParts::Part part = {};  // Where it began.
  };
  using Assists = absl::flat_hash_map<GoId, Assist>;

  // A key of `goroutine`.
  ProfileKey KeyOf(StackId stack, GoState state, GoId goroutine, ProcId proc) const {
    ProfileKey key;
    key.stack = stack;
    key.state = state;
    if (options_.by_goroutine) key.goroutine = goroutine;
    if (options_.by_proc) key.proc = proc;
    return key;
  }

  // Sets in `*key` what was asked for. Returns whether the sample counts.
  bool SetPart(const RegionParts::Part& part, ProfileKey* key) const {
    if (!regions_.has_value()) return true;
    if (options_.by_task) key->task = part.task;
    if (options_.by_region) key->region = part.region;
    return part.counts;
  }

  RegionParts::Part PartNow(GoId id) const {
    return regions_.has_value() ? regions_->Now(id) : RegionParts::Part();
  }

  bool CountsReason(StringId reason);
  void AddInterval(const GoInterval& interval, Goroutines::Entry* entry);
  void AddCpuSample(const Event& event);
  void AddAssist(const Event& event);
  void BookAssist(GoId goroutine, const Assist& assist, int64_t end);
  void MergeAssists(Impl& next, const InternerMap& ids);

  void Add(ProfileKey key, const ProfileValue& value, Goroutines::Entry* entry) {
    if (entry->data.start == StringId::kEmpty || entry->is_older) {
      AddSample(key, value, &entry->data.pending);
    } else {
      AddTo(entry->data.start, key, value);
    }
  }

  // Adds a sample of a goroutine that started in `start`.
  void AddTo(StringId start, ProfileKey key, const ProfileValue& value) {
    if (!options_.start.empty() && interner_.String(start) != options_.start) return;
    key.start = start;
    AddSample(key, value, &samples_);
  }

  // Adds the pending samples of a goroutine whose start is known, or never will be.
  void Settle(Data* data) {
    for (const auto& [key, value] : data->pending) AddTo(data->start, key, value);
    data->pending.clear();
  }

  // Adds the rest of a goroutine, from the part of the trace that follows.
  void Continue(const Goroutines::Entry& rest, Goroutines::Entry* entry);

  Interner& interner_;
  const Options options_;
  const internal::ProfileRow& row_;

  SampleMap samples_;
  std::vector<ProfileSample> sorted_;

  Goroutines goroutines_{
      [this](Goroutines::Entry& entry) { Settle(&entry.data); },
      [this](Goroutines::Entry& rest, Goroutines::Entry& entry) { Continue(rest, &entry); }};

  std::optional<RegionParts> regions_;  // Unless regions do not matter.

  enum : uint8_t { kUnknown, kCounts, kDoesNotCount };
  std::vector<uint8_t> reasons_;  // By StringId.

  Assists open_;
  Assists ended_;  // That are older than the first event, and ended.
  int64_t generation_begin_ = 0;
  bool is_first_generation_ = true;
  bool has_events_ = false;
};

void Profile::Impl::AddEvents(absl::Span<const Event> events) {
  goroutines_.SeeEvents(events);
  const bool has_samples = row_.source == SampleSource::kCpuSamples;
  const bool has_assists = row_.source == SampleSource::kAssists;
  if (!has_samples && !has_assists && !regions_.has_value()) return;
  for (const Event& event : events) {
    if (regions_.has_value() && options_.filter.Selects(event.goroutine())) regions_->Add(event);
    if (has_samples && event.kind() == EventKind::kStackSample) AddCpuSample(event);
    if (!has_assists) continue;
    if (event.kind() == EventKind::kSync) {
      is_first_generation_ = !has_events_;
      has_events_ = true;
      generation_begin_ = event.time();
    } else {
      AddAssist(event);
    }
  }
}

void Profile::Impl::AddCpuSample(const Event& event) {
  const GoId id = event.goroutine();
  if (id == GoId::kNone || !options_.filter.Selects(id)) return;
  if (!options_.filter.times.Has(event.time())) return;
  ProfileKey key = KeyOf(interner_.InternStack(event.stack()), GoState::kRunning, id, event.proc());
  if (SetPart(PartNow(id), &key)) Add(key, {.count = 1}, &goroutines_.Of(id));
}

void Profile::Impl::AddAssist(const Event& event) {
  switch (event.type()) {
    case EventType::kGCMarkAssistBegin:
      open_[event.goroutine()] = {.begin = event.time(),
                                  .stack = interner_.InternStack(event.stack()),
                                  .part = PartNow(event.goroutine())};
      break;
    case EventType::kGCMarkAssistActive:
      // It was open when the generation began.
      open_.emplace(GoId{event.range_parts().scope.id},
                    Assist{.begin = generation_begin_,
                           .is_older = is_first_generation_,
                           .part = PartNow(GoId{event.range_parts().scope.id})});
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
        BookAssist(open->first, open->second, event.time());
      }
      open_.erase(open);
      break;
    }
    default:
      break;
  }
}

void Profile::Impl::BookAssist(GoId goroutine, const Assist& assist, int64_t end) {
  const int64_t begin = std::max(assist.begin, options_.filter.times.from);
  end = std::min(end, options_.filter.times.to);
  if (!options_.filter.Selects(goroutine) || begin >= end) return;
  ProfileKey key = KeyOf(assist.stack, GoState::kUndetermined, goroutine, ProcId::kNone);
  if (!SetPart(assist.part, &key)) return;
  Add(key, {.count = 1, .time = internal::Between(begin, end)}, &goroutines_.Of(goroutine));
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
  Goroutines::Entry& entry = goroutines_.Begin(interval);
  Data& data = entry.data;
  if (data.start == StringId::kEmpty) {
    data.start = interner_.RootFunctionId(interval.stack);
    if (data.start != StringId::kEmpty && !entry.is_older) Settle(&data);
  }
  AddInterval(interval, &entry);
  goroutines_.End(interval, entry);
}

void Profile::Impl::AddInterval(const GoInterval& interval, Goroutines::Entry* entry) {
  if (row_.source == SampleSource::kCreations) {
    if (!interval.starts_life) return;
    return Add(KeyOf(interval.begun_by.stack, GoState::kUndetermined, interval.goroutine,
                     interval.begun_by.proc),
               {.count = 1}, entry);
  }
  const bool counts =
      row_.HasState(interval.state) && CountsReason(interval.reason) &&
      (row_.source != SampleSource::kWakeUps || interval.ended_by.kind != CauseKind::kUnknown);
  if (!counts) {
    if (regions_.has_value()) regions_->Skip(interval);
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
  if (!regions_.has_value()) {
    return Add(key, {count, static_cast<int64_t>(interval.duration())}, entry);
  }
  // Regions begin and end while their goroutine runs: nothing else is cut.
  regions_->Cut(interval, [&](int64_t begin, int64_t end, const RegionParts::Part& part) {
    if (SetPart(part, &key)) Add(key, {count, internal::Between(begin, end)}, entry);
  });
}

void Profile::Impl::Continue(const Goroutines::Entry& rest, Goroutines::Entry* entry) {
  Data& data = entry->data;
  if (data.start == StringId::kEmpty && rest.data.start != StringId::kEmpty) {
    data.start = rest.data.start;
    if (!entry->is_older) Settle(&data);
  }
  for (const auto& [key, value] : rest.data.pending) Add(key, value, entry);
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
      BookAssist(id, whole, whole.end);
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
  goroutines_.Merge(next.goroutines_, [&](Data* data) {
    data->start = ids(data->start);
    data->pending = MapIds(ids, data->pending);
  });
}

void Profile::Impl::Finish(int64_t end) {
  for (const auto& [id, ended] : ended_) BookAssist(id, ended, ended.end);
  for (const auto& [id, open] : open_) BookAssist(id, open, end);
  goroutines_.Finish();
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
