// Changes traces as a trace's writer could have gone wrong, not as bytes: the framing stays whole,
// so that what comes of it reaches the model of the scheduler.
#ifndef GOTRACE_FUZZ_TRACE_MUTATOR_H_
#define GOTRACE_FUZZ_TRACE_MUTATOR_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "fuzz/raw_trace.h"

namespace gotrace::internal {

// Makes one change after the other. What it does depends on its seed only.
class TraceMutator {
 public:
  // Changes bytes in some way, to no more than `max_size` of them.
  using ByteMutator = absl::FunctionRef<void(std::string* bytes, size_t max_size)>;

  explicit TraceMutator(uint32_t seed) : random_(seed) {}

  // Returns `input` with one to a few changes, in at most `max_size` bytes. What is no trace, and
  // now and then a trace too, is left to `mutate_bytes`.
  std::string Mutate(absl::string_view input, size_t max_size, ByteMutator mutate_bytes);

  // Returns `first` with some batches of `second` in it, or in the place of others, in at most
  // `max_size` bytes; `first` if that cannot be.
  std::string Cross(absl::string_view first, absl::string_view second, size_t max_size);

 private:
  // Each makes one change, if the trace has what it is about.
  void Change(RawTrace* trace);
  void ChangeArgument(RawTrace* trace);
  void ChangeType(RawTrace* trace);
  void InsertEvent(RawTrace* trace);
  void DropEvents(RawTrace* trace);
  void CopyEvent(RawTrace* trace);
  void MoveEvent(RawTrace* trace);
  void SwapEvents(RawTrace* trace);
  void ChangeBatch(RawTrace* trace);
  void DropBatch(RawTrace* trace);
  void CopyBatch(RawTrace* trace);
  void SwapBatches(RawTrace* trace);
  void SplitBatch(RawTrace* trace);
  void DropGeneration(RawTrace* trace);
  void CopyGeneration(RawTrace* trace);
  void RenumberGeneration(RawTrace* trace);
  void ChangeVersion(RawTrace* trace);
  void ChangeData(RawTrace* trace);

  // A number below `end`, which must not be 0.
  size_t Below(size_t end) { return random_() % end; }
  bool OneIn(size_t count) { return Below(count) == 0; }

  // A batch that has events, one event of it; or nullptr.
  RawBatch* SomeBatch(RawTrace* trace);
  RawBatch* SomeBatchWithEvents(RawTrace* trace);
  uint64_t SomeGeneration(const RawTrace& trace);

  // A value for an argument that is like `old`, or like one that the trace has for such arguments.
  uint64_t SomeValue(const RawTrace& trace, ArgType type, uint64_t old);
  void FillArguments(const RawTrace& trace, OwnedEvent* event);

  std::minstd_rand random_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_FUZZ_TRACE_MUTATOR_H_
