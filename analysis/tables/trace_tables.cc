#include "gotrace/trace_tables.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "analysis/core/time_sums.h"
#include "analysis/tables/alloc_rows.h"
#include "analysis/tables/range_rows.h"
#include "analysis/tables/row_values.h"
#include "analysis/tables/stack_rows.h"
#include "analysis/tables/state_rows.h"
#include "analysis/tables/table_rows.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"
#include "gotrace/fault.h"
#include "gotrace/states.h"
#include "gotrace/version.h"
#include "parser/event/event_access.h"
#include "util/quote.h"

namespace gotrace {

using internal::Between;
using internal::IdOrNull;
using internal::NameOrNull;
using internal::TaskOrNull;

namespace {

// Sets the columns that come from the options.
void FillFromOptions(const TableOptions& options, internal::TracesRow* row) {
  row->source = options.source;
  if (options.service.has_value()) row->service = *options.service;
  if (options.host.has_value()) row->host = *options.host;
  if (options.attrs.has_value()) row->attrs = *options.attrs;
  row->number = static_cast<int64_t>(options.number);
}

std::string ErrorText(const absl::Status& status) {
  const std::optional<Fault> fault = FaultOf(status);
  return fault.has_value() ? FormatFault(*fault) : std::string(status.message());
}

// Returns the bits of a table's columns, by their names.
uint64_t ColumnBits(TableId id, std::initializer_list<absl::string_view> names) {
  uint64_t bits = 0;
  for (const absl::string_view name : names) {
    bits |= uint64_t{1} << InfoOf(id).FindColumn(name).value();
  }
  return bits;
}

}  // namespace

class TraceTables::Impl {
 public:
  Impl(const Reader* reader, TableOptions options, TableConsumer* consumer);

  void Add(absl::Span<const Event> events);
  void Finish();
  void Flush() { output_.Flush(); }
  const Interner& interner() const { return interner_; }

 private:
  // Processes a kSync event. Returns whether it begins a generation rather than ending the trace.
  bool AddSync(const Event& event);
  void SetClock(const ClockSnapshot& snapshot) {
    output_.SetWallOffset(Between(snapshot.trace_time, absl::ToUnixNanos(snapshot.wall)));
  }
  void AddOther(const Event& event);
  void AddEventsRow(const Event& event);
  void FillDetails(const Event& event, internal::EventsRow* row);
  void AddGenerationsRow();
  void AddTracesRow();

  // Returns the id of a name with static lifetime, which is one of `names`.
  template <class Enum, class NameOf>
  StringId Static(Enum value, std::vector<StringId>* names, NameOf name_of);

  const Reader& reader_;
  const TableOptions options_;
  Interner interner_;
  TableOutput output_;
  internal::StackRows stacks_{options_, &interner_, &output_};
  internal::StateRows states_{&interner_, &stacks_, &output_};
  internal::RangeRows ranges_{&interner_, &stacks_, &output_};
  internal::AllocRows allocs_{&interner_, &output_};

  // The parts of the rows of `events` that are wanted, to avoid the cost of the others.
  const bool wants_all_events_;
  const bool wants_context_;
  const bool wants_details_;

  // Counts in the trace, and in the generation.
  uint64_t events_ = 0;
  int64_t begin_ = 0;
  int64_t end_ = 0;
  uint64_t bytes_ = 0;
  internal::GenerationsRow generation_;
  uint64_t generation_offset_ = 0;
  bool has_generation_ = false;

  std::vector<StringId> kinds_;
  std::vector<StringId> types_;
  std::vector<StringId> resource_kinds_;
  std::vector<StringId> go_states_;
  std::vector<StringId> proc_states_;
};

TraceTables::Impl::Impl(const Reader* reader, TableOptions options, TableConsumer* consumer)
    : reader_(*reader),
      options_(std::move(options)),
      output_(options_, &interner_, consumer),
      wants_all_events_(options_.events.MatchesAll()),
      wants_context_(output_.Wants(TableId::kEvents, ~uint64_t{0})),
      // All columns but those that AddEventsRow() fills by itself.
      wants_details_(output_.Wants(
          TableId::kEvents, ~ColumnBits(TableId::kEvents, {"time_ns", "kind", "type", "generation",
                                                           "offset", "g", "p", "m", "fault"}))) {
  if (options_.clock_snapshot.has_value()) SetClock(*options_.clock_snapshot);
}

void TraceTables::Impl::Add(absl::Span<const Event> events) {
  if (events.empty()) return;
  if (events_ == 0) begin_ = end_ = events.front().time();
  const bool has_events = output_.Has(TableId::kEvents);
  for (const Event& event : events) {
    ++events_;
    end_ = std::max(end_, event.time());
    const bool ends_trace = event.kind() == EventKind::kSync && !AddSync(event);
    if (!ends_trace) {
      ++generation_.events;
      generation_.end_ns = std::max(generation_.end_ns, event.time());
    }
    stacks_.Add(event);
    if (has_events && (wants_all_events_ || options_.events.Matches(event, begin_))) {
      AddEventsRow(event);
    }
    if (states_.is_needed()) states_.Add(event);
    if (event.kind() != EventKind::kStateTransition) AddOther(event);
  }
}

bool TraceTables::Impl::AddSync(const Event& event) {
  const Sync sync = event.sync();
  if (sync.clock_snapshot.has_value() && !output_.WallTime(begin_).has_value()) {
    SetClock(*sync.clock_snapshot);
  }
  bytes_ = event.offset();
  allocs_.Add(event);
  const GenerationInfo& info = reader_.generation();
  const bool is_new = !has_generation_ || generation_offset_ != info.begin_offset;
  if (!is_new || info.batches == 0) return false;
  AddGenerationsRow();
  has_generation_ = true;
  generation_offset_ = info.begin_offset;
  generation_ = {};
  generation_.generation = static_cast<int64_t>(info.number);
  generation_.begin_ns = generation_.end_ns = event.time();
  generation_.offset = static_cast<int64_t>(info.begin_offset);
  generation_.bytes = static_cast<int64_t>(info.end_offset - info.begin_offset);
  generation_.batches = static_cast<int64_t>(info.batches);
  generation_.threads = static_cast<int64_t>(info.threads);
  generation_.strings = static_cast<int64_t>(info.strings);
  generation_.stacks = static_cast<int64_t>(info.stacks);
  generation_.damaged = info.damaged;
  if (sync.clock_snapshot.has_value()) {
    generation_.clock_trace_ns = sync.clock_snapshot->trace_time;
    generation_.clock_mono_ns = static_cast<int64_t>(sync.clock_snapshot->mono);
    generation_.clock_wall_ns = absl::ToUnixNanos(sync.clock_snapshot->wall);
  }
  return true;
}

void TraceTables::Impl::AddOther(const Event& event) {
  switch (event.kind()) {
    case EventKind::kMetric: {
      if (!output_.Has(TableId::kMetrics)) return;
      const Metric metric = event.metric();
      internal::MetricsRow row;
      row.time_ns = event.time();
      row.name = interner_.InternString(metric.name);
      row.value = metric.value;
      return output_.Add(row);
    }
    case EventKind::kLabel: {
      if (!output_.Has(TableId::kLabels)) return;
      const Label label = event.label();
      internal::LabelsRow row;
      row.time_ns = event.time();
      row.g = label.resource.id;
      row.label = interner_.InternString(label.label);
      return output_.Add(row);
    }
    case EventKind::kStackSample: {
      if (!output_.Has(TableId::kCpuSamples)) return;
      internal::CpuSamplesRow row;
      row.time_ns = event.time();
      row.g = IdOrNull(event.goroutine());
      row.p = IdOrNull(event.proc());
      row.m = IdOrNull(event.thread());
      row.stack_id = stacks_.IdOf(event.stack());
      return output_.Add(row);
    }
    case EventKind::kLog: {
      if (!output_.Has(TableId::kLogs)) return;
      const Log log = event.log();
      internal::LogsRow row;
      row.time_ns = event.time();
      row.g = IdOrNull(event.goroutine());
      row.task = TaskOrNull(log.task);
      row.category = NameOrNull(interner_.InternString(log.category));
      row.message = log.message;
      row.stack_id = stacks_.IdOf(event.stack());
      const std::string hex =
          internal::IsUtf8(log.message) ? "" : absl::BytesToHexString(log.message);
      if (!hex.empty()) row.message_hex = hex;
      return output_.Add(row);
    }
    case EventKind::kSync:
    case EventKind::kRangeBegin:
    case EventKind::kRangeActive:
    case EventKind::kRangeEnd:
      if (output_.Has(TableId::kRanges) || output_.Has(TableId::kRangeHist)) {
        ranges_.Add(event);
      }
      return;
    case EventKind::kExperimental:
      return allocs_.Add(event);
    default:
      return;
  }
}

template <class Enum, class NameOf>
StringId TraceTables::Impl::Static(Enum value, std::vector<StringId>* names, NameOf name_of) {
  const size_t index = static_cast<size_t>(value);
  if (index >= names->size()) names->resize(index + 1);
  StringId& id = (*names)[index];
  if (id == StringId::kEmpty) id = interner_.InternString(name_of(value));
  return id;
}

void TraceTables::Impl::AddEventsRow(const Event& event) {
  if (!wants_context_) return output_.AddRowWithoutColumns(TableId::kEvents);
  internal::EventsRow row;
  row.time_ns = event.time();
  row.kind = Static(event.kind(), &kinds_, EventKindName);
  row.type =
      event.kind() == EventKind::kSync ? row.kind : Static(event.type(), &types_, EventTypeName);
  row.generation = generation_.generation;
  row.offset = static_cast<int64_t>(event.offset());
  row.g = IdOrNull(event.goroutine());
  row.p = IdOrNull(event.proc());
  row.m = IdOrNull(event.thread());
  if (event.fault().has_value()) row.fault = interner_.InternString(FaultName(*event.fault()));
  if (wants_details_) FillDetails(event, &row);
  output_.Add(row);
}

void TraceTables::Impl::FillDetails(const Event& event, internal::EventsRow* row) {
  if (event.stack_id() != 0) row->stack_id = stacks_.IdOf(event.stack());
  const auto set_resource = [&](const ResourceId& resource) {
    if (resource.kind == ResourceKind::kNone) return;
    row->resource_kind = Static(resource.kind, &resource_kinds_, ResourceKindName);
    row->resource = resource.id;
  };
  switch (event.kind()) {
    case EventKind::kStateTransition: {
      const ResourceId resource = event.transition_resource();
      set_resource(resource);
      if (resource.kind == ResourceKind::kProc) {
        const auto state = [&](uint8_t number) {
          return Static(static_cast<ProcState>(number), &proc_states_, ProcStateName);
        };
        row->from_state = state(event.transition_from());
        row->to_state = state(event.transition_to());
        return;
      }
      const auto state = [&](uint8_t number) {
        return Static(static_cast<GoState>(number), &go_states_, GoStateName);
      };
      row->from_state = state(event.transition_from());
      row->to_state = state(event.transition_to());
      row->reason =
          NameOrNull(interner_.InternString(event, internal::EventAccess::ReasonId(event)));
      row->resource_stack_id =
          event.TransitionHasSameStack() ? row->stack_id : stacks_.IdOf(event.transition_stack());
      return;
    }
    case EventKind::kMetric:
      row->name = interner_.InternString(event.metric().name);
      row->value = event.metric().value;
      return;
    case EventKind::kLabel:
      set_resource(event.label().resource);
      row->name = interner_.InternString(event.label().label);
      return;
    case EventKind::kRangeBegin:
    case EventKind::kRangeActive:
    case EventKind::kRangeEnd: {
      const RangeParts range = event.range_parts();
      set_resource(range.scope);
      row->name = interner_.InternString(range.what);
      row->reason = NameOrNull(interner_.InternString(range.reason));
      return;
    }
    case EventKind::kTaskBegin:
    case EventKind::kTaskEnd: {
      const Task task = event.task();
      row->name = NameOrNull(interner_.InternString(task.type));
      row->task = TaskOrNull(task.id);
      row->parent = TaskOrNull(task.parent);
      return;
    }
    case EventKind::kRegionBegin:
    case EventKind::kRegionEnd:
      row->name = interner_.InternString(event.region().type);
      row->task = TaskOrNull(event.region().task);
      return;
    case EventKind::kLog: {
      const Log log = event.log();
      row->name = NameOrNull(interner_.InternString(log.category));
      row->task = TaskOrNull(log.task);
      row->message = log.message;
      return;
    }
    case EventKind::kSync:
    case EventKind::kExperimental:
      if (event.kind() == EventKind::kExperimental)
        row->name = Static(event.type(), &types_, EventTypeName);
      row->value = event.arg(0);
      return;
    default:
      return;
  }
}

void TraceTables::Impl::AddGenerationsRow() {
  if (has_generation_) output_.Add(generation_);
}

void TraceTables::Impl::AddTracesRow() {
  internal::TracesRow row;
  FillFromOptions(options_, &row);
  row.go_version =
      interner_.InternString(absl::StrCat("1.", static_cast<uint32_t>(reader_.version())));
  if (events_ > 0) {
    row.begin_ns = begin_;
    row.end_ns = end_;
    row.wall_begin_ns = output_.WallTime(begin_);
  }
  row.bytes = static_cast<int64_t>(std::max(bytes_, reader_.generation().end_offset));
  row.events = static_cast<int64_t>(events_);
  row.complete = IsComplete(reader_);
  row.faults = static_cast<int64_t>(reader_.losses().faults) + (reader_.status().ok() ? 0 : 1);
  const std::string error = ErrorText(reader_.status());
  if (!reader_.status().ok()) row.error = error;
  output_.Add(row);
}

void TraceTables::Impl::Finish() {
  states_.Finish(end_);
  ranges_.Finish(end_);
  AddGenerationsRow();
  AddTracesRow();
  output_.Flush();
}

TraceTables::TraceTables(const Reader* reader, TableOptions options, TableConsumer* consumer)
    : impl_(std::make_unique<Impl>(reader, std::move(options), consumer)) {}
TraceTables::~TraceTables() = default;

void TraceTables::Add(absl::Span<const Event> events) { impl_->Add(events); }
absl::Status TraceTables::Finish() {
  impl_->Finish();
  return absl::OkStatus();
}
void TraceTables::Flush() { impl_->Flush(); }
const Interner& TraceTables::interner() const { return impl_->interner(); }

bool IsComplete(const Reader& reader) {
  return reader.status().ok() && reader.losses().faults == 0 && !reader.losses().any();
}

void AddUnreadTrace(const TableOptions& options, const absl::Status& error,
                    TableConsumer* consumer) {
  Interner interner;
  TableOutput output(options, &interner, consumer);
  internal::TracesRow row;
  FillFromOptions(options, &row);
  row.faults = 1;
  const std::string message = ErrorText(error);
  row.error = message;
  output.Add(row);
  output.Flush();
}

}  // namespace gotrace
