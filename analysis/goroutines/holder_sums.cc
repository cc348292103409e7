#include "analysis/goroutines/holder_sums.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "absl/algorithm/container.h"
#include "analysis/core/time_sums.h"
#include "gotrace/event_kind.h"

namespace gotrace::internal {

void HolderSums::Sum::Add(uint64_t more, int64_t more_time) {
  count += more;
  AddTime(more_time, &time);
}

void HolderSums::Add(const Event& event, RecentStates* states) {
  if (event.kind() == EventKind::kSync) open_spans_.Clear();
  open_spans_.Add(event);
  const std::optional<RecentStates::Wait> ended = states->Add(event);
  if (!ended.has_value()) return;
  const RecentStates::Wait& wait = *ended;
  const int steps = StepsOf(wait);
  if (steps == 0) return;
  // What an older wait was for may not be known yet.
  const bool counts = RecentStates::IsOlder(wait.stack) || IsSelected(wait.stack, wait.reason);
  const StringId type = open_spans_.TaskOf(wait.goroutine);
  if (counts && type != StringId::kEmpty) {
    tasks_[{wait.stack, wait.reason, type}].Add(
        1, Between(std::max(wait.begin, filter_.times.from), wait.end));
  }
  states->Walk(wait, filter_.times.from, steps, [&](const RecentStates::Piece& piece) {
    if (!counts) return;
    pieces_[{wait.stack, wait.reason, piece.stack, piece.reason, piece.state}].Add(
        1, Between(piece.begin, piece.end));
  });
}

int HolderSums::StepsOf(const RecentStates::Wait& wait) {
  const EventFilter::Times& times = filter_.times;
  if (!filter_.Selects(wait.goroutine) || !(times.from < wait.end && wait.end <= times.to)) {
    return 0;
  }
  if (wait.is_older) return RecentStates::kMaxSteps;
  if (!IsSelected(wait.stack, wait.reason)) return 0;
  const WaitObject object = ObjectOf(interner_.String(wait.reason), places_.Of(wait.stack));
  if (!IsChannel(object)) return RecentStates::kMaxSteps;
  const bool is_short = Between(wait.begin, wait.end) < options_.shortest_channel_wait;
  return is_short ? 0 : options_.channel_steps;
}

bool HolderSums::IsSelected(StackId stack, StringId reason) {
  const StackPlace& place = places_.Of(stack);
  return !place.is_system && starts_.Has(place.start) && stacks_.Has(stack) &&
         options_.objects[static_cast<size_t>(ObjectOf(interner_.String(reason), place))];
}

void HolderSums::Merge(const HolderSums& next, const RecentStates::Ids& ids) {
  for (const auto& [key, sum] : next.pieces_) {
    pieces_[{ids(key.wait), ids(key.wait_reason), ids(key.stack), ids(key.reason), key.state}].Add(
        sum.count, sum.time);
  }
  for (const auto& [key, sum] : next.tasks_) {
    tasks_[{ids(key.wait), ids(key.wait_reason), ids(key.type)}].Add(sum.count, sum.time);
  }
}

std::vector<WaitTask> HolderSums::Tasks(const RecentStates& states) {
  using Key = std::tuple<WaitObject, StringId, WaitPlace, StringId>;
  absl::flat_hash_map<Key, Sum> sums;
  for (const auto& [key, sum] : tasks_) {
    const StackId stack = states.Resolve(key.wait);
    StringId reason = states.Resolve(key.wait_reason);
    if (!IsSelected(stack, reason)) continue;
    const StackPlace& place = places_.Of(stack);
    const WaitObject object = ObjectOf(interner_.String(reason), place);
    if (object != WaitObject::kChannel) reason = StringId::kEmpty;
    sums[Key(object, reason, place.place, key.type)].Add(sum.count, sum.time);
  }
  std::vector<WaitTask> tasks;
  for (const auto& [key, sum] : sums) {
    const auto& [object, reason, place, type] = key;
    tasks.push_back({object, reason, place, type, sum.count, sum.time});
  }
  absl::c_sort(tasks, [&](const WaitTask& a, const WaitTask& b) {
    if (a.time != b.time) return a.time > b.time;
    const auto rest = [&](const WaitTask& one) {
      const auto text = [&](StringId id) { return interner_.String(id); };
      return std::tuple(text(one.type), one.object, text(one.reason), text(one.place.function),
                        text(one.place.file), one.place.line, text(one.place.library));
    };
    return rest(a) < rest(b);
  });
  return tasks;
}

std::vector<WaitHolder> HolderSums::Holders(const RecentStates& states) {
  using Key = std::tuple<WaitObject, StringId, StringId, WaitPlace, StringId, StringId, GoState,
                         StringId, StringId>;
  struct Holder {
    WaitHolder sum;
    std::map<std::pair<StringId, uint64_t>, int64_t> lines;  // The time in each line of a file.
  };
  absl::flat_hash_map<Key, Holder> sums;
  for (const auto& [key, sum] : pieces_) {
    const StackId stack = states.Resolve(key.wait);
    const StringId reason = states.Resolve(key.wait_reason);
    if (!IsSelected(stack, reason)) continue;
    const StackPlace wait = places_.Of(stack);
    const StackPlace& on_path = places_.Of(states.Resolve(key.stack));
    WaitHolder one;
    one.object = ObjectOf(interner_.String(reason), wait);
    if (one.object == WaitObject::kChannel) one.reason = reason;
    one.start = wait.start;
    one.place = wait.place;
    one.holder_start = on_path.start;
    one.holder = on_path.outermost == StringId::kEmpty ? on_path.start : on_path.outermost;
    one.state = key.state;
    one.doing = states.Resolve(key.reason);
    one.function = on_path.place.function;
    Holder& holder = sums[Key(one.object, one.reason, one.start, one.place, one.holder,
                              one.holder_start, one.state, one.doing, one.function)];
    one.count = holder.sum.count + sum.count;
    one.time = holder.sum.time;
    AddTime(sum.time, &one.time);
    holder.sum = one;
    AddTime(sum.time, &holder.lines[{on_path.place.file, on_path.place.line}]);
  }
  std::vector<WaitHolder> holders;
  for (auto& [key, holder] : sums) {
    // Of equal times the first line counts.
    const auto line = absl::c_max_element(holder.lines, [&](const auto& a, const auto& b) {
      const auto place = [&](const auto& one) {
        return std::pair(one.first.second, interner_.String(one.first.first));
      };
      return a.second != b.second ? a.second < b.second : place(a) > place(b);
    });
    std::tie(holder.sum.file, holder.sum.line) = line->first;
    holders.push_back(holder.sum);
  }
  absl::c_sort(holders, [&](const WaitHolder& a, const WaitHolder& b) {
    if (a.time != b.time) return a.time > b.time;
    const auto rest = [&](const WaitHolder& one) {
      const auto text = [&](StringId id) { return interner_.String(id); };
      return std::tuple(one.object, text(one.reason), text(one.start), text(one.place.function),
                        text(one.place.file), one.place.line, text(one.place.library),
                        text(one.holder), text(one.holder_start), one.state, text(one.doing),
                        text(one.function));
    };
    return rest(a) < rest(b);
  });
  return holders;
}

}  // namespace gotrace::internal
