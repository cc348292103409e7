// Values of columns that may be NULL.
#ifndef GOTRACE_ANALYSIS_TABLES_ROW_VALUES_H_
#define GOTRACE_ANALYSIS_TABLES_ROW_VALUES_H_

#include <cstdint>
#include <optional>

#include "gotrace/ids.h"
#include "gotrace/interner.h"

namespace gotrace::internal {

// The values of `flags` of an interval.
inline constexpr int64_t kBeginMissing = 1;
inline constexpr int64_t kEndMissing = 2;

template <class Tag>
std::optional<int64_t> IdOrNull(Id<Tag, int64_t> id) {
  if (id == Id<Tag, int64_t>::kNone) return std::nullopt;
  return id.value;
}

// The background task is NULL, since no program began it.
inline std::optional<uint64_t> TaskOrNull(TaskId id) {
  if (id == TaskId::kNone || id == kBackgroundTask) return std::nullopt;
  return id.value;
}

inline std::optional<StringId> NameOrNull(StringId name) {
  if (name == StringId::kEmpty) return std::nullopt;
  return name;
}

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_TABLES_ROW_VALUES_H_
