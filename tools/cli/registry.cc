#include "tools/cli/registry.h"

namespace gotrace::internal {

// One row for each command, in the order in which help lists them. The row X stands for the
// function MakeXCommand(), which the command's file defines.
#define GOTRACE_COMMANDS(ROW) \
  ROW(Events)                 \
  ROW(Wire)                   \
  ROW(Assemble)               \
  ROW(Info)                   \
  ROW(Footprint)              \
  ROW(Fxt)                    \
  ROW(Validate)               \
  ROW(Repair)                 \
  ROW(Trim)                   \
  ROW(Select)                 \
  ROW(Split)                  \
  ROW(Join)                   \
  ROW(Anonymise)              \
  ROW(Convert)                \
  ROW(Summary)                \
  ROW(Goroutines)             \
  ROW(Tasks)                  \
  ROW(Regions)                \
  ROW(Path)                   \
  ROW(Gc)                     \
  ROW(Latency)                \
  ROW(Procs)                  \
  ROW(Locks)                  \
  ROW(Leaks)                  \
  ROW(Heap)                   \
  ROW(Diff)                   \
  ROW(Profile)                \
  ROW(Sql)                    \
  ROW(Tables)                 \
  ROW(Serve)                  \
  ROW(Report)

#define DECLARE(name) std::unique_ptr<Command> Make##name##Command();
GOTRACE_COMMANDS(DECLARE)
#undef DECLARE

CommandList MakeCommands() {
  CommandList commands;
#define MAKE(name) commands.push_back(Make##name##Command());
  GOTRACE_COMMANDS(MAKE)
#undef MAKE
  return commands;
}

}  // namespace gotrace::internal
