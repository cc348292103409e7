// What a trace, or a generation, states at its beginning if the program was already running then.
//
// A trace that begins in the middle of a program must say which goroutines and Ps exist, and in
// which states: Go's reader accepts no event of a goroutine or P of which it does not know. Like
// the runtime, the prologue has a status of each of them, with the goroutine's stack if the version
// has such statuses, and a range event for what is active: a GC cycle, sweeps and mark assists.
//
// A trace that Go writes says nothing about what else is open when it begins. The prologue begins
// it again, so that its end finds it: stops of the world, tasks and regions, and also the last
// values of GOMAXPROCS and of the heap. Only a running goroutine can write these. One that waits is
// therefore stated as running on a thread that no program has (GenerationWriter::kHelper), with
// some P, and then blocks with its reason and stack. A task whose goroutine has ended begins on
// another one. In version 1.22, whose statuses have no stacks, this is also done for every
// goroutine whose stack is known, since names of goroutines follow from stacks.
#ifndef GOTRACE_REWRITE_PROLOGUE_H_
#define GOTRACE_REWRITE_PROLOGUE_H_

#include <cstdint>
#include <vector>

#include "gotrace/version.h"
#include "rewrite/joined_tables.h"
#include "rewrite/past_events.h"
#include "rewrite/program_model.h"
#include "rewrite/writer_event.h"

namespace gotrace::internal {

struct Prologue {
  std::vector<WriterEvent> events;  // In order, without times.
  // How many nanoseconds they take, with everything that GenerationWriter adds for them.
  int64_t length = 0;

  // Sets the times of the events so that the first is at `begin`.
  void BeginAt(int64_t begin);
};

// Returns the prologue of a trace of `version` that begins with the state `model` and after the
// events `past`. Adds its strings and stacks to `*tables`. It is for a GenerationWriter that has
// written nothing.
Prologue MakeTracePrologue(const ProgramModel& model, const PastEvents& past, Version version,
                           JoinedTables* tables);

// Returns the prologue of a further generation of the trace whose state is `model`: the statuses
// and active ranges.
Prologue MakeGenerationPrologue(const ProgramModel& model);

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_PROLOGUE_H_
