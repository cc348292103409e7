// Finds what kept goroutines that were ready from running, and what the garbage collector and stops
// of the world cost, from sums over one trace or several.
#ifndef GOTRACE_ANALYSIS_SUMMARY_PROC_SUSPICIONS_H_
#define GOTRACE_ANALYSIS_SUMMARY_PROC_SUSPICIONS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/gc_stats.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/interner.h"
#include "gotrace/proc_stats.h"

namespace gotrace::internal {

// A place in the program.
struct ProgramPlace {
  std::string function = {};  // "" if unknown.
  std::string file = {};
  uint64_t line = 0;
  std::string library = {};  // The function that it called; "" if none.

  friend bool operator==(const ProgramPlace&, const ProgramPlace&) = default;
};

// What FindProcSuspicions() needs to know, with texts, so that it can be added up over traces.
// Times are in nanoseconds.
struct ProcEvidence {
  // Goroutines of the program that started in one function.
  struct Function {
    std::string start = {};
    ReadyTimes waited;
    ReadyTimes ran;
    uint64_t goroutines = 0;
    int64_t lifetime = 0;
    int64_t running = 0;
  };
  // The long runs of one goroutine.
  struct LongRun {
    std::string start = {};
    int64_t goroutine = 0;
    ProgramPlace place;  // Where the longest ended.
    uint64_t runs = 0;
    int64_t longest = 0;
    int64_t waited = 0;
    int64_t peers_waited = 0;
  };
  struct Part {
    ProgramPlace place;
    uint64_t count = 0;
    int64_t time = 0;
  };
  // Stops of the world for one reason that were asked for in one place.
  struct Stops {
    std::string reason = {};
    ProgramPlace place;
    uint64_t count = 0;
    int64_t time = 0;
    int64_t stopping = 0;
    int64_t restarting = 0;
    int64_t longest = 0;
    std::string last_in = {};  // The function of the goroutine that stopped last in the longest.
  };

  int64_t duration = 0;
  int64_t all_procs = 0;   // The time of all Ps.
  int64_t busy_procs = 0;  // How much of it they ran goroutines.
  ReadyTimes ready;
  std::vector<Function> functions;
  std::vector<LongRun> long_runs;

  int64_t assist_running = 0;
  int64_t assist_waiting = 0;
  std::vector<Part> assists;  // By where they began.

  uint64_t cycles = 0;
  int64_t workers = 0;         // Of dedicated and fractional mark workers,
  int64_t idle_workers = 0;    // and of those that run on Ps that are idle otherwise.
  std::vector<Part> gc_waits;  // For cycles to begin or to end.
  std::vector<Part> gc_begun;  // Cycles, by where they were begun.

  std::vector<Stops> stops;  // Without the tracer's own.
};

// Something that may make a program slow.
struct ProcSuspicion {
  struct Victim {
    std::string start = {};  // The function that the goroutines started in.
    int64_t time = 0;
  };
  std::string id = {};       // "few-ps", "idle-ps", "hog", "assists", "gc", "stopped".
  int64_t cost_ns = 0;       // The time that goroutines of the program lost.
  ProgramPlace place = {};   // Where to look; empty if that is not one place.
  std::string culprit = {};  // The function of the goroutines that are the cause; "" if none is.
  std::vector<Victim> victims = {};                         // Who lost the time, most first.
  std::vector<std::pair<std::string, int64_t>> facts = {};  // Named numbers, for texts.
};

// Collects the evidence of one trace. `place_of` finds the program's place of a stack.
ProcEvidence CollectProcEvidence(const ProcStats& procs, const GcStats& gc,
                                 absl::Span<const GoroutineGroup> groups, int64_t duration,
                                 const Interner& interner,
                                 const std::function<ProgramPlace(StackId)>& place_of);

// Adds the evidence of another trace. The result does not depend on the order.
void MergeProcEvidence(const ProcEvidence& other, ProcEvidence* sum);

// Returns what is above its thresholds, which are at the top of the .cc file, highest cost first.
std::vector<ProcSuspicion> FindProcSuspicions(const ProcEvidence& evidence);

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_SUMMARY_PROC_SUSPICIONS_H_
