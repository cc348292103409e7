// Strings and stacks that are added to the tables of a generation.
#ifndef GOTRACE_REWRITE_TABLE_ADDITIONS_H_
#define GOTRACE_REWRITE_TABLE_ADDITIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "rewrite/table_source.h"

namespace gotrace::internal {

// Other tables, and strings and stacks that these lack. The ids of additions count down from
// 2^64 - 1 and skip those that the other tables use.
class TableAdditions final : public TableSource {
 public:
  // `tables` must outlive this object.
  explicit TableAdditions(const TableSource& tables) : tables_(tables) {}

  // Returns the id of the string, adding it unless it was added before. The id of "" is 0.
  uint64_t StringId(absl::string_view text);

  // Returns the id of a stack whose only frame is in function `func`, adding it unless it was added
  // before.
  uint64_t StackId(absl::string_view func, absl::string_view file, uint64_t line);

  // Returns the number of added strings.
  size_t added_strings() const { return string_ids_.size(); }

  // The other tables' ids come first.
  std::vector<uint64_t> StringIds() const override;
  std::vector<uint64_t> StackIds() const override;
  std::optional<absl::string_view> FindString(uint64_t id) const override;
  bool FindStack(uint64_t id, std::vector<Frame>* frames) const override;
  bool IsMissingString(uint64_t id) const override { return tables_.IsMissingString(id); }

 private:
  const TableSource& tables_;
  absl::flat_hash_map<std::string, uint64_t> string_ids_;
  std::map<uint64_t, std::string> strings_;
  std::map<uint64_t, Frame, std::greater<uint64_t>> stacks_;  // In the order of their addition.
  absl::flat_hash_map<uint64_t, uint64_t> stack_ids_;         // By func.
  uint64_t last_string_ = 0;                                  // These count down.
  uint64_t last_stack_ = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_TABLE_ADDITIONS_H_
