// Validates a trace: what reading it finds, what its events mean, and what its tables hold. For the
// validator's own files only.
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
#include "parser/reader/read_segments.h"
#include "validator/event_validator.h"
#include "validator/foreign_input.h"
#include "validator/retaining_source.h"
#include "validator/table_checks.h"

namespace gotrace::internal {

// How far the segments of a trace were validated, for ValidateOptions::on_progress.
struct SegmentProgress {
  const std::thread::id caller = std::this_thread::get_id();  // The thread that may report it.
  std::atomic<uint64_t> bytes = 0;
  std::atomic<uint64_t> events = 0;
};

// Validates one trace, or a segment of it.
class TraceValidator final : public SegmentConsumer {
 public:
  // Validates a trace from its beginning on. Both must outlive it.
  TraceValidator(const ValidateOptions& options, ValidationReport* report)
      : options_(options), report_(*report) {}

  // Validates a later segment, for Append(). Both must outlive it.
  TraceValidator(const ValidateOptions& options, SegmentProgress* progress)
      : options_(options),
        own_report_(std::make_unique<ValidationReport>()),
        report_(*own_report_),
        progress_(progress),
        is_later_(true) {}

  TraceValidator(const TraceValidator&) = delete;
  TraceValidator& operator=(const TraceValidator&) = delete;

  // Validates all of `source`, which must be positioned at its beginning, and reports what happened
  // to it in transport.
  void Run(std::unique_ptr<ByteSource> source);

  // Reports what ended the reading: a fault or an error of I/O.
  void Stop(const absl::Status& status);

  ReaderOptions MakeOptions() override;
  std::unique_ptr<ByteSource> Wrap(std::unique_ptr<ByteSource> source) override;
  void Read(Reader& reader, absl::FunctionRef<bool()> stops) override;
  bool Append(SegmentConsumer& next) override;

 private:
  // Validates all of `source`, to which nothing happened in transport, or which undoes that.
  void RunUndone(std::unique_ptr<ByteSource> source);

  // Whether the source is not a trace at all, which is then reported.
  bool IsForeign();

  std::unique_ptr<EventValidator> MakeValidator(Version version);

  // Validates all that `reader` returns. `whole` and `index` are nullptr for a single segment.
  void ReadAll(Reader* reader, const ByteSource* whole, const TraceIndex* index,
               absl::Span<const Segment> segments);

  // Reports what is known after the last event, except for what is still open.
  void EndEvents(const Reader& reader);

  void ReportProgress(uint64_t input_read, uint64_t events);

  // Starts the generation of a sync event, unless that is the last one, which has none.
  void BeginGeneration(const GenerationInfo& generation);

  void AddTimeBack(const Place& place, int64_t last_time);

  // Reports a last generation without events: a program leaves one if it ends without stopping the
  // trace.
  void CheckStopped(const Reader& reader);

  // Keeps a fault until the event after it is known. There may be millions before it: only as many
  // are kept as will be reported.
  void Keep(const Fault& fault);

  // Adds the faults that came before `event`, or before the end.
  void AddFaults(const Event* event);

  // Counts the faults of which there are too many to report.
  void CountBeyond();

  // Reports how many goroutines are blocked when the trace ends.
  void CheckBlocked(const Reader& reader);

  // Keeps what CheckBlocked() needs of a generation's strings.
  void KeepReasons(const GenerationTables& tables);

  void Count(const Reader& reader);

  Finding ToFinding(const Fault& fault) const;
  static Finding ToFinding(const ForeignInput& foreign, const Place& place);
  static Finding ToFinding(const TransportNote& note);

  // In some traces many stacks have such a frame: it is reported once for each generation.
  void FoldInnermost(Finding finding);
  void FlushInnermost();

  void Add(Finding finding);

  const ValidateOptions& options_;
  const std::unique_ptr<ValidationReport> own_report_;  // nullptr for the first segment.
  ValidationReport& report_;
  std::unique_ptr<EventValidator> validator_;      // nullptr before Read().
  SegmentProgress* progress_ = nullptr;            // nullptr unless several segments are read.
  const bool is_later_ = false;                    // Whether this is not the first segment.
  uint64_t begin_offset_ = 0;                      // Of its first event,
  uint64_t last_offset_ = 0;                       // and of the last one so far.
  uint64_t counted_bytes_ = 0;                     // In *progress_.
  RetainingSource* source_ = nullptr;              // The reader's; nullptr if there is none.
  std::vector<Finding> faults_;                    // That were kept: see Keep().
  std::array<uint64_t, kCheckIdEnd> kept_ = {};    // How many of those there are of each check,
  std::array<uint64_t, kCheckIdEnd> beyond_ = {};  // and how many more that are only counted.
  bool has_beyond_ = false;                        // Whether there are any of the latter.
  TableChecks table_checks_{[this](Finding finding) { Add(std::move(finding)); }};
  GenerationInfo generation_;  // The one that the last event belongs to.
  uint64_t last_sync_ = 0;     // The offset of the last sync event.
  uint64_t reported_ = 0;      // How many events there were when progress was reported last.
  // What was reported: where a segment is read again, progress waits there.
  uint64_t reported_read_ = 0;
  uint64_t reported_events_ = 0;
  uint64_t second_trace_ = std::numeric_limits<uint64_t>::max();  // Where it begins, if any does.
  std::optional<uint64_t> misplaced_;  // The last generation of a fault of order.
  bool is_whole_ = true;               // Whether the generation at hand has no fault so far.
  bool is_stopped_ = true;             // Whether CheckStopped() found nothing.
  // What goroutines wait for, by the ids of the last generation's strings.
  std::array<std::string, std::tuple_size_v<WaitingGoroutines>> reasons_;
  Finding innermost_;  // The generation's first of its kind.
  uint64_t innermost_count_ = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_TRACE_VALIDATOR_H_
