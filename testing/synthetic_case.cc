#include "testing/synthetic_case.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader.h"
#include "gotrace/validator.h"
#include "gotrace/version.h"
#include "parser/framing/raw_reader.h"
#include "tracev2/text_form.h"

namespace gotrace::internal {
namespace {

constexpr GoId kG1{1};
constexpr ThreadId kM1{1};
constexpr ResourceId kGoroutine1 = {ResourceKind::kGoroutine, 1};

EventBuilder SyncNumber(uint64_t n) { return EventBuilder::MakeSync(n); }

EventBuilder Go(EventType type, GoId id, GoState from, GoState to, ThreadId thread = kM1) {
  return EventBuilder(type).Transition(id, from, to).Thread(thread);
}

EventBuilder Status(GoId id, GoState to) {
  return Go(EventType::kGoStatus, id, GoState::kUndetermined, to);
}

EventBuilder Assist(EventType type) { return EventBuilder(type).Goroutine(kG1).Thread(kM1); }

// A generation with two threads, two Ps, 30 goroutines, and two regions that do not end.
std::string BusyTrace() {
  std::string text =
      "Trace Go1.22\n"
      "EventBatch gen=1 m=18446744073709551615 time=1 size=auto\n"
      "Frequency freq=1000000000\n"
      "EventBatch gen=1 m=1 time=1 size=auto\n"
      "ProcStatus dt=1 p=0 pstatus=1\n"
      "ProcStatus dt=1 p=1 pstatus=2\n"
      "GoStatus dt=1 g=1 m=1 gstatus=2\n"
      "UserRegionBegin dt=1 task=0 name_string=0 stack=0\n"
      "UserRegionBegin dt=1 task=0 name_string=0 stack=0\n";
  for (int id = 2; id <= 30; ++id) {
    absl::StrAppend(&text, "GoCreate dt=1 new_g=", id, " new_stack=0 stack=0\n");
  }
  absl::StrAppend(&text, "EventBatch gen=1 m=2 time=100 size=auto\n",
                  "ProcStatus dt=1 p=1 pstatus=2\n");
  return AssembleText(text).value();
}

// The header of a trace in a zstd frame with one block, which is not compressed.
std::string CompressedHeader() {
  const std::string header = MakeHeader(Version::kGo122);
  const char size = static_cast<char>(header.size());
  return absl::StrCat("\x28\xb5\x2f\xfd\x20", std::string(1, size),
                      std::string({static_cast<char>(size << 3 | 1), '\0', '\0'}), header);
}

ReaderLimits Limit(absl::string_view name, uint64_t value) {
  ReaderLimits limits;
  *FindLimit(name, &limits) = value;
  return limits;
}

}  // namespace

std::vector<SyntheticCase> AllSyntheticCases() {
  const EventBuilder running = Status(kG1, GoState::kRunning);
  const EventBuilder block = Go(EventType::kGoBlock, kG1, GoState::kRunning, GoState::kWaiting);
  return {
      // A Reader returns increasing times, and numbers the sync events itself.
      {CheckId::kEventTime, {}, {SyncNumber(1), SyncNumber(2).Time(-5)}},
      {CheckId::kSyncNumber, {}, {SyncNumber(1), SyncNumber(3)}},
      // If the clock snapshot is missing, the reader reports the fault no-clock-snapshot.
      {CheckId::kClockSnapshotMissing, {}, {SyncNumber(1)}, /*generation=*/1},
      // The model of the reader admits no event that does not fit the state.
      {CheckId::kStateUnknown,
       kGoroutine1,
       {SyncNumber(1), Go(EventType::kGoStart, kG1, GoState::kRunnable, GoState::kRunning)}},
      {CheckId::kStateMismatch,
       kGoroutine1,
       {SyncNumber(1), Status(kG1, GoState::kWaiting),
        Go(EventType::kGoStart, kG1, GoState::kRunnable, GoState::kRunning)}},
      {CheckId::kNotExecuting,
       kGoroutine1,
       {SyncNumber(1),
        Go(EventType::kGoStatus, kG1, GoState::kUndetermined, GoState::kRunning, ThreadId::kNone),
        block}},
      {CheckId::kRangeReopened,
       kGoroutine1,
       {SyncNumber(1), running, Assist(EventType::kGCMarkAssistBegin),
        Assist(EventType::kGCMarkAssistBegin)}},
      // A goroutine that stops at an event whose own stack is a different one.
      {CheckId::kStackMismatch,
       kGoroutine1,
       {SyncNumber(1), running,
        EventBuilder(EventType::kGoCreate, BuiltTables())
            .Transition(kG1, GoState::kRunning, GoState::kRunnable)
            .Thread(kM1)
            .Arg(1, 7)
            .Arg(2, 8)}},
      // On the wire the id of the background task means no parent, and the type of a task at its
      // end is that at its beginning.
      {CheckId::kTaskParent,
       {},
       {SyncNumber(1),
        EventBuilder(EventType::kUserTaskBegin).Task(TaskId{1}).Parent(kBackgroundTask)}},
      {CheckId::kTaskType,
       {},
       {SyncNumber(1), EventBuilder(EventType::kUserTaskBegin).Task(TaskId{1}),
        EventBuilder(EventType::kUserTaskEnd).Task(TaskId{1}).TaskType("other")}},
  };
}

std::vector<Finding> FindingsOfLast(const SyntheticCase& made) {
  std::vector<Finding> findings;
  Validator validator({}, [&](Finding finding) { findings.push_back(std::move(finding)); });
  if (made.generation != 0) validator.BeginGeneration(made.generation);
  int64_t time = 0;
  for (EventBuilder event : made.events) {
    time += 10;
    event.Offset(static_cast<uint64_t>(time));
    if (event.Build().time() == 0) event.Time(time);
    findings.clear();
    validator.Check(event.Build());
  }
  return findings;
}

std::vector<RawCase> AllRawCases() {
  const std::string header = MakeHeader(Version::kGo122);
  const std::string batch = "\x01\x01\x01\x64\x05";
  return {
      {FaultId::kEventTruncated, 18, absl::StrCat(header, "\x01\x01")},
      // A ClockSnapshot, which exists since version 1.25.
      {FaultId::kEventVersion, 21, absl::StrCat(header, batch, "\x33\x01\x01\x01\x01")},
      // A String of 65537 bytes.
      {FaultId::kEventDataSize, 21, absl::StrCat(header, "\x05\x01\x81\x80\x04")},
  };
}

Fault FaultOfRaw(const RawCase& raw) {
  absl::StatusOr<RawReader> reader =
      RawReader::FromSource(*SourceFromBytes(raw.bytes), RawReader::Types::kOfVersion);
  if (!reader.ok()) return FaultOf(reader.status()).value();
  while (reader->Next() != nullptr) continue;
  return FaultOf(reader->status()).value();
}

std::vector<LimitCase> AllLimitCases() {
  const std::string trace = BusyTrace();
  return {
      {FaultId::kLimitGenerationBytes, Limit("generation-bytes", 100), trace},
      {FaultId::kLimitThreads, Limit("threads", 1), trace},
      {FaultId::kLimitProcs, Limit("procs", 1), trace},
      {FaultId::kLimitGoroutines, Limit("goroutines", 0), trace},
      {FaultId::kLimitNesting, Limit("nesting", 1), trace},
      {FaultId::kLimitDecompressedBytes, Limit("decompressed-bytes", 10), CompressedHeader()},
  };
}

Fault FaultOfLimit(const LimitCase& limit) {
  ReaderOptions options;
  options.limits = limit.limits;
  absl::StatusOr<Reader> reader = Reader::FromBytes(limit.bytes, options);
  if (!reader.ok()) return FaultOf(reader.status()).value();
  while (reader->Next() != nullptr) continue;
  return FaultOf(reader->status()).value();
}

}  // namespace gotrace::internal
