// A trace as tables for SQL engines and data frames: one row for each event, state of a goroutine,
// range, task, and so on. docs/tables.md describes the tables.
#ifndef GOTRACE_TRACE_TABLES_H_
#define GOTRACE_TRACE_TABLES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/event_sink.h"
#include "gotrace/interner.h"
#include "gotrace/reader.h"

namespace gotrace {

// The tables, in the order in which documents list them.
enum class TableId : uint8_t {
#define GOTRACE_TABLE(id, ...) k##id,
#define GOTRACE_COLUMN(...)
#define GOTRACE_TABLE_END(id)
#include "gotrace/internal/tables.def"
};
inline constexpr size_t kTableIdEnd = 0
#define GOTRACE_TABLE(id, ...) +1
#define GOTRACE_COLUMN(...)
#define GOTRACE_TABLE_END(id)
#include "gotrace/internal/tables.def"
    ;

// The type of a column.
enum class ColumnType : uint8_t {
  kInt64,
  kUint64,
  kBool,
  kName,  // Text with few distinct values, each of which has an id.
  kText,  // Any text.
};

// A column of a table. All texts have static lifetime.
struct TableColumn {
  absl::string_view name;
  ColumnType type = ColumnType::kInt64;
  bool is_nullable = false;
  absl::string_view meaning;  // A sentence.
};

// A table and its columns. All texts have static lifetime.
struct TableInfo {
  TableId id = {};
  absl::string_view name;
  absl::string_view order;   // The column that rows are sorted by; "" if there is none.
  absl::string_view row;     // The meaning of a row: "an event".
  absl::string_view memory;  // The number with which the memory for making it grows; "" if none.
  absl::Span<const TableColumn> columns;

  // Returns the index of the column with a name, or nullopt.
  std::optional<size_t> FindColumn(absl::string_view column) const;
};

// Returns all tables, in order of their ids.
absl::Span<const TableInfo> AllTables();

// Returns the table with an id.
inline const TableInfo& InfoOf(TableId id) { return AllTables()[static_cast<size_t>(id)]; }

// Returns the table with a name, or nullptr.
const TableInfo* FindTable(absl::string_view name);

// Some rows of a table, column by column.
class TableRows {
 public:
  // The values of a column.
  struct Column {
    // The first size() elements are the values of the rows: the bits of an integer, 0 or 1, the
    // number of a StringId, or data for Text(). Meaningless where a row is NULL. Empty if the
    // column was not requested.
    std::vector<uint64_t> values;

    // If the column is nullable, the first size() elements are 1, or 0 where a row is NULL.
    // Otherwise empty.
    std::vector<uint8_t> present;
  };

  // Makes an object without rows for the table `*info`. Both arguments must outlive this object.
  TableRows(const TableInfo* info, const Interner* interner) : info_(*info), interner_(*interner) {}

  // Return the table, the number of rows, a column by its index in TableInfo::columns, and the
  // interner of the strings in kName columns.
  const TableInfo& info() const { return info_; }
  size_t size() const { return size_; }
  const Column& column(size_t index) const { return columns_[index]; }
  const Interner& interner() const { return interner_; }

  // Returns whether a row has NULL in a column.
  bool IsNull(size_t column, size_t row) const {
    const std::vector<uint8_t>& present = columns_[column].present;
    return !present.empty() && present[row] == 0;
  }

  // Returns the value of a kName or kText column, which must not be NULL. Valid as long as the
  // interner and this object, and until rows are removed.
  absl::string_view Text(size_t column, size_t row) const {
    const uint64_t value = columns_[column].values[row];
    return info_.columns[column].type == ColumnType::kText
               ? absl::string_view(texts_[value])
               : interner_.String(static_cast<StringId>(value));
  }

 private:
  friend class TableOutput;

  const TableInfo& info_;
  const Interner& interner_;
  size_t size_ = 0;
  std::vector<Column> columns_;
  std::deque<std::string> texts_;
};

// Receives the rows of tables.
class TableConsumer {
 public:
  virtual ~TableConsumer() = default;

  // Receives the next rows of a table: at least one. They are valid during the call.
  virtual void AddRows(const TableRows& rows) = 0;
};

// The tables and rows to make.
struct TableOptions {
  // The columns to make of each table, bit 0 for the first one; nullopt if the table is not wanted.
  // 0 gives rows without columns, for counting.
  using Columns = std::optional<uint64_t>;
  static constexpr uint64_t kAllColumns = ~uint64_t{0};
  std::array<Columns, kTableIdEnd> tables = {};

  // Return the columns to make of a table, and whether the table is wanted.
  Columns& of(TableId id) { return tables[static_cast<size_t>(id)]; }
  bool Has(TableId id) const { return tables[static_cast<size_t>(id)].has_value(); }

  // Only these events become rows of the table `events`.
  EventFilter events = {};

  // Whether stacks that differ only in their PCs have the same id, so that ids stay the same from
  // one build of a program to the next.
  bool stack_ids_without_pc = false;

  // How many rows to collect before they are given to the consumer.
  size_t rows = 4096;

  // The first clock snapshot of the trace, if reading begins in a later generation.
  std::optional<ClockSnapshot> clock_snapshot = std::nullopt;

  // The contents of the table `traces`.
  std::string source = {};
  std::optional<std::string> service = std::nullopt;
  std::optional<std::string> host = std::nullopt;
  std::optional<std::string> attrs = std::nullopt;  // A JSON object.
  uint64_t number = 1;                              // The number of the trace in `source`, from 1.
};

// Makes the rows of tables from the events of a trace.
//
// Rows of a table are in the order of its TableInfo::order if the trace was read in strict mode; in
// the other modes times may go backwards. Memory is in proportion to open intervals and to
// TableInfo::memory.
class TraceTables final : public EventSink {
 public:
  // Events that are added must come from `reader`, from its first on. It and `*consumer` must
  // outlive this object.
  TraceTables(const Reader* reader, TableOptions options, TableConsumer* consumer);
  ~TraceTables() override;

  // Adds `events`, which must be the last ones that the reader returned.
  void Add(absl::Span<const Event> events) override;

  // Passes the remaining rows to the consumer. Returns OK.
  absl::Status Finish() override;

  // Passes the rows collected so far to the consumer, however few.
  void Flush();

  // Returns the interner of the texts in kName columns. Valid as long as this object.
  const Interner& interner() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

// Returns whether the trace was read to its end without a fault. Call it after reading.
bool IsComplete(const Reader& reader);

// Passes the consumer the row of the table `traces` for a trace that could not be opened, with the
// reason `error`.
void AddUnreadTrace(const TableOptions& options, const absl::Status& error,
                    TableConsumer* consumer);

}  // namespace gotrace

#endif  // GOTRACE_TRACE_TABLES_H_
