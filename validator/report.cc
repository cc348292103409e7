#include "validator/report.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "parser/reader.h"
#include "validator/foreign_input.h"
#include "validator/shown_source.h"
#include "validator/validator.h"

namespace gotrace {
namespace {

// Judges one trace.
class Judge {
 public:
  Judge(const ValidateOptions& options, ValidationReport* report)
      : options_(options), report_(*report) {}

  void Run(std::unique_ptr<ByteSource> source) {
    auto shown = std::make_unique<ShownSource>(std::move(source));
    source_ = shown.get();
    if (IsForeign()) return;
    ReaderOptions reader_options;
    reader_options.mode = ReadMode::kCollect;
    reader_options.on_fault = [this](const Fault& fault) { faults_.push_back(ToFinding(fault)); };
    absl::StatusOr<Reader> reader = Reader::FromSource(std::move(shown), reader_options);
    if (!reader.ok()) {
      Stop(reader.status());
      return;
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
    const bool is_whole = source_->Fill(kRecognisedBytes).ok();
    const absl::string_view begin = source_->window();
    std::optional<ForeignInput> foreign;
    if (is_whole || !begin.empty()) foreign = RecogniseInput(begin);
    if (!foreign.has_value()) return false;
    report_.bytes = begin.size() < kRecognisedBytes ? begin.size() : source_->input_size();
    Add(ToFinding(*foreign, Place{0, {}, {}, {}, EventType::kNone, {}}));
    return true;
  }

  void ReadAll(Reader* reader) {
    report_.version = reader->version();
    ValidatorOptions options;
    options.version = reader->version();
    Validator validator(options, [this](Finding finding) { Add(std::move(finding)); });
    uint64_t generation = 0;
    uint64_t end = 0;
    while (const Event* event = reader->Next()) {
      AddFaults(event, &validator);
      if (event->kind() == EventKind::kSync) {
        end = event->offset();
        if (const uint64_t number = reader->generation().number; number != generation) {
          validator.BeginGeneration(generation = number);
          if (reader->generation().damaged) validator.Lose();
        }
      }
      validator.Check(*event);
    }
    AddFaults(nullptr, &validator);
    validator.Finish();
    if (!reader->status().ok()) Stop(reader->status());
    Count(*reader, std::max(end, reader->generation().end_offset));
  }

  // Adds the faults that stood before `event`, or before the end.
  void AddFaults(const Event* event, Validator* validator) {
    if (faults_.empty()) return;
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
    validator->Lose();
  }

  void Count(const Reader& reader, uint64_t bytes) {
    const Losses& losses = reader.losses();
    report_.events = reader.event_count() + losses.dropped_events;
    report_.good_events = reader.event_count() - losses.marked_events;
    report_.bytes = bytes;
    const uint64_t bad = losses.skipped_bytes + losses.dropped_bytes;
    report_.good_bytes = bytes - std::min(bad, bytes);
  }

  Finding ToFinding(const Fault& fault) const {
    const bool is_framing = fault.id == FaultId::kBatchType || fault.id == FaultId::kBatchSize ||
                            fault.id == FaultId::kBatchHeaderVarint ||
                            fault.id == FaultId::kBatchHeaderTruncated;
    if (is_framing && fault.place.offset.has_value()) {
      const std::optional<ForeignInput> foreign =
          RecogniseInTrace(source_->ShownAt(*fault.place.offset));
      if (foreign.has_value()) return ToFinding(*foreign, fault.place);
    }
    Finding finding;
    finding.check = CheckOf(fault.id);
    finding.severity = SpecOf(finding.check).severity;
    finding.place = fault.place;
    finding.message = fault.message;
    return finding;
  }

  static Finding ToFinding(const ForeignInput& foreign, const Place& place) {
    Finding finding;
    finding.check = foreign.check;
    finding.severity = SpecOf(finding.check).severity;
    finding.place = place;
    finding.message = absl::StrCat(foreign.message, ". ", SpecOf(finding.check).remedy);
    return finding;
  }

  void Add(Finding finding) {
    if (options_.strictness == Strictness::kGo && finding.severity != Severity::kError) return;
    uint64_t* const totals[] = {&report_.notes, &report_.warnings, &report_.errors};
    ++*totals[static_cast<int>(finding.severity)];
    if (report_.counts[static_cast<int>(finding.check)]++ >= options_.max_per_check) return;
    report_.findings.push_back(std::move(finding));
  }

  const ValidateOptions& options_;
  ValidationReport& report_;
  ShownSource* source_ = nullptr;  // The reader's once it reads.
  std::vector<Finding> faults_;    // That the events given so far do not show yet.
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
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenSource(path);
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
