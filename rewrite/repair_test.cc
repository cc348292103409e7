#include "gotrace/repair.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "rewrite/repair_pieces.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace repair_test {

using Fates = std::vector<GenerationFate>;

struct Repaired {
  RepairPlan plan;
  std::string bytes;
};

std::string ReadToEnd(ByteStream* stream) {
  std::string bytes;
  char block[1000];
  while (true) {
    const absl::StatusOr<size_t> size = stream->Read(block, sizeof(block));
    EXPECT_TRUE(size.ok()) << size.status();
    if (!size.ok() || *size == 0) return bytes;
    bytes.append(block, *size);
  }
}

// What one call of Repair() passes on.
struct Passed {
  std::string bytes;
  absl::Status status;
};
Passed RepairInOneCall(const OpenInput& open, RepairPlan* plan = nullptr) {
  Passed passed;
  passed.status = gotrace::Repair(
      open,
      [&](absl::string_view bytes) {
        EXPECT_FALSE(bytes.empty());
        passed.bytes.append(bytes.data(), bytes.size());
        return absl::OkStatus();
      },
      plan);
  return passed;
}

// Repairs the bytes, and reads the result.
Repaired Repair(absl::string_view bytes) {
  const OpenInput open = [&] { return SourceFromBytes(bytes); };
  Repaired repaired;
  absl::StatusOr<RepairPlan> plan = PlanRepair(open);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return repaired;
  repaired.plan = *std::move(plan);
  // Layers around the trace are not part of it.
  if (repaired.plan.notes.empty()) {
    EXPECT_EQ(repaired.plan.input_bytes, bytes.size());
  }
  const Passed passed = RepairInOneCall(open);
  if (repaired.plan.pieces.empty()) {
    EXPECT_TRUE(absl::IsDataLoss(passed.status)) << passed.status;
    EXPECT_FALSE(FaultOf(passed.status).has_value());
    EXPECT_EQ(passed.bytes, "");
    return repaired;
  }
  repaired.bytes = ReadToEnd(OpenRepaired(repaired.plan, open)->get());
  EXPECT_TRUE(passed.status.ok()) << passed.status;
  EXPECT_EQ(passed.bytes, repaired.bytes);
  EXPECT_EQ(repaired.plan.output_bytes, repaired.bytes.size());
  const Outcome outcome = ReadAll(Reader::FromBytes(repaired.bytes));
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(repaired.plan.events,
            std::count_if(outcome.events.begin(), outcome.events.end(),
                          [](const std::string& e) { return !absl::StartsWith(e, "Sync"); }));
  return repaired;
}

Fates FatesOf(const RepairPlan& plan) {
  Fates fates;
  for (const RepairedGeneration& generation : plan.generations) fates.push_back(generation.fate);
  return fates;
}

// Returns the events of the trace without their offsets, and without kSync events.
std::vector<std::string> EventsOf(absl::string_view bytes) {
  std::vector<std::string> events;
  for (std::string& event : ReadAll(Reader::FromBytes(bytes)).events) {
    if (absl::StrContains(event, "Sync")) continue;
    const size_t offset = event.find(" at ");
    events.push_back(event.erase(offset, event.find(" stack ") - offset));
  }
  return events;
}

constexpr absl::string_view kNobody = "18446744073709551615";

// The text of one generation that runs goroutine 1 on thread 1, with `events` at its end.
std::string GenerationText(int number, absl::string_view events = "", int version = 26) {
  const bool has_clocks = version >= 25;
  std::string text = absl::StrCat(
      "EventBatch gen=", number, " m=", kNobody, " time=", number, "000 size=auto\n",
      has_clocks ? "Sync\nFrequency freq=1000000000\n"
                   "ClockSnapshot dt=0 mono=5 sec=6 nsec=7\n"
                 : "Frequency freq=1000000000\n",
      "EventBatch gen=", number, " m=1 time=", number,
      "000 size=auto\n"
      "ProcStatus dt=1 p=0 pstatus=1\n"
      "GoStatus dt=1 g=1 m=1 gstatus=2\n"
      "HeapAlloc dt=1 heapalloc_value=",
      number, "\n", events, "EventBatch gen=", number, " m=", kNobody, " time=", number,
      "000 size=auto\nStrings\nString id=1\n\tdata=\"name\"\nString id=2\n", "\tdata=\"other\"\n",
      "EventBatch gen=", number, " m=", kNobody, " time=", number, "000 size=auto\nStacks\n",
      "Stack id=1 nframes=1\n\tpc=7 func=1 file=2 line=3\n");
  if (version >= 26) absl::StrAppend(&text, "EndOfGeneration\n");
  return text;
}

std::string AssembleBatches(int version, absl::string_view text) {
  return Assemble(absl::StrCat("Trace Go1.", version, "\n", text));
}

std::string BatchBytes(int version, absl::string_view text) {
  return AssembleBatches(version, text).substr(kHeaderSize);
}

const std::string& Header26() {
  static const std::string& header = *new std::string(MakeHeader(Version::kGo126));
  return header;
}

TEST(Repair, LeavesSoundTracesAlone) {
  const std::string trace = AssembleBatches(26, GenerationText(1) + GenerationText(2));
  const Repaired repaired = Repair(trace);
  EXPECT_TRUE(repaired.plan.trace_is_sound);
  EXPECT_TRUE(DescribeRepair(repaired.plan).empty());
  EXPECT_EQ(repaired.bytes, trace);
}

// Two generations, of which the first lasts `ticks`.
std::string WithFrequency(int version, uint64_t frequency, uint64_t ticks) {
  const std::string clocks =
      version >= 25 ? "ClockSnapshot dt=0 mono=5 sec=6 nsec=7\n" : std::string();
  std::string text;
  for (const uint64_t number : {1, 2}) {
    const uint64_t time = number == 1 ? 1000 : 1000 + ticks;
    absl::StrAppend(&text, "EventBatch gen=", number, " m=", kNobody, " time=", time,
                    " size=auto\n", version >= 25 ? "Sync\n" : "", "Frequency freq=", frequency,
                    "\n", clocks, "EventBatch gen=", number, " m=1 time=", time, " size=auto\n",
                    "ProcStatus dt=1 p=0 pstatus=1\nGoStatus dt=1 g=1 m=1 gstatus=2\n",
                    version >= 26 ? "EndOfGeneration\n" : "");
  }
  return AssembleBatches(version, text);
}

TEST(Repair, DividesFrequenciesThatGo1220WritesOnWindows) {
  constexpr uint64_t kFrequency = 2'693'536'955;
  constexpr uint64_t kSecond = kFrequency / 256;
  const std::string trace = WithFrequency(22, kFrequency, kSecond);
  const Repaired repaired = Repair(trace);
  EXPECT_EQ(repaired.plan.clock_divisor, 256);
  EXPECT_TRUE(repaired.plan.trace_is_sound);
  EXPECT_FALSE(repaired.plan.InputIsSound());
  EXPECT_EQ(DescribeRepair(repaired.plan).size(), 1);
  EXPECT_EQ(repaired.bytes.size(), trace.size());
  const auto second_sync = [](const std::string& bytes) {
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    EXPECT_TRUE(reader.ok());
    int64_t time = 0;
    int syncs = 0;
    for (const Event* event; (event = reader->Next()) != nullptr;) {
      if (event->kind() == EventKind::kSync && ++syncs == 2) time = event->time();
    }
    return time;
  };
  EXPECT_NEAR(static_cast<double>(second_sync(trace)), 1e9 / 256, 1000);
  EXPECT_NEAR(static_cast<double>(second_sync(repaired.bytes)), 1e9, 2e5);
  // Once is enough.
  EXPECT_TRUE(Repair(repaired.bytes).plan.InputIsSound());
  // So it is if the trace is broken, too.
  const Repaired cut = Repair(trace.substr(0, trace.size() - 1));
  EXPECT_EQ(cut.plan.clock_divisor, 256);
  EXPECT_TRUE(Repair(cut.bytes).plan.InputIsSound());
}

TEST(Repair, LeavesFrequenciesAloneThatMayBeRight) {
  constexpr uint64_t kFrequency = 2'693'536'955;
  constexpr uint64_t kSecond = kFrequency / 256;
  EXPECT_TRUE(Repair(WithFrequency(23, kFrequency, kSecond)).plan.InputIsSound());
  EXPECT_TRUE(Repair(WithFrequency(22, 1'000'000'000, 3'906'250)).plan.InputIsSound());
  EXPECT_TRUE(Repair(WithFrequency(22, 15'625'000, 61'035)).plan.InputIsSound());
  // Generations that last longer or shorter than those of Go.
  EXPECT_TRUE(Repair(WithFrequency(22, kFrequency, 8 * kSecond)).plan.InputIsSound());
  EXPECT_TRUE(Repair(WithFrequency(22, kFrequency, kSecond / 4)).plan.InputIsSound());
}

TEST(Repair, KnowsThatDamageInTransportIsNotSound) {
  const std::string trace = ReadTestTrace("go1.27-annotations.trace");
  const std::string sent = absl::StrCat("HTTP/1.1 200 OK\r\n\r\n", trace);
  EXPECT_FALSE(Reader::FromBytes(sent).ok());
  const absl::StatusOr<RepairPlan> plan = PlanRepair([&] { return SourceFromBytes(sent); });
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(plan->trace_is_sound);
  EXPECT_FALSE(plan->InputIsSound());
  EXPECT_TRUE(PlanRepair([&] { return SourceFromBytes(trace); })->InputIsSound());
}

TEST(Repair, CanBeStopped) {
  const std::string sound = ReadTestTrace("go1.24-gc.trace");
  for (const std::string& trace : {sound, sound.substr(0, sound.size() / 2)}) {
    const OpenInput open = [&] { return SourceFromBytes(trace); };
    for (const int allowed : {0, 1, 2}) {
      int calls = 0;
      RepairOptions options;
      options.keep_going = [&] { return calls++ < allowed; };
      EXPECT_EQ(PlanRepair(open, options).status().code(), absl::StatusCode::kCancelled) << allowed;
      EXPECT_LE(calls, allowed + 20);
    }
  }
}

TEST(Repair, InOneCallTellsThePlanAndErrors) {
  const std::string sound = ReadTestTrace("go1.27-annotations.trace");
  const std::string cut = sound.substr(0, sound.size() / 2);
  RepairPlan plan;
  const Passed passed = RepairInOneCall([&] { return SourceFromBytes(cut); }, &plan);
  EXPECT_TRUE(passed.status.ok()) << passed.status;
  EXPECT_FALSE(plan.trace_is_sound);
  EXPECT_EQ(plan.output_bytes, passed.bytes.size());
  EXPECT_EQ(DescribeRepair(plan),
            DescribeRepair(*PlanRepair([&] { return SourceFromBytes(cut); })));

  // The sink's first error ends it.
  int calls = 0;
  const absl::Status full = gotrace::Repair([&] { return SourceFromBytes(sound); },
                                            [&](absl::string_view) {
                                              ++calls;
                                              return absl::ResourceExhaustedError("disk full");
                                            });
  EXPECT_EQ(full, absl::ResourceExhaustedError("disk full"));
  EXPECT_EQ(calls, 1);

  const Passed missing = RepairInOneCall([] { return OpenSource("/nowhere/trace"); });
  EXPECT_TRUE(absl::IsNotFound(missing.status)) << missing.status;
  EXPECT_EQ(missing.bytes, "");

  // With a limit that the trace passes.
  ReaderLimits limits;
  limits.generation_bytes = 100;
  const absl::Status limited =
      gotrace::Repair([&] { return SourceFromBytes(sound); },
                      [&](absl::string_view) {
                        ADD_FAILURE();
                        return absl::OkStatus();
                      },
                      /*plan=*/nullptr, {.limits = limits, .keep_going = {}});
  EXPECT_EQ(FaultOf(limited)->id, FaultId::kLimitGenerationBytes) << limited;
}

TEST(Repair, OfBytesReturnsWhatTheCallPassesOn) {
  const std::string sound = ReadTestTrace("go1.27-annotations.trace");
  const std::string cut = sound.substr(0, sound.size() / 2);
  RepairPlan plan;
  const absl::StatusOr<std::string> repaired = RepairBytes(cut, &plan);
  ASSERT_TRUE(repaired.ok()) << repaired.status();
  EXPECT_TRUE(*repaired == RepairInOneCall([&] { return SourceFromBytes(cut); }).bytes);
  const Outcome read = ReadAll(Reader::FromBytes(*repaired));
  EXPECT_TRUE(read.status.ok()) << read.status;
  EXPECT_EQ(read.events.size(), plan.events_with_syncs);
  EXPECT_TRUE(*RepairBytes(Zstd(sound)) == sound);
  EXPECT_TRUE(FaultOf(RepairBytes("not a trace").status()).has_value());
}

TEST(Repair, RemovesTextBetweenBatches) {
  const std::string one = BatchBytes(26, GenerationText(1));
  const std::string two = BatchBytes(26, GenerationText(2));
  const Repaired repaired =
      Repair(absl::StrCat(Header26(), one, "panic: something was printed here\n", two));
  EXPECT_EQ(repaired.bytes, absl::StrCat(Header26(), one, two));
  EXPECT_EQ(FatesOf(repaired.plan), (Fates{GenerationFate::kKept, GenerationFate::kKept}));
  EXPECT_EQ(repaired.plan.stray_bytes, 0U);
  EXPECT_EQ(repaired.plan.text_pieces, 1U);
  EXPECT_EQ(repaired.plan.text_bytes, 34U);
  ASSERT_TRUE(repaired.plan.first_text.has_value());
  EXPECT_EQ(repaired.plan.first_text->place.offset, kHeaderSize + one.size());
  ASSERT_EQ(DescribeRepair(repaired.plan).size(), 1U);
  EXPECT_NE(DescribeRepair(repaired.plan)[0].find("removed 1 piece of text with 34 bytes"),
            std::string::npos);
}

TEST(Repair, RemovesTextBeforeTheHeaderAndAfterTheEnd) {
  const std::string one = BatchBytes(26, GenerationText(1));
  const Repaired repaired =
      Repair(absl::StrCat("go 1.5 is old\nlistening\n", Header26(), one, "done, bye\n"));
  EXPECT_EQ(repaired.bytes, absl::StrCat(Header26(), one));
  ASSERT_EQ(repaired.plan.notes.size(), 1U);
  EXPECT_EQ(repaired.plan.notes[0].kind, TransportKind::kTextBefore);
  EXPECT_EQ(repaired.plan.header_offset, 0U);
}

TEST(Repair, RemovesOtherBytesBeforeTheHeader) {
  const std::string one = BatchBytes(26, GenerationText(1));
  const Repaired repaired = Repair(absl::StrCat("\x01\x02 three", Header26(), one));
  EXPECT_EQ(repaired.bytes, absl::StrCat(Header26(), one));
  EXPECT_TRUE(repaired.plan.notes.empty());
  EXPECT_EQ(repaired.plan.header_offset, 8U);
}

// Generation 2 ends with its P taken from goroutine 1, and generation 3 begins with that running.
TEST(Repair, RewritesAGenerationAndTheOneThatContradictsIt) {
  const std::string broken =
      GenerationText(2, "GoStart dt=1 g=77 g_seq=1\nProcStop dt=1\nProcStop dt=1\n");
  const std::string first = AssembleBatches(26, GenerationText(1));
  const std::string last = BatchBytes(26, GenerationText(4));
  const Repaired repaired = Repair(
      absl::StrCat(AssembleBatches(26, GenerationText(1) + broken + GenerationText(3)), last));
  EXPECT_EQ(FatesOf(repaired.plan), (Fates{GenerationFate::kKept, GenerationFate::kRewritten,
                                           GenerationFate::kRewritten, GenerationFate::kKept}));
  EXPECT_TRUE(absl::StartsWith(repaired.bytes, first));
  EXPECT_TRUE(absl::EndsWith(repaired.bytes, last));
  const RepairedGeneration& second = repaired.plan.generations[1];
  ASSERT_TRUE(second.fault.has_value());
  EXPECT_EQ(second.fault->id, FaultId::kNoAdvance);
  EXPECT_EQ(second.events, 7U);
  EXPECT_EQ(second.events_left_out, 1U);
  EXPECT_EQ(second.events_added, 2U);
  EXPECT_EQ(second.statuses_added, 0U);
  const RepairedGeneration& third = repaired.plan.generations[2];
  EXPECT_FALSE(third.fault.has_value());
  EXPECT_EQ(third.events, 9U);
  EXPECT_EQ(third.events_left_out, 0U);
  EXPECT_EQ(third.events_added, 3U);
  EXPECT_EQ(third.statuses_added, 3U);
  EXPECT_EQ(DescribeRepair(repaired.plan).size(), 2U);
}

TEST(Repair, KeepsOneOfTheSameGenerationTwice) {
  const std::string one = BatchBytes(26, GenerationText(1));
  const std::string two = BatchBytes(26, GenerationText(2));
  const std::string three = BatchBytes(26, GenerationText(3));
  const Repaired repaired = Repair(absl::StrCat(Header26(), one, two, two, three, "done, bye\n"));
  EXPECT_EQ(repaired.bytes, absl::StrCat(Header26(), one, two, three));
  EXPECT_EQ(FatesOf(repaired.plan), (Fates{GenerationFate::kKept, GenerationFate::kKept,
                                           GenerationFate::kApart, GenerationFate::kKept}));
}

TEST(Repair, KeepsTheLongerRunOfGenerations) {
  const std::string run = BatchBytes(26, GenerationText(3) + GenerationText(4));
  const Repaired repaired =
      Repair(absl::StrCat(AssembleBatches(26, GenerationText(7)), run, "bye\n"));
  EXPECT_EQ(repaired.bytes, absl::StrCat(Header26(), run));
  EXPECT_EQ(FatesOf(repaired.plan),
            (Fates{GenerationFate::kApart, GenerationFate::kKept, GenerationFate::kKept}));
}

TEST(Repair, KeepsTheFirstOfEqualRuns) {
  const std::string first = AssembleBatches(26, GenerationText(7));
  const Repaired repaired = Repair(absl::StrCat(first, BatchBytes(26, GenerationText(3)), "bye\n"));
  EXPECT_EQ(repaired.bytes, first);
}

// Up to Go 1.25 a generation must have the next number.
TEST(Repair, GivesNewNumbersWhereAGenerationIsMissing) {
  for (const int version : {22, 23, 25}) {
    SCOPED_TRACE(version);
    const auto text = [&](int number) { return GenerationText(number, "", version); };
    const Repaired repaired = Repair(AssembleBatches(version, text(1) + text(3) + text(4)));
    EXPECT_EQ(FatesOf(repaired.plan),
              (Fates{GenerationFate::kKept, GenerationFate::kKept, GenerationFate::kKept}));
    EXPECT_FALSE(repaired.plan.generations[0].new_number.has_value());
    EXPECT_EQ(repaired.plan.generations[1].new_number, 2U);
    EXPECT_EQ(repaired.plan.generations[2].new_number, 3U);
    EXPECT_EQ(EventsOf(repaired.bytes).size(), 9U);
    EXPECT_TRUE(absl::EndsWith(DescribeRepair(repaired.plan).back(), ", as generation 3"));
  }
}

TEST(Repair, KeepsEntriesBeforeOneThatIsThereTwice) {
  const std::string text = absl::StrReplaceAll(
      GenerationText(1, "UserLog dt=1 task=0 key_string=1 value_string=2 stack=1\n"),
      {{"String id=2\n\tdata=\"other\"\n",
        "String id=2\n\tdata=\"other\"\nString id=1\n\tdata=\"again\"\nString "
        "id=3\n\tdata=\"x\"\n"}});
  const Repaired repaired = Repair(AssembleBatches(26, text));
  EXPECT_EQ(FatesOf(repaired.plan), (Fates{GenerationFate::kRewritten}));
  EXPECT_EQ(repaired.plan.generations[0].fault->id, FaultId::kStringDuplicate);
  EXPECT_EQ(repaired.plan.events, 4U);
  const std::string events = absl::StrJoin(EventsOf(repaired.bytes), "\n");
  EXPECT_TRUE(absl::StrContains(events, "\"name\" \"other\"")) << events;
}

TEST(Repair, FailsWhereALimitIsPassed) {
  const std::string broken = GenerationText(1, "ProcStop dt=1\nProcStop dt=1\n");
  std::string events;
  for (int i = 0; i < 2000; ++i) absl::StrAppend(&events, "HeapAlloc dt=1 heapalloc_value=1\n");
  const std::string trace = AssembleBatches(26, broken + GenerationText(2, events));
  ReaderLimits limits;
  limits.generation_bytes = 1000;
  const auto plan =
      PlanRepair([&] { return SourceFromBytes(trace); }, {.limits = limits, .keep_going = {}});
  ASSERT_TRUE(FaultOf(plan.status()).has_value()) << plan.status();
  EXPECT_EQ(FaultOf(plan.status())->id, FaultId::kLimitGenerationBytes);
}

TEST(Repair, AddsMoreStacksThanABatchHolds) {
  constexpr int kStacks = 6000;
  std::string events;
  for (int i = 0; i < kStacks; ++i) {
    absl::StrAppend(&events, "ProcsChange dt=1 procs_value=4 stack=", 10 + i, "\n");
  }
  const Repaired repaired = Repair(AssembleBatches(26, GenerationText(1, events)));
  EXPECT_EQ(repaired.plan.events, 3U + kStacks);
  EXPECT_EQ(repaired.plan.generations[0].entries_added, kStacks + 0U);
  EXPECT_TRUE(absl::StrContains(EventsOf(repaired.bytes).back(), "?stack#6009"));
}

// Whatever happens to the input from one opening on, the result is that of one moment, or an error.
TEST(Repair, NoticesAnInputThatChanges) {
  const std::string one = AssembleBatches(26, GenerationText(1));
  const std::string two = one + BatchBytes(26, GenerationText(2));
  const std::string other = AssembleBatches(26, GenerationText(1,
                                                               "HeapAlloc dt=1 "
                                                               "heapalloc_value=8\n"));
  ASSERT_NE(one.size(), other.size());
  std::string changed = two;
  changed[changed.rfind("name")] = 'N';
  const auto broken = [](absl::string_view trace) { return absl::StrCat(trace, "done, bye\n"); };
  const std::pair<std::string, std::string> changes[] = {
      {one, two},                                            // A sound trace that grows.
      {two, one},                                            // One that shrinks.
      {two, two.substr(0, 100)},                             // It is cut off.
      {one, other},                                          // Another sound trace.
      {two, changed},                                        // As long as before.
      {one, ""},                                             //
      {one, one + "done, bye\n"},                            // It is no longer sound.
      {broken(one), one},                                    // It becomes sound.
      {broken(one), broken(two)},                            //
      {broken(two), broken(changed)},                        //
      {broken(two), broken(one)},                            //
      {one + two, two + one},                                // Two traces in one input.
      {broken(two), std::string(broken(two).size(), '\7')},  // No longer a trace.
  };
  for (const auto& [before, after] : changes) {
    const Passed results[] = {
        RepairInOneCall([&, &before = before] { return SourceFromBytes(before); }),
        RepairInOneCall([&, &after = after] { return SourceFromBytes(after); })};
    for (int first_changed = 2; first_changed < 8; ++first_changed) {
      SCOPED_TRACE(absl::StrCat(before.size(), " bytes become ", after.size(), " at opening ",
                                first_changed));
      int opened = 0;
      RepairPlan plan;
      const Passed passed = RepairInOneCall(
          [&, &before = before, &after = after] {
            return SourceFromBytes(++opened < first_changed ? before : after);
          },
          &plan);
      if (!passed.status.ok()) {
        EXPECT_TRUE(absl::IsAborted(passed.status) || FaultOf(passed.status).has_value() ||
                    absl::IsDataLoss(passed.status))
            << passed.status;
        continue;
      }
      EXPECT_TRUE((results[0].status.ok() && passed.bytes == results[0].bytes) ||
                  (results[1].status.ok() && passed.bytes == results[1].bytes));
      EXPECT_EQ(plan.trace_is_sound, passed.bytes.size() == plan.input_bytes);
    }
  }
}

TEST(Repair, IgnoresWhatIsAddedToATraceMeanwhile) {
  const std::string one = AssembleBatches(26, GenerationText(1));
  const std::string grown = one + "more";
  int opened = 0;
  RepairPlan plan;
  const Passed passed =
      RepairInOneCall([&] { return SourceFromBytes(++opened == 1 ? one : grown); }, &plan);
  EXPECT_TRUE(passed.status.ok()) << passed.status;
  EXPECT_TRUE(plan.trace_is_sound);
  EXPECT_EQ(passed.bytes, one);
  EXPECT_EQ(opened, 2);
}

// The plan to keep all of a trace that has `fault` after all.
RepairPlan PlanToKeepBefore(const std::string& trace, const Fault& fault) {
  RepairPlan plan = Repair(trace + "done, bye\n").plan;
  EXPECT_EQ(plan.output_bytes, trace.size());
  KeepBefore(fault, &plan);
  return plan;
}

TEST(Repair, KeepsWhatIsBeforeAGenerationThatCannotBeVerified) {
  const std::string first = AssembleBatches(26, GenerationText(1));
  const std::string second = BatchBytes(26, GenerationText(2));
  Fault fault;
  fault.place.offset = first.size() + 20;
  const std::string trace = absl::StrCat(first, second, BatchBytes(26, GenerationText(3)));
  const RepairPlan plan = PlanToKeepBefore(trace, fault);
  EXPECT_EQ(FatesOf(plan),
            (Fates{GenerationFate::kKept, GenerationFate::kBroken, GenerationFate::kBroken}));
  EXPECT_EQ(plan.events, 3U);
  EXPECT_EQ(plan.output_bytes, first.size());
  const OpenInput open = [input = trace + "done, bye\n"] { return SourceFromBytes(input); };
  EXPECT_EQ(ReadToEnd(OpenRepaired(plan, open)->get()), first);
}

TEST(Repair, LeavesOutTheLastGenerationWhereTheFaultHasNoPlace) {
  const std::string first = AssembleBatches(26, GenerationText(1));
  const RepairPlan plan = PlanToKeepBefore(first + BatchBytes(26, GenerationText(2)), Fault());
  EXPECT_EQ(FatesOf(plan), (Fates{GenerationFate::kKept, GenerationFate::kBroken}));
  EXPECT_EQ(plan.output_bytes, first.size());
}

TEST(Repair, SaysFirstThatATraceIsCutOff) {
  const std::string trace = AssembleBatches(26, GenerationText(1));
  for (size_t size = kHeaderSize + 30; size < trace.size(); ++size) {
    const Repaired repaired = Repair(trace.substr(0, size));
    EXPECT_TRUE(absl::StrContains(DescribeRepair(repaired.plan)[0], "the trace is cut off"))
        << "cut at " << size;
  }
}

// There is no frequency, and no earlier generation.
TEST(Repair, AssumesAFrequencyWhereNoneIsThere) {
  const std::string text =
      absl::StrReplaceAll(GenerationText(1, "", 23),
                          {{absl::StrCat("EventBatch gen=1 m=", kNobody,
                                         " time=1000 size=auto\nFrequency freq=1000000000\n"),
                            ""}});
  const Repaired repaired = Repair(AssembleBatches(23, text));
  EXPECT_EQ(FatesOf(repaired.plan), (Fates{GenerationFate::kRewritten}));
  EXPECT_EQ(repaired.plan.generations[0].clock, RepairedGeneration::Clock::kAssumed);
  EXPECT_EQ(EventsOf(repaired.bytes), EventsOf(AssembleBatches(23, GenerationText(1, "", 23))));
  EXPECT_TRUE(absl::StrContains(DescribeRepair(repaired.plan).back(),
                                "clock lost, so its times are ticks shown as nanoseconds"));
}

TEST(Repair, PutsAClockSnapshotInThePlaceOfALostOne) {
  const std::string sync = absl::StrCat("EventBatch gen=2 m=", kNobody,
                                        " time=2000 size=auto\nSync\nFrequency freq=1000000000\n"
                                        "ClockSnapshot dt=0 mono=5 sec=6 nsec=7\n");
  const std::string second = absl::StrReplaceAll(GenerationText(2, "", 25), {{sync, ""}});
  ASSERT_NE(second, GenerationText(2, "", 25));
  const Repaired repaired = Repair(AssembleBatches(25, GenerationText(1, "", 25) + second));
  EXPECT_EQ(FatesOf(repaired.plan), (Fates{GenerationFate::kKept, GenerationFate::kRewritten}));
  EXPECT_EQ(repaired.plan.generations[1].clock, RepairedGeneration::Clock::kBorrowed);
  const Outcome outcome = ReadAll(Reader::FromBytes(repaired.bytes));
  // Later by the same amount as its time.
  EXPECT_TRUE(
      absl::StrContains(outcome.events[4], "sync 2 2000 1005 1970-01-01T00:00:06.000001007"))
      << outcome.events[4];
}

TEST(Repair, LeavesOutWhatMisusesRegions) {
  const auto text = [](absl::string_view misuse) {
    return GenerationText(1, absl::StrCat("UserRegionBegin dt=1 task=0 name_string=2 stack=1\n",
                                          "UserRegionEnd dt=1 task=0 name_string=2 stack=1\n",
                                          "UserRegionBegin dt=1 task=0 name_string=1 stack=1\n",
                                          misuse, "HeapAlloc dt=5 heapalloc_value=9\n"));
  };
  const Repaired repaired =
      Repair(AssembleBatches(26, text("UserRegionEnd dt=300 task=0 name_string=2 stack=1\n")));
  EXPECT_EQ(FatesOf(repaired.plan), (Fates{GenerationFate::kRewritten}));
  EXPECT_EQ(repaired.plan.generations[0].regions.ends_dropped, 1U);
  EXPECT_EQ(repaired.plan.generations[0].fault->id, FaultId::kRegionNesting);
  // Later events keep their times.
  const std::string expected =
      AssembleBatches(26, absl::StrReplaceAll(text(""), {{"HeapAlloc dt=5", "HeapAlloc dt=305"}}));
  EXPECT_EQ(EventsOf(repaired.bytes), EventsOf(expected));
}

TEST(Repair, AddsEntriesThatLack) {
  const Repaired repaired = Repair(AssembleBatches(
      26, GenerationText(1,
                         "UserLog dt=1 task=0 key_string=12 value_string=1 stack=7\n"
                         "ProcsChange dt=1 procs_value=4 stack=8\n")));
  EXPECT_EQ(FatesOf(repaired.plan), (Fates{GenerationFate::kRewritten}));
  const Outcome outcome = ReadAll(Reader::FromBytes(repaired.bytes));
  EXPECT_TRUE(absl::StrContains(outcome.events[4], "?string#12")) << outcome.events[4];
  EXPECT_TRUE(absl::StrContains(outcome.events[4], "?stack#7")) << outcome.events[4];
  EXPECT_TRUE(absl::StrContains(outcome.events[5], "?stack#8")) << outcome.events[5];
}

TEST(Repair, AddsStacksThatSamplesLack) {
  const std::string samples =
      absl::StrCat("EventBatch gen=1 m=", kNobody,
                   " time=1000 size=auto\nCPUSamples\nCPUSample time=1001 m=1 p=0 g=1 stack=61\n");
  // Something else must be wrong, since Go's reader accepts such a sample.
  const Repaired repaired =
      Repair(AssembleBatches(26, samples + GenerationText(1)) + "printed after the trace\n");
  EXPECT_EQ(FatesOf(repaired.plan), (Fates{GenerationFate::kRewritten}));
  EXPECT_EQ(repaired.plan.generations[0].entries_added, 1U);
  const Outcome outcome = ReadAll(Reader::FromBytes(repaired.bytes));
  EXPECT_TRUE(absl::StrContains(absl::StrJoin(outcome.events, "\n"), "?stack#61"));
}

TEST(Repair, BorrowsTheFrequencyWhereItIsAllThatLacks) {
  const std::string second =
      absl::StrReplaceAll(GenerationText(2, "", 23),
                          {{absl::StrCat("EventBatch gen=2 m=", kNobody,
                                         " time=2000 size=auto\nFrequency freq=1000000000\n"),
                            ""}});
  const Repaired repaired = Repair(AssembleBatches(23, GenerationText(1, "", 23) + second));
  EXPECT_EQ(FatesOf(repaired.plan), (Fates{GenerationFate::kKept, GenerationFate::kRewritten}));
  EXPECT_EQ(EventsOf(repaired.bytes),
            EventsOf(AssembleBatches(23, GenerationText(1, "", 23) + GenerationText(2, "", 23))));
}

TEST(Repair, KeepsTheLargerOfTwoTraces) {
  const std::string small = AssembleBatches(26, GenerationText(1));
  const std::string large = AssembleBatches(26, GenerationText(1) + GenerationText(2));
  EXPECT_EQ(Repair(small + large).bytes, large);
  EXPECT_EQ(Repair(large + small).bytes, large);
  // Repair() expects that all bytes of the input are counted.
  const std::string newer("go 1.99 trace\0\0\0 of no version that is known", 45);
  EXPECT_EQ(Repair(small + newer).bytes, small);
}

TEST(Repair, TakesNothingOfAnotherTraceIntoOneThatWasCutOff) {
  const std::string first = AssembleBatches(23, GenerationText(1, "", 23));
  const std::string second = AssembleBatches(26, GenerationText(1) + GenerationText(2));
  const Repaired repaired = Repair(first.substr(0, first.size() - 20) + second);
  EXPECT_EQ(repaired.bytes, second);
  EXPECT_EQ(repaired.plan.version, Version::kGo126);
  EXPECT_EQ(repaired.plan.generations.size(), 3U);
  const Repaired reversed = Repair(second + first.substr(0, first.size() - 20));
  EXPECT_EQ(reversed.bytes, second);
  // The report says that it was cut off, so it is not called sound.
  EXPECT_TRUE(absl::EndsWith(DescribeRepair(reversed.plan).back(),
                             "is dropped: it does not follow the generations that are kept"));
}

TEST(Repair, JoinsWhatFollowsAGapWhereGoDoes) {
  const std::string trace = AssembleBatches(26, GenerationText(1) + GenerationText(3));
  EXPECT_EQ(Repair(trace + "done, bye\n").bytes, trace);
}

TEST(Repair, StartsWhatNothingIsKnownOf) {
  const Repaired repaired = Repair(AssembleBatches(
      26, GenerationText(1, "HeapAlloc dt=1 heapalloc_value=8\nGoStart dt=1 g=77 g_seq=1\n")));
  EXPECT_EQ(FatesOf(repaired.plan), (Fates{GenerationFate::kRewritten}));
  const std::string expected =
      GenerationText(1,
                     "HeapAlloc dt=1 heapalloc_value=8\n"
                     "GoStop dt=1 reason_string=3 stack=0\n"
                     "GoStatus dt=0 g=77 m=18446744073709551615 gstatus=1\n"
                     "GoStart dt=0 g=77 g_seq=1\n");
  EXPECT_EQ(EventsOf(repaired.bytes),
            EventsOf(AssembleBatches(
                26, absl::StrReplaceAll(
                        expected, {{"\tdata=\"other\"\n",
                                    "\tdata=\"other\"\nString id=3\n\tdata=\"unknown (events are "
                                    "lost)\"\n"}}))));
}

TEST(Repair, KeepsTheWholeEventsOfABatchThatWasCut) {
  const std::string first = GenerationText(1, "HeapAlloc dt=1 heapalloc_value=8\n");
  // Without the tables, so that it ends with the last event.
  const std::string events = first.substr(0, first.find("EventBatch", first.find("HeapAlloc")));
  const std::string trace = AssembleBatches(26, events);
  const Repaired repaired = Repair(absl::string_view(trace).substr(0, trace.size() - 1));
  EXPECT_EQ(repaired.plan.events, 3u);
  const std::string sound = GenerationText(1);
  EXPECT_EQ(EventsOf(repaired.bytes), EventsOf(AssembleBatches(26, sound)));
  EXPECT_TRUE(absl::StrContains(DescribeRepair(repaired.plan)[0],
                                "; all but the last 2 form complete events"));
}

TEST(Repair, CountsWhatCannotBeReadOfADamagedBatch) {
  const std::string heap = "HeapAlloc dt=1 heapalloc_value=8\n";
  const std::string sound = AssembleBatches(26, GenerationText(1, heap + heap));
  // The type of the first HeapAlloc: nothing from there on can be read.
  const std::string event = Wire(EventType::kHeapAlloc, {1, 8});
  std::string damaged = sound;
  const size_t pos = damaged.find(event + event);
  ASSERT_NE(pos, std::string::npos);
  damaged[pos] = '\xff';
  const Repaired repaired = Repair(damaged);
  EXPECT_EQ(repaired.plan.damaged_batches, 1u);
  EXPECT_GE(repaired.plan.unreadable_bytes, 2 * event.size());
  EXPECT_TRUE(absl::StrContains(DescribeRepair(repaired.plan).back(),
                                absl::StrCat("lost ", repaired.plan.unreadable_bytes,
                                             " bytes of unreadable events in 1 damaged batch")));
}

// There may be as many waiting threads as events.
TEST(Repair, FindsTheNextEventAmongManyWaitingThreads) {
  constexpr int kCount = 4000;
  std::string events = "HeapAlloc dt=1000 heapalloc_value=1\n";
  for (int i = 0; i < kCount; ++i) absl::StrAppend(&events, "HeapAlloc dt=1 heapalloc_value=1\n");
  absl::StrAppend(&events,
                  "GoCreate dt=1 new_g=8 new_stack=0 stack=0\n"
                  "EventBatch gen=1 m=99 time=1100 size=auto\n"
                  "ProcStatus dt=0 p=1 pstatus=1\nGoStart dt=1 g=8 g_seq=1\n");
  for (int i = 0; i < kCount; ++i) {
    absl::StrAppend(&events, "EventBatch gen=1 m=", 100 + i,
                    " time=1200 size=auto\nGoStart dt=1 g=9 g_seq=5\n");
  }
  // Without its end, Go's reader rejects the generation before it orders events.
  std::string trace = AssembleBatches(26, GenerationText(1, events));
  trace.pop_back();
  const Repaired repaired = Repair(trace);
  ASSERT_EQ(FatesOf(repaired.plan), (Fates{GenerationFate::kRewritten}));
  // All existing events and, for each of the threads, the events that stop goroutine 9 elsewhere
  // and give the thread a P.
  const RepairedGeneration& generation = repaired.plan.generations[0];
  EXPECT_EQ(generation.events_left_out, 0U);
  EXPECT_EQ(generation.events - generation.events_added - generation.statuses_added,
            3U + 1 + kCount + 3 + kCount);
  EXPECT_LE(generation.events_added + generation.statuses_added, 3U * kCount + 2);
}

TEST(Repair, ReportsThatNothingIsLeft) {
  const Repaired repaired = Repair(absl::StrCat(Header26(), "nothing but text\n"));
  EXPECT_FALSE(repaired.plan.trace_is_sound);
  EXPECT_TRUE(repaired.plan.pieces.empty());
}

TEST(Repair, RejectsInputThatIsNotATrace) {
  const auto plan = PlanRepair([] { return SourceFromBytes("<html>error</html>\n"); });
  ASSERT_TRUE(FaultOf(plan.status()).has_value());
  EXPECT_EQ(FaultOf(plan.status())->id, FaultId::kNotATrace);
}

class RepairOfRealTraces : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Versions, RepairOfRealTraces,
                         testing::Values("go1.22-generations.trace", "go1.23-annotations.trace",
                                         "go1.24-blocking.trace", "go1.25-flight.trace",
                                         "go1.25-syscalls.trace", "go1.26-cgocallback.trace",
                                         "go1.27-generations.trace", "go1.27-threads.trace"));

// The end of a generation, and the number of events up to it.
struct GenerationEnd {
  uint64_t offset;
  uint64_t events;
};
std::vector<GenerationEnd> GenerationEnds(absl::string_view bytes) {
  std::vector<GenerationEnd> ends;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  EXPECT_TRUE(reader.ok());
  uint64_t events = 0;
  while (const Event* event = reader->Next()) {
    if (event->kind() == EventKind::kSync) {
      if (!ends.empty()) ends.back().events = events;
      ends.push_back({reader->generation().end_offset, 0});
    } else {
      ++events;
    }
  }
  ends.back().events = events;
  return ends;
}

// Returns the number of events that ReadMode::kSalvage returns, without kSync events.
uint64_t CountSalvaged(absl::string_view bytes) {
  ReaderOptions options;
  options.mode = ReadMode::kSalvage;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes, options);
  uint64_t count = 0;
  while (const Event* event = reader->Next()) count += event->kind() != EventKind::kSync;
  return count;
}

// Returns the number of kept events, not counting added ones.
uint64_t CountKept(const RepairPlan& plan) {
  uint64_t count = plan.events;
  for (const RepairedGeneration& generation : plan.generations) {
    if (generation.events > 0) count -= generation.events_added + generation.statuses_added;
  }
  return count;
}

TEST_P(RepairOfRealTraces, KeepsWhatStoodBeforeACut) {
  const std::string bytes = ReadTestTrace(GetParam());
  const std::vector<GenerationEnd> ends = GenerationEnds(bytes);
  for (size_t size = kHeaderSize; size < bytes.size(); size += 211) {
    SCOPED_TRACE(absl::StrCat("cut at ", size));
    const absl::string_view cut = absl::string_view(bytes).substr(0, size);
    const Repaired repaired = Repair(cut);
    uint64_t expected = 0;
    for (const GenerationEnd& end : ends) expected = end.offset <= size ? end.events : expected;
    EXPECT_GE(repaired.plan.events, expected);
    EXPECT_GE(CountKept(repaired.plan), CountSalvaged(cut) * 0.95);
  }
}

// Text that a program or a shell prints after the trace, with a complete last line or not.
TEST_P(RepairOfRealTraces, RemovesTextAfterTheEnd) {
  const std::string bytes = ReadTestTrace(GetParam());
  std::string log;
  while (log.size() < 100'000) log += "2024/05/01 12:30:01 main.go:42: request done\n";
  for (const std::string& text :
       {std::string("hello\nmore text"), std::string("done\nbye"), std::string("hello\n$ "),
        std::string("PASS\nok  \tpkg 0.1s\n"), std::string(20'000, '\n'), log}) {
    SCOPED_TRACE(text.substr(0, 20));
    EXPECT_TRUE(Repair(bytes + text).bytes == bytes);
  }
}

TEST_P(RepairOfRealTraces, MakesASoundTraceWhateverByteIsDamaged) {
  const std::string bytes = ReadTestTrace(GetParam());
  const size_t step = bytes.size() / TestRounds(bytes.size() / 61);
  for (size_t pos = kHeaderSize; pos < bytes.size(); pos += step) {
    SCOPED_TRACE(absl::StrCat("damaged at ", pos));
    std::string damaged = bytes;
    damaged[pos] = static_cast<char>(damaged[pos] ^ (1 << (pos % 8)));
    const Repaired repaired = Repair(damaged);
    // One byte spoils at most one generation of several.
    EXPECT_EQ(repaired.plan.pieces.empty(), repaired.bytes.empty());
    EXPECT_FALSE(repaired.bytes.empty() && repaired.plan.generations.size() > 1);
  }
}

// The events that begin or end regions, without what a lost table entry changes.
std::vector<std::string> RegionEvents(absl::string_view bytes) {
  std::vector<std::string> events;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  while (const Event* event = reader->Next()) {
    const bool begins = event->kind() == EventKind::kRegionBegin;
    if (!begins && event->kind() != EventKind::kRegionEnd) continue;
    const Region region = event->region();
    events.push_back(absl::StrCat(event->time(), begins ? " begin" : " end", " of task ",
                                  region.task.value, " on ", event->goroutine().value));
  }
  return events;
}

class RepairOfRegions : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Versions, RepairOfRegions,
                         testing::Values("go1.22-generations.trace", "go1.22-annotations.trace",
                                         "go1.22-cgocallback.trace", "go1.23-annotations.trace",
                                         "go1.23-generations.trace", "go1.24-startstop.trace",
                                         "go1.25-flight.trace", "go1.25-oddstrings.trace",
                                         "go1.26-annotations.trace", "go1.26-deepstacks.trace",
                                         "go1.27-annotations.trace", "go1.27-generations.trace",
                                         "go1.27-startstop.trace", "go1.27-cgocallback.trace",
                                         "go1.27-coroutines.trace"));

// The regions of these programs nest, so whatever a cut leaves is the regions as they were.
TEST_P(RepairOfRegions, ChangesNoneThatACutDoesNotTouch) {
  const std::string bytes = ReadTestTrace(GetParam());
  const std::vector<GenerationEnd> ends = GenerationEnds(bytes);
  const std::vector<std::string> whole = RegionEvents(bytes);
  const size_t step = std::max<size_t>(bytes.size() / TestRounds(200), 1);
  for (size_t size = kHeaderSize; size < bytes.size(); size += step) {
    SCOPED_TRACE(absl::StrCat("cut at ", size));
    const Repaired repaired = Repair(absl::string_view(bytes).substr(0, size));
    EXPECT_EQ(repaired.plan.regions, RegionChanges());
    uint64_t kept = 0;
    for (const GenerationEnd& end : ends) kept = end.offset <= size ? end.offset : kept;
    EXPECT_EQ(repaired.bytes.substr(0, kept), bytes.substr(0, kept));
    // Ends are added for those whose own is lost, and none is at another time than in the trace.
    uint64_t added = 0;
    bool has_clock = true;
    for (const RepairedGeneration& generation : repaired.plan.generations) {
      added += generation.events_added;
      has_clock &= generation.clock == RepairedGeneration::Clock::kOwn;
    }
    if (added > 0 || !has_clock || repaired.bytes.empty()) continue;
    for (const std::string& event : RegionEvents(repaired.bytes)) {
      EXPECT_TRUE(absl::c_linear_search(whole, event)) << event;
    }
  }
}

// As a cut loses the names of the last generation, a region that began before it ends without one.
TEST(Repair, EndsTheInnermostRegionOfTheTaskWhoseNameIsLost) {
  const std::string first = GenerationText(1,
                                           "UserRegionBegin dt=1 task=5 name_string=1 stack=1\n"
                                           "UserRegionBegin dt=1 task=0 name_string=2 stack=1\n");
  // Both ends have the same name, which must not be that of the first region then.
  const std::string second = GenerationText(2,
                                            "UserRegionEnd dt=1 task=0 name_string=9 stack=1\n"
                                            "UserRegionEnd dt=1 task=5 name_string=9 stack=1\n"
                                            "UserRegionBegin dt=1 task=0 name_string=9 stack=1\n");
  // The name of its begin is lost, and not that of its end.
  const std::string third = GenerationText(3, "UserRegionEnd dt=1 task=0 name_string=2 stack=1\n");
  const Repaired repaired = Repair(AssembleBatches(26, first + second + third));
  EXPECT_EQ(FatesOf(repaired.plan),
            (Fates{GenerationFate::kKept, GenerationFate::kRewritten, GenerationFate::kRewritten}));
  EXPECT_EQ(repaired.plan.regions, RegionChanges());
  for (const RepairedGeneration& generation : repaired.plan.generations) {
    EXPECT_EQ(generation.events_left_out, 0U);
    EXPECT_EQ(generation.events_added, 0U);
  }
  const std::string events = absl::StrJoin(EventsOf(repaired.bytes), "\n");
  EXPECT_EQ(RegionEvents(repaired.bytes).size(), 6U) << events;
}

}  // namespace repair_test
}  // namespace gotrace::internal
