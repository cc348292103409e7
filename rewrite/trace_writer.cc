#include "rewrite/trace_writer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_spec.h"
#include "parser/event/event_access.h"
#include "rewrite/event_encoder.h"

namespace gotrace::internal {
namespace {

// Of events that refer to no string or stack.
class NoTables final : public EventTables {};

const EventTables& TablesOf(const Event& event) {
  static const EventTables& none = *new NoTables();
  const EventTables* const tables = EventAccess::Tables(event);
  return tables == nullptr ? none : *tables;
}

}  // namespace

TraceWriter::Translation::Translation(const EventTables& from, const MappedTables::Map& map,
                                      JoinedTables* to)
    : serial(from.serial()),
      own(from),
      mapped(map == nullptr ? std::nullopt : std::make_optional<MappedTables>(own, map)),
      part(mapped.has_value() ? static_cast<const TableSource*>(&*mapped) : &own, to) {}

TraceWriter::TraceWriter(Version version, ByteSink* out)
    : version_(version), out_(*out), clocks_(version), writer_(version) {
  out_.Append(MakeHeader(version));
}

bool TraceWriter::WantsMore() const { return status_.ok() && out_.ok(); }

void TraceWriter::Add(absl::Span<const Event> events) {
  for (const Event& event : events) {
    if (!WantsMore()) return;
    if (event.kind() == EventKind::kSync) {
      EndGeneration();
      BeginGeneration(event);
    } else if (generation_ == nullptr) {
      Fail("the first event is not a kSync event");
    } else {
      AddEvent(event);
    }
  }
}

absl::Status TraceWriter::Finish() {
  if (WantsMore()) EndGeneration();
  if (WantsMore() && written_.generations == 0 && version_ < Version::kGo126) {
    Fail("there is no generation to write");
  }
  return status_.ok() ? out_.status() : status_;
}

void TraceWriter::BeginGeneration(const Event& sync) {
  generation_ = std::make_unique<Collected>();
  generation_->begin = sync.time();
  // The last kSync event of a trace begins nothing.
  generation_->is_stated = EventAccess::Tables(sync) != nullptr;
  const EventTables& tables = TablesOf(sync);
  generation_->clock_snapshot = tables.clock_snapshot();
  generation_->experimental_batches = ExperimentalBatches(tables);
  for (WriterBatch& batch : generation_->experimental_batches) {
    batch.data = generation_->experimental_data.emplace_back(batch.data);
  }
}

void TraceWriter::AddEvent(const Event& event) {
  JoinedTables::Part& part = PartOf(event);
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
  if (added == nullptr || part.Translate(added)) return;
  Fail(absl::StrCat("the tables of the ", EventTypeName(event.type()), " event at ", event.time(),
                    " ns lack a string or stack to which it refers"));
}

JoinedTables::Part& TraceWriter::PartOf(const Event& event) {
  const EventTables& tables = TablesOf(event);
  std::unique_ptr<Translation>& last = generation_->translation;
  if (last == nullptr || last->serial != tables.serial()) {
    last = std::make_unique<Translation>(tables, map_, &generation_->tables);
  }
  return last->part;
}

void TraceWriter::EndGeneration() {
  if (generation_ == nullptr || !generation_->is_stated) return;
  GenerationContent content(generation_->tables);
  content.number = ++written_.generations;
  content.begin = generation_->begin;
  content.SetEvents(events_.Take());
  content.samples = generation_->samples;
  content.experimental_batches = generation_->experimental_batches;
  clocks_.Set(EventEncoder::kNanoseconds, generation_->clock_snapshot, &content);
  std::string bytes;
  const WrittenGeneration written = writer_.Write(std::move(content), &bytes);
  out_.Append(bytes);
  written_.events += written.events;
  written_.statuses_added += written.statuses_added;
  written_.events_added += written.events_added;
  written_.events_left_out += written.events_left_out;
  generation_ = nullptr;
}

void TraceWriter::Fail(absl::string_view message) { status_ = absl::InvalidArgumentError(message); }

}  // namespace gotrace::internal
