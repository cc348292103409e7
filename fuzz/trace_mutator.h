// Mutates traces in ways in which a writer of traces could go wrong. The framing stays intact, so
// that the mutated events reach the scheduler model.
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

// Makes random changes. They depend only on the seed.
class TraceMutator {
 public:
  // Changes bytes in any way, within `max_size` bytes.
  using ByteMutator = absl::FunctionRef<void(std::string* bytes, size_t max_size)>;

  explicit TraceMutator(uint32_t seed) : random_(seed) {}

  // Returns `input` with one or a few changes, in at most `max_size` bytes. Input that is not a
  // trace, and now and then a trace too, is passed to `mutate_bytes`.
  std::string Mutate(absl::string_view input, size_t max_size, ByteMutator mutate_bytes);

  // Returns `first` with some batches of `second` inserted or in place of others, in at most
  // `max_size` bytes, or `first` if that is impossible.
  std::string Cross(absl::string_view first, absl::string_view second, size_t max_size);

 private:
  // Each makes one change, if the trace has anything to apply it to.
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

  // Returns a random number below `end`, which must not be 0.
  size_t Below(size_t end) { return random_() % end; }
  bool OneIn(size_t count) { return Below(count) == 0; }

  // Return a batch that has events, or an event of a batch, chosen at random; nullptr if there is
  // none.
  RawBatch* SomeBatch(RawTrace* trace);
  RawBatch* SomeBatchWithEvents(RawTrace* trace);
  uint64_t SomeGeneration(const RawTrace& trace);

  // Returns a value for an argument that is close to `old`, or to a value that the trace has for
  // arguments of this type.
  uint64_t SomeValue(const RawTrace& trace, ArgType type, uint64_t old);
  void FillArguments(const RawTrace& trace, OwnedEvent* event);

  std::minstd_rand random_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_FUZZ_TRACE_MUTATOR_H_
