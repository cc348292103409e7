// Strings and stacks that are added to the tables of a generation.
#ifndef GOTRACE_REWRITE_TABLE_ADDITIONS_H_
#define GOTRACE_REWRITE_TABLE_ADDITIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "parser/generation/generation_tables.h"

namespace gotrace::internal {

// Gives ids to strings and stacks that the tables of a generation lack. The ids count down from
// 2^64 - 1 and leave out those that the tables use.
class TableAdditions {
 public:
  // A stack of one frame. func and file are ids of strings.
  struct Stack {
    uint64_t id = 0;
    uint64_t func = 0;
    uint64_t file = 0;
    uint64_t line = 0;
  };

  // `tables` must outlive this.
  explicit TableAdditions(const GenerationTables& tables) : tables_(&tables) {}

  // Returns the id of the string, which is added if it is new here. That of "" is 0.
  uint64_t StringId(absl::string_view text);

  // Returns the id of a stack whose one frame is in function `func`, and adds it if it is new here.
  uint64_t StackId(absl::string_view func, absl::string_view file, uint64_t line);

  // Returns the string with that id, which is in the tables or was added; "" if there is none.
  absl::string_view FindString(uint64_t id) const;

  size_t string_count() const { return string_ids_.size(); }

  // Returns what was added, by rising ids. The views live until more is added.
  std::vector<std::pair<uint64_t, absl::string_view>> Strings() const;

  // What was added, by falling ids.
  const std::vector<Stack>& stacks() const { return stacks_; }

 private:
  const GenerationTables* tables_;
  absl::flat_hash_map<std::string, uint64_t> string_ids_;
  absl::flat_hash_map<uint64_t, std::string> strings_;
  std::vector<Stack> stacks_;
  absl::flat_hash_map<uint64_t, uint64_t> stack_ids_;  // By func.
  uint64_t last_string_ = 0;                           // These count down.
  uint64_t last_stack_ = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_TABLE_ADDITIONS_H_
