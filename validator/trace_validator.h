// Validates a trace: the faults of reading it, the meaning of its events, and its tables. Included
// only by the validator's own files.
#ifndef GOTRACE_VALIDATOR_TRACE_VALIDATOR_H_
#define GOTRACE_VALIDATOR_TRACE_VALIDATOR_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader.h"
#include "gotrace/transport.h"
#include "gotrace/validate.h"
#include "parser/event/undivided_clock.h"
#include "parser/reader/read_segments.h"
#include "parser/reader/reader_access.h"
#include "validator/event_validator.h"
#include "validator/foreign_input.h"
#include "validator/retaining_source.h"
#include "validator/table_checks.h"

namespace gotrace::internal {

// The progress of validating the segments of a trace, for ValidateOptions::on_progress.
struct SegmentProgress {
  // The thread that may report progress.
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<uint64_t> bytes = 0;
  std::atomic<uint64_t> events = 0;
};

// Validates one trace, or a segment of it.
class TraceValidator final : public SegmentConsumer {
 public:
  // Validates a trace from its beginning. `options` and `report` must outlive this object.
  TraceValidator(const ValidateOptions& options, ValidationReport* report)
      : options_(options), report_(*report) {}

  // Validates a later segment, for Append(). `options` and `progress` must outlive this object.
  TraceValidator(const ValidateOptions& options, SegmentProgress* progress)
      : options_(options),
        own_report_(std::make_unique<ValidationReport>()),
        report_(*own_report_),
        progress_(progress),
        is_later_(true) {}

  TraceValidator(const TraceValidator&) = delete;
  TraceValidator& operator=(const TraceValidator&) = delete;

  // Validates all of `source`, which must be at its beginning, and reports damage in transport.
  void Run(std::unique_ptr<ByteSource> source);

  // Reports the fault or I/O error that ended the reading.
  void Stop(const absl::Status& status);

  ReaderOptions MakeOptions() override;
  ReaderHooks MakeHooks() override;
  std::unique_ptr<ByteSource> Wrap(std::unique_ptr<ByteSource> source) override;
  void Read(Reader& reader, absl::FunctionRef<bool()> stops) override;
  bool Append(SegmentConsumer& next) override;

 private:
  // Validates all of `source`, which is not damaged in transport, or undoes that damage.
  void RunUndone(std::unique_ptr<ByteSource> source);

  // Returns whether the source is not a trace at all. If so, reports it.
  bool IsForeign();

  std::unique_ptr<EventValidator> MakeValidator(Version version);

  // Validates all events that `reader` returns.
  void ReadAll(const SegmentPlan& plan, Reader* reader);

  // Reports the findings that are known after the last event, except for open spans.
  void EndEvents(const Reader& reader);

  void ReportProgress(uint64_t input_read, uint64_t events);

  // Starts the generation of a sync event. Not called for the last one, which has no generation.
  void BeginGeneration(const GenerationInfo& generation);

  void AddTimeBack(const Place& place, int64_t last_time);

  // Reports that the last generation has no events, which happens if a program ends without
  // stopping the trace.
  void CheckStopped(const Reader& reader);

  // Keeps a fault until the event after it is known. There may be millions before that event, so
  // only as many are kept as will be reported.
  void Keep(const Fault& fault);

  // Adds the faults that came before `event`, or before the end.
  void AddFaults(const Event* event);

  // Adds the number of faults beyond the maximum to report.
  void CountBeyond();

  // Reports how many goroutines are blocked when the trace ends.
  void CheckBlocked(const Reader& reader);

  // Adds the frequency of the generation that the last sync event began, and reports at the end
  // whether all have to be divided.
  void AddClock(const GenerationTables& tables);
  void CheckClock();

  // Keeps the strings of a generation that CheckBlocked() needs.
  void KeepReasons(const GenerationTables& tables);

  void Count(const Reader& reader);

  Finding ToFinding(const Fault& fault) const;
  static Finding ToFinding(const ForeignInput& foreign, const Place& place);
  static Finding ToFinding(const TransportNote& note);

  // Reports incomplete innermost frames once for each generation, because many stacks of some
  // traces have one.
  void FoldInnermost(Finding finding);
  void FlushInnermost();

  void Add(Finding finding);

  const ValidateOptions& options_;
  const std::unique_ptr<ValidationReport> own_report_;  // nullptr for the first segment.
  ValidationReport& report_;
  std::unique_ptr<EventValidator> validator_;  // nullptr before Read().
  SegmentProgress* progress_ = nullptr;        // nullptr unless several segments are read.
  const bool is_later_ = false;                // Whether this is not the first segment.
  uint64_t begin_offset_ = 0;                  // The offset of the first event.
  uint64_t last_offset_ = 0;                   // The offset of the last event so far.
  uint64_t counted_bytes_ = 0;         // The part of the segment that was added to *progress_.
  RetainingSource* source_ = nullptr;  // The reader's source; nullptr if there is none.
  std::vector<Finding> faults_;        // The faults that were kept, see Keep().
  std::array<uint64_t, kCheckIdEnd> kept_ = {};  // The number of kept faults of each check.
  // The number of further faults, which are only counted.
  std::array<uint64_t, kCheckIdEnd> beyond_ = {};
  bool has_beyond_ = false;  // Whether any faults are only counted.
  TableChecks table_checks_{[this](Finding finding) { Add(std::move(finding)); }};
  UndividedClock undivided_;
  std::optional<Place> clock_place_;  // The first frequency, and where it is.
  uint64_t frequency_ = 0;
  GenerationInfo generation_;  // The generation of the last event.
  uint64_t last_sync_ = 0;     // The offset of the last sync event, and its time.
  int64_t sync_time_ = 0;
  uint64_t reported_ = 0;  // The number of events at the last report of progress.
  // The last progress that was reported. Progress never goes back while a segment is read again.
  uint64_t reported_read_ = 0;
  uint64_t reported_events_ = 0;
  // The offset of a second trace, if there is one.
  uint64_t second_trace_ = std::numeric_limits<uint64_t>::max();
  std::optional<uint64_t> misplaced_;  // The last generation of a fault of order.
  bool is_whole_ = true;               // Whether the current generation has no fault so far.
  bool is_stopped_ = true;             // Whether CheckStopped() found nothing.
  // What goroutines wait for, indexed by the ids of the last generation's strings.
  std::array<std::string, std::tuple_size_v<WaitingGoroutines>> reasons_;
  Finding innermost_;  // The first such finding of the generation.
  uint64_t innermost_count_ = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_TRACE_VALIDATOR_H_
