// Writes generations: turns ordered events into the bytes of a trace that Go's reader accepts.
//
// The events may come from a sound trace, from one that is damaged, or from nowhere. Where one
// contradicts what the events before it say, the writer puts others before it that lead to what it
// asks for: a goroutine that is to start while it still runs elsewhere stops there first. An event
// that nothing can lead to is left out.
#ifndef GOTRACE_REWRITE_GENERATION_WRITER_H_
#define GOTRACE_REWRITE_GENERATION_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "gotrace/event.h"
#include "gotrace/version.h"
#include "parser/generation/generation_tables.h"
#include "rewrite/event_encoder.h"
#include "rewrite/program_model.h"
#include "rewrite/table_additions.h"
#include "rewrite/writer_event.h"

namespace gotrace::internal {

// One generation that is to be written.
struct GenerationContent {
  uint64_t number = 0;

  int64_t begin = 0;  // The time of its sync event, in nanoseconds.

  // The frequency of the trace clock, in ticks per second. One that EventEncoder does not take
  // counts as a billion.
  uint64_t frequency = 0;

  // Needed from version 1.25 on, and left out before.
  ClockSnapshot clock_snapshot;

  // The strings, stacks, CPU samples and experimental batches, which must outlive the writing.
  // Whatever the events refer to is to be there.
  const GenerationTables* tables = nullptr;

  // Strings and stacks that `events` refer to and `tables` lacks.
  std::optional<TableAdditions> additions;

  std::vector<WriterEvent> events;

  // Whether the order of `events` is not to be kept, because not all of it is known: then they are
  // put in order by their times, each thread's as they are, but for some microseconds in which an
  // event waits for what another thread has to do first.
  bool order_by_time = false;
};

// What became of a generation.
struct WrittenGeneration {
  uint64_t events = 0;           // That a reader gives of it, without its kSync event.
  uint64_t statuses_added = 0;   // Of goroutines and Ps that are not stated before they are used.
  uint64_t events_added = 0;     // Others that lead from one event to the next.
  uint64_t events_left_out = 0;  // Of GenerationContent::events.

  uint64_t strings_added = 0;  // To the string table, besides GenerationContent::additions.

  // Whether Go's reader needs any of these changes, or other sequence numbers, where it has read
  // the generations before as they were written. If not, it accepts the events as they were.
  bool changed = false;
};

// Writes one generation after the other, all of one trace. Memory is what the state of the program
// takes, and that of one generation. The time that an event takes does not depend on how many there
// are.
class GenerationWriter {
 public:
  explicit GenerationWriter(Version version) : version_(version) {}
  GenerationWriter(const GenerationWriter&) = delete;
  GenerationWriter& operator=(const GenerationWriter&) = delete;

  // The thread of what is added where no other thread can do it. No system gives this id.
  static constexpr ThreadId kHelper{0};

  // Appends the bytes of a generation to `*out`. The header of the trace is the caller's.
  WrittenGeneration Write(const GenerationContent& content, std::string* out);

 private:
  using Goroutine = ProgramModel::Goroutine;
  using Proc = ProgramModel::Proc;
  using Thread = ProgramModel::Thread;

  // A thread that runs nothing and has a P, for a moment.
  struct Lent {
    ThreadId thread;
    GoId goroutine;         // That ran there before, and goes on.
    bool has_proc = false;  // Whether it had the P before.
  };

  // Writing events. ------------------------------------------------------------------------------
  void WriteListed(const WriterEvent& event);
  void WriteInOrder();
  void WriteByTime();
  void Put(WriterEvent event);
  // An event that is added.
  void Add(EventType type, ThreadId thread, std::initializer_list<uint64_t> args = {});
  void AddStatus(EventType type, ThreadId thread, std::initializer_list<uint64_t> args);

  // Makes the event admissible, or returns false if that cannot be. May change the event.
  bool Admit(WriterEvent* event);
  bool AdmitProcStatus(WriterEvent* event);
  bool AdmitProcStart(const WriterEvent& event);
  bool AdmitProcSteal(WriterEvent* event);
  bool AdmitGoStatus(WriterEvent* event);
  bool AdmitGoCreate(const WriterEvent& event);
  bool AdmitGoCreateSyscall(const WriterEvent& event);
  bool AdmitGoSwitch(const WriterEvent& event);
  bool AdmitSyscallEnd(const WriterEvent& event);
  bool AdmitGc(const WriterEvent& event);
  bool AdmitGoRange(const WriterEvent& event);
  bool AdmitSweep(const WriterEvent& event);
  bool AdmitAnnotation(const WriterEvent& event);
  bool AdmitRegionEnd(const WriterEvent& event);

  // Whether Admit() would do nothing, as far as other threads' events matter to that.
  bool CanComeNext(const WriterEvent& event) const;

  // Leading to a state. Each returns false if nothing leads there. -------------------------------
  // Gives the thread the P, or any if that is kNone.
  bool GiveProc(ThreadId thread, ProcId id);
  ProcId ChooseProc(ThreadId thread) const;
  void MakeIdle(ProcId id, ThreadId helper);
  // Takes the goroutine that the thread runs off it.
  bool Vacate(ThreadId thread);
  bool MakeRunning(ThreadId thread, GoId id, ProcId proc);
  bool MakeRunnable(GoId id, ThreadId helper);
  bool MakeWaiting(GoId id, ThreadId helper);
  bool MakeSyscall(ThreadId thread, GoId id, ProcId proc);
  // As the context of an event says, where it has to run a goroutine.
  bool MakeRunningContext(const WriterEvent& event);
  void EndSyscall(ThreadId thread);
  Lent Lend(ThreadId preferred);
  void GiveBack(const Lent& lent);

  // Give the status in this generation if that was not done, where `needed` because Go's reader
  // asks for it.
  void State(GoId id, ThreadId helper, bool needed);
  void State(ProcId id, ThreadId helper, bool needed);
  void StateContext(const WriterEvent& event);

  // The status that the goroutine will need next, of Runnable and Waiting.
  GoStatus NextStatus(GoId id);

  // The id of a string that says why what was added happened.
  uint64_t AddedReason();
  uint64_t StringId(absl::string_view text);
  absl::string_view StringOf(uint64_t id) const;

  void WriteTables();
  void WriteStrings();
  void WriteStacks();
  void WriteSamples();
  void WriteExperimental();

  const Version version_;
  ProgramModel model_;

  // Of the generation being written.
  const GenerationContent* content_ = nullptr;
  std::string* out_ = nullptr;
  EventEncoder* encoder_ = nullptr;
  uint64_t begin_ticks_ = 0;
  WrittenGeneration result_;
  int64_t time_ = 0;                                           // Of the event being written,
  size_t place_ = 0;                                           // and its index.
  std::optional<TableAdditions> additions_;                    // To the tables.
  bool has_subjects_ = false;                                  // Whether subjects_ was filled.
  absl::flat_hash_map<GoId, std::vector<uint32_t>> subjects_;  // Events about each goroutine.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_GENERATION_WRITER_H_
