// The tables of one generation: strings, stacks, CPU samples, the clock, experimental data.
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
  int64_t time = 0;  // In ticks; in nanoseconds after SortSamples().
  ThreadId thread;
  ProcId proc;
  GoId goroutine;
  uint64_t stack = 0;
  uint64_t offset = 0;  // The offset of its first byte in the trace.
};

// The tables of one generation, filled batch by batch. Strings and experimental data are views of
// the source.
class GenerationTables final : public EventTables {
 public:
  GenerationTables();

  // Add the contents of a batch of the respective kind. Faults: those of tables in faults.def.
  absl::Status AddStrings(const Batch& batch);
  absl::Status AddStacks(const Batch& batch);
  absl::Status AddCpuSamples(const Batch& batch);
  absl::Status AddSync(const Batch& batch, Version version);
  void AddExperimental(const Batch& batch);

  // Checks that the strings of every frame are in the table. Call it after adding all batches.
  // `generation` is the number of the generation, for the fault. Fault: stack-string.
  absl::Status CheckStacks(uint64_t generation) const;

  // Converts the samples' times to nanoseconds and sorts the samples by time; samples with equal
  // times stay in file order.
  void SortSamples();

  // Return the largest id such that all ids up to it are in the table. Tables of real traces may
  // have gaps: if two threads record the same stack at the same time, an id is wasted.
  uint64_t gapless_strings() const { return strings_.gapless(); }
  uint64_t gapless_stacks() const { return stacks_.gapless(); }

  // Returns the index of string `id`, less than string_count(), for other tables by string;
  // kNoString for 0 and if there is no such string.
  static constexpr uint32_t kNoString = static_cast<uint32_t>(-1);
  uint32_t StringIndex(uint64_t id) const { return strings_.Find(id); }

  // Returns the string at `index`. Requires index < string_count().
  absl::string_view StringAt(uint32_t index) const { return strings_[index]; }

  // Returns the offset in the trace of the string at `index`, or 0 if it was added as missing.
  // Requires index < string_count().
  uint64_t StringOffset(uint32_t index) const { return string_offsets_[index]; }

  // Returns the offset in the trace of the stack at `index`, or 0 if it was added as missing.
  // Requires index < stack_count().
  uint64_t StackOffset(uint32_t index) const { return stack_offsets_[index]; }

  // Sets `(*used)[StringIndex(id)]` for all strings to which frames of stacks refer. Requires that
  // `used` has string_count() elements.
  void MarkFrameStrings(std::vector<bool>* used) const;

  // Uses the clock of another generation, if this one's sync batch is lost. Requires that clock()
  // is not known.
  void BorrowClock(const TraceClock& clock) { clock_ = clock; }

  // Adds the string "?string#ID" for an id that is not in the table.
  void AddMissingString(uint64_t id);

  // Adds a stack with one frame in a function "?stack#ID" for an id that is not in the table.
  void AddMissingStack(uint64_t id);

  // Calls AddMissingString() for all strings to which frames refer and that are not in the table.
  // Returns their ids.
  std::vector<uint64_t> AddMissingFrameStrings();

  // The frequency of the trace clock.
  struct Frequency {
    uint64_t ticks_per_second;
    uint64_t offset;  // The offset of the event in the trace.
  };

  // Returns the frequency that an event of this generation gives; nullopt if there is no such
  // event.
  const std::optional<Frequency>& frequency() const { return frequency_; }

  // Returns the clock of the sync batch; not known until that was added.
  const TraceClock& clock() const { return clock_; }

  // Returns the samples, in file order; in order of time after SortSamples().
  const std::vector<CpuSample>& cpu_samples() const { return cpu_samples_; }

  // Returns whether there are no strings or no stacks at all. The runtime writes some of each when
  // a generation ends.
  bool LacksTables() const { return string_count() == 0 || stack_count() == 0; }

 private:
  // Hashes frames by their PCs, and PCs.
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

  absl::flat_hash_set<uint32_t, FrameHash, FrameEq> frame_by_pc_;  // Indices in frames_.
  std::vector<CpuSample> cpu_samples_;
  TraceClock clock_;
  std::optional<Frequency> frequency_;
  uint64_t snapshot_ticks_ = 0;
  uint64_t last_own_string_ = 0;  // The last id that AddMissingStack() gave a name; counts down.
  std::deque<std::string> made_strings_;  // The strings added for missing ones.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_GENERATION_GENERATION_TABLES_H_
