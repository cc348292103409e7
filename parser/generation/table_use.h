// Records which entries of a generation's tables are used.
#ifndef GOTRACE_PARSER_GENERATION_TABLE_USE_H_
#define GOTRACE_PARSER_GENERATION_TABLE_USE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "parser/generation/generation_tables.h"

namespace gotrace::internal {

// Records the ids to which the events of one generation refer, as they are decoded. Not
// thread-safe.
class TableUse {
 public:
  // The ids of one kind of entries.
  class Ids {
   public:
    // Records an id if it is at most IdTable::last_near(), whether or not it has an entry. Takes
    // two instructions when inlined.
    void Note(uint64_t id) { noted_[std::min(id, end_)] = true; }

    // Records any id, whose entry is at `index`. Does nothing if `index` is kNoString or kNoStack.
    void NoteFar(uint64_t id, uint32_t index) {
      Note(id);
      if (id >= end_ && index < far_.size()) far_[index] = true;
    }

   private:
    friend class TableUse;
    void Begin(uint64_t last_near, size_t count);

    // Returns the recorded entries as flags by index; index_of(id) is the index of an id.
    template <class IndexOf>
    std::vector<bool> Used(const IndexOf& index_of) const;

    std::unique_ptr<bool[]> noted_ = std::make_unique<bool[]>(1);
    uint64_t end_ = 0;       // The flag at this index represents all ids from there on.
    std::vector<bool> far_;  // By index in the table.
  };

  // Forgets everything, and starts with a generation that has `tables`.
  void Begin(const GenerationTables& tables);

  // Records the ids to which CPU samples refer.
  void NoteSamples(const GenerationTables& tables);

  Ids& strings() { return strings_; }
  Ids& stacks() { return stacks_; }

  // The unused entries of one kind in the trace.
  struct Unused {
    uint64_t count = 0;
    uint64_t all = 0;         // The number of entries, used or not.
    uint32_t last_index = 0;  // The index of the last unused entry, if count > 0.
  };

  // Return the entries of `tables`, the tables passed to Begin(), whose ids were not recorded. The
  // strings of a stack's frames count as used, even if the stack is not. Entries that were added as
  // missing since Begin() are not included.
  Unused UnusedStrings(const GenerationTables& tables) const;
  Unused UnusedStacks(const GenerationTables& tables) const;

 private:
  Ids strings_;
  Ids stacks_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_GENERATION_TABLE_USE_H_
