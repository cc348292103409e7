#include "tools/cli/nearest_name.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gotrace::internal {
namespace {

// Returns how many characters must be added, removed, replaced or swapped with the next one to turn
// one name into the other (the optimal string alignment distance).
size_t Distance(absl::string_view a, absl::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

absl::string_view NearestName(absl::string_view name, absl::Span<const absl::string_view> names) {
  // Shorter texts are near to every name; longer ones are not names, and would take time.
  constexpr size_t kMinSize = 3;
  constexpr size_t kMaxSize = 64;
  if (name.size() < kMinSize || name.size() > kMaxSize) return "";
  absl::string_view nearest;
  size_t least = name.size() / 3 + 1;
  for (const absl::string_view candidate : names) {
    const size_t distance = Distance(name, candidate);
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace gotrace::internal
