#include "fuzz/event_check.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "fuzz/target.h"
#include "testing/json_value.h"
#include "testing/test_util.h"

namespace gotrace::internal {

EventCheck::EventCheck(ReadMode mode, uint64_t size, Forms forms)
    : mode_(mode), size_(size), forms_(forms), go_text_(absl::UTCTimeZone()) {
  for (size_t i = 0; i < chrome_views_.size(); ++i) {
    ChromeView& view = chrome_views_[i];
    ChromeOptions options;
    options.view = static_cast<ChromeOptions::View>(i);
    view.out = SinkToString(&view.json);
    view.exporter = std::make_unique<ChromeExporter>(view.out.get(), options);
  }
}

std::string EventCheck::Take(const Event& event, bool after_fault) {
  std::string description = Describe(event);
  FUZZ_CHECK(event.kind() != EventKind::kNone, description);
  FUZZ_CHECK(event.offset() <= size_, description);
  FUZZ_CHECK(mode_ != ReadMode::kStrict || !event.fault().has_value(), description);
  FUZZ_CHECK(event.transition_resource().id == event.state_transition().resource.id, description);
  CheckTime(event, after_fault);
  if (event.kind() == EventKind::kSync) {
    FUZZ_CHECK(event.sync().n == ++last_sync_, description);
  }
  if (event.kind() == EventKind::kStateTransition && mode_ == ReadMode::kStrict) CheckChain(event);
  if (forms_ == Forms::kAll) WriteInEveryForm(event);
  return description;
}

// After a fault, a generation may begin earlier than the last event. If salvage mode is at a stall,
// events keep their times.
void EventCheck::CheckTime(const Event& event, bool after_fault) {
  const bool is_sync = event.kind() == EventKind::kSync;
  const bool may_go_back =
      (mode_ != ReadMode::kStrict && is_sync) || (mode_ == ReadMode::kSalvage && after_fault);
  went_back_ |= is_sync && may_go_back && last_time_.has_value() && event.time() <= *last_time_;
  if (last_time_.has_value() && !may_go_back) {
    // The highest time wraps around.
    FUZZ_CHECK(event.time() > *last_time_ || *last_time_ == std::numeric_limits<int64_t>::max(),
               absl::StrCat(Describe(event), " after time ", *last_time_));
  }
  last_time_ = event.time();
}

void EventCheck::CheckChain(const Event& event) {
  const StateTransition change = event.state_transition();
  const bool is_proc = change.resource.kind == ResourceKind::kProc;
  const int from = is_proc ? static_cast<int>(change.proc_from) : static_cast<int>(change.go_from);
  const int to = is_proc ? static_cast<int>(change.proc_to) : static_cast<int>(change.go_to);
  constexpr int kNotExist = static_cast<int>(GoState::kNotExist);
  static_assert(kNotExist == static_cast<int>(ProcState::kNotExist));
  const auto [it, is_new] = resources_.try_emplace({change.resource.kind, change.resource.id});
  Resource& resource = it->second;
  if (is_new) {
    FUZZ_CHECK(from <= kNotExist, absl::StrCat(Describe(event), " is the first transition"));
  } else {
    resource.is_torn |= event.type() == EventType::kProcStatus &&
                        change.proc_to == ProcState::kRunning && event.thread() != resource.thread;
    FUZZ_CHECK(resource.is_torn || from == resource.state,
               absl::StrCat(Describe(event), " after state ", resource.state));
  }
  resource.state = to;
  resource.thread = event.thread();
  if (to == kNotExist) resources_.erase(it);
}

void EventCheck::WriteInEveryForm(const Event& event) {
  buffer_.clear();
  go_text_.Append(event, &buffer_);
  FUZZ_CHECK(!buffer_.view().empty() && buffer_.view().back() == '\n', buffer_.view());
  WriteAsJson(event, &json_);
  WriteAsJson(event, &json_with_stacks_);
  for (ChromeView& view : chrome_views_) view.exporter->Add(absl::MakeConstSpan(&event, 1));
}

void EventCheck::Finish() {
  if (forms_ != Forms::kAll) return;
  for (ChromeView& view : chrome_views_) {
    FUZZ_CHECK(view.exporter->Finish().ok() && view.out->Finish().ok(), "");
    absl::string_view json = view.json;
    FUZZ_CHECK(absl::ConsumeSuffix(&json, "\n"), json);
    const std::string error = CheckJson(json);
    FUZZ_CHECK(error.empty(), absl::StrCat(error, " in ", json));
  }
}

void EventCheck::WriteAsJson(const Event& event, JsonFormatter* formatter) {
  buffer_.clear();
  formatter->Append(event, &buffer_);
  absl::string_view line = buffer_.view();
  FUZZ_CHECK(absl::ConsumeSuffix(&line, "\n"), line);
  const std::string error = CheckJson(line);
  FUZZ_CHECK(error.empty(), absl::StrCat(error, " in ", line));
}

CheckedReading ReadAndCheck(absl::StatusOr<std::unique_ptr<ByteSource>> source, ReadMode mode,
                            uint64_t size, Forms forms, size_t exact_ties_threads, size_t jobs) {
  CheckedReading reading;
  const auto on_fault = [&](const Fault& fault) {
    CheckFault(fault, size);
    reading.faults.push_back(fault);
  };
  ReaderOptions options;
  options.mode = mode;
  options.tuning.exact_ties_threads = exact_ties_threads;
  options.jobs = jobs;
  options.decodes_ahead = true;
  options.tuning.jobs_from_bytes = 0;
  options.on_fault = on_fault;
  absl::StatusOr<Reader> reader =
      source.ok() ? Reader::FromSource(*std::move(source), options) : source.status();
  reading.status = reader.status();
  if (reader.ok()) {
    EventCheck check(mode, size, forms);
    GenerationInfo last;
    while (const Event* event = reader->Next()) {
      reading.events.push_back(check.Take(*event, !reading.faults.empty()));
      reading.syncs += event->kind() == EventKind::kSync ? 1 : 0;
      const GenerationInfo& info = reader->generation();
      const bool is_another = info.begin_offset != last.begin_offset && last.number != 0;
      reading.has_gap |= is_another && info.number != last.number + 1;
      last = info;
      FUZZ_CHECK(info.begin_offset <= info.end_offset && info.end_offset <= size,
                 absl::StrCat(info.begin_offset, " to ", info.end_offset, " of ", size));
    }
    check.Finish();
    reading.went_back = check.went_back();
    FUZZ_CHECK(reader->Next() == nullptr, "an event after the end");
    FUZZ_CHECK(reader->event_count() == reading.events.size(), "");
    reading.status = reader->status();
    reading.losses = reader->losses();
  }
  CheckStatus(reading.status, size);
  FUZZ_CHECK(reading.losses.faults == reading.faults.size(), "");
  FUZZ_CHECK(mode != ReadMode::kStrict || (reading.faults.empty() && !reading.losses.any()), "");
  return reading;
}

void CheckFault(const Fault& fault, uint64_t size) {
  const std::string text = FormatFault(fault);
  FUZZ_CHECK(fault.id < FaultId::kEnd && !fault.message.empty(), text);
  FUZZ_CHECK(fault.place.offset.value_or(0) <= size, text);
  FUZZ_CHECK(fault.place.batch_offset.value_or(0) <= size, text);
  for (const std::string& line : FormatContext(fault.context)) {
    FUZZ_CHECK(line.find('\n') == std::string::npos, line);
  }
  for (const std::string& line : fault.details) {
    FUZZ_CHECK(line.find('\n') == std::string::npos, line);
  }
  FUZZ_CHECK(text.find('\n') == std::string::npos, text);
}

void CheckStatus(const absl::Status& status, uint64_t size) {
  if (const std::optional<Fault> fault = FaultOf(status)) {
    CheckFault(*fault, size);
  } else {
    FUZZ_CHECK(status.ok(), status.ToString());
  }
}

void CheckSameEvents(const std::vector<std::string>& expected,
                     const std::vector<std::string>& found, absl::string_view what) {
  const size_t size = std::min(expected.size(), found.size());
  for (size_t i = 0; i < size; ++i) {
    FUZZ_CHECK(expected[i] == found[i], absl::StrCat(what, ": event ", i, ": expected\n",
                                                     expected[i], "\nfound\n", found[i]));
  }
  FUZZ_CHECK(expected.size() == found.size(),
             absl::StrCat(what, ": ", expected.size(), " and ", found.size(), " events"));
}

}  // namespace gotrace::internal
