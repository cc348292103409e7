// Most samples are intervals of goroutines, added up by key.
#include "gotrace/profile.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analysis/core/time_sums.h"
#include "analysis/intervals/range_tracker.h"
#include "analysis/intervals/selected_stacks.h"
#include "analysis/intervals/stop_name.h"
#include "analysis/intervals/sums_by_start.h"
#include "analysis/profile/profile_samples.h"
#include "analysis/tasks/region_parts.h"
#include "gotrace/event.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"

namespace gotrace {

using internal::RangeTracker;
using internal::RegionParts;
using internal::RuntimeRange;
using internal::SampleSource;

namespace {

// For SumsByStart.
struct SampleTraits {
  using Key = ProfileKey;
  using Value = ProfileValue;

  static ProfileKey MapIds(const InternerMap& ids, const ProfileKey& key) {
    ProfileKey mapped = key;
    mapped.stack = ids(key.stack);
    mapped.waker = ids(key.waker);
    mapped.reason = ids(key.reason);
    mapped.start = ids(key.start);
    mapped.region = ids(key.region);
    mapped.label = ids(key.label);
    return mapped;
  }
  static void AddTo(const ProfileValue& value, ProfileValue* sum) {
    sum->count += value.count;
    internal::AddTime(value.time, &sum->time);
  }
};

// Distributes the time of running goroutines over their CPU samples: over the samples of all
// goroutines with the same key, apart from the stack. Leaves the time unchanged where there are no
// samples.
void Weight(const Interner& interner, std::vector<ProfileSample>* samples) {
  struct Group {
    std::vector<ProfileSample*> times;
    std::vector<ProfileSample*> samples;
    uint64_t count = 0;
  };
  absl::flat_hash_map<ProfileKey, Group> groups;
  for (ProfileSample& sample : *samples) {
    ProfileKey key = sample.key;
    key.stack = StackId::kNone;
    Group& group = groups[key];
    if (sample.value.count == 0) {
      group.times.push_back(&sample);
    } else {
      group.samples.push_back(&sample);
      group.count += sample.value.count;
    }
  }
  for (auto& [key, group] : groups) {
    if (group.count == 0) continue;
    uint64_t time = 0;
    for (ProfileSample* const sample : group.times) {
      time += static_cast<uint64_t>(std::exchange(sample->value.time, 0));
    }
    // The remainder goes to the first samples, a nanosecond each.
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

// What Profile and RegionProfile have in common.
class internal::ProfileSums {
 public:
  ProfileSums(Interner* interner, RegionProfile::Options options,
              RegionParts::TaskTime task_time = RegionParts::TaskTime::kRegions)
      : interner_(*interner), options_(std::move(options)), row_(internal::RowOf(options_.type)) {
    if (options_.has_parts()) {
      regions_.emplace(interner, options_.task, task_time, options_.region);
    }
  }

  void Begin(int64_t trace_start, EventFilter::Times window) {
    options_.filter = options_.filter.Within(trace_start, window);
  }
  void AddEvents(absl::Span<const Event> events);
  void AddGoroutine(const GoInterval& interval);
  void Merge(ProfileSums& next, const InternerMap& ids);
  void Finish(int64_t end);

  absl::Span<const ProfileSample> samples() const { return sorted_; }
  bool has_regions_of_task() const { return regions_->has_regions_of_task(); }

 private:
  using Samples = internal::SumsByStart<SampleTraits>;

  // Returns a key for `goroutine`.
  ProfileKey KeyOf(StackId stack, GoState state, GoId goroutine, ProcId proc) const {
    ProfileKey key;
    key.stack = stack;
    key.state = state;
    if (options_.by_goroutine) key.goroutine = goroutine;
    if (options_.by_proc) key.proc = proc;
    return key;
  }

  // Sets the requested members of `*key`. Returns whether the sample counts.
  bool SetPart(const RegionParts::Part& part, ProfileKey* key) const {
    if (!regions_.has_value()) return true;
    if (options_.by_task) key->task = part.task;
    if (options_.by_region) key->region = part.region;
    if (options_.by_label) key->label = part.label;
    return part.counts;
  }

  RegionParts::Part PartNow(GoId id) const {
    return regions_.has_value() ? regions_->Now(id) : RegionParts::Part();
  }

  // Returns whether the interval is on one of the selected Ps and threads.
  bool IsOnSelected(const GoInterval& interval) const;

  bool CountsReason(StringId reason);
  void AddInterval(const GoInterval& interval, Samples::Entry* entry);
  // Adds the time of the interval from `begin` to `end`: in stops of the world apart.
  void AddTime(const GoInterval& interval, int64_t begin, int64_t end, const ProfileKey& key,
               Samples::Entry* entry);
  void AddStopOrSample(const Event& event);
  void AddCpuSample(const Event& event);
  void AddAssistEvent(const Event& event);
  void AddAssist(const RuntimeRange& assist);

  Interner& interner_;
  RegionProfile::Options options_;
  const internal::ProfileRow& row_;

  Samples samples_{&interner_, options_.start};
  std::vector<ProfileSample> sorted_;

  std::optional<RegionParts> regions_;  // Set if regions matter.
  // The part in which the last assist of a goroutine began, and the part in an assist that is older
  // than the trace.
  absl::flat_hash_map<GoId, RegionParts::Part> assist_parts_;
  absl::flat_hash_map<GoId, RegionParts::Part> older_assist_parts_;

  // The goroutine that has stopped the world, if one has, and the name of the last stop.
  GoId stopper_ = GoId::kNone;
  StringId stop_name_ = StringId::kEmpty;

  enum : uint8_t { kUnknown, kCounts, kDoesNotCount };
  std::vector<uint8_t> reasons_;  // By StringId.

  RangeTracker assists_{&interner_,
                        RangeTracker::Crossing::kWhole,
                        {EventType::kGCMarkAssistBegin},
                        [this](const RuntimeRange& assist) { AddAssist(assist); }};
};

void internal::ProfileSums::AddEvents(absl::Span<const Event> events) {
  samples_.AddEvents(events);
  const bool has_samples = row_.source == SampleSource::kCpuSamples;
  const bool has_assists = row_.source == SampleSource::kAssists;
  if (!has_samples && !has_assists && !regions_.has_value()) return;
  for (const Event& event : events) {
    // Any goroutine may end a task.
    const bool counts =
        options_.filter.Selects(event.goroutine()) || event.kind() == EventKind::kTaskEnd;
    if (regions_.has_value() && counts) regions_->Add(event);
    if (has_samples) AddStopOrSample(event);
    if (has_assists) AddAssistEvent(event);
  }
}

void internal::ProfileSums::AddStopOrSample(const Event& event) {
  if (event.kind() == EventKind::kStackSample) return AddCpuSample(event);
  if (event.type() == EventType::kSTWBegin) {
    stopper_ = event.goroutine();
    stop_name_ = interner_.InternString(internal::StopName(event.range_parts().reason));
  } else if (event.type() == EventType::kSTWEnd || event.kind() == EventKind::kSync) {
    stopper_ = GoId::kNone;
  }
}

void internal::ProfileSums::AddCpuSample(const Event& event) {
  const GoId id = event.goroutine();
  const EventFilter& filter = options_.filter;
  if (id == GoId::kNone || !filter.Selects(id)) return;
  if (!filter.Selects(event.proc()) || !filter.Selects(event.thread())) return;
  if (!filter.times.Has(event.time())) return;
  ProfileKey key = KeyOf(interner_.InternStack(event.stack()), GoState::kRunning, id, event.proc());
  if (id == stopper_) key.reason = stop_name_;
  if (SetPart(PartNow(id), &key)) samples_.Add(key, ProfileValue{.count = 1}, &samples_.Of(id));
}

void internal::ProfileSums::AddAssistEvent(const Event& event) {
  const RuntimeRange* const begun = assists_.Add(event);
  if (begun == nullptr || !regions_.has_value()) return;
  if (begun->begin_clipped) {
    older_assist_parts_.emplace(begun->goroutine, PartNow(begun->goroutine));
  } else {
    assist_parts_[begun->goroutine] = PartNow(begun->goroutine);
  }
}

void internal::ProfileSums::AddAssist(const RuntimeRange& assist) {
  const int64_t begin = std::max(assist.begin, options_.filter.times.from);
  const int64_t end = std::min(assist.end, options_.filter.times.to);
  if (!options_.filter.Selects(assist.goroutine) || begin >= end) return;
  ProfileKey key = KeyOf(assist.stack, GoState::kUndetermined, assist.goroutine, ProcId::kNone);
  const auto& parts = assist.begin_clipped ? older_assist_parts_ : assist_parts_;
  const auto part = parts.find(assist.goroutine);
  if (!SetPart(part == parts.end() ? RegionParts::Part() : part->second, &key)) return;
  samples_.Add(key, ProfileValue{.count = 1, .time = internal::Between(begin, end)},
               &samples_.Of(assist.goroutine));
}

bool internal::ProfileSums::CountsReason(StringId reason) {
  if (row_.is_reason == nullptr) return true;
  const size_t index = static_cast<size_t>(reason);
  if (index >= reasons_.size()) reasons_.resize(index + 1, kUnknown);
  uint8_t& known = reasons_[index];
  if (known == kUnknown) {
    known = row_.is_reason(interner_.String(reason)) ? kCounts : kDoesNotCount;
  }
  return known == kCounts;
}

bool internal::ProfileSums::IsOnSelected(const GoInterval& interval) const {
  const EventFilter& filter = options_.filter;
  if (filter.procs.empty() && filter.threads.empty()) return true;
  const bool is_on_thread =
      interval.state == GoState::kRunning || interval.state == GoState::kSyscall;
  return is_on_thread && filter.Selects(interval.proc) && filter.Selects(interval.thread);
}

void internal::ProfileSums::AddGoroutine(const GoInterval& interval) {
  if (!options_.filter.Selects(interval.goroutine)) return;
  Samples::Entry& entry = samples_.Begin(interval);
  AddInterval(interval, &entry);
  samples_.End(interval, entry);
}

void internal::ProfileSums::AddInterval(const GoInterval& interval, Samples::Entry* entry) {
  if (row_.source == SampleSource::kCreations) {
    if (!interval.starts_life) return;
    return samples_.Add(KeyOf(interval.begun_by.stack, GoState::kUndetermined, interval.goroutine,
                              interval.begun_by.proc),
                        ProfileValue{.count = 1}, entry);
  }
  const bool counts =
      row_.HasState(interval.state) && CountsReason(interval.reason) && IsOnSelected(interval) &&
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
  // A goroutine may lose its P in a syscall.
  const int64_t until = options_.filter.procs.empty() ? interval.end : interval.proc_until;
  if (!regions_.has_value()) return AddTime(interval, interval.begin, until, key, entry);
  // Only running intervals are cut, since regions begin and end while their goroutine runs.
  regions_->Cut(interval, [&](int64_t begin, int64_t end, const RegionParts::Part& part) {
    end = std::min(end, until);
    if (begin >= end || !SetPart(part, &key)) return;
    AddTime(interval, begin, end, key, entry);
  });
}

void internal::ProfileSums::AddTime(const GoInterval& interval, int64_t begin, int64_t end,
                                    const ProfileKey& key, Samples::Entry* entry) {
  // CPU samples are counted where they are.
  const uint64_t count = row_.source == SampleSource::kCpuSamples ? 0 : 1;
  int64_t time = internal::Between(begin, end);
  bool is_stopped = false;
  interval.ForEachStop(begin, end, [&](int64_t from, int64_t to, const StopSpan& stop) {
    ProfileKey stopped = key;
    stopped.reason = stop.name;
    if (interval.state == GoState::kRunning) stopped.stack = stop.stack;
    samples_.Add(stopped, ProfileValue{count, internal::Between(from, to)}, entry);
    internal::SubtractTime(internal::Between(from, to), &time);
    is_stopped = true;
  });
  if (!is_stopped || time != 0) samples_.Add(key, ProfileValue{count, time}, entry);
}

void internal::ProfileSums::Merge(ProfileSums& next, const InternerMap& ids) {
  assists_.Merge(next.assists_, ids);
  samples_.Merge(next.samples_, ids);
}

void internal::ProfileSums::Finish(int64_t end) {
  assists_.Finish(end);
  samples_.Finish();
  sorted_ = internal::SortedSamples(samples_.sums(), interner_);
  if (row_.source == SampleSource::kCpuSamples) Weight(interner_, &sorted_);
  if (options_.filter.stacks.MatchesAll()) return;
  SelectedStacks stacks(&interner_, options_.filter.stacks);
  sorted_.erase(std::remove_if(sorted_.begin(), sorted_.end(),
                               [&](const ProfileSample& sample) {
                                 return !stacks.Has(sample.key.stack) &&
                                        !stacks.Has(sample.key.waker);
                               }),
                sorted_.end());
}

Profile::Profile(Interner* interner, Options options)
    : impl_(std::make_unique<internal::ProfileSums>(interner,
                                                    RegionProfile::Options{std::move(options)})) {}
Profile::~Profile() = default;

void Profile::Begin(int64_t trace_start, EventFilter::Times window) {
  impl_->Begin(trace_start, window);
}
void Profile::AddEvents(absl::Span<const Event> events) { impl_->AddEvents(events); }
void Profile::AddGoroutine(const GoInterval& interval) { impl_->AddGoroutine(interval); }
void Profile::Merge(Profile&& next, const InternerMap& ids) { impl_->Merge(*next.impl_, ids); }
void Profile::Finish(int64_t end) { impl_->Finish(end); }
absl::Span<const ProfileSample> Profile::samples() const { return impl_->samples(); }

// Whether the task has regions is known only at the end, so both are added up.
class RegionProfile::Impl {
 public:
  Impl(Interner* interner, const Options& options)
      : in_regions_(interner, options),
        has_owner_(options.task.has_value() && options.region.empty()) {
    if (has_owner_) of_owner_.emplace(interner, options, RegionParts::TaskTime::kOwner);
  }

  template <class Call>
  void ForEach(const Call& call) {
    call(in_regions_);
    if (has_owner_) call(*of_owner_);
  }

  absl::Span<const ProfileSample> samples() const {
    const bool is_of_owner = has_owner_ && !in_regions_.has_regions_of_task();
    return is_of_owner ? of_owner_->samples() : in_regions_.samples();
  }

 private:
  internal::ProfileSums in_regions_;
  const bool has_owner_;
  std::optional<internal::ProfileSums> of_owner_;
};

RegionProfile::RegionProfile(Interner* interner, Options options)
    : impl_(std::make_unique<Impl>(interner, options)) {}
RegionProfile::~RegionProfile() = default;

void RegionProfile::Begin(int64_t trace_start, EventFilter::Times window) {
  impl_->ForEach([&](internal::ProfileSums& sums) { sums.Begin(trace_start, window); });
}
void RegionProfile::AddEvents(absl::Span<const Event> events) {
  impl_->ForEach([&](internal::ProfileSums& sums) { sums.AddEvents(events); });
}
void RegionProfile::AddGoroutine(const GoInterval& interval) {
  impl_->ForEach([&](internal::ProfileSums& sums) { sums.AddGoroutine(interval); });
}
void RegionProfile::Finish(int64_t end) {
  impl_->ForEach([&](internal::ProfileSums& sums) { sums.Finish(end); });
}
absl::Span<const ProfileSample> RegionProfile::samples() const { return impl_->samples(); }

}  // namespace gotrace
