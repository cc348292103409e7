// What the events of one generation refer to: strings, stacks, the clock, experimental data.
#ifndef GOTRACE_PARSER_GENERATION_GENERATION_TABLES_H_
#define GOTRACE_PARSER_GENERATION_GENERATION_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gotrace/event.h"
#include "gotrace/version.h"
#include "parser/event/event_tables.h"
#include "parser/event/trace_clock.h"
#include "parser/framing/batch_reader.h"
#include "util/id_table.h"

namespace gotrace::internal {

// One sample of the CPU profiler.
struct CpuSample {
  int64_t time = 0;  // In nanoseconds, once SortSamples() was called; in ticks before.
  ThreadId thread;
  ProcId proc;
  GoId goroutine;
  uint64_t stack = 0;
  uint64_t offset = 0;  // Of its first byte in the trace.
};

// The tables of one generation, filled batch by batch. Strings and data are views of the source.
class GenerationTables final : public EventTables {
 public:
  GenerationTables();

  // Each adds what a batch of its kind() holds. Faults: those of tables in faults.def.
  absl::Status AddStrings(const Batch& batch);
  absl::Status AddStacks(const Batch& batch);
  absl::Status AddCpuSamples(const Batch& batch);
  absl::Status AddSync(const Batch& batch, Version version);
  void AddExperimental(const Batch& batch);

  // Checks that every frame's strings are there. Call it once all batches were added. `generation`
  // is its number. Fault: stack-string.
  absl::Status CheckStacks(uint64_t generation) const;

  // Converts the samples' times and puts them in order; equal times stay in the trace's order.
  void SortSamples();

  // Up to which id all strings, or stacks, are there. Those of real traces may have gaps: two
  // threads of the program that tell of the same stack at the same time waste an id.
  uint64_t gapless_strings() const { return strings_.gapless(); }
  uint64_t gapless_stacks() const { return stacks_.gapless(); }

  // The place of string `id` among string_count() ones, for tables beside this one; kNoString for 0
  // and if there is no such string.
  static constexpr uint32_t kNoString = static_cast<uint32_t>(-1);
  uint32_t StringIndex(uint64_t id) const { return strings_.Find(id); }

  // What stands at a place in the tables, and its first byte in the trace; the offset is 0 for what
  // was only added as missing. Require index < string_count() and < stack_count().
  absl::string_view StringAt(uint32_t index) const { return strings_[index]; }
  uint64_t StringOffset(uint32_t index) const { return string_offsets_[index]; }
  uint64_t StackOffset(uint32_t index) const { return stack_offsets_[index]; }

  // The ids of all strings and of all stacks, in ascending order. Each takes time in proportion to
  // them.
  std::vector<uint64_t> StringIds() const { return strings_.Ids(); }
  std::vector<uint64_t> StackIds() const { return stacks_.Ids(); }

  // A frame as it stands on the wire, with the ids of its strings.
  struct RawFrame {
    uint64_t pc = 0;
    uint64_t func = 0;
    uint64_t file = 0;
    uint64_t line = 0;
  };

  // One frame of stack `id`. Requires index < StackSize(id).
  RawFrame GetRawFrame(uint64_t id, size_t index) const;

  // Whether stack `id`, which must be there, was only added as missing.
  bool IsMissingStack(uint64_t id) const { return stack_offsets_[stacks_.Find(id)] == 0; }

  // Sets `(*used)[StringIndex(id)]` for all strings that frames of stacks name. Requires that
  // `used` has string_count() entries.
  void MarkFrameStrings(std::vector<bool>* used) const;

  // Takes the clock of another generation, where this one's sync batch is lost. Requires that
  // clock() is not known.
  void BorrowClock(const TraceClock& clock) { clock_ = clock; }

  // Add an entry for an id that is not there, so that what refers to it can be told: the string
  // "?string#ID", or a stack of one frame in a function "?stack#ID".
  void AddMissingString(uint64_t id);
  void AddMissingStack(uint64_t id);

  // Does AddMissingString() for all strings that frames name and no batch told. Returns their ids.
  std::vector<uint64_t> AddMissingFrameStrings();

  // The frequency of the trace clock in ticks per second, as an event of this generation tells it,
  // and the event's first byte in the trace; nullopt if none does.
  struct Frequency {
    uint64_t ticks_per_second;
    uint64_t offset;
  };
  const std::optional<Frequency>& frequency() const { return frequency_; }

  // The clock of the sync batch; unknown before that was added.
  const TraceClock& clock() const { return clock_; }

  // In order of time once SortSamples() was called; in that of the trace before.
  const std::vector<CpuSample>& cpu_samples() const { return cpu_samples_; }

  // Whether there are no strings or no stacks at all. The runtime writes some of each when a
  // generation ends.
  bool LacksTables() const { return string_count() == 0 || stack_count() == 0; }

 private:
  // Of frames by their PCs, and of PCs.
  struct FrameHash {
    using is_transparent = void;
    const std::deque<Frame>* frames;
    size_t operator()(uint64_t pc) const { return absl::Hash<uint64_t>()(pc); }
    size_t operator()(uint32_t index) const { return (*this)((*frames)[index].pc); }
  };
  struct FrameEq {
    using is_transparent = void;
    const std::deque<Frame>* frames;
    bool operator()(uint32_t index, uint64_t pc) const { return (*frames)[index].pc == pc; }
    bool operator()(uint32_t a, uint32_t b) const { return a == b; }
  };
  static_assert(kNoString == IdTable<absl::string_view>::kAbsent);

  class BatchCursor;
  absl::Status AddFrames(BatchCursor* cursor, uint64_t count, uint64_t offset);
  bool InsertString(uint64_t id, absl::string_view text, uint64_t offset);
  bool InsertStack(uint64_t id, StackEntry entry, uint64_t offset);
  absl::Status AddClockSnapshot(BatchCursor* cursor, uint64_t* ticks);

  std::vector<uint64_t> string_offsets_;                           // By index in strings_.
  std::vector<uint64_t> stack_offsets_;                            // By index in stacks_.
  absl::flat_hash_set<uint32_t, FrameHash, FrameEq> frame_by_pc_;  // Indices in frames_.
  std::vector<CpuSample> cpu_samples_;
  TraceClock clock_;
  std::optional<Frequency> frequency_;
  uint64_t snapshot_ticks_ = 0;
  uint64_t last_own_string_ = 0;  // The last id that AddMissingStack() gave a name; counts down.
  std::deque<std::string> made_strings_;  // That stand for missing ones.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_GENERATION_GENERATION_TABLES_H_
