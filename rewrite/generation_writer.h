// Writes generations: turns ordered events into the bytes of a trace that Go's reader accepts.
//
// The events may come from a sound trace, from a damaged one, or from none. If an event contradicts
// the events before it, the writer adds events that lead to the state it requires: for example, a
// goroutine that starts while it still runs elsewhere first stops there. An event whose required
// state cannot be reached is dropped.
#ifndef GOTRACE_REWRITE_GENERATION_WRITER_H_
#define GOTRACE_REWRITE_GENERATION_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/event.h"
#include "gotrace/version.h"
#include "parser/generation/generation_tables.h"
#include "rewrite/event_encoder.h"
#include "rewrite/program_model.h"
#include "rewrite/table_additions.h"
#include "rewrite/table_source.h"
#include "rewrite/writer_event.h"

namespace gotrace::internal {

// A batch of an experiment, in a format that the experiment defines.
struct WriterBatch {
  uint64_t experiment = 0;
  ThreadId thread;
  absl::string_view data;
};

// Returns the batches of experiments in the tables of a generation.
std::vector<WriterBatch> ExperimentalBatches(const EventTables& tables);

// The contents of a generation to write.
struct GenerationContent {
  // `source` has the strings and stacks to which events and samples refer, and must outlive the
  // call of Write().
  explicit GenerationContent(const TableSource& source) : tables(source) {}

  // Sets `events`, and `order_by_time` if a time goes back.
  void SetEvents(std::vector<WriterEvent> all);

  uint64_t number = 0;

  int64_t begin = 0;  // The time of its sync event, in nanoseconds.

  // The frequency of the trace clock, in ticks per second. A value outside EventEncoder's range is
  // replaced with a billion.
  uint64_t frequency = EventEncoder::kNanoseconds;

  // Required from version 1.25 on, and ignored before.
  ClockSnapshot clock_snapshot;

  // The strings and stacks of the source, and additions to which `events` may refer as well.
  TableAdditions tables;

  std::vector<WriterEvent> events;

  // How many of the first events state what exists at the beginning: see Prologue. They come in
  // their order and before all others.
  size_t stated = 0;

  // If set, the generation lasts at least until this time: if its events end earlier, the status of
  // a P is repeated then.
  std::optional<int64_t> last_until;

  // Whether the order of `events` is only partly known. They are then ordered by time, keeping the
  // order of each thread's events; an event waits some microseconds for an event of another thread
  // that must come first.
  bool order_by_time = false;

  // CPU samples, with times in nanoseconds, and batches of experiments. What the two refer to must
  // outlive the call of Write().
  absl::Span<const CpuSample> samples;
  std::vector<WriterBatch> experimental_batches;
};

// The result of writing a generation.
struct WrittenGeneration {
  uint64_t events = 0;           // Events that a reader returns for it, without the kSync event.
  uint64_t statuses_added = 0;   // Statuses added for goroutines and Ps used without one.
  uint64_t events_added = 0;     // Other events added to connect one event to the next.
  uint64_t events_left_out = 0;  // Events of GenerationContent::events that were dropped.

  // Events that a reader returns for those of GenerationContent::stated and for `last_until`. They
  // are among `events`, and count for none of the numbers above but that.
  uint64_t stated = 0;

  // The first event that contradicts the ones before it: events had to be added for it, or it was
  // dropped or changed.
  struct Contradiction {
    EventType type = EventType::kNone;
    uint32_t number = 0;  // WriterEvent::number.
    int64_t time = 0;
    EventType missing = EventType::kNone;  // The first event that was added; kNone if none.
  };
  std::optional<Contradiction> contradiction;

  uint64_t strings_added = 0;  // Strings added to GenerationContent::tables.

  // Whether Go's reader, after reading the previous generations as written, needs any of these
  // changes or other sequence numbers. If not, it accepts the original events.
  bool changed = false;
};

// Writes the generations of one trace, one after the other. Memory is bounded by the state of the
// program and one generation. The time for an event does not depend on the number of events.
class GenerationWriter {
 public:
  explicit GenerationWriter(Version version) : version_(version) {}
  GenerationWriter(const GenerationWriter&) = delete;
  GenerationWriter& operator=(const GenerationWriter&) = delete;

  // The thread of added events that no other thread can have. No system assigns this id.
  static constexpr ThreadId kHelper{0};

  // The state after the generations that were written.
  const ProgramModel& model() const { return model_; }

  // Appends the bytes of a generation to `*out`. The caller writes the header of the trace. Strings
  // and stacks that are too large for the format are cut.
  WrittenGeneration Write(GenerationContent content, std::string* out);

 private:
  using Goroutine = ProgramModel::Goroutine;
  using Proc = ProgramModel::Proc;
  using Thread = ProgramModel::Thread;

  // A thread that temporarily runs no goroutine and has a P.
  struct BorrowedThread {
    ThreadId thread;
    GoId goroutine;         // The goroutine that ran there before, and will continue.
    bool has_proc = false;  // Whether the thread had the P before.
  };

  // Writing events. ------------------------------------------------------------------------------
  void WriteStated();
  void WriteListed(const WriterEvent& event);
  void LastUntil(int64_t time);
  void WriteInOrder();
  void WriteByTime();
  void Put(WriterEvent event);
  // Adds an event that is not in the content.
  void Add(EventType type, ThreadId thread, std::initializer_list<uint64_t> args = {});
  void AddStatus(EventType type, ThreadId thread, std::initializer_list<uint64_t> args);

  // Makes the event admissible, or returns false if that is impossible. May change the event.
  bool Admit(WriterEvent* event);
  bool AdmitTransition(WriterEvent* event);
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
  bool AdmitTaskBegin(const WriterEvent& event);
  bool AdmitRegionEnd(WriterEvent* event);

  // Returns whether Admit() would add nothing, as far as that depends on other threads' events.
  bool CanComeNext(const WriterEvent& event) const;

  // Reaching a state. Each function returns false if the state cannot be reached. ----------------
  // Gives the thread the P, or any P if `id` is kNone.
  bool GiveProc(ThreadId thread, ProcId id);
  ProcId ChooseProc(ThreadId thread);
  void MakeIdle(ProcId id, ThreadId helper);
  // Removes the goroutine that the thread runs.
  bool UnbindGoroutine(ThreadId thread);
  bool MakeRunning(ThreadId thread, GoId id, ProcId proc);
  bool MakeRunnable(GoId id, ThreadId helper);
  bool MakeWaiting(GoId id, ThreadId helper);
  bool MakeSyscall(ThreadId thread, GoId id, ProcId proc);
  // Makes the thread of an event run a goroutine, and have a P, if its row in event_rules.def
  // requires them.
  bool MakeContext(const WriterEvent& event);
  // Makes the thread of an event run the goroutine of its context.
  bool MakeRunningContext(const WriterEvent& event);
  void EndSyscall(ThreadId thread);
  BorrowedThread BorrowThread(ThreadId preferred);
  void ReturnThread(const BorrowedThread& lent);

  // Writes the status in this generation unless that was done. `needed` says whether Go's reader
  // requires it.
  void State(GoId id, ThreadId helper, bool needed);
  void State(ProcId id, ThreadId helper, bool needed);
  void StateContext(const WriterEvent& event);

  // Returns the status that the goroutine will need next, Runnable or Waiting.
  GoStatus NextStatus(GoId id);

  // Returns the id of the string that is the reason of added events.
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

  // The generation being written.
  GenerationContent* content_ = nullptr;
  std::string* out_ = nullptr;
  EventEncoder* encoder_ = nullptr;
  uint64_t begin_ticks_ = 0;
  WrittenGeneration result_;
  int64_t time_ = 0;                                           // The time of the current event.
  size_t place_ = 0;                                           // The index of the current event.
  EventType first_added_ = EventType::kNone;                   // Added for the current event.
  bool altered_ = false;                                       // Whether that has other arguments.
  bool has_subjects_ = false;                                  // Whether subjects_ was filled.
  absl::flat_hash_map<GoId, std::vector<uint32_t>> subjects_;  // Events about each goroutine.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_GENERATION_WRITER_H_
