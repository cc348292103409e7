// Judges a trace step by step. For the validator's own files only.
#ifndef GOTRACE_VALIDATOR_JUDGE_H_
#define GOTRACE_VALIDATOR_JUDGE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader.h"
#include "gotrace/transport.h"
#include "gotrace/validate.h"
#include "parser/reader/split_trace.h"
#include "validator/foreign_input.h"
#include "validator/shown_source.h"
#include "validator/table_checks.h"
#include "validator/validator.h"

namespace gotrace::internal {

class SecondHalf;

// Judges one trace, or a half of it.
class Judge {
 public:
  // Both must outlive it.
  Judge(const ValidateOptions& options, ValidationReport* report)
      : options_(options), report_(*report) {}
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  // Judges all of `source`, which must stand at its beginning, and what happened to it on its way.
  void Run(std::unique_ptr<ByteSource> source);

  // Takes what ended the reading: a fault or an error of I/O.
  void Stop(const absl::Status& status);

 private:
  friend class SecondHalf;

  // Judges all of `source`, which nothing happened to, or which it is undone in.
  void RunUndone(std::unique_ptr<ByteSource> source);

  // Whether it was found that the source is no trace at all.
  bool IsForeign();

  // With it a Reader tells this of faults and tables.
  ReaderOptions MakeReaderOptions(size_t jobs);
  std::unique_ptr<Validator> MakeValidator(Version version);

  // Judges all that the Reader gives.
  void ReadAll(Reader* reader, const std::optional<SplitTrace>& split);

  // Judges what the Reader gives until there is nothing more for now, or `stop`, which is asked now
  // and then, tells to. Returns whether it does.
  bool ReadOn(Reader* reader, Validator* validator, const std::function<bool()>& stop);

  // The same for the first half, while another thread judges the second. Returns whether that is
  // taken over: then nothing is left to be read.
  bool ReadHalves(const SplitTrace& split, Reader* reader, Validator* validator);

  // What is told behind the last event, but for what is still open.
  void EndEvents(const Reader& reader, Validator* validator);

  // Takes over what the second half came to, which goes on from where the Reader stopped. Returns
  // false, and changes nothing, if it does not.
  bool Take(SecondHalf* second, const Reader& reader, Validator* validator);
  void TakeFindings(ValidationReport* second, uint64_t events_before);

  void TellProgress(uint64_t input_read, uint64_t events);

  // Takes the generation of a sync event, unless that is the last one, which has none.
  void BeginGeneration(const GenerationInfo& generation, Validator* validator);

  void AddTimeBack(const Place& place, int64_t last_time);

  // Whether a generation was begun that has no events: what a program leaves that just ends.
  void CheckStopped(const Reader& reader);

  // Keeps a fault until the event behind it is known, as there may be millions before it only so
  // many as will be told.
  void Keep(const Fault& fault);

  // Adds the faults that stood before `event`, or before the end.
  void AddFaults(const Event* event, Validator* validator);

  // Counts the faults of which there are too many to tell.
  void CountBeyond();

  // Notes how many goroutines are blocked when the trace ends.
  void CheckBlocked(const Reader& reader);

  // Keeps what CheckBlocked() needs of a generation's strings.
  void KeepReasons(const GenerationTables& tables);

  void Count(const Reader& reader);

  Finding ToFinding(const Fault& fault) const;
  static Finding ToFinding(const ForeignInput& foreign, const Place& place);
  static Finding ToFinding(const TransportNote& note);

  // Many stacks of some traces have such a frame: it is told once for a generation.
  void FoldInnermost(Finding finding);
  void FlushInnermost();

  void Add(Finding finding);

  const ValidateOptions& options_;
  ValidationReport& report_;
  ShownSource* source_ = nullptr;  // The reader's once it reads; nullptr if there is none.
  std::vector<Finding> faults_;    // That the events given so far do not show yet.
  std::array<uint64_t, kCheckIdEnd> kept_ = {};    // How many of those there are of each check,
  std::array<uint64_t, kCheckIdEnd> beyond_ = {};  // and how many more that are only counted.
  bool has_beyond_ = false;                        // Whether there are any of the latter.
  TableChecks table_checks_{[this](Finding finding) { Add(std::move(finding)); }};
  GenerationInfo generation_;  // The one that the last event belongs to.
  uint64_t last_sync_ = 0;     // Where the last sync event stands, in bytes.
  uint64_t reported_ = 0;      // How many events there were when progress was told last,
  uint64_t told_read_ = 0;     // and what it told: where halves are given up, it waits there.
  uint64_t told_events_ = 0;
  uint64_t second_trace_ = std::numeric_limits<uint64_t>::max();  // Where it begins, if any does.
  std::optional<uint64_t> misplaced_;  // The last generation of a fault of order.
  bool is_whole_ = true;               // Whether the generation at hand has no fault so far.
  bool is_stopped_ = true;             // Whether CheckStopped() found nothing.
  // What goroutines wait for, by the ids of the last generation's strings.
  std::array<std::string, std::tuple_size_v<WaitingGoroutines>> reasons_;
  Finding innermost_;  // The generation's first of its kind.
  uint64_t innermost_count_ = 0;
  const SecondHalf* other_half_ = nullptr;  // That is judged meanwhile.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_JUDGE_H_
