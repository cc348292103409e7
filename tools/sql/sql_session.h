// A connection to SQLite with the tables of some traces, on which statements are run.
#ifndef GOTRACE_TOOLS_SQL_SQL_SESSION_H_
#define GOTRACE_TOOLS_SQL_SQL_SESSION_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tools/cli/inner_command.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"
#include "tools/cli/shared_flags.h"
#include "tools/input/open_trace.h"
#include "tools/sql/sql_output.h"

struct sqlite3;

namespace gotrace::internal {

class SqlSession {
 public:
  struct Options {
    SqlFormat format = SqlFormat::kTable;
    size_t width = 0;  // As in SqlOutput.
    bool stack_ids_without_pc = false;
    bool may_write = false;      // Whether statements may write files.
    std::string file_name = "";  // What tables call the file, if not by the name that opens it.
    int max_value_bytes = 0;     // How large a text or blob may be; 0 for what SQLite allows.
  };

  SqlSession(const ReadingFlags& reading, Options options, Output* out);
  ~SqlSession();

  // Makes the tables of all traces in the files available. Of several files with the same bytes,
  // only the first counts. Fails if a file cannot be read.
  absl::Status Open(const std::vector<std::string>& files);

  // Runs the first statement in `*text`, prints its rows, and removes it from the text. Errors
  // include their place.
  absl::Status RunNext(absl::string_view* text);

  // The same, but gives the rows to `*rows`.
  absl::Status RunNext(absl::string_view* text, SqlRows* rows);

  // Writes all tables into a new database. Fails if the file exists.
  absl::Status Save(const std::string& path);

  // Prints the problems of the traces that were read. Returns the exit code.
  int Report() const;

  void set_format(SqlFormat format) { options_.format = format; }
  Output& out() { return out_; }
  sqlite3* db() { return db_; }

  // Makes a running query fail. For handlers of signals.
  static void Interrupt();

 private:
  struct Trace;

  // Returns whether nobody waits for the rows any more.
  bool IsInterrupted() const;

  absl::Status ErrorAt(absl::string_view statement) const;
  absl::Status Execute(const std::string& sql);
  absl::Status FillDatabase(const std::string& path);

  // The callback of sqlite3_set_authorizer(), which decides what statements may do.
  static int Authorize(void* session, int action, const char* argument, const char*, const char*,
                       const char*);

  const ReadingFlags& reading_;
  const std::function<bool()> keep_going_ = InnerCommand::KeepGoing();
  Options options_;
  Output& out_;
  sqlite3* db_ = nullptr;
  std::vector<std::unique_ptr<Trace>> traces_;
  std::unique_ptr<Progress> progress_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_SQL_SQL_SESSION_H_
