// Each table is an eponymous virtual table: its module has its name, and it need not be created. It
// can still be created, so that SQLite lists it.
//
// A statement opens a cursor for each use of a table, and filters it: once, or in a join once for
// each outer row. The first time, the cursor reads the trace while SQLite takes its rows. From the
// second time on, it uses the rows that the connection stores, with a hash table for the column
// that must have a certain value.
#include "gotrace/sqlite_tables.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "analysis/tables/content_hash.h"
#include "export/sqlite/register_tables.h"
#include "export/sqlite/row_set.h"
#include "export/sqlite/sql_functions.h"
#include "export/sqlite/stored_rows.h"
#include "export/sqlite/trace_scan.h"
#include "gotrace/interner.h"
#include "gotrace/trace_list.h"
#include "gotrace/trace_tables.h"
#include "gotrace/transport.h"
#include "parser/source/file_state.h"
#include "util/quote.h"

namespace gotrace {
namespace {

using internal::Comparison;
using internal::kTraceIdColumn;
using internal::RowCondition;
using internal::RowSet;
using internal::SortColumn;
using internal::SqlColumn;
using internal::StoredRows;
using internal::TraceScan;

// The data that the tables of a connection share.
struct Database {
  std::vector<SqliteTrace> traces;
  SqliteTablesOptions options;
  Interner names;
  std::array<std::shared_ptr<StoredRows>, kTableIdEnd> stored;

  // The number of look-ups of rows by a value that is known only while a statement runs.
  std::array<uint64_t, kTableIdEnd> lookups = {};
};

// The table of a module.
struct Module {
  std::shared_ptr<Database> database;
  const TableInfo* info = nullptr;
};

struct VirtualTable : sqlite3_vtab {
  VirtualTable() : sqlite3_vtab() {}
  ~VirtualTable() { sqlite3_free(zErrMsg); }

  Module module;
};

// How a cursor reads its table, as SQLite's planner has chosen. It is passed on as text.
struct Plan {
  uint64_t columns = 0;  // The bits of the columns that the statement uses.

  // The columns with conditions. The arguments are the values, in order.
  std::vector<std::pair<SqlColumn, Comparison>> conditions;

  // The columns to sort by; empty if SQLite sorts.
  std::vector<SortColumn> order;

  // Whether rows are looked up by a value that is not a constant, so that there will probably be
  // more such scans, as in a join.
  bool is_lookup = false;

  // Whether a value is not a constant. The table is joined then, and SQLite may identify rows by
  // their numbers, which must be those of a scan without conditions: for a RIGHT JOIN, to find the
  // rows that were not joined.
  bool is_joined = false;

  std::string ToText() const {
    std::string text = absl::StrCat(columns, is_lookup ? ":1" : is_joined ? ":0" : "");
    for (const auto& [column, comparison] : conditions) {
      absl::StrAppend(&text, " ", column, ":", static_cast<int>(comparison));
    }
    for (const SortColumn& by : order) {
      absl::StrAppend(&text, by.is_descending ? " -" : " +", by.column);
    }
    return text;
  }

  static Plan FromText(absl::string_view text) {
    Plan plan;
    bool is_first = true;
    for (absl::string_view word : absl::StrSplit(text, ' ')) {
      const bool is_descending = absl::ConsumePrefix(&word, "-");
      const bool is_order = absl::ConsumePrefix(&word, "+") || is_descending;
      const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(word, ':');
      uint64_t column = 0;
      int comparison = 0;
      // The text is always from ToText().
      if (!absl::SimpleAtoi(parts.first, &column)) continue;
      if (std::exchange(is_first, false)) {
        plan.columns = column;
        plan.is_lookup = parts.second == "1";
        plan.is_joined = !parts.second.empty();
      } else if (is_order) {
        plan.order.push_back({column, is_descending});
      } else if (absl::SimpleAtoi(parts.second, &comparison)) {
        plan.conditions.emplace_back(column, static_cast<Comparison>(comparison));
      }
    }
    return plan;
  }
};

struct Cursor : sqlite3_vtab_cursor {
  VirtualTable& table() const { return *static_cast<VirtualTable*>(pVtab); }

  uint64_t filter_count = 0;

  // The source of the rows: a scan, or stored rows.
  std::unique_ptr<TraceScan> scan;
  std::shared_ptr<StoredRows> stored;

  size_t row = 0;      // The current row of these.
  bool at_end = true;  // Whether there is none.

  // If stored rows are sorted: all of them in this order, and the place of the current one.
  std::vector<uint32_t> order;
  size_t place = 0;

  // If stored rows with a certain value are looked up: the column of the value.
  std::optional<SqlColumn> chain;

  std::vector<RowCondition> conditions;

  const RowSet& rows() const { return stored != nullptr ? stored->rows() : scan->rows(); }
};

// The planner's assumptions on a table whose rows are not known: their number, and the cost of
// finding rows with a certain value once they are stored. Large tables should be read once, with
// look-ups in small ones for each row, rather than the other way round.
struct Assumption {
  double rows = 1e5;
  double lookup = 2;
};

Assumption AssumptionOf(TableId id) {
  switch (id) {
    case TableId::kEvents:
    case TableId::kGStates:
    case TableId::kMStates:
    case TableId::kAllocs:
      return {1e7, 1e4};
    case TableId::kGoroutines:
      return {1e6, 2};
    case TableId::kTraces:
    case TableId::kGenerations:
      return {10, 1};
    default:
      return {1e5, 2};
  }
}

std::string Declaration(const TableInfo& info, bool is_trace_id_hidden) {
  std::string text = absl::StrCat("CREATE TABLE x(trace_id INTEGER",
                                  is_trace_id_hidden ? " HIDDEN NOT NULL" : " NOT NULL");
  for (const TableColumn& column : info.columns) {
    absl::StrAppend(&text, ", ", internal::DeclarationOf(column));
  }
  return text + ")";
}

// Sets an error message, and returns the code for a function to return.
int Fail(const std::string& message, sqlite3_vtab* table) {
  sqlite3_free(table->zErrMsg);
  table->zErrMsg = sqlite3_mprintf("%s", message.c_str());
  return SQLITE_ERROR;
}

// Returns the code for the end of a scan that returned `status`, which is not OK.
int FailWith(const absl::Status& status, sqlite3_vtab* table) {
  return absl::IsCancelled(status) ? SQLITE_INTERRUPT : Fail(std::string(status.message()), table);
}

int Connect(sqlite3* db, void* module, int, const char* const*, sqlite3_vtab** result,
            char** error) {
  auto table = std::make_unique<VirtualTable>();
  table->module = *static_cast<const Module*>(module);
  const bool has_one_trace = table->module.database->traces.size() == 1;
  const int code =
      sqlite3_declare_vtab(db, Declaration(*table->module.info, has_one_trace).c_str());
  if (code != SQLITE_OK) {
    *error = sqlite3_mprintf("%s", sqlite3_errmsg(db));
    return code;
  }
  sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
  *result = table.release();
  return SQLITE_OK;
}

int Disconnect(sqlite3_vtab* table) {
  delete static_cast<VirtualTable*>(table);
  return SQLITE_OK;
}

std::optional<Comparison> ComparisonOf(unsigned char op) {
  switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      return Comparison::kEqual;
    case SQLITE_INDEX_CONSTRAINT_LT:
      return Comparison::kLess;
    case SQLITE_INDEX_CONSTRAINT_LE:
      return Comparison::kLessOrEqual;
    case SQLITE_INDEX_CONSTRAINT_GT:
      return Comparison::kGreater;
    case SQLITE_INDEX_CONSTRAINT_GE:
      return Comparison::kGreaterOrEqual;
    default:
      return std::nullopt;
  }
}

ColumnType TypeOf(const TableInfo& info, SqlColumn column) {
  return column == kTraceIdColumn ? ColumnType::kInt64 : info.columns[column - 1].type;
}

// Returns whether rows come in the order that the statement requests, because the table has it, or
// because the plan sorts them. In the latter case, sets the columns in the plan.
bool GivesOrder(const VirtualTable& table, sqlite3_index_info* index, Plan* plan) {
  if (index->nOrderBy == 0) return false;
  const TableInfo& info = *table.module.info;
  const Database& database = *table.module.database;
  const auto& first = index->aOrderBy[0];
  const bool is_ordered = database.options.reader.mode == ReadMode::kStrict &&
                          database.traces.size() == 1 && !info.order.empty();
  if (is_ordered && index->nOrderBy == 1 && first.desc == 0 && first.iColumn > 0) {
    const TableColumn& column = info.columns[static_cast<size_t>(first.iColumn) - 1];
    // SQLite sorts NULL first, unlike the tables.
    if (column.name == info.order && !column.is_nullable) return true;
  }
  // 1 means GROUP BY. For this alone, groups could come in any order, but SQLite also drops an
  // ORDER BY of the same columns, which shows here only in the directions. So the rows are sorted
  // as requested. For ORDER BY alone, SQLite's own sorter is better: it keeps only the rows that
  // LIMIT needs.
  if (sqlite3_vtab_distinct(index) != 1) return false;
  std::vector<SortColumn> order;
  for (int i = 0; i < index->nOrderBy; ++i) {
    if (index->aOrderBy[i].iColumn < 0) return false;
    const SqlColumn column = static_cast<SqlColumn>(index->aOrderBy[i].iColumn);
    // Texts are not compared.
    if (TypeOf(info, column) == ColumnType::kText) return false;
    order.push_back({column, index->aOrderBy[i].desc != 0});
  }
  plan->order = std::move(order);
  return true;
}

int BestIndex(sqlite3_vtab* base, sqlite3_index_info* index) {
  const VirtualTable& table = *static_cast<const VirtualTable*>(base);
  const TableInfo& info = *table.module.info;
  const Assumption assumption = AssumptionOf(info.id);
  Plan plan;
  plan.columns = index->colUsed;
  double rows = assumption.rows;
  for (int i = 0; i < index->nConstraint; ++i) {
    const auto& constraint = index->aConstraint[i];
    const std::optional<Comparison> comparison = ComparisonOf(constraint.op);
    if (constraint.usable == 0 || !comparison.has_value() || constraint.iColumn < 0) continue;
    const SqlColumn column = static_cast<SqlColumn>(constraint.iColumn);
    const ColumnType type = TypeOf(info, column);
    const bool is_name = type == ColumnType::kName;
    if (type == ColumnType::kText || (is_name && *comparison != Comparison::kEqual)) continue;
    // Each value of IN would need a scan of its own.
    if (sqlite3_vtab_in(index, i, -1) != 0) continue;
    if (is_name && sqlite3_stricmp(sqlite3_vtab_collation(index, i), "BINARY") != 0) continue;
    plan.conditions.emplace_back(column, *comparison);
    index->aConstraintUsage[i].argvIndex = static_cast<int>(plan.conditions.size());
    sqlite3_value* constant = nullptr;
    const bool is_constant = sqlite3_vtab_rhs_value(index, i, &constant) == SQLITE_OK;
    plan.is_joined |= !is_constant;
    if (*comparison == Comparison::kEqual && !is_constant && column != kTraceIdColumn) {
      plan.is_lookup = true;
    }
    rows /= *comparison == Comparison::kEqual ? 100 : 4;
  }
  if (plan.is_lookup) {
    index->estimatedCost = assumption.lookup;
    index->estimatedRows = 1 + static_cast<sqlite3_int64>(assumption.lookup / 10);
  } else {
    index->estimatedCost = assumption.rows;
    index->estimatedRows = 1 + static_cast<sqlite3_int64>(rows);
  }
  // Look-ups return too few rows to be worth sorting here.
  if (!plan.is_lookup && GivesOrder(table, index, &plan)) index->orderByConsumed = 1;
  index->idxStr = sqlite3_mprintf("%s", plan.ToText().c_str());
  index->needToFreeIdxStr = 1;
  return index->idxStr == nullptr ? SQLITE_NOMEM : SQLITE_OK;
}

int Open(sqlite3_vtab*, sqlite3_vtab_cursor** cursor) {
  *cursor = new Cursor();
  return SQLITE_OK;
}

int Close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

// Returns the conditions of a plan with the values of its arguments, as far as they can be checked
// here (SQLite checks all of them again), or nullopt if no row can meet them.
std::optional<std::vector<RowCondition>> ConditionsOf(const Plan& plan, sqlite3_value** arguments,
                                                      const TableInfo& info, Interner* names) {
  std::vector<RowCondition> conditions;
  for (size_t i = 0; i < plan.conditions.size(); ++i) {
    const auto& [column, comparison] = plan.conditions[i];
    sqlite3_value* const value = arguments[i];
    const int type = sqlite3_value_type(value);
    if (type == SQLITE_NULL) return std::nullopt;
    if (TypeOf(info, column) == ColumnType::kName) {
      if (type != SQLITE_TEXT) continue;
      const absl::string_view text(reinterpret_cast<const char*>(sqlite3_value_text(value)),
                                   static_cast<size_t>(sqlite3_value_bytes(value)));
      conditions.push_back({column, comparison, static_cast<int64_t>(names->InternString(text))});
    } else if (type == SQLITE_INTEGER) {
      conditions.push_back({column, comparison, sqlite3_value_int64(value)});
    }
  }
  return conditions;
}

// Reads rows of a table into memory.
int ReadRows(VirtualTable* table, uint64_t columns, std::vector<RowCondition> conditions,
             std::shared_ptr<StoredRows>* result) {
  Database& database = *table->module.database;
  TraceScan scan(table->module.info, columns, std::move(conditions), /*keeps_numbers=*/false,
                 database.traces, &database.options, &database.names);
  if (absl::Status status = scan.ReadAll(); !status.ok()) return FailWith(status, table);
  if (scan.rows().size() >= StoredRows::kNone) {
    return Fail("the table has too many rows to be kept in memory", table);
  }
  *result = std::make_shared<StoredRows>(std::move(scan.rows()));
  return SQLITE_OK;
}

// Returns all rows of a table with at least the columns that are used. The connection keeps them.
int Store(VirtualTable* table, uint64_t columns, std::shared_ptr<StoredRows>* result) {
  std::shared_ptr<StoredRows>& stored =
      table->module.database->stored[static_cast<size_t>(table->module.info->id)];
  const uint64_t known = stored == nullptr ? 0 : stored->rows().columns();
  if (stored == nullptr || (columns & ~known) != 0) {
    if (const int code = ReadRows(table, columns | known, {}, &stored); code != SQLITE_OK) {
      return code;
    }
  }
  *result = stored;
  return SQLITE_OK;
}

bool MeetsConditions(const Cursor& cursor) {
  return std::all_of(
      cursor.conditions.begin(), cursor.conditions.end(),
      [&](const RowCondition& condition) { return cursor.rows().Meets(condition, cursor.row); });
}

// Moves to the next row of a scan.
int NextOfScan(Cursor* cursor) {
  if (++cursor->row < cursor->scan->rows().size()) return SQLITE_OK;
  cursor->scan->rows().Clear();
  cursor->row = 0;
  if (absl::Status status = cursor->scan->ReadMore(); !status.ok()) {
    return FailWith(status, cursor->pVtab);
  }
  cursor->at_end = cursor->scan->rows().size() == 0;
  return SQLITE_OK;
}

// Moves to the next stored row.
void NextOfStored(Cursor* cursor) {
  do {
    if (cursor->chain.has_value()) {
      const uint32_t next =
          cursor->stored->NextWith(*cursor->chain, static_cast<uint32_t>(cursor->row));
      cursor->at_end = next == StoredRows::kNone;
      cursor->row = next;
    } else if (!cursor->order.empty()) {
      cursor->at_end = ++cursor->place >= cursor->order.size();
      if (!cursor->at_end) cursor->row = cursor->order[cursor->place];
    } else {
      cursor->at_end = ++cursor->row >= cursor->rows().size();
    }
  } while (!cursor->at_end && !MeetsConditions(*cursor));
}

void BeginStored(const Plan& plan, Cursor* cursor) {
  StoredRows& stored = *cursor->stored;
  const auto equal = std::find_if(
      cursor->conditions.begin(), cursor->conditions.end(), [](const RowCondition& condition) {
        return condition.comparison == Comparison::kEqual && condition.column != kTraceIdColumn;
      });
  cursor->at_end = stored.rows().size() == 0;
  if (cursor->at_end) return;
  if (!plan.order.empty()) {
    cursor->order = stored.Sorted(plan.order);
    cursor->row = cursor->order.front();
  } else if (equal != cursor->conditions.end()) {
    cursor->chain = equal->column;
    const uint32_t first = stored.FirstWith(equal->column, equal->value);
    cursor->at_end = first == StoredRows::kNone;
    cursor->row = first;
  }
  if (!cursor->at_end && !MeetsConditions(*cursor)) NextOfStored(cursor);
}

int Filter(sqlite3_vtab_cursor* base, int, const char* text, int, sqlite3_value** arguments) {
  Cursor& cursor = *static_cast<Cursor*>(base);
  VirtualTable& table = cursor.table();
  Database& database = *table.module.database;
  const Plan plan = Plan::FromText(text);
  ++cursor.filter_count;
  cursor.row = cursor.place = 0;
  cursor.chain.reset();
  cursor.order.clear();
  cursor.at_end = true;
  std::optional<std::vector<RowCondition>> conditions =
      ConditionsOf(plan, arguments, *table.module.info, &database.names);
  if (!conditions.has_value()) return SQLITE_OK;
  cursor.conditions = *std::move(conditions);
  // A subquery has a new cursor each time, so the connection counts the scans.
  const bool is_repeated =
      cursor.filter_count > 1 ||
      (plan.is_lookup && database.lookups[static_cast<size_t>(table.module.info->id)]++ > 0);
  cursor.stored.reset();
  cursor.scan.reset();
  if (is_repeated || !plan.order.empty()) {
    const int code = is_repeated
                         ? Store(&table, plan.columns, &cursor.stored)
                         : ReadRows(&table, plan.columns, cursor.conditions, &cursor.stored);
    if (code == SQLITE_OK) BeginStored(plan, &cursor);
    return code;
  }
  // If a condition has several alternatives, SQLite finds the rows of each, and identifies
  // duplicates by their numbers.
  cursor.scan = std::make_unique<TraceScan>(table.module.info, plan.columns, cursor.conditions,
                                            /*keeps_numbers=*/plan.is_joined, database.traces,
                                            &database.options, &database.names);
  if (absl::Status status = cursor.scan->ReadMore(); !status.ok()) {
    return FailWith(status, &table);
  }
  cursor.at_end = cursor.scan->rows().size() == 0;
  return SQLITE_OK;
}

int Next(sqlite3_vtab_cursor* base) {
  Cursor& cursor = *static_cast<Cursor*>(base);
  if (cursor.stored == nullptr) return NextOfScan(&cursor);
  NextOfStored(&cursor);
  return SQLITE_OK;
}

int Eof(sqlite3_vtab_cursor* cursor) { return static_cast<Cursor*>(cursor)->at_end ? 1 : 0; }

int Column(sqlite3_vtab_cursor* base, sqlite3_context* context, int number) {
  const Cursor& cursor = *static_cast<const Cursor*>(base);
  const VirtualTable& table = cursor.table();
  const RowSet& rows = cursor.rows();
  const SqlColumn column = static_cast<SqlColumn>(number);
  if (rows.IsNull(column, cursor.row)) return SQLITE_OK;
  switch (TypeOf(*table.module.info, column)) {
    case ColumnType::kName: {
      // Names live as long as the connection.
      const absl::string_view name = rows.NameText(rows.Value(column, cursor.row));
      sqlite3_result_text64(context, name.data(), name.size(), SQLITE_STATIC, SQLITE_UTF8);
      break;
    }
    case ColumnType::kText: {
      const absl::string_view text = rows.Text(column, cursor.row);
      sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
      break;
    }
    default:
      sqlite3_result_int64(context, rows.Value(column, cursor.row));
      break;
  }
  return SQLITE_OK;
}

int RowNumber(sqlite3_vtab_cursor* base, sqlite3_int64* number) {
  const Cursor& cursor = *static_cast<const Cursor*>(base);
  *number = cursor.rows().Number(cursor.row);
  return SQLITE_OK;
}

// Calls a function for SQLite, which is written in C: no exception may reach it.
template <auto kFunction, class... Arguments>
int Guarded(Arguments... arguments) {
  try {
    return kFunction(arguments...);
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}

// A module whose xCreate and xConnect are the same function also has an eponymous table.
constexpr sqlite3_module kModule = [] {
  sqlite3_module module = {};
  module.iVersion = 0;
  module.xCreate = Guarded<Connect>;
  module.xConnect = Guarded<Connect>;
  module.xBestIndex = Guarded<BestIndex>;
  module.xDisconnect = Disconnect;
  module.xDestroy = Disconnect;
  module.xOpen = Guarded<Open>;
  module.xClose = Close;
  module.xFilter = Guarded<Filter>;
  module.xNext = Guarded<Next>;
  module.xEof = Eof;
  module.xColumn = Column;
  module.xRowid = RowNumber;
  return module;
}();

absl::Status StatusOf(sqlite3* db, int code) {
  return code == SQLITE_OK ? absl::OkStatus() : absl::InternalError(sqlite3_errmsg(db));
}

}  // namespace

struct internal::FoldedStacks {
  VirtualTable table;
};

namespace {

// stack_folded(stack_id): the functions of the stack, as in stacks.folded.
void ReturnFolded(sqlite3_context* context, int, sqlite3_value** values) {
  const auto& stacks =
      *static_cast<const std::shared_ptr<internal::FoldedStacks>*>(sqlite3_user_data(context));
  VirtualTable& table = stacks->table;
  if (sqlite3_value_type(values[0]) == SQLITE_NULL) return sqlite3_result_null(context);
  const SqlColumn id = 1 + *table.module.info->FindColumn("stack_id");
  const SqlColumn folded = 1 + *table.module.info->FindColumn("folded");
  std::shared_ptr<StoredRows> stored;
  const int code = Guarded<Store>(&table, uint64_t{1} << id | uint64_t{1} << folded, &stored);
  if (code == SQLITE_ERROR) sqlite3_result_error(context, table.zErrMsg, -1);
  if (code != SQLITE_OK) return sqlite3_result_error_code(context, code);
  const uint32_t row = stored->FirstWith(id, sqlite3_value_int64(values[0]));
  if (row == StoredRows::kNone) return sqlite3_result_null(context);
  const absl::string_view text = stored->rows().Text(folded, row);
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

}  // namespace

absl::Status RegisterSqliteTables(sqlite3* db, std::vector<SqliteTrace> traces,
                                  SqliteTablesOptions options) {
  if (absl::Status status = StatusOf(db, internal::RegisterSqlFunctions(db)); !status.ok()) {
    return status;
  }
  std::shared_ptr<internal::FoldedStacks> stacks;
  return internal::RegisterTables(db, std::move(traces), std::move(options), &stacks);
}

std::string internal::DeclarationOf(const TableColumn& column) {
  const bool is_text = column.type == ColumnType::kName || column.type == ColumnType::kText;
  return absl::StrCat(column.name, is_text ? " TEXT" : " INTEGER",
                      column.is_nullable ? "" : " NOT NULL");
}

absl::Status internal::RegisterTables(sqlite3* db, std::vector<SqliteTrace> traces,
                                      SqliteTablesOptions options,
                                      std::shared_ptr<FoldedStacks>* stacks) {
  std::set<int64_t> ids;
  for (const SqliteTrace& trace : traces) {
    if (!ids.insert(trace.id).second) {
      return absl::InvalidArgumentError(absl::StrCat(trace.source, " is given twice"));
    }
  }
  const auto database = std::make_shared<Database>();
  database->traces = std::move(traces);
  database->options = std::move(options);
  int code = SQLITE_OK;
  for (const TableInfo& info : AllTables()) {
    if (code != SQLITE_OK) break;
    code = sqlite3_create_module_v2(db, std::string(info.name).c_str(), &kModule,
                                    new Module{database, &info},
                                    [](void* module) { delete static_cast<Module*>(module); });
  }
  if (code != SQLITE_OK) return StatusOf(db, code);
  // SQLite does not replace functions while a statement runs, but this one finds other stacks.
  const bool is_first = *stacks == nullptr;
  if (is_first) *stacks = std::make_shared<FoldedStacks>();
  (*stacks)->table.module = {database, &InfoOf(TableId::kStacks)};
  if (!is_first) return absl::OkStatus();
  using Shared = std::shared_ptr<FoldedStacks>;
  return StatusOf(
      db, sqlite3_create_function_v2(db, "stack_folded", 1, SQLITE_UTF8 | SQLITE_INNOCUOUS,
                                     new Shared(*stacks), ReturnFolded, nullptr, nullptr,
                                     [](void* shared) { delete static_cast<Shared*>(shared); }));
}

absl::StatusOr<std::vector<SqliteTrace>> SqliteTracesOfFile(const std::string& path,
                                                            const ReaderLimits& limits) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    return absl::InvalidArgumentError(absl::StrCat(
        internal::QuotedUnlessPlain(path), " is not a file that can be read several times"));
  }
  internal::FileState state;
  const absl::StatusOr<int64_t> id = internal::ContentHashOfFile(path, &state);
  if (!id.ok()) return id.status();
  const auto open = [path, limits, state]() -> absl::StatusOr<std::unique_ptr<ByteSource>> {
    absl::StatusOr<std::unique_ptr<ByteSource>> source =
        internal::OpenUnchanged(path, limits, state);
    if (!source.ok()) return source.status();
    absl::StatusOr<UndoneInput> input = UndoTransport(*std::move(source), limits);
    if (!input.ok()) return input.status();
    return std::move(input->source);
  };
  const absl::StatusOr<std::unique_ptr<ByteSource>> first = open();
  if (absl::IsAborted(first.status())) return first.status();
  const absl::StatusOr<std::vector<TraceSpan>> spans =
      first.ok() ? ListTraces(first->get())
                 : absl::StatusOr<std::vector<TraceSpan>>(first.status());
  std::vector<SqliteTrace> traces;
  // Errors in a single trace are reported when it is read.
  if (!spans.ok() || spans->size() < 2) {
    traces.push_back({path, *id, open});
    return traces;
  }
  for (const TraceSpan& span : *spans) {
    const auto open_one = [open, span]() -> absl::StatusOr<std::unique_ptr<ByteSource>> {
      absl::StatusOr<std::unique_ptr<ByteSource>> source = open();
      if (!source.ok()) return source.status();
      return OneTrace(*std::move(source), span);
    };
    const uint64_t number = traces.size() + 1;
    traces.push_back({path, internal::IdOfTrace(*id, number), open_one, number});
  }
  return traces;
}

}  // namespace gotrace
