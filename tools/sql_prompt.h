// The interactive prompt of the command `sql`.
#ifndef GOTRACE_TOOLS_SQL_PROMPT_H_
#define GOTRACE_TOOLS_SQL_PROMPT_H_

#include "tools/sql_session.h"

namespace gotrace::internal {

// Reads statements from the terminal, with history and completion, and runs them until the user
// has had enough.
void RunSqlPrompt(SqlSession* session);

// Whether the text is a command of the prompt rather than SQL: one that begins with a dot, or quit.
bool IsDotCommand(absl::string_view text);

// Runs such a line: ".tables", ".schema events". Prints what is wrong with it.
// Returns false if it ends the session.
bool RunDotCommand(absl::string_view line, SqlSession* session);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_SQL_PROMPT_H_
