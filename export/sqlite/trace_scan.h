// Reads one table from all traces, from the first row to the last.
#ifndef GOTRACE_EXPORT_SQLITE_TRACE_SCAN_H_
#define GOTRACE_EXPORT_SQLITE_TRACE_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "export/sqlite/row_set.h"
#include "gotrace/interner.h"
#include "gotrace/reader.h"
#include "gotrace/sqlite_tables.h"
#include "gotrace/trace_tables.h"

namespace gotrace::internal {

class TraceScan {
 public:
  // Reads the columns, given as SQLite counts them, of the rows that meet the conditions. If
  // `keeps_numbers`, RowSet::Number() is the same as in a scan without conditions; otherwise events
  // may be left out before they become rows. The objects must outlive this one.
  TraceScan(const TableInfo* info, uint64_t columns, std::vector<RowCondition> conditions,
            bool keeps_numbers, absl::Span<const SqliteTrace> traces,
            const SqliteTablesOptions* options, Interner* names);
  ~TraceScan();

  // Adds rows to rows(), at least one unless there are no more. Returns kCancelled if
  // SqliteTablesOptions::keep_going returned false. Without on_end, also returns the error with
  // which the reading of a trace ended, after its last row.
  absl::Status ReadMore();

  // Reads all rows.
  absl::Status ReadAll();

  bool at_end() const { return at_end_; }
  RowSet& rows() { return rows_; }

 private:
  // Returns whether the conditions allow rows of the trace.
  bool IsWanted(const SqliteTrace& trace) const;

  // Opens the next trace that is wanted. Returns false if there are no more.
  bool OpenNext();

  // Reports the end of the trace that was opened last.
  void EndTrace(const absl::Status& status, const Losses& losses);

  absl::StatusOr<Reader> OpenReader(std::unique_ptr<ByteSource> source);
  TableOptions OptionsOf(const SqliteTrace& trace) const;

  // Returns whether no later event of the trace can add a row that meets the conditions.
  bool IsPast(const Event& event) const;

  const TableInfo& info_;
  const absl::Span<const SqliteTrace> traces_;
  const SqliteTablesOptions& options_;
  RowSet rows_;
  const std::vector<RowCondition> conditions_;
  EventFilter events_;                 // The conditions as a filter, for the table of events.
  std::optional<int64_t> first_time_;  // Earlier rows and events are not needed.
  // TableOptions::clock_snapshot of the trace that is open.
  std::optional<ClockSnapshot> clock_snapshot_;
  std::optional<int64_t> last_time_;  // Later rows are not wanted.
  size_t next_trace_ = 0;
  std::optional<Reader> reader_;
  std::unique_ptr<TraceTables> tables_;
  absl::Status failure_;  // The error that ends the scan, if damage is not reported to on_end.
  bool at_end_ = false;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_SQLITE_TRACE_SCAN_H_
