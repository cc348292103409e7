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

std::vector<uint32_t> StoredRows::Grouped(absl::Span<const SqlColumn> columns) const {
  std::vector<uint32_t> order(rows_.size());
  std::iota(order.begin(), order.end(), 0);
  // A stable sort by each column, the last one first. Those of names and states have few values,
  // and sorting what is in order already is cheap.
  for (auto column = columns.rbegin(); column != columns.rend(); ++column) {
    std::vector<std::pair<int64_t, uint32_t>> keys(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      const uint32_t row = order[i];
      keys[i] = {rows_.IsNull(*column, row) ? 0 : rows_.Value(*column, row), row};
    }
    const auto is_null = [&](const auto& key) { return rows_.IsNull(*column, key.second); };
    const auto nulls = std::stable_partition(keys.begin(), keys.end(), is_null);
    std::stable_sort(nulls, keys.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < order.size(); ++i) order[i] = keys[i].second;
  }
  return order;
}

}  // namespace gotrace::internal
