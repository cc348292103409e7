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
#include "gotrace/event_type.h"
#include "gotrace/heap_stats.h"
#include "gotrace/histogram.h"
#include "gotrace/ids.h"
#include "gotrace/states.h"

namespace gotrace {
namespace {

// The metrics that are summed up here by generation, the times of states first.
constexpr TraceMetric kSums[] = {
    TraceMetric::kRunning, TraceMetric::kRunnable, TraceMetric::kBlocked,  TraceMetric::kSyscall,
    TraceMetric::kCreated, TraceMetric::kGcCycles, TraceMetric::kGcPauses,
};
constexpr size_t kStates = 4;
enum SumIndex : size_t { kRunning, kRunnable, kBlocked, kSyscall, kCreated, kGcCycles, kGcPauses };

constexpr std::pair<TraceMetric, double> kQuantiles[] = {
    {TraceMetric::kLatencyP50, 0.5},
    {TraceMetric::kLatencyP99, 0.99},
};

uint64_t Length(int64_t begin, int64_t end) {
  return static_cast<uint64_t>(end) - static_cast<uint64_t>(begin);
}

// The sums of one generation. An interval that covers whole generations is not added to each of
// them. Instead, `whole` is the change in the number of such intervals from this generation on.
struct Sums {
  uint64_t value[std::size(kSums)] = {};
  int64_t whole[kStates] = {};
};

// The values of the goroutines of one function.
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
      "running",         "runnable",  "blocked",   "syscall",     "goroutines", "allocated objects",
      "allocated bytes", "GC cycles", "GC pauses", "latency p50", "latency p99"};
  return kNames[static_cast<size_t>(metric)];
}

bool IsSum(TraceMetric metric) {
  return metric != TraceMetric::kLatencyP50 && metric != TraceMetric::kLatencyP99;
}

class TraceMetrics::Impl {
 public:
  Impl(Interner* interner, EventFilter::Times window)
      : interner_(*interner), window_(window), heap_(interner, window) {}

  void Begin(int64_t trace_start, EventFilter::Times window) {
    window_ = window_.And(window);
    heap_.Begin(trace_start, window);
  }
  void AddEvents(absl::Span<const Event> events);
  void AddGoroutine(const GoInterval& interval);
  void Finish(int64_t end);

  uint64_t duration() const { return begins_.empty() ? 0 : Length(begins_[0], end_); }
  uint64_t tasks() const { return absl::c_accumulate(tasks_, uint64_t{0}); }
  absl::Span<const TraceMetricValue> values() const { return values_; }

 private:
  struct Goroutine {
    StringId name = StringId::kEmpty;
    std::unique_ptr<Series> unnamed;  // The values added before the name was known.
  };

  void AddEvent(const Event& event);
  void AddStop(const internal::RuntimeRange& stop);
  size_t GenerationOf(int64_t time) const;
  void AddSum(SumIndex sum, int64_t time, uint64_t value, Series* series);
  void AddInterval(const GoInterval& interval, Series* series);
  void AddSeries(const Series& series, bool of_all, StringId function);
  void AddAllocations();

  Interner& interner_;
  EventFilter::Times window_;
  HeapStats heap_;

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
  Series all_;
  std::map<size_t, Histogram> latency_;  // Of all goroutines, by generation.
  std::vector<TraceMetricValue> values_;
};

void TraceMetrics::Impl::AddEvents(absl::Span<const Event> events) {
  heap_.AddEvents(events);
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

void TraceMetrics::Impl::AddInterval(const GoInterval& interval, Series* series) {
  SumIndex state;
  switch (interval.state) {
    case GoState::kRunning:
      state = kRunning;
      break;
    case GoState::kRunnable:
      state = kRunnable;
      break;
    case GoState::kWaiting:
      state = kBlocked;
      break;
    case GoState::kSyscall:
      state = kSyscall;
      break;
    default:
      return;
  }
  if (interval.starts_life) AddSum(kCreated, interval.begin, 1, series);
  if (state == kRunnable && !interval.begin_clipped && !interval.end_clipped) {
    series->latency.Add(interval.duration());
  }
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

void TraceMetrics::Impl::AddGoroutine(const GoInterval& interval) {
  heap_.AddGoroutine(interval);
  if (begins_.empty()) return;
  AddInterval(interval, &all_);
  if (interval.state == GoState::kRunnable && !interval.begin_clipped && !interval.end_clipped) {
    latency_[GenerationOf(interval.end)].Add(interval.duration());
  }
  Goroutine& goroutine = goroutines_[interval.goroutine];
  if (goroutine.name == StringId::kEmpty) {
    goroutine.name = interner_.RootFunctionId(interval.stack);
    if (goroutine.unnamed == nullptr) goroutine.unnamed = std::make_unique<Series>();
  }
  if (goroutine.name != StringId::kEmpty && goroutine.unnamed != nullptr) {
    functions_[goroutine.name].Merge(*goroutine.unnamed);
    goroutine.unnamed = nullptr;
  }
  AddInterval(interval,
              goroutine.unnamed == nullptr ? &functions_[goroutine.name] : goroutine.unnamed.get());
  if (!interval.ends_life) return;
  if (goroutine.unnamed != nullptr) functions_[StringId::kEmpty].Merge(*goroutine.unnamed);
  goroutines_.erase(interval.goroutine);
}

// Appends the values of a series.
void TraceMetrics::Impl::AddSeries(const Series& series, bool of_all, StringId function) {
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
    values_.push_back({kSums[i], of_all, function, totals[i], /*waits=*/0,
                       by_time[i].Result(times_.sum, times_.sum_of_squares),
                       by_tasks[i].Result(task_counts_.sum, task_counts_.sum_of_squares)});
  }
  if (series.latency.count() == 0) return;
  for (const auto& [metric, quantile] : kQuantiles) {
    TraceMetricValue value;
    value.metric = metric;
    value.of_all = of_all;
    value.function = function;
    value.value = series.latency.Quantile(quantile);
    value.waits = series.latency.count();
    if (of_all) {
      Deviation deviation;
      Weights weights;
      for (const auto& [generation, latency] : latency_) {
        const double length = times_.each[generation];
        weights.Add(static_cast<uint64_t>(length));
        deviation.Add(static_cast<double>(latency.Quantile(quantile)) * length, length);
      }
      value.deviation = value.deviation_per_task =
          deviation.Result(weights.sum, weights.sum_of_squares);
    }
    values_.push_back(value);
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
  if (begins_.empty()) return;
  end_ = std::max(end, begins_.back());
  for (size_t i = 0; i < begins_.size(); ++i) {
    times_.Add(Length(begins_[i], i + 1 < begins_.size() ? begins_[i + 1] : end_));
    task_counts_.Add(tasks_[i]);
  }
  for (const auto& [id, goroutine] : goroutines_) {
    if (goroutine.unnamed != nullptr) functions_[StringId::kEmpty].Merge(*goroutine.unnamed);
  }
  AddSeries(all_, /*of_all=*/true, StringId::kEmpty);
  for (const auto& [name, series] : functions_) AddSeries(series, /*of_all=*/false, name);
  AddAllocations();
  absl::c_sort(values_, [this](const TraceMetricValue& a, const TraceMetricValue& b) {
    const auto key = [this](const TraceMetricValue& value) {
      return std::tuple(value.metric, !value.of_all, interner_.String(value.function));
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

// The metric and the function of a value, with an order that is the same for both traces.
using ValueKey = std::tuple<TraceMetric, bool, absl::string_view>;

struct ValuePair {
  double value[2] = {};
  double waits[2] = {};
  std::optional<double> deviation[2];
};

// Returns two standard deviations of the difference. If the deviation of one side is unknown, the
// deviation of the other is used.
std::optional<double> SpreadOf(const ValuePair& pair) {
  const auto& [a, b] = pair.deviation;
  if (!a.has_value() && !b.has_value()) return std::nullopt;
  return 2 * std::hypot(a.has_value() ? *a : *b, b.has_value() ? *b : *a);
}

}  // namespace

std::vector<MetricChange> CompareTraces(const TraceMetrics& a, const Interner& a_names,
                                        const TraceMetrics& b, const Interner& b_names,
                                        MetricBase base) {
  const Side sides[] = {{a, a_names}, {b, b_names}};
  std::map<ValueKey, ValuePair> pairs;
  for (size_t side = 0; side < 2; ++side) {
    const double divisor = sides[side].Base(base);
    if (divisor == 0) return {};
    for (const TraceMetricValue& value : sides[side].metrics.values()) {
      ValuePair& pair =
          pairs[{value.metric, value.of_all, sides[side].names.String(value.function)}];
      const auto number = static_cast<double>(value.value);
      pair.waits[side] = static_cast<double>(value.waits);
      pair.value[side] = IsSum(value.metric) ? number / divisor : number;
      pair.deviation[side] = base == MetricBase::kTask ? value.deviation_per_task : value.deviation;
    }
  }
  std::vector<MetricChange> changes;
  for (const auto& [key, pair] : pairs) {
    const auto& [metric, of_all, function] = key;
    const auto& [value_a, value_b] = pair.value;
    const bool lacks_waits = !IsSum(metric) && (pair.waits[0] == 0 || pair.waits[1] == 0);
    if (value_a == value_b || lacks_waits) continue;
    MetricChange change;
    change.metric = metric;
    change.of_all = of_all;
    change.function = std::string(function);
    change.a = value_a;
    change.b = value_b;
    change.spread = SpreadOf(pair);
    double whole = std::max(value_a, value_b);
    double share = 1;
    const auto all = pairs.find({metric, true, ""});
    if (all != pairs.end()) {
      const ValuePair& of_program = all->second;
      whole = std::max({whole, of_program.value[0], of_program.value[1]});
      if (!IsSum(metric)) {
        share = std::max(pair.waits[0] / of_program.waits[0], pair.waits[1] / of_program.waits[1]);
      }
    }
    change.weight = share * std::abs(value_b - value_a) / whole;
    changes.push_back(std::move(change));
  }
  absl::c_stable_sort(
      changes, [](const MetricChange& x, const MetricChange& y) { return x.weight > y.weight; });
  return changes;
}

}  // namespace gotrace
