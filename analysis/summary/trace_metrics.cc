// Sums values from intervals and events by function and generation.
#include "gotrace/trace_metrics.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "analysis/intervals/range_tracker.h"
#include "analysis/intervals/runtime_functions.h"
#include "analysis/intervals/stack_places.h"
#include "gotrace/event_type.h"
#include "gotrace/heap_stats.h"
#include "gotrace/histogram.h"
#include "gotrace/ids.h"
#include "gotrace/states.h"
#include "gotrace/task_stats.h"

namespace gotrace {

using internal::IsOfSystem;

namespace {

// The metrics that are summed up here by generation, the times of states first.
constexpr TraceMetric kSums[] = {
    TraceMetric::kRunning, TraceMetric::kRunnable, TraceMetric::kBlocked,  TraceMetric::kSyscall,
    TraceMetric::kCreated, TraceMetric::kGcCycles, TraceMetric::kGcPauses,
};
constexpr size_t kStates = 4;
enum SumIndex : size_t { kRunning, kRunnable, kBlocked, kSyscall, kCreated, kGcCycles, kGcPauses };

// The metrics that are the median and the 99th percentile of the same durations.
using Quantiles = std::pair<TraceMetric, TraceMetric>;
constexpr Quantiles kLatency = {TraceMetric::kLatencyP50, TraceMetric::kLatencyP99};
constexpr Quantiles kTask = {TraceMetric::kTaskP50, TraceMetric::kTaskP99};
constexpr Quantiles kRegion = {TraceMetric::kRegionP50, TraceMetric::kRegionP99};

uint64_t Length(int64_t begin, int64_t end) {
  return static_cast<uint64_t>(end) - static_cast<uint64_t>(begin);
}

// The sums of one generation. An interval that covers whole generations is not added to each of
// them. Instead, `whole` is the change in the number of such intervals from this generation on.
struct Sums {
  uint64_t value[std::size(kSums)] = {};
  int64_t whole[kStates] = {};
};

// Durations, also by generation.
struct Durations {
  Histogram all;
  std::map<size_t, Histogram> generations;

  void Add(size_t generation, uint64_t duration) {
    all.Add(duration);
    generations[generation].Add(duration);
  }
  void Merge(const Durations& other) {
    all.Merge(other.all);
    for (const auto& [generation, more] : other.generations) generations[generation].Merge(more);
  }
};

// A place where goroutines of the program wait or are in syscalls, or with empty ids all places.
using PlaceKey = std::tuple<TraceMetric, StringId, StringId, StringId>;

// The values of the goroutines of one function, or in one place.
struct Series {
  std::map<size_t, Sums> generations;
  Histogram latency;

  void Merge(const Series& other) {
    for (const auto& [generation, more] : other.generations) {
      Sums& sums = generations[generation];
      for (size_t i = 0; i < std::size(kSums); ++i) sums.value[i] += more.value[i];
      for (size_t i = 0; i < kStates; ++i) sums.whole[i] += more.whole[i];
    }
    latency.Merge(other.latency);
  }
};

// Returns the index of the time in the state; nullopt if it is of no metric.
std::optional<SumIndex> IndexOf(GoState state) {
  switch (state) {
    case GoState::kRunning:
      return kRunning;
    case GoState::kRunnable:
      return kRunnable;
    case GoState::kWaiting:
      return kBlocked;
    case GoState::kSyscall:
      return kSyscall;
    default:
      return std::nullopt;
  }
}

// Whether the interval is a wait for a P of which both ends were seen.
bool IsLatency(const GoInterval& interval) {
  return interval.state == GoState::kRunnable && !interval.begin_clipped && !interval.end_clipped;
}

// The standard deviation of the quotients of values and weights, weighted by the weights.
class Deviation {
 public:
  void Add(double value, double weight) {
    if (weight <= 0) return;
    values_ += value;
    squares_ += value * value / weight;
  }

  // `weights` and `squared_weights` are the sums over all generations, including those whose value
  // is 0.
  std::optional<double> Result(double weights, double squared_weights) const {
    const double freedom = weights - squared_weights / weights;
    if (!(freedom > 1e-9 * weights)) return std::nullopt;
    const double mean = values_ / weights;
    return std::sqrt(std::max(squares_ - mean * values_, 0.0) / freedom);
  }

 private:
  double values_ = 0;
  double squares_ = 0;
};

// The weights of generations.
struct Weights {
  std::vector<double> each;
  double sum = 0;
  double sum_of_squares = 0;

  void Add(uint64_t weight) {
    const auto number = static_cast<double>(weight);
    each.push_back(number);
    sum += number;
    sum_of_squares += number * number;
  }
};

}  // namespace

absl::string_view TraceMetricName(TraceMetric metric) {
  constexpr absl::string_view kNames[] = {
      "running",           "runnable",        "blocked",     "syscall",   "goroutines",
      "allocated objects", "allocated bytes", "GC cycles",   "GC pauses", "latency p50",
      "latency p99",       "lock waits",      "other waits", "calls",     "task p50",
      "task p99",          "region p50",      "region p99"};
  return kNames[static_cast<size_t>(metric)];
}

bool IsSum(TraceMetric metric) {
  constexpr TraceMetric kPercentiles[] = {kLatency.first, kLatency.second, kTask.first,
                                          kTask.second,   kRegion.first,   kRegion.second};
  return absl::c_find(kPercentiles, metric) == std::end(kPercentiles);
}

class TraceMetrics::Impl {
 public:
  Impl(Interner* interner, EventFilter::Times window)
      : interner_(*interner),
        window_(window),
        heap_(interner, window),
        tasks_and_regions_(interner, FilterOf(window)) {}

  void Begin(int64_t trace_start, EventFilter::Times window) {
    window_ = window_.And(window);
    heap_.Begin(trace_start, window);
    tasks_and_regions_.Begin(trace_start, window);
  }
  void AddEvents(absl::Span<const Event> events);
  void AddGoroutine(const GoInterval& interval);
  void Finish(int64_t end);

  uint64_t duration() const { return begins_.empty() ? 0 : Length(begins_[0], end_); }
  uint64_t tasks() const { return absl::c_accumulate(tasks_, uint64_t{0}); }
  absl::Span<const TraceMetricValue> values() const { return values_; }

 private:
  static EventFilter FilterOf(EventFilter::Times window) {
    EventFilter filter;
    filter.times = window;
    return filter;
  }

  struct Unnamed {
    Series series;
    Durations latency;
  };
  struct Goroutine {
    StringId name = StringId::kEmpty;
    std::unique_ptr<Unnamed> unnamed;  // The values added before the name was known.
  };

  void AddEvent(const Event& event);
  void AddStop(const internal::RuntimeRange& stop);
  size_t GenerationOf(int64_t time) const;
  void AddSum(SumIndex sum, int64_t time, uint64_t value, Series* series);
  void AddTime(SumIndex state, const Interval& interval, Series* series);
  void AddInterval(const GoInterval& interval, Series* series);
  void AddPlace(const GoInterval& interval);
  void SetName(StringId name, const Unnamed& values);
  // Add values of what `subject` says, with its metric if it is a place.
  void AddSeries(const Series& series, const TraceMetricValue& subject);
  void AddQuantiles(const Durations& durations, const Quantiles& metrics, TraceMetricValue value);
  template <class Span>
  void AddTypes(absl::Span<const Span> spans, const Quantiles& metrics);
  void AddAllocations();

  Interner& interner_;
  EventFilter::Times window_;
  HeapStats heap_;
  TaskStats tasks_and_regions_;
  internal::StackPlaces stack_places_{&interner_};

  std::vector<int64_t> begins_;  // Of the generations in the window.
  std::vector<uint64_t> tasks_;  // The number of tasks that ended in each.
  int64_t end_ = 0;
  Weights times_;
  Weights task_counts_;

  internal::RangeTracker stops_{&interner_,
                                internal::RangeTracker::Crossing::kPieces,
                                {EventType::kSTWBegin},
                                [this](const internal::RuntimeRange& stop) { AddStop(stop); }};
  absl::flat_hash_map<GoId, Goroutine> goroutines_;
  absl::flat_hash_map<StringId, Series> functions_;
  absl::flat_hash_map<PlaceKey, Series> places_;
  Series all_;
  Durations latency_;  // Of the goroutines of the program.
  std::vector<TraceMetricValue> values_;
};

void TraceMetrics::Impl::AddEvents(absl::Span<const Event> events) {
  heap_.AddEvents(events);
  tasks_and_regions_.AddEvents(events);
  for (const Event& event : events) AddEvent(event);
}

void TraceMetrics::Impl::AddEvent(const Event& event) {
  const int64_t time = event.time();
  if (begins_.empty()) {
    begins_.push_back(std::max(time, window_.from));
    tasks_.push_back(0);
  }
  if (!window_.Has(time)) return;
  stops_.Add(event);
  switch (event.kind()) {
    case EventKind::kSync:
      if (time > begins_.back() && begins_.size() < kMaxGenerations) {
        begins_.push_back(time);
        tasks_.push_back(0);
      }
      break;
    case EventKind::kTaskEnd:
      ++tasks_[GenerationOf(time)];
      break;
    case EventKind::kRangeBegin:
      if (event.type() == EventType::kGCBegin) AddSum(kGcCycles, time, 1, &all_);
      break;
    default:
      break;
  }
}

void TraceMetrics::Impl::AddStop(const internal::RuntimeRange& stop) {
  if (stop.begin == stop.end || !absl::StrContains(interner_.String(stop.reason), "GC")) return;
  AddSum(kGcPauses, stop.end, Length(stop.begin, stop.end), &all_);
}

// Times that are before the window, in a damaged trace, count for its first generation.
size_t TraceMetrics::Impl::GenerationOf(int64_t time) const {
  const auto after = absl::c_upper_bound(begins_, time);
  return static_cast<size_t>(std::max<ptrdiff_t>(after - begins_.begin() - 1, 0));
}

void TraceMetrics::Impl::AddSum(SumIndex sum, int64_t time, uint64_t value, Series* series) {
  series->generations[GenerationOf(time)].value[sum] += value;
}

void TraceMetrics::Impl::AddTime(SumIndex state, const Interval& interval, Series* series) {
  if (interval.begin >= interval.end) return;
  const size_t first = GenerationOf(interval.begin);
  const size_t last = GenerationOf(interval.end - 1);
  if (first == last) return AddSum(state, interval.begin, interval.duration(), series);
  AddSum(state, interval.begin, Length(interval.begin, begins_[first + 1]), series);
  AddSum(state, interval.end - 1, Length(begins_[last], interval.end), series);
  if (last == first + 1) return;
  ++series->generations[first + 1].whole[state];
  --series->generations[last].whole[state];
}

void TraceMetrics::Impl::AddInterval(const GoInterval& interval, Series* series) {
  const std::optional<SumIndex> state = IndexOf(interval.state);
  if (!state.has_value()) return;
  if (interval.starts_life) AddSum(kCreated, interval.begin, 1, series);
  if (IsLatency(interval)) series->latency.Add(interval.duration());
  AddTime(*state, interval, series);
}

// As WaitStats, which says where and for what goroutines wait.
void TraceMetrics::Impl::AddPlace(const GoInterval& interval) {
  const bool is_call = interval.state == GoState::kSyscall;
  if (!is_call && interval.state != GoState::kWaiting) return;
  const internal::StackPlace& stack = stack_places_.Of(interval.stack);
  if (stack.is_system || stack.place.function == StringId::kEmpty) return;
  const bool is_lock =
      internal::IsLock(internal::ObjectOf(interner_.String(interval.reason), stack));
  const TraceMetric metric = is_call   ? TraceMetric::kCalls
                             : is_lock ? TraceMetric::kLockWaits
                                       : TraceMetric::kOtherWaits;
  const PlaceKey one(metric, is_call ? StringId::kEmpty : interval.reason, stack.place.function,
                     stack.place.library);
  const PlaceKey all(metric, StringId::kEmpty, StringId::kEmpty, StringId::kEmpty);
  const Interval seen = interval.Seen();
  const SumIndex state = is_call ? kSyscall : kBlocked;
  for (const PlaceKey& key : {one, all}) AddTime(state, seen, &places_[key]);
}

void TraceMetrics::Impl::SetName(StringId name, const Unnamed& values) {
  functions_[name].Merge(values.series);
  if (!IsOfSystem(interner_.String(name))) latency_.Merge(values.latency);
}

void TraceMetrics::Impl::AddGoroutine(const GoInterval& interval) {
  heap_.AddGoroutine(interval);
  tasks_and_regions_.AddGoroutine(interval);
  if (begins_.empty()) return;
  AddInterval(interval, &all_);
  AddPlace(interval);
  Goroutine& goroutine = goroutines_[interval.goroutine];
  if (goroutine.name == StringId::kEmpty) {
    goroutine.name = interner_.RootFunctionId(interval.stack);
    if (goroutine.unnamed == nullptr) goroutine.unnamed = std::make_unique<Unnamed>();
  }
  if (goroutine.name != StringId::kEmpty && goroutine.unnamed != nullptr) {
    SetName(goroutine.name, *goroutine.unnamed);
    goroutine.unnamed = nullptr;
  }
  Unnamed* const unnamed = goroutine.unnamed.get();
  AddInterval(interval, unnamed == nullptr ? &functions_[goroutine.name] : &unnamed->series);
  if (IsLatency(interval) &&
      (unnamed != nullptr || !IsOfSystem(interner_.String(goroutine.name)))) {
    (unnamed == nullptr ? latency_ : unnamed->latency)
        .Add(GenerationOf(interval.end), interval.duration());
  }
  if (!interval.ends_life) return;
  if (unnamed != nullptr) SetName(StringId::kEmpty, *unnamed);
  goroutines_.erase(interval.goroutine);
}

void TraceMetrics::Impl::AddSeries(const Series& series, const TraceMetricValue& subject) {
  uint64_t totals[std::size(kSums)] = {};
  Deviation by_time[std::size(kSums)];
  Deviation by_tasks[std::size(kSums)];
  int64_t whole[kStates] = {};
  const auto& generations = series.generations;
  const size_t first = generations.empty() ? 0 : generations.begin()->first;
  const size_t end = generations.empty() ? 0 : generations.rbegin()->first + 1;
  auto next = generations.begin();
  for (size_t generation = first; generation < end; ++generation) {
    Sums sums;
    if (next->first == generation) {
      sums = next->second;
      ++next;
    }
    const uint64_t length = Length(
        begins_[generation], generation + 1 < begins_.size() ? begins_[generation + 1] : end_);
    for (size_t i = 0; i < kStates; ++i) {
      whole[i] += sums.whole[i];
      sums.value[i] += static_cast<uint64_t>(whole[i]) * length;
    }
    for (size_t i = 0; i < std::size(kSums); ++i) {
      totals[i] += sums.value[i];
      const auto value = static_cast<double>(sums.value[i]);
      by_time[i].Add(1e9 * value, times_.each[generation]);
      by_tasks[i].Add(value, task_counts_.each[generation]);
    }
  }
  for (size_t i = 0; i < std::size(kSums); ++i) {
    if (totals[i] == 0) continue;
    TraceMetricValue& value = values_.emplace_back(subject);
    // A place has the time of one state, and a metric of its own.
    if (value.metric < TraceMetric::kLockWaits) value.metric = kSums[i];
    value.value = totals[i];
    value.deviation = by_time[i].Result(times_.sum, times_.sum_of_squares);
    value.deviation_per_task = by_tasks[i].Result(task_counts_.sum, task_counts_.sum_of_squares);
  }
}

void TraceMetrics::Impl::AddQuantiles(const Durations& durations, const Quantiles& metrics,
                                      TraceMetricValue value) {
  if (durations.all.count() == 0) return;
  value.count = durations.all.count();
  for (const auto& [metric, quantile] :
       {std::pair(metrics.first, 0.5), std::pair(metrics.second, 0.99)}) {
    value.metric = metric;
    value.value = durations.all.Quantile(quantile);
    Deviation deviation;
    Weights weights;
    for (const auto& [generation, some] : durations.generations) {
      const double length = times_.each[generation];
      weights.Add(static_cast<uint64_t>(length));
      deviation.Add(static_cast<double>(some.Quantile(quantile)) * length, length);
    }
    if (weights.sum > 0) {
      value.deviation = value.deviation_per_task =
          deviation.Result(weights.sum, weights.sum_of_squares);
    }
    values_.push_back(value);
  }
}

// Like GroupByType(), of those that have a begin and an end.
template <class Span>
void TraceMetrics::Impl::AddTypes(absl::Span<const Span> spans, const Quantiles& metrics) {
  std::map<StringId, Durations> types;
  for (const Span& span : spans) {
    if (!span.begin.has_value() || !span.end.has_value()) continue;
    types[span.type].Add(GenerationOf(*span.end), Length(*span.begin, *span.end));
  }
  for (const auto& [type, durations] : types) {
    TraceMetricValue value;
    value.type = type;
    AddQuantiles(durations, metrics, value);
  }
}

void TraceMetrics::Impl::AddAllocations() {
  if (!heap_.has_events() || heap_.objects_without_span() > 0) return;
  const auto add = [&](bool of_all, StringId function, HeapAmount amount) {
    if (amount.objects == 0) return;
    TraceMetricValue value;
    value.of_all = of_all;
    value.function = function;
    for (const auto& [metric, number] : {std::pair(TraceMetric::kAllocatedObjects, amount.objects),
                                         std::pair(TraceMetric::kAllocatedBytes, amount.bytes)}) {
      value.metric = metric;
      value.value = number;
      values_.push_back(value);
    }
  };
  add(/*of_all=*/true, StringId::kEmpty, heap_.total().allocated);
  for (const HeapFunction& function : heap_.functions()) {
    add(/*of_all=*/false, function.name, function.allocated);
  }
}

void TraceMetrics::Impl::Finish(int64_t end) {
  heap_.Finish(end);
  tasks_and_regions_.Finish(end);
  if (begins_.empty()) return;
  end_ = std::max(end, begins_.back());
  for (size_t i = 0; i < begins_.size(); ++i) {
    times_.Add(Length(begins_[i], i + 1 < begins_.size() ? begins_[i + 1] : end_));
    task_counts_.Add(tasks_[i]);
  }
  for (const auto& [id, goroutine] : goroutines_) {
    if (goroutine.unnamed != nullptr) SetName(StringId::kEmpty, *goroutine.unnamed);
  }
  TraceMetricValue all;
  all.of_all = true;
  AddSeries(all_, all);
  AddQuantiles(latency_, kLatency, all);
  for (const auto& [name, series] : functions_) {
    TraceMetricValue function;
    function.function = name;
    AddSeries(series, function);
    AddQuantiles({.all = series.latency, .generations = {}}, kLatency, function);
  }
  for (const auto& [key, series] : places_) {
    TraceMetricValue place;
    std::tie(place.metric, place.reason, place.function, place.library) = key;
    place.of_all = place.function == StringId::kEmpty;
    AddSeries(series, place);
  }
  AddTypes(tasks_and_regions_.tasks(), kTask);
  AddTypes(tasks_and_regions_.regions(), kRegion);
  AddAllocations();
  absl::c_sort(values_, [this](const TraceMetricValue& a, const TraceMetricValue& b) {
    const auto key = [this](const TraceMetricValue& value) {
      return std::tuple(value.metric, !value.of_all, interner_.String(value.function),
                        interner_.String(value.library), interner_.String(value.reason),
                        interner_.String(value.type));
    };
    return key(a) < key(b);
  });
}

TraceMetrics::TraceMetrics(Interner* interner, EventFilter::Times window)
    : impl_(std::make_unique<Impl>(interner, window)) {}
TraceMetrics::~TraceMetrics() = default;
void TraceMetrics::Begin(int64_t trace_start, EventFilter::Times window) {
  impl_->Begin(trace_start, window);
}
void TraceMetrics::AddEvents(absl::Span<const Event> events) { impl_->AddEvents(events); }
void TraceMetrics::AddGoroutine(const GoInterval& interval) { impl_->AddGoroutine(interval); }
void TraceMetrics::Finish(int64_t end) { impl_->Finish(end); }
uint64_t TraceMetrics::duration() const { return impl_->duration(); }
uint64_t TraceMetrics::tasks() const { return impl_->tasks(); }
absl::Span<const TraceMetricValue> TraceMetrics::values() const { return impl_->values(); }

namespace {

// One of the two traces.
struct Side {
  const TraceMetrics& metrics;
  const Interner& names;

  double Base(MetricBase base) const {
    return base == MetricBase::kTask ? static_cast<double>(metrics.tasks())
                                     : static_cast<double>(metrics.duration()) / 1e9;
  }
};

// What a value is of, with an order that is the same for both traces.
struct ValueKey {
  TraceMetric metric = TraceMetric::kRunning;
  bool of_all = false;
  absl::string_view function = {};
  absl::string_view library = {};
  absl::string_view reason = {};
  absl::string_view type = {};

  friend bool operator<(const ValueKey& a, const ValueKey& b) {
    const auto all = [](const ValueKey& key) {
      return std::tie(key.metric, key.of_all, key.function, key.library, key.reason, key.type);
    };
    return all(a) < all(b);
  }
};

struct ValuePair {
  double value[2] = {};
  double count[2] = {};
  std::optional<double> deviation[2];
};
using ValuePairs = std::map<ValueKey, ValuePair>;

// Returns two standard deviations of the difference. If the deviation of one side is unknown, the
// deviation of the other is used.
std::optional<double> SpreadOf(const ValuePair& pair) {
  const auto& [a, b] = pair.deviation;
  if (!a.has_value() && !b.has_value()) return std::nullopt;
  return 2 * std::hypot(a.has_value() ? *a : *b, b.has_value() ? *b : *a);
}

// Returns the value for the whole program; nullptr if there is none.
const ValuePair* FindOfAll(TraceMetric metric, const ValuePairs& pairs) {
  const auto found = pairs.find({.metric = metric, .of_all = true});
  return found == pairs.end() ? nullptr : &found->second;
}

// Returns the share that the waits, tasks or regions of a percentile have of all of their kind, in
// the trace where it is larger. Waits of the program are not compared with those of the runtime,
// which may be many more.
double ShareOf(const ValueKey& key, const ValuePair& pair, const ValuePairs& pairs) {
  if (key.of_all) return 1;
  double counts[2] = {};
  if (const ValuePair* const all = FindOfAll(key.metric, pairs);
      all != nullptr && !IsOfSystem(key.function)) {
    std::copy(std::begin(all->count), std::end(all->count), counts);
  } else {
    for (auto it = pairs.lower_bound({.metric = key.metric});
         it != pairs.end() && it->first.metric == key.metric && !it->first.of_all; ++it) {
      for (const size_t side : {0, 1}) counts[side] += it->second.count[side];
    }
  }
  return std::max(pair.count[0] / counts[0], pair.count[1] / counts[1]);
}

}  // namespace

std::vector<MetricChange> CompareTraces(const TraceMetrics& a, const Interner& a_names,
                                        const TraceMetrics& b, const Interner& b_names,
                                        MetricBase base) {
  const Side sides[] = {{a, a_names}, {b, b_names}};
  ValuePairs pairs;
  for (size_t side = 0; side < 2; ++side) {
    const double divisor = sides[side].Base(base);
    if (divisor == 0) return {};
    for (const TraceMetricValue& value : sides[side].metrics.values()) {
      const auto text = [&](StringId id) { return sides[side].names.String(id); };
      ValuePair& pair = pairs[{value.metric, value.of_all, text(value.function),
                               text(value.library), text(value.reason), text(value.type)}];
      const auto number = static_cast<double>(value.value);
      pair.count[side] = static_cast<double>(value.count);
      pair.value[side] = IsSum(value.metric) ? number / divisor : number;
      pair.deviation[side] = base == MetricBase::kTask ? value.deviation_per_task : value.deviation;
    }
  }
  std::vector<MetricChange> changes;
  for (const auto& [key, pair] : pairs) {
    const auto& [value_a, value_b] = pair.value;
    const bool lacks_some = !IsSum(key.metric) && (pair.count[0] == 0 || pair.count[1] == 0);
    if (value_a == value_b || lacks_some) continue;
    MetricChange change;
    change.metric = key.metric;
    change.of_all = key.of_all;
    change.function = std::string(key.function);
    change.library = std::string(key.library);
    change.reason = std::string(key.reason);
    change.type = std::string(key.type);
    change.a = value_a;
    change.b = value_b;
    change.spread = SpreadOf(pair);
    double whole = std::max(value_a, value_b);
    if (const ValuePair* const all = FindOfAll(key.metric, pairs); all != nullptr) {
      whole = std::max({whole, all->value[0], all->value[1]});
    }
    const double share = IsSum(key.metric) ? 1 : ShareOf(key, pair, pairs);
    change.weight = share * std::abs(value_b - value_a) / whole;
    changes.push_back(std::move(change));
  }
  absl::c_stable_sort(
      changes, [](const MetricChange& x, const MetricChange& y) { return x.weight > y.weight; });
  return changes;
}

}  // namespace gotrace
