#include "tools/sql/sql_session.h"

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "export/sqlite/register_tables.h"
#include "gotrace/byte_source.h"
#include "gotrace/fault.h"
#include "gotrace/sqlite_tables.h"
#include "gotrace/trace_tables.h"
#include "tools/cli/file_list.h"
#include "tools/cli/nearest_name.h"
#include "tools/cli/report.h"
#include "tools/input/salvage.h"
#include "tools/input/trace_id.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

// The number of steps of SQLite's virtual machine between checks for interruption.
constexpr int kStepsPerLook = 10000;

std::atomic<bool> interrupted = false;

// Returns a suggestion for a name that does not exist, to append to an error message.
std::string HintFor(absl::string_view message) {
  if (message == "not authorized" || message == "authorization denied") {
    return ": queries may read other databases and write files only with --allow-write";
  }
  std::vector<absl::string_view> names;
  for (const TableInfo& table : AllTables()) names.push_back(table.name);
  if (!absl::ConsumePrefix(&message, "no such table: ")) {
    if (!absl::ConsumePrefix(&message, "no such column: ")) return "";
    if (const size_t dot = message.rfind('.'); dot != message.npos) message.remove_prefix(dot + 1);
    if (message == "begin_ns" || message == "start_ns") {
      return "; an interval begins at end_ns - dur_ns";
    }
    names.clear();
    for (const TableInfo& table : AllTables()) {
      for (const TableColumn& column : table.columns) names.push_back(column.name);
    }
  }
  const absl::string_view nearest = NearestName(message, names);
  return nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?");
}

}  // namespace

struct SqlSession::Trace {
  IdentifiedTrace identified;

  // Whether a scan has ended. The other members are from the first one.
  bool has_ended = false;
  absl::Status status;
  Losses losses;

  // Objects that the sources of the trace need, from which SQLite reads until it is closed.
  std::vector<OpenedTrace> opened;

  absl::StatusOr<std::unique_ptr<ByteSource>> Open(const InputFlags& input);
};

absl::StatusOr<std::unique_ptr<ByteSource>> SqlSession::Trace::Open(const InputFlags& input) {
  absl::StatusOr<OpenedTrace> trace = OpenTrace(identified, input.limits);
  if (!trace.ok()) return trace.status();
  if (opened.empty()) PrintTransportNotes(identified.file, trace->notes);
  std::unique_ptr<ByteSource> source = std::move(trace->source);
  opened.push_back(*std::move(trace));
  return source;
}

SqlSession::SqlSession(const ReadingFlags& reading, Options options, Output* out)
    : reading_(reading), options_(std::move(options)), out_(*out) {}

SqlSession::~SqlSession() { sqlite3_close(db_); }

void SqlSession::Interrupt() { interrupted = true; }

bool SqlSession::IsInterrupted() const {
  return interrupted || (keep_going_ != nullptr && !keep_going_());
}

absl::Status SqlSession::Open(const std::vector<std::string>& files) {
  if (sqlite3_open(":memory:", &db_) != SQLITE_OK) {
    return absl::ResourceExhaustedError("SQLite cannot be opened");
  }
  if (options_.max_value_bytes > 0) {
    sqlite3_limit(db_, SQLITE_LIMIT_LENGTH, options_.max_value_bytes);
  }
  std::vector<SqliteTrace> tables;
  DifferentTraces seen;
  for (const std::string& file : files) {
    absl::StatusOr<std::vector<IdentifiedTrace>> identified =
        IdentifyTraces(file, reading_.input.limits, reading_.input.trace);
    if (!identified.ok()) return identified.status();
    if (!seen.Add(identified->front())) continue;
    for (IdentifiedTrace& one : *identified) {
      auto trace = std::make_unique<Trace>();
      trace->identified = std::move(one);
      tables.push_back({options_.file_name.empty() ? NameOf(file) : options_.file_name,
                        trace->identified.id,
                        [this, trace = trace.get()] { return trace->Open(reading_.input); },
                        trace->identified.number});
      traces_.push_back(std::move(trace));
    }
  }
  SqliteTablesOptions options;
  FaultLog ignored;
  options.reader = reading_.Options(&ignored);
  options.reader.on_fault = nullptr;  // A trace may be read several times.
  options.stack_ids_without_pc = options_.stack_ids_without_pc;
  options.keep_going = [this](const Reader& reader) {
    if (progress_ != nullptr && progress_->Due(4096)) {
      progress_->Show({.bytes = reader.input_read(),
                       .total = reader.input_size(),
                       .events = reader.event_count()});
    }
    return !IsInterrupted();
  };
  options.on_end = [this](size_t place, const absl::Status& status, const Losses& losses) {
    Trace& trace = *traces_[place];
    if (std::exchange(trace.has_ended, true) && (status.ok() || !trace.status.ok())) return;
    trace.status = status;
    trace.losses = losses;
  };
  sqlite3_progress_handler(
      db_, kStepsPerLook,
      [](void* session) { return static_cast<SqlSession*>(session)->IsInterrupted() ? 1 : 0; },
      this);
  sqlite3_set_authorizer(db_, Authorize, this);
  return RegisterSqliteTables(db_, std::move(tables), std::move(options));
}

// The database is in memory, and only these actions access files. VACUUM INTO attaches its file,
// too.
int SqlSession::Authorize(void* session, int action, const char* argument, const char*, const char*,
                          const char*) {
  if (static_cast<const SqlSession*>(session)->options_.may_write) return SQLITE_OK;
  if (action == SQLITE_ATTACH) return SQLITE_DENY;
  if (action == SQLITE_PRAGMA && absl::EqualsIgnoreCase(argument, "temp_store_directory")) {
    return SQLITE_DENY;
  }
  return SQLITE_OK;
}

absl::Status SqlSession::ErrorAt(absl::string_view statement) const {
  std::string message = absl::StrCat(Printable(sqlite3_errmsg(db_)), HintFor(sqlite3_errmsg(db_)));
  const int offset = sqlite3_error_offset(db_);
  if (offset >= 0 && static_cast<size_t>(offset) <= statement.size()) {
    const size_t place = static_cast<size_t>(offset);
    const size_t begin = place == 0 ? 0 : statement.rfind('\n', place - 1) + 1;
    const absl::string_view line = statement.substr(begin, statement.find('\n', place) - begin);
    const size_t before = ColumnsOf(Printable(line.substr(0, place - begin)));
    absl::StrAppend(&message, "\n  ", Printable(line), "\n  ", std::string(before, ' '), "^");
  }
  return absl::InvalidArgumentError(message);
}

absl::Status SqlSession::RunNext(absl::string_view* text) {
  SqlOutput output(options_.format, options_.width, &out_);
  return RunNext(text, &output);
}

absl::Status SqlSession::RunNext(absl::string_view* text, SqlRows* rows) {
  interrupted = false;
  const absl::string_view sql = *text;
  sqlite3_stmt* statement = nullptr;
  const char* rest = nullptr;
  if (sqlite3_prepare_v2(db_, sql.data(), static_cast<int>(sql.size()), &statement, &rest) !=
      SQLITE_OK) {
    return ErrorAt(sql);
  }
  text->remove_prefix(static_cast<size_t>(rest - sql.data()));
  if (statement == nullptr) return absl::OkStatus();  // A comment.
  progress_ = std::make_unique<Progress>(/*prints_along=*/false);
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    progress_->Wipe();
    if (!rows->AddRow(statement)) break;
  }
  progress_.reset();
  if (code != SQLITE_INTERRUPT) rows->Finish(statement);
  absl::Status status = code == SQLITE_DONE || code == SQLITE_ROW ? absl::OkStatus()
                        : code == SQLITE_INTERRUPT ? absl::CancelledError("interrupted")
                                                   : ErrorAt(sql);
  sqlite3_finalize(statement);
  return status;
}

absl::Status SqlSession::Execute(const std::string& sql) {
  progress_ = std::make_unique<Progress>(/*prints_along=*/false);
  const int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  progress_.reset();
  return code == SQLITE_OK ? absl::OkStatus() : absl::InternalError(sqlite3_errmsg(db_));
}

absl::Status SqlSession::FillDatabase(const std::string& path) {
  char* const attach = sqlite3_mprintf("ATTACH %Q AS saved", path.c_str());
  absl::Status status = Execute(attach);
  sqlite3_free(attach);
  if (!status.ok()) return status;
  status = Execute("PRAGMA saved.journal_mode = OFF; PRAGMA saved.synchronous = OFF; BEGIN");
  for (const TableInfo& info : AllTables()) {
    std::string columns = "trace_id INTEGER NOT NULL";
    std::string names = "trace_id";
    for (const TableColumn& column : info.columns) {
      absl::StrAppend(&columns, ", ", DeclarationOf(column));
      absl::StrAppend(&names, ", ", column.name);
    }
    if (status.ok()) {
      status = Execute(absl::StrCat("CREATE TABLE saved.", info.name, "(", columns, ");",
                                    "INSERT INTO saved.", info.name, " SELECT ", names,
                                    " FROM main.", info.name));
    }
  }
  if (status.ok()) status = Execute("COMMIT");
  if (!status.ok()) Execute("ROLLBACK").IgnoreError();
  status.Update(Execute("DETACH saved"));
  return status;
}

absl::Status SqlSession::Save(const std::string& path) {
  interrupted = false;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    return absl::AlreadyExistsError(
        absl::StrCat(QuotedUnlessPlain(path), " exists; give the name of a new file"));
  }
  absl::StatusOr<OutputFile> file = OutputFile::Create(path);
  absl::Status status = file.status();
  if (status.ok()) {
    options_.may_write = true;
    status = FillDatabase(file->temporary());
  }
  if (status.ok()) status = file->Commit();
  if (status.ok()) return status;
  return absl::UnavailableError(
      absl::StrCat(QuotedUnlessPlain(path), " cannot be written: ", status.message()));
}

int SqlSession::Report() const {
  int exit_code = kSuccess;
  for (const std::unique_ptr<Trace>& trace : traces_) {
    if (!trace->has_ended) continue;
    FileResult result;
    result.status = trace->status;
    const std::optional<Fault> fault = FaultOf(trace->status);
    if (reading_.salvage) {
      result.salvage_report =
          SalvageReport(ShownNameOf(trace->identified.label()), FaultLog(), trace->losses);
    } else if (fault.has_value() && fault->id != FaultId::kNotATrace) {
      result.hint =
          "the rows are from before the fault; `gotrace-dump validate` lists all errors, and "
          "--salvage keeps everything that can still be read";
    }
    for (const std::string& line : result.salvage_report) {
      absl::FPrintF(stderr, "%s\n", line);
    }
    if (!trace->status.ok()) {
      exit_code = std::max(exit_code, ReportError(trace->identified.label(), result));
    }
  }
  return exit_code;
}

}  // namespace gotrace::internal
