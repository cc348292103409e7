// Sums over the intervals of goroutines, by keys that include the function in which a goroutine
// started, for analyses that are merged from parts of a trace.
#ifndef GOTRACE_ANALYSIS_INTERVALS_SUMS_BY_START_H_
#define GOTRACE_ANALYSIS_INTERVALS_SUMS_BY_START_H_

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "analysis/intervals/partial_goroutines.h"
#include "analysis/intervals/selected_names.h"
#include "analysis/intervals/start_function.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"

namespace gotrace::internal {

// A running goroutine has no stack, so the function that it started in must be known from an
// earlier interval, which may be in an earlier part of the trace. So the values of goroutines that
// are older than this part are kept with them until it is merged.
//
// `Traits` has the types Key, with a member `start`, and Value, and the functions
//   static Key MapIds(const InternerMap& ids, const Key& key);
//   static void AddTo(const T& value, Value* sum);
// the second for a Value, and for every type of value that Add() is called with.
template <class Traits>
class SumsByStart {
 public:
  using Key = typename Traits::Key;
  using Value = typename Traits::Value;
  using Sums = absl::flat_hash_map<Key, Value>;

  struct Data {
    StartFunction start;
    StackId created_at = StackId::kNone;
    Sums pending;  // The sums, as long as `start` may become known.
  };
  using Entry = typename PartialGoroutines<Data>::Entry;

  // Counts only goroutines that started in a function whose whole name the pattern `only_start`
  // matches, unless it is "". `*interner` must outlive this object.
  SumsByStart(Interner* interner, absl::string_view only_start)
      : interner_(*interner), starts_(interner, only_start, SelectedNames::Of::kWhole) {}

  // Call it with all events, before the intervals that they end.
  void AddEvents(absl::Span<const Event> events) { goroutines_.AddEvents(events); }

  // Returns the goroutine of an interval. Call End() after adding everything that ends with the
  // interval.
  Entry& Begin(const GoInterval& interval) {
    Entry& entry = goroutines_.Begin(interval);
    Data& data = entry.data;
    if (interval.starts_life) data.created_at = interval.begun_by.stack;
    if (data.start.is_open()) {
      data.start.Learn(interner_, interval.stack);
      if (!data.start.is_open() && !entry.is_older) Settle(&data);
    }
    return entry;
  }
  void End(const GoInterval& interval, Entry& entry) { goroutines_.End(interval, entry); }

  // Returns the goroutine that currently has the id, for values that are not about an interval.
  Entry& Of(GoId id) { return goroutines_.Of(id); }

  // Adds `value` to the value of `key`, whose `start` is set once it is known.
  template <class T>
  void Add(const Key& key, const T& value, Entry* entry) {
    if (entry->data.start.is_open() || entry->is_older) {
      Traits::AddTo(value, &entry->data.pending[key]);
    } else {
      AddWithStart(entry->data.start.name(), key, value);
    }
  }

  // Adds a value of a goroutine that started in `start`.
  template <class T>
  void AddWithStart(StringId start, Key key, const T& value) {
    if (!IsSelected(start)) return;
    key.start = start;
    Traits::AddTo(value, &sums_[key]);
  }

  // Returns whether goroutines that started in `start` count.
  bool IsSelected(StringId start) { return starts_.Has(start); }

  // Adds the sums of `next`, which received the following part of the trace.
  void Merge(SumsByStart& next, const InternerMap& ids) {
    for (const auto& [key, value] : next.sums_)
      Traits::AddTo(value, &sums_[Traits::MapIds(ids, key)]);
    goroutines_.Merge(next.goroutines_, [&](Data* data) {
      data->start.MapIds(ids);
      data->created_at = ids(data->created_at);
      Sums pending;
      pending.reserve(data->pending.size());
      for (auto& [key, value] : data->pending)
        pending.emplace(Traits::MapIds(ids, key), std::move(value));
      data->pending = std::move(pending);
    });
  }

  void Finish() { goroutines_.Finish(); }

  // Complete after Finish().
  const Sums& sums() const { return sums_; }

 private:
  // Adds the pending sums of a goroutine whose start is known, or never will be.
  void Settle(Data* data) {
    if (data->pending.empty()) return;
    const StringId start = data->start.FinalName(data->created_at, &interner_);
    for (const auto& [key, value] : data->pending) AddWithStart(start, key, value);
    data->pending.clear();
  }

  // Adds the rest of a goroutine, from the part of the trace that follows.
  void Continue(const Entry& rest, Entry* entry) {
    Data& data = entry->data;
    if (data.created_at == StackId::kNone) data.created_at = rest.data.created_at;
    if (data.start.is_open()) {
      data.start.Learn(rest.data.start);
      if (!data.start.is_open() && !entry->is_older) Settle(&data);
    }
    for (const auto& [key, value] : rest.data.pending) Add(key, value, entry);
  }

  Interner& interner_;
  SelectedNames starts_;
  Sums sums_;
  PartialGoroutines<Data> goroutines_{
      [this](Entry& entry) { Settle(&entry.data); },
      [this](Entry& rest, Entry& entry) { Continue(rest, &entry); }};
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_INTERVALS_SUMS_BY_START_H_
