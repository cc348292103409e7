#include "validator/trace_validator.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "gotrace/version.h"
#include "parser/source/stoppable_source.h"
#include "util/quote.h"
#include "validator/explain_fault.h"

namespace gotrace::internal {
namespace {

// The number of events between two calls of ValidateOptions::on_progress.
constexpr uint64_t kEventsPerReport = 1 << 16;

// The minimum time in nanoseconds by which an event must go back to be reported. The runtime reads
// the clock before it finds that the batch is full, and begins the next one with a later time, so a
// few microseconds are normal.
constexpr uint64_t kMinTimeBack = 1'000'000;

// How far into an input to search for the header of a trace, in bytes.
constexpr size_t kHeaderSearched = 4096;

// Whether there is a trace header, or a part of one, near the beginning. If so, the input is a
// trace that follows something else, or a damaged one.
bool HoldsHeader(absl::string_view begin) {
  constexpr absl::string_view kHeaderEnd("trace\0\0\0", 8);
  return absl::StrContains(begin.substr(0, kHeaderSearched), kHeaderEnd);
}

// Returns the kind of input that begins with `begin`, given that reading its header returned
// `status`; "" if it may be a trace.
std::string ForeignBegin(const absl::Status& status, absl::string_view begin) {
  const std::optional<Fault> fault = FaultOf(status);
  if (!fault.has_value()) return "";
  // If the header is cut off, the input may still be the beginning of a trace.
  const bool is_foreign =
      fault->id == FaultId::kNotATrace ||
      (fault->id == FaultId::kHeaderTruncated && !absl::StartsWith("go 1.", begin.substr(0, 5)));
  if (!is_foreign || HoldsHeader(begin)) return "";
  return absl::StrCat("data that begins with ", Quoted(begin.substr(0, kHeaderSize)));
}

// The same for a trace of the v1 format.
std::string V1Begin(const absl::Status& status, absl::string_view begin) {
  const std::optional<Fault> fault = FaultOf(status);
  if (!fault.has_value() || fault->id != FaultId::kV1Trace) return "";
  const uint32_t minor = ParseHeader(begin).minor;
  const V1Version* const version = FindV1Version(minor);
  if (version == nullptr) return absl::StrCat("a v1 trace of version 1.", minor);
  return absl::StrCat("a v1 trace, written by ", version->written_by);
}

}  // namespace

void TraceValidator::Run(std::unique_ptr<ByteSource> source) {
  const uint64_t input_size = source->input_size();
  source = StoppableSource::Wrap(std::move(source), options_.keep_going);
  absl::StatusOr<UndoneInput> input = UndoTransport(std::move(source), options_.limits);
  if (!input.ok()) {
    Stop(input.status());
    return ReportProgress(input_size, 0);
  }
  for (const TransportNote& note : input->notes) Add(ToFinding(note));
  RunUndone(std::move(input->source));
}

void TraceValidator::RunUndone(std::unique_ptr<ByteSource> source) {
  const uint64_t input_size = source->input_size();
  source = Wrap(std::move(source));
  if (IsForeign()) return ReportProgress(input_size, 0);
  const std::string begin(source_->window().substr(0, kHeaderSearched));
  SegmentPlan plan =
      PlanSegments(*source, options_.jobs, options_.tuning.jobs_from_bytes, options_.keep_going);
  // The validator gets the types of tasks from their beginnings.
  plan.finds_tasks = false;
  absl::StatusOr<Reader> reader =
      ReaderAccess::FromSource(std::move(source), MakeOptions(), MakeHooks());
  if (!reader.ok()) {
    source_ = nullptr;  // The first attempt destroyed it.
    Stop(reader.status());
    report_.foreign = ForeignBegin(reader.status(), begin);
    report_.v1 = V1Begin(reader.status(), begin);
    return ReportProgress(input_size, 0);
  }
  report_.version = reader->version();
  ReadAll(plan, &*reader);
}

std::unique_ptr<ByteSource> TraceValidator::Wrap(std::unique_ptr<ByteSource> source) {
  auto retaining = std::make_unique<RetainingSource>(std::move(source));
  source_ = retaining.get();
  return retaining;
}

ReaderOptions TraceValidator::MakeOptions() {
  ReaderOptions options;
  options.mode = ReadMode::kCollect;
  options.limits = options_.limits;
  options.keep_going = options_.keep_going;
  options.tuning = options_.tuning;
  options.on_fault = [this](const Fault& fault) {
    is_whole_ = false;
    Keep(fault);
  };
  if (options_.strictness == Strictness::kAll) {
    options.on_time_back = [this](const Place& place, int64_t last_time) {
      AddTimeBack(place, last_time);
    };
  }
  return options;
}

ReaderHooks TraceValidator::MakeHooks() {
  ReaderHooks hooks;
  if (options_.strictness == Strictness::kAll) {
    hooks.on_generation_end = [this](const GenerationTables& tables, const TableUse& use) {
      FlushInnermost();
      table_checks_.EndGeneration(generation_.number, tables, is_whole_ ? &use : nullptr);
      AddClock(tables);
      is_whole_ = true;
      KeepReasons(tables);
    };
  }
  return hooks;
}

void TraceValidator::Stop(const absl::Status& status) {
  if (const std::optional<Fault> fault = FaultOf(status)) {
    Add(ToFinding(*fault));
  } else {
    report_.status = status;
  }
}

bool TraceValidator::IsForeign() {
  // The reader will meet the same error again.
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

std::unique_ptr<EventValidator> TraceValidator::MakeValidator(Version version) {
  ValidatorOptions options;
  options.version = version;
  return std::make_unique<EventValidator>(options, [this](Finding finding) {
    // A jump between generations may already be reported as a fault.
    const bool is_order =
        finding.check == CheckId::kGenerationMissing || finding.check == CheckId::kGenerationBack;
    if (is_order && finding.place.generation == misplaced_) return;
    finding.check == CheckId::kInnermostFrame ? FoldInnermost(std::move(finding))
                                              : Add(std::move(finding));
  });
}

void TraceValidator::ReadAll(const SegmentPlan& plan, Reader* reader) {
  SegmentProgress progress;
  if (plan.segments.size() > 1) progress_ = &progress;
  ReadSegments(
      plan, [&] { return std::make_unique<TraceValidator>(options_, &progress); }, reader, this);
  progress_ = nullptr;
  EndEvents(*reader);
  validator_->Finish();
  if (!reader->status().ok()) Stop(reader->status());
  ReportProgress(reader->input_read(), validator_->event_count());
}

void TraceValidator::Read(Reader& reader, absl::FunctionRef<bool()> stops) {
  if (validator_ == nullptr) {
    validator_ = MakeValidator(reader.version());
    if (is_later_) validator_->StartInMiddle();
  } else {
    progress_ = nullptr;  // The segment is being read again.
  }
  const auto report = [&] {
    const uint64_t events =
        validator_->event_count() - std::exchange(reported_, validator_->event_count());
    if (progress_ == nullptr) return ReportProgress(reader.input_read(), reported_);
    const uint64_t bytes = last_offset_ - begin_offset_;
    progress_->events += events;
    progress_->bytes += bytes - std::exchange(counted_bytes_, bytes);
    if (std::this_thread::get_id() == progress_->caller) {
      ReportProgress(progress_->bytes, progress_->events);
    }
  };
  for (absl::Span<const Event> block; !(block = reader.NextBlock()).empty();) {
    AddFaults(&block.front());
    if (block.front().kind() == EventKind::kSync) {
      last_sync_ = block.front().offset();
      sync_time_ = block.front().time();
      BeginGeneration(reader.generation());
    }
    if (validator_->event_count() == 0 && is_later_) begin_offset_ = block.front().offset();
    validator_->CheckAll(block);
    last_offset_ = block.back().offset();
    if (validator_->event_count() - reported_ < kEventsPerReport) continue;
    report();
    if (stops() || (is_later_ && validator_->has_failed())) return;
  }
}

bool TraceValidator::Append(SegmentConsumer& consumer) {
  TraceValidator& next = static_cast<TraceValidator&>(consumer);
  const uint64_t events_before = validator_->event_count();
  if (!next.table_checks_.Follows(table_checks_) ||
      !validator_->Append(std::move(*next.validator_))) {
    return false;
  }
  std::array<uint64_t, kCheckIdEnd> counts = report_.counts;
  for (Finding& finding : next.report_.findings) {
    if (counts[static_cast<int>(finding.check)]++ >= options_.max_per_check) continue;
    if (finding.event_number != 0) finding.event_number += events_before;
    report_.findings.push_back(std::move(finding));
  }
  for (int check = 0; check < kCheckIdEnd; ++check) {
    report_.counts[check] += next.report_.counts[check];
  }
  report_.errors += next.report_.errors;
  report_.warnings += next.report_.warnings;
  report_.notes += next.report_.notes;
  table_checks_.Append(next.table_checks_);
  undivided_.Append(next.undivided_);
  source_ = next.source_;
  generation_ = next.generation_;
  last_sync_ = next.last_sync_;
  is_whole_ = next.is_whole_;
  reasons_ = std::move(next.reasons_);
  return true;
}

void TraceValidator::ReportProgress(uint64_t input_read, uint64_t events) {
  if (!options_.on_progress) return;
  reported_read_ = std::max(reported_read_, input_read);
  reported_events_ = std::max(reported_events_, events);
  options_.on_progress(reported_read_, reported_events_);
}

void TraceValidator::EndEvents(const Reader& reader) {
  FlushInnermost();
  AddFaults(nullptr);
  CheckStopped(reader);
  CheckClock();
  CheckBlocked(reader);
  Count(reader);
}

void TraceValidator::AddClock(const GenerationTables& tables) {
  if (!tables.frequency().has_value()) return;
  const auto [frequency, offset] = *tables.frequency();
  undivided_.AddGeneration(frequency, sync_time_);
  if (clock_place_.has_value()) return;
  clock_place_.emplace();
  clock_place_->offset = offset;
  clock_place_->generation = generation_.number;
  frequency_ = frequency;
}

void TraceValidator::CheckClock() {
  if (report_.version != Version::kGo122 || !undivided_.IsFound()) return;
  Finding finding;
  finding.check = CheckId::kFrequencyUndivided;
  finding.severity = SpecOf(finding.check).severity;
  finding.place = *clock_place_;
  finding.message = absl::StrCat(
      "expected about ", frequency_ / UndividedClock::kDivisor,
      " ticks of the trace clock per second, since generations last a second, found ", frequency_);
  Add(std::move(finding));
}

void TraceValidator::KeepReasons(const GenerationTables& tables) {
  // The last place is for all higher ids.
  for (size_t id = 1; id + 1 < reasons_.size(); ++id) {
    const absl::string_view* const text = tables.FindString(id);
    reasons_[id].clear();
    if (text != nullptr) reasons_[id].append(text->data(), text->size());
  }
}

void TraceValidator::CheckBlocked(const Reader& reader) {
  // After a fault the model of the goroutines is unreliable.
  if (options_.strictness == Strictness::kGo || !reader.status().ok() ||
      reader.losses().faults > 0) {
    return;
  }
  const WaitingGoroutines waiting = ReaderAccess::CountWaiting(reader);
  std::map<std::string, uint64_t> by_reason;
  uint64_t others = waiting.front() + waiting.back();
  uint64_t total = others;
  for (size_t id = 1; id + 1 < waiting.size(); ++id) {
    total += waiting[id];
    if (waiting[id] == 0) continue;
    reasons_[id].empty() ? others += waiting[id] : by_reason[reasons_[id]] += waiting[id];
  }
  if (total == 0) return;
  std::vector<std::pair<uint64_t, std::string>> parts;
  for (const auto& [reason, count] : by_reason) parts.push_back({count, reason});
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string list = absl::StrJoin(parts, ", ", [](std::string* out, const auto& part) {
    absl::StrAppend(out, part.first, " in ", Quoted(part.second));
  });
  if (others > 0) {
    absl::StrAppend(&list, list.empty() ? "" : ", ", others,
                    " for reasons not given in the last generation");
  }
  Finding finding;
  finding.check = CheckId::kGoroutinesBlocked;
  finding.severity = SpecOf(finding.check).severity;
  finding.place.offset = last_sync_;
  finding.message = absl::StrCat("found ", total, total == 1 ? " goroutine" : " goroutines",
                                 " blocked at the end of the trace: ", list);
  Add(std::move(finding));
}

void TraceValidator::BeginGeneration(const GenerationInfo& generation) {
  if (generation.begin_offset == generation_.begin_offset) return;
  generation_ = generation;
  validator_->BeginGeneration(generation.number);
  if (generation.damaged) validator_->NoteLoss();
}

void TraceValidator::AddTimeBack(const Place& place, int64_t last_time) {
  const uint64_t back =
      static_cast<uint64_t>(last_time) - static_cast<uint64_t>(place.time.value_or(0));
  if (back < kMinTimeBack) return;
  Finding finding;
  finding.check = CheckId::kThreadTime;
  finding.severity = SpecOf(finding.check).severity;
  finding.place = place;
  finding.message = absl::StrCat("expected a time not before ", last_time,
                                 " ns, the time of the thread's last event, found ",
                                 place.time.value_or(0), " ns");
  Add(std::move(finding));
}

void TraceValidator::CheckStopped(const Reader& reader) {
  if (!reader.status().ok() || reader.losses().any() || !is_whole_) return;
  uint64_t tail = generation_.number == 0 ? kHeaderSize : generation_.end_offset;
  if (reader.version() >= Version::kGo126) {
    // Such a generation was not returned. An end of generation is one byte.
    if (generation_.number != 0) ++tail;
    if (last_sync_ <= tail) return;
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

void TraceValidator::Keep(const Fault& fault) {
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

void TraceValidator::AddFaults(const Event* event) {
  if (faults_.empty() && !has_beyond_) return;
  for (Finding& finding : faults_) {
    if (event != nullptr && event->fault().has_value() &&
        CheckOf(*event->fault()) == finding.check && event->offset() == finding.place.offset) {
      finding.event_number = validator_->event_count() + 1;
      finding.resource = EventValidator::AboutWhat(*event);
      finding.history = validator_->HistoryOf(finding.resource);
    }
    Add(std::move(finding));
  }
  faults_.clear();
  CountBeyond();
  validator_->NoteLoss();
}

void TraceValidator::CountBeyond() {
  kept_ = {};
  if (!std::exchange(has_beyond_, false)) return;
  for (int check = 0; check < kCheckIdEnd; ++check) {
    const uint64_t count = std::exchange(beyond_[check], 0);
    report_.counts[check] += count;
    report_.errors += count;
  }
}

void TraceValidator::Count(const Reader& reader) {
  const uint64_t bytes = std::max(last_sync_, reader.generation().end_offset);
  const Losses& losses = reader.losses();
  report_.events = reader.event_count() + losses.dropped_events;
  report_.good_events = reader.event_count() - losses.marked_events;
  report_.lost_events = losses.dropped_events;
  report_.bytes = bytes;
  const uint64_t bad = losses.skipped_bytes + losses.dropped_bytes + losses.text_bytes;
  report_.good_bytes = bytes - std::min(bad, bytes);
}

Finding TraceValidator::ToFinding(const Fault& fault) const { return ExplainFault(fault, source_); }

Finding TraceValidator::ToFinding(const ForeignInput& foreign, const Place& place) {
  Finding finding;
  finding.check = foreign.check;
  finding.severity = SpecOf(finding.check).severity;
  finding.place = place;
  finding.message = foreign.message;
  return finding;
}

Finding TraceValidator::ToFinding(const TransportNote& note) {
  Finding finding;
  finding.check = CheckOf(note.kind);
  finding.severity = SpecOf(finding.check).severity;
  finding.place.offset = 0;
  finding.message =
      absl::StrCat(DescribeTransport(note), "; all offsets are in the restored trace");
  return finding;
}

void TraceValidator::FoldInnermost(Finding finding) {
  if (innermost_count_++ == 0) innermost_ = std::move(finding);
}

void TraceValidator::FlushInnermost() {
  if (innermost_count_ == 0) return;
  const uint64_t more = std::exchange(innermost_count_, 0) - 1;
  if (more > 0) {
    absl::StrAppend(&innermost_.message, "; the same in ", more, " more ",
                    more == 1 ? "stack" : "stacks", " of the generation");
  }
  Add(std::move(innermost_));
}

void TraceValidator::Add(Finding finding) {
  if (finding.check == CheckId::kNoGeneration && !is_stopped_) return;
  // Findings in another trace do not count for this one.
  if (finding.place.offset > second_trace_) return;
  if (finding.check == CheckId::kSecondTrace) second_trace_ = *finding.place.offset;
  if (options_.strictness == Strictness::kGo && finding.severity != Severity::kError) return;
  if (ShowsRemedy(finding.check)) {
    absl::StrAppend(&finding.message, ". ", SpecOf(finding.check).remedy);
  }
  uint64_t* const totals[] = {&report_.notes, &report_.warnings, &report_.errors};
  ++*totals[static_cast<int>(finding.severity)];
  if (report_.counts[static_cast<int>(finding.check)]++ >= options_.max_per_check) return;
  report_.findings.push_back(std::move(finding));
}

}  // namespace gotrace::internal
