// An analysis's data about each goroutine, for analyses that are merged from parts of a trace.
#ifndef GOTRACE_ANALYSIS_INTERVALS_PARTIAL_GOROUTINES_H_
#define GOTRACE_ANALYSIS_INTERVALS_PARTIAL_GOROUTINES_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "gotrace/event.h"
#include "gotrace/ids.h"
#include "gotrace/state_tracker.h"
#include "util/dense_table.h"

namespace gotrace::internal {

// A goroutine may begin in one part of a trace and end in a later one. So the data of a goroutine
// that is older than this part is kept until the previous part is known. The same applies to a
// goroutine that ended while the intervals across the border were merged, since the next part may
// have events of it.
template <class Data>
class PartialGoroutines {
 public:
  struct Entry {
    GoId id;
    Data data;
    bool is_seen = false;   // Whether there was an interval. There may be events before.
    bool is_older = false;  // Whether its beginning is not here.
    bool has_ended = false;
  };

  // Receives a goroutine whose data is complete.
  using Complete = std::function<void(Entry& entry)>;
  // Adds the data in `rest` to `entry`: it is about the same goroutine in the following part. Each
  // has its own `is_seen`; `is_older` is already that of both.
  using Append = std::function<void(Entry& rest, Entry& entry)>;

  PartialGoroutines(Complete complete, Append append)
      : complete_(std::move(complete)), append_(std::move(append)) {}

  // Call it with all events, before the intervals that they end.
  void AddEvents(absl::Span<const Event> events) {
    last_event_ = std::max(last_event_, events.back().time());
  }

  // Returns the goroutine that currently has the id. Valid until the next call of another function.
  Entry& Of(GoId id) {
    Entry* const entry = live_.Find(id);
    return entry != nullptr ? *entry : *live_.Insert(id);
  }

  // Returns the goroutine of an interval. Call End() after adding the interval to it.
  Entry& Begin(const GoInterval& interval) {
    Entry* entry = &Of(interval.goroutine);
    if (interval.starts_life && entry->is_seen) [[unlikely]] {
      // The end of the previous one is missing.
      Retire(entry);
      entry = live_.Insert(interval.goroutine);
    }
    if (!entry->is_seen) {
      entry->is_seen = true;
      entry->is_older = !interval.starts_life;
    }
    return *entry;
  }

  void End(const GoInterval& interval, Entry& entry) {
    if (!interval.ends_life) return;
    if (interval.end <= last_event_) return Retire(&entry);
    ended_in_merge_.push_back(std::move(entry));
    live_.Erase(&entry);
  }

  // Appends the data of `next`. `map_ids` maps the ids in a Data.
  template <class MapIds>
  void Merge(PartialGoroutines& next, const MapIds& map_ids) {
    // A goroutine that continues in `next` is here, or among those ended by the intervals across
    // the border.
    std::vector<Entry> rests = std::move(next.ended_older_);
    for (Entry* const entry : next.live_.Sorted()) rests.push_back(std::move(*entry));
    for (Entry& rest : rests) {
      map_ids(&rest.data);
      Entry* before = live_.Find(rest.id);
      if (before != nullptr && rest.is_seen && !rest.is_older) {
        // A new goroutine. The end of the previous one is missing.
        Retire(before);
        before = nullptr;
      }
      if (before != nullptr) {
        AppendTo(rest, *before);
        if (rest.has_ended) Retire(before);
      } else if (rest.has_ended) {
        ended_older_.push_back(std::move(rest));
      } else {
        *live_.Insert(rest.id) = std::move(rest);
      }
    }
    for (Entry& entry : ended_in_merge_) {
      // The data from its events was stored separately.
      Entry* const rest = live_.Find(entry.id);
      if (rest != nullptr && !rest->is_seen) {
        AppendTo(*rest, entry);
        live_.Erase(rest);
      }
      Settle(entry);
    }
    ended_in_merge_.clear();
    last_event_ = std::max(last_event_, next.last_event_);
  }

  // Treats all remaining goroutines as complete: first the ended ones, then the others in order of
  // their ids.
  void Finish() {
    for (Entry& entry : ended_older_) complete_(entry);
    for (Entry& entry : ended_in_merge_) complete_(entry);
    for (Entry* const entry : live_.Sorted()) complete_(*entry);
    ended_older_.clear();
    ended_in_merge_.clear();
    live_.Clear();
  }

 private:
  // Completes or keeps a goroutine that has ended.
  void Settle(Entry& entry) {
    if (!entry.is_older) return complete_(entry);
    entry.has_ended = true;
    ended_older_.push_back(std::move(entry));
  }

  // The same for a goroutine in `live_`.
  void Retire(Entry* entry) {
    Settle(*entry);
    live_.Erase(entry);
  }

  void AppendTo(Entry& rest, Entry& entry) {
    if (!entry.is_seen) entry.is_older = rest.is_older;
    append_(rest, entry);
    entry.is_seen |= rest.is_seen;
  }

  const Complete complete_;
  const Append append_;
  DenseTable<Entry> live_{kSlotsForGoroutines};
  std::vector<Entry> ended_older_;     // Ended goroutines that began in an earlier part.
  std::vector<Entry> ended_in_merge_;  // Goroutines that ended after last_event_.
  int64_t last_event_ = std::numeric_limits<int64_t>::min();
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_INTERVALS_PARTIAL_GOROUTINES_H_
