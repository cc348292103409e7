#include "export/sqlite/stored_rows.h"

#include <algorithm>
#include <numeric>

namespace gotrace::internal {

uint32_t StoredRows::FirstWith(SqlColumn column, int64_t value) {
  const auto [found, is_new] = chains_.try_emplace(column);
  Chains& chains = found->second;
  if (is_new) {
    chains.next.resize(rows_.size(), kNone);
    // From the end, so that each chain is in order.
    for (size_t row = rows_.size(); row-- > 0;) {
      if (rows_.IsNull(column, row)) continue;
      const auto [first, is_last] =
          chains.first.try_emplace(rows_.Value(column, row), static_cast<uint32_t>(row));
      if (!is_last) chains.next[row] = std::exchange(first->second, static_cast<uint32_t>(row));
    }
  }
  const auto first = chains.first.find(value);
  return first == chains.first.end() ? kNone : first->second;
}

absl::flat_hash_map<int64_t, int64_t> StoredRows::RanksOf(SqlColumn column) const {
  absl::flat_hash_map<int64_t, int64_t> ranks;
  for (size_t row = 0; row < rows_.size(); ++row) {
    if (!rows_.IsNull(column, row)) ranks.try_emplace(rows_.Value(column, row));
  }
  std::vector<std::pair<absl::string_view, int64_t>> names;
  for (const auto& [number, rank] : ranks) names.emplace_back(rows_.NameText(number), number);
  std::sort(names.begin(), names.end());
  for (size_t i = 0; i < names.size(); ++i) ranks[names[i].second] = static_cast<int64_t>(i);
  return ranks;
}

std::vector<uint32_t> StoredRows::Sorted(absl::Span<const SortColumn> columns) const {
  std::vector<uint32_t> order(rows_.size());
  std::iota(order.begin(), order.end(), 0);
  // A stable sort by each column, last one first. Columns of names and states have few values, and
  // sorting rows that are already in order is cheap.
  for (auto by = columns.rbegin(); by != columns.rend(); ++by) {
    const SqlColumn column = by->column;
    const bool is_descending = by->is_descending;
    const bool is_name = rows_.IsName(column);
    const absl::flat_hash_map<int64_t, int64_t> ranks =
        is_name ? RanksOf(column) : absl::flat_hash_map<int64_t, int64_t>();
    std::vector<std::pair<int64_t, uint32_t>> keys(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      const uint32_t row = order[i];
      int64_t key = 0;
      if (!rows_.IsNull(column, row)) {
        key = is_name ? ranks.at(rows_.Value(column, row)) : rows_.Value(column, row);
      }
      keys[i] = {key, row};
    }
    const auto middle = std::stable_partition(keys.begin(), keys.end(), [&](const auto& key) {
      return rows_.IsNull(column, key.second) != is_descending;
    });
    std::stable_sort(is_descending ? keys.begin() : middle, is_descending ? middle : keys.end(),
                     [&](const auto& a, const auto& b) {
                       return is_descending ? b.first < a.first : a.first < b.first;
                     });
    for (size_t i = 0; i < order.size(); ++i) order[i] = keys[i].second;
  }
  return order;
}

}  // namespace gotrace::internal
