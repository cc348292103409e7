// Which entries of a generation's tables something refers to.
#ifndef GOTRACE_PARSER_GENERATION_TABLE_USE_H_
#define GOTRACE_PARSER_GENERATION_TABLE_USE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "parser/generation/generation_tables.h"

namespace gotrace::internal {

// Notes the ids that the events of one generation refer to, as they are decoded. Two threads must
// not note any at the same time.
class TableUse {
 public:
  // The ids of one kind of entries, those up to IdTable::last_near() by a flag for each.
  class Ids {
   public:
    // Notes an id, if it is one of those, even if it has no entry. Costs two instructions where it
    // is inlined.
    void Note(uint64_t id) { noted_[std::min(id, end_)] = true; }

    // Notes an id of an entry that stands at `index`, whatever its number. kNoString or kNoStack
    // is nothing.
    void NoteFar(uint64_t id, uint32_t index) {
      Note(id);
      if (id >= end_ && index < far_.size()) far_[index] = true;
    }

   private:
    friend class TableUse;
    void Begin(uint64_t last_near, size_t count);

    // By their places, of which index_of(id) tells, the entries that were noted.
    template <class IndexOf>
    std::vector<bool> Used(const IndexOf& index_of) const;

    std::unique_ptr<bool[]> noted_ = std::make_unique<bool[]>(1);
    uint64_t end_ = 0;       // Stands for all ids from there on.
    std::vector<bool> far_;  // By the places in the table.
  };

  // Forgets all, and begins with the events of a generation that has `tables`.
  void Begin(const GenerationTables& tables);

  // Notes what CPU samples refer to.
  void NoteSamples(const GenerationTables& tables);

  Ids& strings() { return strings_; }
  Ids& stacks() { return stacks_; }

  // What nothing refers to, of one kind of entries that stand in the trace.
  struct Unused {
    uint64_t count = 0;
    uint64_t all = 0;         // How many entries there are, used or not.
    uint32_t last_index = 0;  // In the tables, if count > 0.
  };

  // The strings, and the stacks, of `tables`, those of Begin(), that nothing refers to which was
  // noted. What a frame of a stack names is used, even if the stack is not. Entries that were added
  // since Begin(), as missing, are left out.
  Unused UnusedStrings(const GenerationTables& tables) const;
  Unused UnusedStacks(const GenerationTables& tables) const;

 private:
  Ids strings_;
  Ids stacks_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_GENERATION_TABLE_USE_H_
