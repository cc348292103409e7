// Charges the time in which goroutines were ready to run to what the Ps did meanwhile.
#ifndef GOTRACE_ANALYSIS_GC_READY_SWEEP_H_
#define GOTRACE_ANALYSIS_GC_READY_SWEEP_H_

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "analysis/intervals/start_function.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/proc_stats.h"
#include "gotrace/states.h"
#include "util/dense_table.h"

namespace gotrace::internal {

// A generation is swept once it is complete, since a status that it states late has lasted from its
// beginning. At each moment the ready goroutines are charged in equal parts: while the world is
// stopped to the stop; else as many of them as there are idle Ps to these, and the rest in equal
// parts to the other Ps, by what each of these does. See ReadyCause.
//
// A sweep uses only what its own generation states, so that it gives the same numbers wherever a
// trace is cut. So a run counts from the beginning of the generation, and a goroutine is one of the
// runtime only if the generation has its stack or its label. But the charges of a goroutine are
// kept until the function that it started in is known, wherever that is.
class ReadySweep {
 public:
  // A time in which nothing changes.
  struct Moment {
    int64_t begin = 0;
    int64_t end = 0;
    int64_t runnable = 0;  // The number of ready goroutines, also those of the runtime.
    int64_t idle = 0;      // The number of idle Ps that GOMAXPROCS allows to run goroutines.
    bool is_stopped = false;
    std::vector<ProcId> stopped;  // If the world is stopped, these Ps.
  };
  using Take = std::function<void(const Moment& moment)>;

  // A stop of the world, or the part of it that was seen.
  struct Stop {
    int64_t begin = 0;
    int64_t end = 0;
  };

  // Charges in fractions of a nanosecond, kUnit of which are one, by ReadyCause.
  using Charges = std::array<int64_t, kReadyCauseEnd>;
  static constexpr int64_t kUnit = 1024;

  // A long run keeps others from its P for longer than the scheduler means it to, by its part
  // beyond kSlice: after that, the runtime asks the goroutine to give way.
  static constexpr int64_t kSlice = 10'000'000;
  static constexpr int64_t kLongRunLength = 2 * kSlice;

  // The charges of goroutines that started in one function.
  struct Sums {
    Charges waited{};  // While they were ready themselves.
    Charges ran{};     // By what they did while others were ready.
  };

  // The long runs of a goroutine.
  struct LongRun {
    StringId start = StringId::kEmpty;
    int64_t waited = 0;        // By others, in fractions of a nanosecond.
    int64_t peers_waited = 0;  // The part of it by goroutines that started in the same function.
  };

  // Gives all moments to `take`, in order of time. `*interner` must outlive this object.
  ReadySweep(Interner* interner, Take take) : interner_(*interner), take_(std::move(take)) {}

  // Counts only times in `window`. Call it before the first event.
  void SetWindow(EventFilter::Times window) { window_ = window; }

  void Add(const Event& event);

  // Appends what `next` has, which took the part of the trace that follows.
  void Merge(ReadySweep& next, const InternerMap& ids);

  void Finish(int64_t end);

  // Return the time of the first event, and of the first status, before which nothing was seen.
  int64_t begin() const { return begin_; }
  int64_t seen_from() const { return seen_from_; }

  // Return the results, after Finish(). Stops are in order of time.
  const absl::flat_hash_map<StringId, Sums>& functions() const { return functions_; }
  const absl::flat_hash_map<GoId, LongRun>& long_runs() const { return long_runs_; }
  absl::Span<const Stop> stops() const { return stops_; }

 private:
  struct Change {
    enum Kind : uint32_t {
      kReady,
      kRunning,
      kNeither,
      kAssist,
      kNoAssist,
      kLongRun,
      kProcIdle,
      kProcRunning,
      kProcNeither,
      kLimit,
      kStop,
      kTracerStop,
      kStart,
    };

    int64_t time = 0;
    Kind kind = kReady;
    int64_t subject = 0;  // The goroutine, the P, or GOMAXPROCS.
  };

  struct Goroutine {
    GoId id;
    StartFunction start;                     // As far as is known.
    uint64_t known_in = 0;                   // The last generation that has its stack,
    StringId start_here = StringId::kEmpty;  // and its start there: of a deep stack another one.
    uint64_t worker_in = 0;                  // The last generation that labels it as a mark worker.
    bool is_older = true;                    // Whether its beginning is not here.
    bool has_ended = false;

    // After the last event.
    bool runs = false;
    int64_t runs_since = 0;

    // At the time of the sweep, and when the generation begins.
    Change::Kind state = Change::kNeither;
    bool is_assisting = false;
    bool is_long = false;
    ReadyCause does = ReadyCause::kOther;  // While it is running.
    int64_t since = 0;                     // Since when it is ready.
    int64_t share_before = 0;              // The value of `share_` when it began to run.
    Charges charges_before{};              // The values of `charges_` when it became ready.
  };

  // What is known of goroutines that started in a function.
  enum class Kind : uint8_t { kUnknown, kProgram, kSystem, kMarkWorker };

  // A goroutine that has ended, and began in an earlier part of the trace, which may know its
  // start.
  struct EndedOlder {
    StartFunction start;
    Sums pending;
  };

  Goroutine& Of(GoId id);
  void AddTransition(const Event& event);
  void AddGoroutine(const Event& event);
  void AddProc(const Event& event);
  void AddRange(const Event& event);
  void AddLimit(const Event& event);
  void EndRun(const Goroutine& goroutine, int64_t end);
  void Learn(StackId stack, Goroutine* goroutine);

  // Returns the start of a goroutine if this generation has it.
  StringId StartHere(const Goroutine& goroutine) const {
    return goroutine.known_in == generation_ ? goroutine.start_here : StringId::kEmpty;
  }
  Kind KindOf(StringId start);
  Kind KindHere(const Goroutine& goroutine);
  ReadyCause WhatItDoes(const Goroutine& goroutine);

  void EndGeneration(int64_t end);
  static void SortByTime(std::vector<Change>* changes);
  void BeginSweep();
  void EndSweep();
  void Retire(GoId id, const StartFunction& start, bool is_older);
  void Apply(const Change& change);
  void ApplyTo(Goroutine& goroutine, Change::Kind kind);
  void Advance(int64_t to);
  void Charge(int64_t length);
  // Begin and end the state of a goroutine in the sweep.
  void Enter(Goroutine& goroutine);
  void Leave(Goroutine& goroutine);
  Sums& SumsOf(const Goroutine& goroutine);
  // Returns the Ps that are idle and within the limit: how many, or which.
  int64_t CountIdle() const;
  std::vector<ProcId> IdleProcs() const;

  void MergeEnded(ReadySweep& next, const InternerMap& ids);
  void MergeGoroutines(ReadySweep& next, const InternerMap& ids);
  static void Add(const Sums& more, Sums* sums);

  Interner& interner_;
  const Take take_;
  EventFilter::Times window_;
  std::vector<Kind> kinds_;  // By StringId.

  int64_t begin_ = std::numeric_limits<int64_t>::max();
  int64_t seen_from_ = std::numeric_limits<int64_t>::max();

  // The generation that is being read.
  uint64_t generation_ = 1;
  bool has_generation_ = false;
  bool is_first_generation_ = true;
  int64_t generation_begin_ = 0;
  bool has_statement_ = false;  // Whether it stated something that no earlier generation did.
  bool has_limit_ = false;      // Whether it has stated GOMAXPROCS.
  std::vector<Change> changes_;
  std::vector<Change> long_changes_;  // Those to kLongRun, which are known only later.

  // The state at the time of the sweep, and when the generation begins.
  DenseTable<Goroutine> goroutines_{kSlotsForGoroutines};
  std::set<ProcId> idle_procs_;
  std::set<ProcId> running_procs_;
  std::set<ProcId> stated_procs_;                          // Whose first status was seen.
  uint64_t limit_ = std::numeric_limits<uint64_t>::max();  // GOMAXPROCS, if known.

  // Of the sweep.
  int64_t time_ = 0;
  Change::Kind stop_ = Change::kStart;  // kStop or kTracerStop while the world is stopped.
  int64_t idle_ = 0;                    // CountIdle().
  int64_t runnable_ = 0;                // All goroutines that are ready.
  int64_t ready_ = 0;                   // Without those that are known to be of the runtime.
  Charges running_{};                   // The number of running goroutines, by what they do.
  // The time that each goroutine would be charged, and that each busy P would be charged for, if
  // they were ready or busy all the time. In fractions of a nanosecond.
  Charges charges_{};
  int64_t share_ = 0;
  std::vector<const Goroutine*> long_running_;
  absl::flat_hash_map<StringId, int64_t> ready_by_start_;  // If there are long runs.
  std::vector<GoId> ended_;

  absl::flat_hash_map<StringId, Sums> functions_;
  // Of goroutines that began in an earlier part, or whose start is not known.
  absl::flat_hash_map<GoId, Sums> pending_;
  absl::flat_hash_map<GoId, EndedOlder> ended_older_;
  absl::flat_hash_map<GoId, LongRun> long_runs_;
  std::vector<Stop> stops_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_GC_READY_SWEEP_H_
