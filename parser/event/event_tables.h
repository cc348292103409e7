// A read-only view of the tables of one generation: strings, stacks and experimental data, to which
// events refer. GenerationTables fills them.
#ifndef GOTRACE_PARSER_EVENT_EVENT_TABLES_H_
#define GOTRACE_PARSER_EVENT_EVENT_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "gotrace/event.h"
#include "util/id_table.h"

namespace gotrace::internal {

// The tables of one generation.
class EventTables {
 public:
  EventTables(const EventTables&) = delete;
  EventTables& operator=(const EventTables&) = delete;

  // Returns the string `id`, or nullptr if there is none. Id 0 is "".
  const absl::string_view* FindString(uint64_t id) const {
    if (id == 0) return &kEmptyString;
    const uint32_t index = strings_.Find(id);
    return index == IdTable<absl::string_view>::kAbsent ? nullptr : &strings_[index];
  }

  // Returns whether the string `id` is in the table. Id 0 always is: the empty string.
  bool HasString(uint64_t id) const { return id == 0 || strings_.Contains(id); }

  // Returns whether the stack `id` is in the table. Id 0 always is: the empty stack.
  bool HasStack(uint64_t id) const { return id == 0 || stacks_.Contains(id); }

  // Return the ids that are found by index, and the largest of them. Their number is not much
  // greater than the number of entries.
  NearIds near_strings() const { return strings_.near(); }
  NearIds near_stacks() const { return stacks_.near(); }
  uint64_t last_near_string() const { return strings_.last_near(); }
  uint64_t last_near_stack() const { return stacks_.last_near(); }

  // Returns the number of frames of stack `id`, 0 if there is no such stack.
  size_t StackSize(uint64_t id) const;

  // Return the ids of all strings or stacks, in ascending order, in time proportional to their
  // number.
  std::vector<uint64_t> StringIds() const { return strings_.Ids(); }
  std::vector<uint64_t> StackIds() const { return stacks_.Ids(); }

  // A frame on the wire, with the ids of its strings.
  struct RawFrame {
    uint64_t pc = 0;
    uint64_t func = 0;
    uint64_t file = 0;
    uint64_t line = 0;
  };

  // Returns a frame of stack `id`. Requires index < StackSize(id).
  RawFrame GetRawFrame(uint64_t id, size_t index) const;

  // Return whether the string or stack `id` was added for one that is missing in the trace.
  bool IsMissingString(uint64_t id) const { return IsMissing(strings_.Find(id), string_offsets_); }
  bool IsMissingStack(uint64_t id) const { return IsMissing(StackIndex(id), stack_offsets_); }

  // Returns a frame of stack `id`, or an empty one unless index < StackSize(id).
  StackFrame GetFrame(uint64_t id, size_t index) const;

  // Returns the index of stack `id`, less than stack_count(), for other tables by stack; kNoStack
  // for 0 and if there is no such stack.
  static constexpr uint32_t kNoStack = static_cast<uint32_t>(-1);
  uint32_t StackIndex(uint64_t id) const { return stacks_.Find(id); }

  size_t string_count() const { return strings_.size(); }
  size_t stack_count() const { return stacks_.size(); }

  // Returns the clock snapshot of the sync batch; nullopt before Go 1.25.
  const std::optional<ClockSnapshot>& clock_snapshot() const { return clock_snapshot_; }

  // Returns the experimental batches in order of experiments, and for each experiment in the order
  // of the trace. The spans are valid as long as the tables.
  std::vector<ExperimentalData> experimental_batches() const;

  // Returns a number that differs for each object of this process, which caches can use as a key.
  uint64_t serial() const { return serial_; }

 protected:
  EventTables();
  ~EventTables() = default;

  // The definition of a PC. All frames with the same PC share the first definition in the
  // generation.
  struct Frame {
    uint64_t pc;
    uint64_t func;  // String id.
    uint64_t file;  // String id.
    uint64_t line;
    uint64_t offset;  // The offset of its stack in the trace.
  };
  struct StackEntry {
    uint32_t first;  // Index in stack_frames_.
    uint32_t size;
  };
  static_assert(kNoStack == IdTable<StackEntry>::kAbsent);

  IdTable<absl::string_view> strings_;
  IdTable<StackEntry> stacks_;
  // Deques, since there may be millions of elements, which a growing vector would copy.
  std::deque<uint32_t> stack_frames_;  // Indices in frames_.
  std::deque<Frame> frames_;
  std::map<uint64_t, std::vector<ExperimentalBatch>> experimental_;
  std::optional<ClockSnapshot> clock_snapshot_;

  // The offset of each entry in the trace, by its index in strings_ or stacks_: 0 if it was added
  // for one that is missing. Shorter if the tables are of no trace.
  std::vector<uint64_t> string_offsets_;
  std::vector<uint64_t> stack_offsets_;

 private:
  static bool IsMissing(uint32_t index, const std::vector<uint64_t>& offsets) {
    return index < offsets.size() && offsets[index] == 0;
  }

  static constexpr absl::string_view kEmptyString = "";

  const uint64_t serial_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_EVENT_EVENT_TABLES_H_
