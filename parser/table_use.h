// Which entries of a generation's tables something refers to.
#ifndef GOTRACE_PARSER_TABLE_USE_H_
#define GOTRACE_PARSER_TABLE_USE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "parser/event.h"
#include "parser/generation_tables.h"
#include "parser/id_set.h"

namespace gotrace {

// Takes the events of one generation after the other, each costing a few bits.
class TableUse {
 public:
  // Notes what `events` refer to.
  void Take(absl::Span<const Event> events);

  // What nothing refers to, of one kind of entries that stand in the trace.
  struct Unused {
    uint64_t count = 0;
    uint64_t all = 0;         // How many entries there are, used or not.
    uint32_t last_index = 0;  // In the tables, if count > 0.
  };

  // The strings, and the stacks, of `tables` that no event taken so far refers to. What a frame of
  // a stack names is used, even if the stack is not. `tables` must be those of the last events.
  Unused UnusedStrings(const GenerationTables& tables) const;
  Unused UnusedStacks(const GenerationTables& tables) const;

 private:
  void TakeOne(const Event& event);
  void See(const Event& event, bool is_stack, uint64_t id) {
    if (!seen_[is_stack].Has(id)) [[unlikely]]
      MarkNew(*event.tables_, is_stack, id);
  }
  void Begin(const GenerationTables& tables);
  [[gnu::noinline]] void MarkNew(const GenerationTables& tables, bool is_stack, uint64_t id);
  std::vector<bool> UsedIn(const GenerationTables& tables, const std::vector<bool>& used,
                           size_t count) const;

  uint64_t serial_ = 0;  // Of the tables that the bits below are about.
  std::vector<bool> strings_;
  std::vector<bool> stacks_;
  IdSet seen_[2];  // Ids of strings, and of stacks, that need not be looked up again.
};

}  // namespace gotrace

#endif  // GOTRACE_PARSER_TABLE_USE_H_
