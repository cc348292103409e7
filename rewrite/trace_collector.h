// Reads a damaged trace for its repair: collects each generation, and what is wrong with it.
#ifndef GOTRACE_REWRITE_TRACE_COLLECTOR_H_
#define GOTRACE_REWRITE_TRACE_COLLECTOR_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "gotrace/byte_source.h"
#include "gotrace/fault.h"
#include "gotrace/reader.h"
#include "gotrace/reader_limits.h"
#include "gotrace/repair.h"
#include "parser/framing/batch_reader.h"
#include "parser/generation/generation_tables.h"
#include "rewrite/writer_event.h"

namespace gotrace::internal {

// A generation as it was read, in ReadMode::kSalvage.
struct CollectedGeneration {
  const GenerationInfo* info = nullptr;
  const GenerationTables* tables = nullptr;
  std::vector<Batch> batches;
  std::vector<WriterEvent> events;
  uint64_t events_read = 0;  // Events that the Reader returned, including CPU samples.

  std::optional<Fault> first_fault;
  bool sound_batches = true;  // Whether all batches are complete, and their tables sound.
  bool sound_events = true;   // Whether no fault is about its events.

  // What is lost in it: see Losses.
  uint64_t dropped_events = 0;
  uint64_t marked_events = 0;
  uint64_t unresolved = 0;

  // Whether there was no fault so far, in it or earlier.
  bool flawless_so_far = true;
  // Whether anything may be lost so far, so that the program may not have done wrong.
  bool lost_so_far = false;

  // Returns whether Go's reader accepts the batches of the generation, apart from anything that
  // depends on previous generations.
  bool IsSound(Version version) const;
};

// Reads one trace.
class TraceCollector {
 public:
  // Stores in `*plan`, which must outlive the collector, what is about the whole trace: its version
  // and where its header is, text, bytes outside batches, what is lost, and where it is cut off.
  explicit TraceCollector(RepairPlan* plan) : plan_(*plan) {}
  TraceCollector(const TraceCollector&) = delete;
  TraceCollector& operator=(const TraceCollector&) = delete;

  // Finds the header and reads it. `source` must outlive the collector.
  absl::Status Open(ByteSource* source, const ReaderLimits& limits);

  // Calls `on_generation` with each generation. Its info, tables and batches are valid during the
  // call. Returns an error if the source has one, or if a limit is exceeded: data beyond a limit
  // cannot be kept, and must not be dropped without the caller's consent. Call it after Open().
  absl::Status ReadAll(std::function<void(CollectedGeneration)> on_generation);

  // Returns whether no region ends while another region is open inside it.
  bool regions_nest() const { return regions_nest_; }

  // Returns the offset of another trace after this one, if any. Call it after ReadAll().
  std::optional<uint64_t> next_trace() const { return reader_->next_trace(); }

 private:
  void GoToHeader(ByteSource* source);
  void Note(const Fault& fault);
  void EndGeneration(const GenerationTables& tables);

  RepairPlan& plan_;
  std::function<void(CollectedGeneration)> on_generation_;
  std::optional<Reader> reader_;
  std::optional<Fault> passed_limit_;
  bool regions_nest_ = true;
  bool lost_ = false;
  Losses losses_before_;  // Of the generations before.

  // The generation being read.
  CollectedGeneration generation_;
  WriterEventCollector events_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_TRACE_COLLECTOR_H_
