#include "validator/report.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "parser/reader.h"
#include "tracev2/quote.h"
#include "tracev2/version.h"
#include "validator/explain_fault.h"
#include "validator/foreign_input.h"
#include "validator/shown_source.h"
#include "validator/table_checks.h"
#include "validator/validator.h"

namespace gotrace {
namespace {

// How often ValidateOptions::on_progress is told.
constexpr uint64_t kEventsPerReport = 1 << 16;

// How far an event's time must go back, in nanoseconds. The runtime reads the clock before it finds
// that the batch is full, and begins the next one with a later time: a few microseconds are normal.
constexpr uint64_t kLeastTimeBack = 1'000'000;

// How far into an input the header of a trace is looked for, in bytes.
constexpr size_t kHeaderSearched = 4096;

// Judges one trace.
class Judge {
 public:
  Judge(const ValidateOptions& options, ValidationReport* report)
      : options_(options), report_(*report) {}

  void Run(std::unique_ptr<ByteSource> source) {
    auto shown = std::make_unique<ShownSource>(std::move(source));
    source_ = shown.get();
    const uint64_t input_size = source_->input_size();
    if (IsForeign()) return TellProgress(input_size, 0);
    const std::string begin(source_->window().substr(0, kHeaderSearched));
    ReaderOptions reader_options;
    reader_options.mode = ReadMode::kCollect;
    reader_options.limits = options_.limits;
    reader_options.jobs = options_.jobs;
    reader_options.jobs_from_bytes = options_.jobs_from_bytes;
    reader_options.on_fault = [this](const Fault& fault) {
      is_whole_ = false;
      Keep(fault);
    };
    if (options_.strictness == Strictness::kAll) {
      reader_options.on_time_back = [this](const Place& place, int64_t last_time) {
        AddTimeBack(place, last_time);
      };
      reader_options.on_generation_end = [this](const GenerationTables& tables) {
        FlushInnermost();
        table_checks_.EndGeneration(generation_.number, is_whole_, tables);
        is_whole_ = true;
      };
    }
    absl::StatusOr<Reader> reader = Reader::FromSource(std::move(shown), reader_options);
    if (!reader.ok()) {
      source_ = nullptr;  // It went with the attempt.
      Stop(reader.status());
      report_.foreign = ForeignBegin(reader.status(), begin);
      return TellProgress(input_size, 0);
    }
    ReadAll(&*reader);
  }

  // Takes what ended the reading: a fault or an error of I/O.
  void Stop(const absl::Status& status) {
    if (const std::optional<Fault> fault = FaultOf(status)) {
      Add(ToFinding(*fault));
    } else {
      report_.status = status;
    }
  }

 private:
  bool IsForeign() {
    // An error shows again when the reader meets it.
    const bool is_whole = source_->Fill(kHeaderSearched).ok();
    const absl::string_view begin = source_->window();
    std::optional<ForeignInput> foreign;
    if (is_whole || !begin.empty()) foreign = RecogniseInput(begin);
    if (!foreign.has_value()) return false;
    const bool may_hide_trace =
        foreign->check == CheckId::kInputHttp || foreign->check == CheckId::kInputText;
    if (!may_hide_trace || !HoldsHeader(begin)) report_.foreign = foreign->what;
    Add(ToFinding(*foreign, Place{0, {}, {}, {}, EventType::kNone, {}}));
    return true;
  }

  // Whether a trace's header, or what is left of one, stands somewhere near the beginning: then the
  // input is a trace behind something else, or a damaged one.
  static bool HoldsHeader(absl::string_view begin) {
    constexpr absl::string_view kHeaderEnd("trace\0\0\0", 8);
    return absl::StrContains(begin.substr(0, kHeaderSearched), kHeaderEnd);
  }

  // What an input is that begins with `begin` and whose header gave `status`, if it is no trace.
  static std::string ForeignBegin(const absl::Status& status, absl::string_view begin) {
    const std::optional<Fault> fault = FaultOf(status);
    if (!fault.has_value()) return "";
    // A header that is cut off is as much of a trace as there is.
    const bool is_foreign =
        fault->id == FaultId::kNotATrace ||
        (fault->id == FaultId::kHeaderTruncated && !absl::StartsWith("go 1.", begin.substr(0, 5)));
    if (!is_foreign || HoldsHeader(begin)) return "";
    return absl::StrCat("data that begins with ", Quoted(begin.substr(0, kHeaderSize)));
  }

  void ReadAll(Reader* reader) {
    report_.version = reader->version();
    ValidatorOptions options;
    options.version = reader->version();
    Validator validator(options, [this](Finding finding) {
      // That generations do not follow each other may be a fault already.
      const bool is_order =
          finding.check == CheckId::kGenerationMissing || finding.check == CheckId::kGenerationBack;
      if (is_order && finding.place.generation == misplaced_) return;
      finding.check == CheckId::kInnermostFrame ? FoldInnermost(std::move(finding))
                                                : Add(std::move(finding));
    });
    uint64_t end = 0;
    uint64_t reported = 0;
    for (absl::Span<const Event> block; !(block = reader->NextBlock()).empty();) {
      AddFaults(&block.front(), &validator);
      if (block.front().kind() == EventKind::kSync) {
        end = block.front().offset();
        BeginGeneration(reader->generation(), &validator);
      }
      validator.CheckAll(block);
      if (options_.strictness == Strictness::kAll) table_checks_.Take(block);
      if (validator.event_count() - reported >= kEventsPerReport) {
        reported = validator.event_count();
        TellProgress(reader->input_read(), reported);
      }
    }
    FlushInnermost();
    AddFaults(nullptr, &validator);
    CheckStopped(*reader, end);
    validator.Finish();
    if (!reader->status().ok()) Stop(reader->status());
    Count(*reader, std::max(end, reader->generation().end_offset));
    TellProgress(reader->input_read(), reader->event_count());
  }

  void TellProgress(uint64_t input_read, uint64_t events) {
    if (options_.on_progress) options_.on_progress(input_read, events);
  }

  // Takes the generation of a sync event, unless that is the last one, which has none.
  void BeginGeneration(const GenerationInfo& generation, Validator* validator) {
    if (generation.begin_offset == generation_.begin_offset) return;
    generation_ = generation;
    validator->BeginGeneration(generation.number);
    if (generation.damaged) validator->Lose();
  }

  void AddTimeBack(const Place& place, int64_t last_time) {
    const uint64_t back =
        static_cast<uint64_t>(last_time) - static_cast<uint64_t>(place.time.value_or(0));
    if (back < kLeastTimeBack) return;
    Finding finding;
    finding.check = CheckId::kThreadTime;
    finding.severity = SpecOf(finding.check).severity;
    finding.place = place;
    finding.message = absl::StrCat("expected a time not before ", last_time,
                                   " ns, when the thread's last event was, found ",
                                   place.time.value_or(0), " ns");
    Add(std::move(finding));
  }

  // Whether a generation was begun that has no events: what a program leaves that just ends.
  void CheckStopped(const Reader& reader, uint64_t end) {
    if (!reader.status().ok() || reader.losses().any() || !is_whole_) return;
    uint64_t tail = generation_.number == 0 ? kHeaderSize : generation_.end_offset;
    if (reader.version() >= Version::kGo126) {
      // Such a generation was not given. An end of generation is one byte.
      if (generation_.number != 0) ++tail;
      if (end <= tail) return;
    } else {
      if (generation_.number == 0 || generation_.has_event_batches) return;
      tail = generation_.begin_offset;
    }
    is_stopped_ = false;
    Finding finding;
    finding.check = CheckId::kNotStopped;
    finding.severity = SpecOf(finding.check).severity;
    finding.place.offset = tail;
    finding.message =
        "expected events in the generation that begins here, found the end of the trace: the "
        "program probably ended without calling trace.Stop";
    Add(std::move(finding));
  }

  // Keeps a fault until the event behind it is known, as there may be millions before it only so
  // many as will be told.
  void Keep(const Fault& fault) {
    const int check = static_cast<int>(CheckOf(fault.id));
    if (fault.id == FaultId::kGenerationOrder) misplaced_ = fault.place.generation;
    if (kept_[check] + report_.counts[check] < options_.max_per_check) {
      ++kept_[check];
      faults_.push_back(ToFinding(fault));
    } else if (!(fault.place.offset > second_trace_)) {
      ++beyond_[check];
      has_beyond_ = true;
    }
  }

  // Adds the faults that stood before `event`, or before the end.
  void AddFaults(const Event* event, Validator* validator) {
    if (faults_.empty() && !has_beyond_) return;
    for (Finding& finding : faults_) {
      if (event != nullptr && event->fault().has_value() &&
          CheckOf(*event->fault()) == finding.check && event->offset() == finding.place.offset) {
        finding.event_number = validator->event_count() + 1;
        finding.resource = Validator::AboutWhat(*event);
        finding.history = validator->HistoryOf(finding.resource);
      }
      Add(std::move(finding));
    }
    faults_.clear();
    CountBeyond();
    validator->Lose();
  }

  // Counts the faults of which there are too many to tell.
  void CountBeyond() {
    kept_ = {};
    if (!std::exchange(has_beyond_, false)) return;
    for (int check = 0; check < kCheckIdEnd; ++check) {
      const uint64_t count = std::exchange(beyond_[check], 0);
      report_.counts[check] += count;
      report_.errors += count;
    }
  }

  void Count(const Reader& reader, uint64_t bytes) {
    const Losses& losses = reader.losses();
    report_.events = reader.event_count() + losses.dropped_events;
    report_.good_events = reader.event_count() - losses.marked_events;
    report_.lost_events = losses.dropped_events;
    report_.bytes = bytes;
    const uint64_t bad = losses.skipped_bytes + losses.dropped_bytes;
    report_.good_bytes = bytes - std::min(bad, bytes);
  }

  Finding ToFinding(const Fault& fault) const { return ExplainFault(fault, source_); }

  static Finding ToFinding(const ForeignInput& foreign, const Place& place) {
    Finding finding;
    finding.check = foreign.check;
    finding.severity = SpecOf(finding.check).severity;
    finding.place = place;
    finding.message = foreign.message;
    return finding;
  }

  // Many stacks of some traces have such a frame: it is told once for a generation.
  void FoldInnermost(Finding finding) {
    if (innermost_count_++ == 0) innermost_ = std::move(finding);
  }

  void FlushInnermost() {
    if (innermost_count_ == 0) return;
    const uint64_t more = std::exchange(innermost_count_, 0) - 1;
    if (more > 0) {
      absl::StrAppend(&innermost_.message, "; so it is in ", more, " more ",
                      more == 1 ? "stack" : "stacks", " of the generation");
    }
    Add(std::move(innermost_));
  }

  void Add(Finding finding) {
    if (finding.check == CheckId::kNoGeneration && !is_stopped_) return;
    // What another trace holds is not held against this one.
    if (finding.place.offset > second_trace_) return;
    if (finding.check == CheckId::kSecondTrace) second_trace_ = *finding.place.offset;
    if (options_.strictness == Strictness::kGo && finding.severity != Severity::kError) return;
    if (TellsRemedy(finding.check)) {
      absl::StrAppend(&finding.message, ". ", SpecOf(finding.check).remedy);
    }
    uint64_t* const totals[] = {&report_.notes, &report_.warnings, &report_.errors};
    ++*totals[static_cast<int>(finding.severity)];
    if (report_.counts[static_cast<int>(finding.check)]++ >= options_.max_per_check) return;
    report_.findings.push_back(std::move(finding));
  }

  const ValidateOptions& options_;
  ValidationReport& report_;
  ShownSource* source_ = nullptr;  // The reader's once it reads; nullptr if there is none.
  std::vector<Finding> faults_;    // That the events given so far do not show yet.
  std::array<uint64_t, kCheckIdEnd> kept_ = {};    // How many of those there are of each check,
  std::array<uint64_t, kCheckIdEnd> beyond_ = {};  // and how many more that are only counted.
  bool has_beyond_ = false;                        // Whether there are any of the latter.
  TableChecks table_checks_{[this](Finding finding) { Add(std::move(finding)); }};
  GenerationInfo generation_;  // The one that the last event belongs to.
  uint64_t second_trace_ = std::numeric_limits<uint64_t>::max();  // Where it begins, if any does.
  std::optional<uint64_t> misplaced_;  // The last generation of a fault of order.
  bool is_whole_ = true;               // Whether the generation at hand has no fault so far.
  bool is_stopped_ = true;             // Whether CheckStopped() found nothing.
  Finding innermost_;                  // The generation's first of its kind.
  uint64_t innermost_count_ = 0;
};

}  // namespace

Verdict ValidationReport::verdict() const {
  if (!status.ok()) return Verdict::kUnjudged;
  return errors > 0 ? Verdict::kBroken : Verdict::kSound;
}

ValidationReport ValidateTrace(std::unique_ptr<ByteSource> source, const ValidateOptions& options) {
  ValidationReport report;
  Judge(options, &report).Run(std::move(source));
  return report;
}

ValidationReport ValidateFile(const std::string& path, const ValidateOptions& options) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenSource(path, options.limits);
  if (source.ok()) return ValidateTrace(*std::move(source), options);
  ValidationReport report;
  Judge(options, &report).Stop(source.status());
  return report;
}

std::string FormatVerdict(const ValidationReport& report) {
  switch (report.verdict()) {
    case Verdict::kBroken:
      return "broken";
    case Verdict::kUnjudged:
      return "cannot be read";
    case Verdict::kSound:
      break;
  }
  if (report.warnings == 0) return "sound";
  return absl::StrCat("sound with ", report.warnings,
                      report.warnings == 1 ? " warning" : " warnings");
}

}  // namespace gotrace
