#include "export/sqlite/trace_scan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gotrace/event_kind.h"
#include "gotrace/fault.h"
#include "gotrace/trace_index.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

// Returns the kind of events with a name, or nullopt.
std::optional<EventKind> KindOf(absl::string_view name) {
  for (int i = 0; i < kEventKindEnd; ++i) {
    if (EventKindName(static_cast<EventKind>(i)) == name) return static_cast<EventKind>(i);
  }
  return std::nullopt;
}

// Returns a filter for the events that can become rows of the table `events` that meet the
// conditions.
EventFilter EventsThatMeet(const TableInfo& info, absl::Span<const RowCondition> conditions,
                           const Interner& names) {
  EventFilter filter;
  if (info.id != TableId::kEvents) return filter;
  for (const RowCondition& condition : conditions) {
    if (condition.column == kTraceIdColumn || condition.comparison != Comparison::kEqual) continue;
    const absl::string_view column = info.columns[condition.column - 1].name;
    if (column == "g") filter.goroutines = {GoId{condition.value}};
    if (column == "p") filter.procs = {ProcId{condition.value}};
    if (column == "m") filter.threads = {ThreadId{condition.value}};
    if (column == "kind") {
      const std::optional<EventKind> kind =
          KindOf(names.String(static_cast<StringId>(condition.value)));
      if (kind.has_value()) filter.kinds = {*kind};
    }
  }
  return filter;
}

// The first and the last time of rows that the conditions allow.
struct TimeBounds {
  std::optional<int64_t> first;
  std::optional<int64_t> last;
};

// Returns the bounds of a table that is in order of time, and whose rows come while events are
// read.
TimeBounds BoundsOf(const TableInfo& info, absl::Span<const RowCondition> conditions) {
  TimeBounds bounds;
  if (info.id == TableId::kTasks) return bounds;  // Its rows come after the last event.
  for (const RowCondition& condition : conditions) {
    if (condition.column == kTraceIdColumn) continue;
    const absl::string_view column = info.columns[condition.column - 1].name;
    if (column != info.order || !absl::EndsWith(column, "_ns")) continue;
    const bool is_equal = condition.comparison == Comparison::kEqual;
    const bool is_upper = condition.comparison == Comparison::kLess ||
                          condition.comparison == Comparison::kLessOrEqual;
    if (is_equal || is_upper) {
      bounds.last = std::min(bounds.last.value_or(condition.value), condition.value);
    }
    if (is_equal || !is_upper) {
      bounds.first = std::max(bounds.first.value_or(condition.value), condition.value);
    }
  }
  return bounds;
}

// Whether each row of the table follows from one event alone.
bool IsOfSingleEvents(TableId id) {
  return id == TableId::kEvents || id == TableId::kLogs || id == TableId::kMetrics ||
         id == TableId::kCpuSamples || id == TableId::kLabels;
}

}  // namespace

TraceScan::TraceScan(const TableInfo* info, uint64_t columns, std::vector<RowCondition> conditions,
                     bool keeps_numbers, absl::Span<const SqliteTrace> traces,
                     const SqliteTablesOptions* options, Interner* names)
    : info_(*info),
      traces_(traces),
      options_(*options),
      rows_(info, columns, conditions, names),
      conditions_(std::move(conditions)),
      events_(keeps_numbers ? EventFilter() : EventsThatMeet(*info, conditions_, *names)) {
  // In the other modes times may go back.
  if (options->reader.mode != ReadMode::kStrict) return;
  const TimeBounds bounds = BoundsOf(*info, conditions_);
  last_time_ = bounds.last;
  if (IsOfSingleEvents(info->id) && !keeps_numbers) first_time_ = bounds.first;
}
TraceScan::~TraceScan() = default;

TableOptions TraceScan::OptionsOf(const SqliteTrace& trace) const {
  TableOptions options;
  options.of(info_.id) = rows_.columns() >> 1;
  options.events = events_;
  options.stack_ids_without_pc = options_.stack_ids_without_pc;
  options.source = trace.source;
  options.number = trace.number;
  options.clock_snapshot = clock_snapshot_;
  return options;
}

absl::StatusOr<Reader> TraceScan::OpenReader(std::unique_ptr<ByteSource> source) {
  clock_snapshot_.reset();
  if (first_time_.has_value()) {
    // There is no index of compressed input, or of a pipe.
    const absl::StatusOr<TraceIndex> index = TraceIndex::Build(*source);
    const size_t generation =
        index.ok() && index->status().ok() ? index->FindTime(*first_time_) : 0;
    if (generation > 0) {
      for (const TraceIndex::Generation& one : index->generations()) {
        if (!clock_snapshot_.has_value()) clock_snapshot_ = one.clock_snapshot;
      }
      return Reader::OpenAt(*source, *index, generation, options_.reader);
    }
  }
  return Reader::FromSource(std::move(source), options_.reader);
}

bool TraceScan::IsWanted(const SqliteTrace& trace) const {
  return std::all_of(conditions_.begin(), conditions_.end(), [&](const RowCondition& condition) {
    return condition.column != kTraceIdColumn || condition.IsMetBy(trace.id);
  });
}

bool TraceScan::OpenNext() {
  while (next_trace_ < traces_.size() && failure_.ok()) {
    const SqliteTrace& trace = traces_[next_trace_++];
    if (!IsWanted(trace)) continue;
    absl::StatusOr<std::unique_ptr<ByteSource>> source = trace.open();
    absl::Status status = source.status();
    if (source.ok()) {
      absl::StatusOr<Reader> reader = OpenReader(*std::move(source));
      status = reader.status();
      if (reader.ok()) reader_.emplace(*std::move(reader));
    }
    if (status.ok()) {
      rows_.BeginTrace(trace.id, next_trace_ - 1);
      tables_ = std::make_unique<TraceTables>(&*reader_, OptionsOf(trace), &rows_);
      return true;
    }
    rows_.BeginTrace(trace.id, next_trace_ - 1);
    AddUnreadTrace(OptionsOf(trace), status, &rows_);
    EndTrace(status, {});
  }
  return false;
}

void TraceScan::EndTrace(const absl::Status& status, const Losses& losses) {
  const size_t place = next_trace_ - 1;
  if (options_.on_end != nullptr) return options_.on_end(place, status, losses);
  if (status.ok() || info_.id == TableId::kTraces) return;
  const SqliteTrace& trace = traces_[place];
  const std::optional<Fault> fault = FaultOf(status);
  // Other errors name the file themselves.
  if (!fault.has_value()) {
    failure_ = status;
    return;
  }
  failure_ = absl::DataLossError(absl::StrCat(
      QuotedUnlessPlain(trace.source),
      trace.number > 1 ? absl::StrCat(", trace ", trace.number) : "", ": ", FormatFault(*fault)));
}

bool TraceScan::IsPast(const Event& event) const {
  return last_time_.has_value() && event.time() > *last_time_;
}

absl::Status TraceScan::ReadMore() {
  const size_t before = rows_.size();
  while (!at_end_ && rows_.size() == before) {
    if (!failure_.ok()) return failure_;
    if (tables_ == nullptr && !OpenNext()) {
      at_end_ = failure_.ok();
      continue;
    }
    if (options_.keep_going != nullptr && !options_.keep_going(*reader_)) {
      return absl::CancelledError("interrupted");
    }
    const absl::Span<const Event> events = reader_->NextBlock();
    const bool is_past = !events.empty() && IsPast(events.front());
    if (!events.empty() && !is_past) {
      tables_->Add(events);
      tables_->Flush();
      continue;
    }
    // If only the scan stops, the trace continues, so open intervals do not end here.
    if (!is_past) tables_->Finish().IgnoreError();  // It returns OK.
    if (!is_past) EndTrace(reader_->status(), reader_->losses());
    tables_.reset();
    reader_.reset();
  }
  return absl::OkStatus();
}

absl::Status TraceScan::ReadAll() {
  while (!at_end_) {
    absl::Status status = ReadMore();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace gotrace::internal
