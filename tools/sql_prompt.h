// The interactive prompt of the command `sql`.
#ifndef GOTRACE_TOOLS_SQL_PROMPT_H_
#define GOTRACE_TOOLS_SQL_PROMPT_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tools/sql_session.h"

namespace gotrace::internal {

// Reads statements from the terminal, with history and completion, and runs them until the user
// has had enough.
void RunSqlPrompt(SqlSession* session);

// Runs the statements in `text`, and the commands between them: ".tables", ".schema events", quit;
// these end with the line or a semicolon. Stops at the first error, and returns it with the place
// where it is. Sets `*quits` if a command ended the session, and then does not run what follows.
absl::Status RunStatements(absl::string_view text, SqlSession* session, bool* quits);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_SQL_PROMPT_H_
