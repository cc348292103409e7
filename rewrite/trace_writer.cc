#include "rewrite/trace_writer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_spec.h"
#include "parser/event/event_access.h"
#include "rewrite/event_encoder.h"
#include "rewrite/prologue.h"

namespace gotrace::internal {
namespace {

// Lets the events of the garbage collector after two prologues, both of which may state that a
// cycle is active, have the numbers that they had.
void KeepGcNumbers(Prologue* first, Prologue* second) {
  const auto states_gc = [](const WriterEvent& event) {
    return event.type == EventType::kGCActive;
  };
  if (std::none_of(second->events.begin(), second->events.end(), states_gc)) return;
  for (Prologue* const prologue : {first, second}) {
    for (WriterEvent& event : prologue->events) {
      if (states_gc(event) && event.args[0] > 0) --event.args[0];
    }
  }
}

// A stop of the world that is open where a trace begins, to begin it in the second generation.
struct OpenStop {
  // How many events AppendTo() appends, and GenerationWriter adds for them, at most.
  static constexpr int64_t kMaxLength = 5;

  WriterEvent begin;
  std::string reason;
  // How its goroutine stops after that; kNone if it continues to run.
  EventType leaves = EventType::kNone;

  void AppendTo(JoinedTables* tables, std::vector<WriterEvent>* events) const {
    WriterEvent event = begin;
    event.args[0] = tables->AddString(reason);
    events->push_back(event);
    if (leaves == EventType::kNone) return;
    for (const EventType type : {leaves, EventType::kProcStop}) {
      event.type = type;
      event.args[0] = 0;
      events->push_back(event);
      event.goroutine = GoId::kNone;
    }
  }
};

// Takes the stops of the world that `prologue` begins out of it. A goroutine that does not run
// begins one on a P that is idle.
std::vector<OpenStop> TakeStops(const ProgramModel& model, const JoinedTables& tables,
                                Prologue* prologue) {
  std::vector<OpenStop> stops;
  std::erase_if(prologue->events, [&](const WriterEvent& event) {
    if (event.type != EventType::kSTWBegin) return false;
    OpenStop stop{event, std::string(*tables.FindString(event.args[0]))};
    if (event.thread == GenerationWriter::kHelper) {
      const bool waits = model.FindGoroutine(event.goroutine)->status == GoStatus::kWaiting;
      stop.leaves = waits ? EventType::kGoBlock : EventType::kGoStop;
      if (!model.idle_procs().contains(event.proc)) return true;
    }
    stops.push_back(std::move(stop));
    return true;
  });
  return stops;
}

}  // namespace

TraceWriterImpl::TraceWriterImpl(const TraceWriterOptions& options, ByteSink* out)
    : options_(options),
      out_(out),
      clocks_(options.version),
      writer_(std::make_unique<GenerationWriter>(options.version)) {
  out_->Append(MakeHeader(options.version));
}

bool TraceWriterImpl::WantsMore() const { return status_.ok() && out_->ok(); }

void TraceWriterImpl::Add(absl::Span<const Event> events) {
  for (const Event& event : events) {
    if (!WantsMore()) return;
    ++given_;
    if (!CheckTime(event)) return;
    if (keeps_past_) past_->Add(event);
    Take(event);
  }
}

void TraceWriterImpl::Follow(const Event& event) {
  if (past_ == nullptr) past_ = std::make_unique<PastEvents>();
  follows_ = true;
  past_->Add(event);
  Take(event);
}

void TraceWriterImpl::FollowEarlier(const EarlierSpans& spans) {
  if (past_ == nullptr) past_ = std::make_unique<PastEvents>();
  past_->AddEarlier(spans);
}

void TraceWriterImpl::Take(const Event& event) {
  if (event.kind() == EventKind::kSync) {
    EndGeneration();
    has_prologue_ = false;
    return BeginGeneration(event);
  }
  if (generation_ == nullptr) {
    generation_ = std::make_unique<Collected>(replacer_);
    generation_->begin = event.time();
    generation_->first_event = given_ - 1;
  } else if (options_.max_events > 0 && events_.size() >= options_.max_events) {
    BeginGenerationBefore(event);
  }
  AddEvent(event);
}

// Returns false for an error.
bool TraceWriterImpl::CheckTime(const Event& event) {
  if (options_.lenient) return true;
  const int64_t time = event.time();
  if (time < 0 || time > EventEncoder::kMaxTime) {
    Fail(absl::StrCat("event ", given_, " has the time ", time,
                      " ns, but times must be from 0 to 2^62 ns"));
    return false;
  }
  if (last_time_.has_value() && time < *last_time_) {
    Fail(absl::StrCat("event ", given_, " is at ", time, " ns, before the previous event, at ",
                      *last_time_, " ns"));
    return false;
  }
  last_time_ = time;
  return true;
}

absl::Status TraceWriterImpl::Finish() {
  if (WantsMore() && !follows_) EndGeneration();
  if (WantsMore() && written_.generations == 0 && options_.version < Version::kGo126) {
    Fail("there is no generation to write");
  }
  return status_.ok() ? out_->status() : status_;
}

void TraceWriterImpl::BeginGeneration(const Event& sync) {
  generation_ = std::make_unique<Collected>(replacer_);
  generation_->begin = sync.time();
  generation_->first_event = given_;
  // The last kSync event of a trace begins nothing.
  generation_->is_stated = EventAccess::Tables(sync) != nullptr;
  const EventTables& tables = TablesOf(sync);
  generation_->clock_snapshot = tables.clock_snapshot();
  if (replacer_ != nullptr) {
    if (generation_->clock_snapshot.has_value()) replacer_->Replace(&*generation_->clock_snapshot);
    return;
  }
  generation_->experimental_batches = ExperimentalBatches(tables);
  for (WriterBatch& batch : generation_->experimental_batches) {
    batch.data = generation_->experimental_data.emplace_back(batch.data);
  }
}

// Begins a generation because the one before is large, unless that is not yet large enough for the
// statuses of everything, or is the first one and may state further goroutines later.
void TraceWriterImpl::BeginGenerationBefore(const Event& event) {
  const bool is_first = written_.generations == 0;
  const size_t exist = writer_->model().size();
  if ((is_first && first_states_) || events_.size() < 4 * exist) return;
  // The end of a stop of the world refers to the reason in its own generation.
  if (events_.Continues(event) || stops_ > 0) return;
  EndGeneration();
  Prologue prologue = MakeGenerationPrologue(writer_->model());
  generation_ = std::make_unique<Collected>(replacer_);
  generation_->first_event = given_ - 1;
  generation_->begin = event.time();
  generation_->is_stated = true;
  prologue.BeginAt(event.time());
  generation_->prologue = std::move(prologue.events);
}

void TraceWriterImpl::BeginAt(int64_t time, bool states_again) {
  if (!follows_) return;
  BeginTrace(time, states_again, [&] { follows_ = false; });
}

void TraceWriterImpl::KeepPast() {
  past_ = std::make_unique<PastEvents>();
  keeps_past_ = true;
}

WrittenTrace TraceWriterImpl::NextTrace(int64_t time, bool states_again, ByteSink* out) {
  WrittenTrace ended;
  last_until_ = time - 1;
  BeginTrace(time, states_again, [&] {
    ended = std::exchange(written_, {});
    last_until_.reset();
    out_ = out;
    out_->Append(MakeHeader(options_.version));
  });
  return ended;
}

// Ends the generation, calls `then`, and begins a trace with what exists.
void TraceWriterImpl::BeginTrace(int64_t time, bool states_again, absl::FunctionRef<void()> then) {
  std::vector<WriterBatch> batches;
  std::deque<std::string> data;
  if (generation_ != nullptr) {
    batches = std::move(generation_->experimental_batches);
    data = std::move(generation_->experimental_data);
  }
  for (WriterEvent status : past_->EarlierStatuses()) {
    status.time = time;
    events_.Append(status);
  }
  EndGeneration();
  then();
  generation_ = std::make_unique<Collected>(replacer_);
  Prologue prologue =
      MakeTracePrologue(writer_->model(), *past_, options_.version, &generation_->tables);
  Prologue again;
  // The end of a stop of the world refers to the reason in its own generation.
  std::vector<OpenStop> stops;
  if (states_again) {
    again = MakeGenerationPrologue(writer_->model());
    KeepGcNumbers(&prologue, &again);
    stops = TakeStops(writer_->model(), generation_->tables, &prologue);
    again.length += static_cast<int64_t>(stops.size()) * OpenStop::kMaxLength;
  }
  writer_ = std::make_unique<GenerationWriter>(options_.version);
  has_prologue_ = true;
  int64_t begin = std::max<int64_t>(0, time - prologue.length - again.length - 2);
  prologue.BeginAt(begin);
  const bool is_empty = prologue.events.empty();
  generation_->begin = begin;
  generation_->first_event = given_;
  generation_->is_stated = !is_empty;
  generation_->prologue = std::move(prologue.events);
  if (states_again && !is_empty) {
    EndGeneration();
    begin = std::max<int64_t>(0, time - again.length - 1);
    generation_ = std::make_unique<Collected>(replacer_);
    for (const OpenStop& stop : stops) stop.AppendTo(&generation_->tables, &again.events);
    again.BeginAt(begin);
    generation_->begin = begin;
    generation_->first_event = given_;
    generation_->is_stated = true;
    generation_->prologue = std::move(again.events);
  }
  generation_->experimental_batches = std::move(batches);
  generation_->experimental_data = std::move(data);
}

void TraceWriterImpl::AddEvent(const Event& event) {
  JoinedTables::Part& part = generation_->translator.PartOf(event);
  generation_->is_stated = true;
  if (event.type() == EventType::kCPUSample) {
    CpuSample& sample = generation_->samples.emplace_back();
    sample.time = event.time();
    sample.thread = event.thread();
    sample.proc = event.proc();
    sample.goroutine = event.goroutine();
    // Go's reader accepts a sample whose stack is missing. It looks like an empty one.
    sample.stack = part.StackId(event.stack_id()).value_or(0);
    return;
  }
  WriterEvent* const added = events_.Add(event);
  if (added == nullptr) return;
  if (written_.generations == 0) first_states_ |= IsStatus(event);
  if (event.type() == EventType::kSTWBegin) ++stops_;
  if (event.type() == EventType::kSTWEnd && stops_ > 0) --stops_;
  added->number = static_cast<uint32_t>(given_ - generation_->first_event);
  if (part.Translate(added)) return;
  Fail(absl::StrCat("event ", given_, ", ", EventTypeName(event.type()), " at ", event.time(),
                    " ns, refers to a string or stack that its tables lack"));
}

void TraceWriterImpl::EndGeneration() {
  if (generation_ == nullptr || !generation_->is_stated) return;
  GenerationContent content(generation_->tables);
  content.number = written_.generations + 1;
  content.begin = generation_->begin;
  content.SetEvents(events_.Take());
  content.stated = generation_->prologue.size();
  content.events.insert(content.events.begin(), generation_->prologue.begin(),
                        generation_->prologue.end());
  content.samples = generation_->samples;
  content.experimental_batches = generation_->experimental_batches;
  content.last_until = last_until_;
  clocks_.Set(EventEncoder::kNanoseconds, generation_->clock_snapshot, &content);
  std::string bytes;
  const WrittenGeneration written = writer_->Write(std::move(content), &bytes);
  if (!follows_ && Accepts(written)) {
    out_->Append(bytes);
    ++written_.generations;
    written_.events += written.events;
    written_.statuses_added += written.statuses_added + written.stated;
    written_.events_added += written.events_added;
    written_.events_left_out += written.events_left_out;
  }
  generation_ = nullptr;
}

// Returns false for an error.
bool TraceWriterImpl::Accepts(const WrittenGeneration& written) {
  if (options_.lenient || !written.contradiction.has_value()) return true;
  const WrittenGeneration::Contradiction& event = *written.contradiction;
  const std::string why =
      event.missing == EventType::kNone
          ? "nothing that could come between them leads to it"
          : absl::StrCat("an event is missing before it, such as ", EventTypeName(event.missing));
  Fail(absl::StrCat("event ", generation_->first_event + event.number, ", ",
                    EventTypeName(event.type), " at ", event.time,
                    " ns, contradicts the events before it: ", why));
  return false;
}

void TraceWriterImpl::Fail(absl::string_view message) {
  status_ = absl::InvalidArgumentError(message);
}

}  // namespace gotrace::internal

namespace gotrace {

TraceWriter::TraceWriter(const TraceWriterOptions& options, ByteSink* out)
    : impl_(std::make_unique<internal::TraceWriterImpl>(options, out)) {}
TraceWriter::~TraceWriter() = default;
void TraceWriter::Add(absl::Span<const Event> events) { impl_->Add(events); }
bool TraceWriter::WantsMore() const { return impl_->WantsMore(); }
absl::Status TraceWriter::Finish() { return impl_->Finish(); }
const WrittenTrace& TraceWriter::written() const { return impl_->written(); }

}  // namespace gotrace
