// The stacks of a trace as a tree of frames, as the Trace Event Format requires.
#ifndef GOTRACE_EXPORT_CHROME_STACK_TREE_H_
#define GOTRACE_EXPORT_CHROME_STACK_TREE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_set.h"
#include "gotrace/event.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Gives each stack a number, which is the number of its innermost frame in the tree of all stacks.
// The parent of a frame is its caller. Not thread-safe.
class StackTree {
 public:
  // Declares that the following stacks belong to another program, in which the same PC means
  // another function.
  void BeginProgram() { children_.clear(); }

  // Returns the number of `stack`, from 1; 0 for no stack and for an empty one.
  uint32_t Find(const Stack& stack);

  // Marks the frames of the stack with this number as used.
  void Use(uint32_t number);

  // Appends the used frames as a JSON object, by their numbers.
  void AppendJson(TextBuffer* out) const;

 private:
  struct Frame {
    uint32_t parent = 0;
    const std::string* name = nullptr;  // "main.main:12".
    bool is_used = false;
  };

  uint32_t Insert(const Stack& stack);

  std::vector<Frame> frames_;  // Frame number n is at n - 1.
  absl::flat_hash_map<std::pair<uint32_t, uint64_t>, uint32_t> children_;  // By parent and PC.
  absl::node_hash_set<std::string> names_;
  // The numbers of a generation's stacks by EventTables::StackIndex(), plus 1; 0 if not yet known.
  uint64_t tables_serial_ = 0;
  std::vector<uint32_t> known_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_CHROME_STACK_TREE_H_
