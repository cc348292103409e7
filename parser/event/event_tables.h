// What the events of one generation refer to, to be read: strings, stacks, experimental data.
// GenerationTables fills it.
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

class EventTables {
 public:
  EventTables(const EventTables&) = delete;
  EventTables& operator=(const EventTables&) = delete;

  // The string `id`, or nullptr if there is none. Id 0 is "".
  const absl::string_view* FindString(uint64_t id) const {
    if (id == 0) return &kEmptyString;
    const uint32_t index = strings_.Find(id);
    return index == IdTable<absl::string_view>::kAbsent ? nullptr : &strings_[index];
  }

  // Whether the string or the stack `id` is there. Id 0 is: the empty one.
  bool HasString(uint64_t id) const { return id == 0 || strings_.Contains(id); }
  bool HasStack(uint64_t id) const { return id == 0 || stacks_.Contains(id); }

  // The ids that are found by index, and the last of them. There are not many more than entries.
  NearIds near_strings() const { return strings_.near(); }
  NearIds near_stacks() const { return stacks_.near(); }
  uint64_t last_near_string() const { return strings_.last_near(); }
  uint64_t last_near_stack() const { return stacks_.last_near(); }

  // The number of frames of stack `id`, 0 if there is no such stack.
  size_t StackSize(uint64_t id) const;

  // One frame of stack `id`. Requires index < StackSize(id).
  StackFrame GetFrame(uint64_t id, size_t index) const;

  // The place of stack `id` among stack_count() ones, for tables beside this one; kNoStack for 0
  // and if there is no such stack.
  static constexpr uint32_t kNoStack = static_cast<uint32_t>(-1);
  uint32_t StackIndex(uint64_t id) const { return stacks_.Find(id); }

  size_t string_count() const { return strings_.size(); }
  size_t stack_count() const { return stacks_.size(); }

  // The wall-clock time at a tick of the clock, from the sync batch; nullopt before Go 1.25.
  const std::optional<ClockSnapshot>& clock_snapshot() const { return clock_snapshot_; }

  // In order of experiments, and for each in the order of the trace. The spans live as long as the
  // tables.
  std::vector<ExperimentalData> experimental_batches() const;

  // A different number for each object that this process creates: what caches may use as a key.
  uint64_t serial() const { return serial_; }

 protected:
  EventTables();
  ~EventTables() = default;

  // What a PC means. Every frame at the same PC means what the first one of the generation did.
  struct Frame {
    uint64_t pc;
    uint64_t func;  // String id.
    uint64_t file;  // String id.
    uint64_t line;
    uint64_t offset;  // Of its stack in the trace.
  };
  struct StackEntry {
    uint32_t first;  // Index in stack_frames_.
    uint32_t size;
  };
  static_assert(kNoStack == IdTable<StackEntry>::kAbsent);

  IdTable<absl::string_view> strings_;
  IdTable<StackEntry> stacks_;
  // There may be millions of these, which a vector would copy as it grows.
  std::deque<uint32_t> stack_frames_;  // Indices in frames_.
  std::deque<Frame> frames_;
  std::map<uint64_t, std::vector<ExperimentalBatch>> experimental_;
  std::optional<ClockSnapshot> clock_snapshot_;

 private:
  static constexpr absl::string_view kEmptyString = "";

  const uint64_t serial_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_EVENT_EVENT_TABLES_H_
