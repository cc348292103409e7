// The tables `stacks` and `stack_frames`, and the ids of stacks in all tables.
#ifndef GOTRACE_ANALYSIS_TABLES_STACK_ROWS_H_
#define GOTRACE_ANALYSIS_TABLES_STACK_ROWS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "analysis/tables/table_rows.h"
#include "gotrace/event.h"
#include "gotrace/interner.h"

namespace gotrace::internal {

class StackRows {
 public:
  // The objects must outlive this one.
  StackRows(const TableOptions& options, Interner* interner, TableOutput* output)
      : without_pc_(options.stack_ids_without_pc),
        wants_rows_(options.Has(TableId::kStacks) || options.Has(TableId::kStackFrames)),
        interner_(*interner),
        output_(*output) {}

  // Adds the rows of the stacks that the event refers to, unless they were added before.
  void Add(const Event& event) {
    if (!wants_rows_) return;
    if (event.stack_id() != 0) Add(event.stack());
    if (!event.TransitionHasSameStack()) Add(event.transition_stack());
  }

  // Returns the id of a stack in tables, a hash of the content of its frames that is not negative
  // and is the same on every machine; nullopt if there are no frames.
  std::optional<int64_t> IdOf(StackId stack) {
    if (stack == StackId::kNone) return std::nullopt;
    const size_t index = static_cast<size_t>(stack);
    return index < ids_.size() && ids_[index] != 0 ? ids_[index] : NewIdOf(stack);
  }
  std::optional<int64_t> IdOf(const Stack& stack) { return IdOf(interner_.InternStack(stack)); }

 private:
  void Add(const Stack& stack);
  int64_t NewIdOf(StackId stack);
  int64_t Hash(StackId stack);

  const bool without_pc_;
  const bool wants_rows_;
  Interner& interner_;
  TableOutput& output_;
  std::vector<int64_t> ids_;            // By StackId; 0 if not known yet.
  std::vector<bool> is_added_;          // By StackId.
  absl::flat_hash_set<int64_t> added_;  // With `without_pc_`, since several stacks may have one id.
  std::string bytes_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_TABLES_STACK_ROWS_H_
