// The interactive prompt of the command `sql`.
#ifndef GOTRACE_TOOLS_SQL_SQL_PROMPT_H_
#define GOTRACE_TOOLS_SQL_SQL_PROMPT_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tools/sql/sql_session.h"

namespace gotrace::internal {

// Reads statements from the terminal, with history and completion, and runs them until the user
// quits.
void RunSqlPrompt(SqlSession* session);

// Runs the statements in `text`, and commands such as ".tables", ".schema events" and quit, which
// end with the line or a semicolon. Stops at the first error, and returns it with its place. If a
// command ends the session, sets `*quits` and does not run the rest.
absl::Status RunStatements(absl::string_view text, SqlSession* session, bool* quits);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_SQL_SQL_PROMPT_H_
