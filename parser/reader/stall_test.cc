#include "parser/order/stall.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "parser/framing/raw_reader.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"
#include "tracev2/text_form.h"
#include "util/text_buffer.h"

namespace gotrace::internal {
namespace stall_test {

constexpr absl::string_view kMessage = "deadlock: none of the next events of ";
constexpr absl::string_view kMissing = "; the most likely missing event is a ";

// Returns the fault that reading `bytes` ends with.
std::optional<Fault> FaultIn(const std::string& bytes) {
  return FaultOf(ReadAll(Reader::FromBytes(bytes)).status);
}

// Returns what a kNoAdvance fault names as missing, or "".
std::string MissingIn(const Fault& fault) {
  const size_t at = fault.message.find(std::string(kMissing));
  return at == std::string::npos ? "" : fault.message.substr(at + kMissing.size());
}

// Thread 1 runs goroutine 1 on P 0, P 1 is idle, goroutine 2 waits and goroutine 3 is runnable.
// `batches` follow.
std::string TraceWith(absl::string_view batches, absl::string_view version = "1.23") {
  return Assemble(absl::StrCat("Trace Go", version, R"(
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=1 time=100 size=auto
ProcStatus dt=0 p=0 pstatus=1
GoStatus dt=0 g=1 m=1 gstatus=2
ProcStatus dt=0 p=1 pstatus=2
GoStatus dt=0 g=2 m=18446744073709551615 gstatus=4
GoStatus dt=0 g=3 m=18446744073709551615 gstatus=1
)",
                               batches));
}

struct RuleCase {
  absl::string_view batches;
  absl::string_view detail;   // The line of the first waiting thread, without its place.
  absl::string_view missing;  // The likeliest missing event.
};

// Covers every rule that makes events wait, with every reason that it can have.
TEST(StallTest, ExplainsEveryRule) {
  constexpr absl::string_view kThread2 = "EventBatch gen=1 m=2 time=200 size=auto\n";
  const RuleCase kCases[] = {
      {"GoStart dt=1 g=9 g_seq=1",
       "goroutine 9 does not exist yet; missing a GoCreate of goroutine 9",
       "GoCreate of goroutine 9"},
      {"GoStart dt=1 g=9 g_seq=3", "goroutine 9 does not exist; missing a GoCreate of goroutine 9",
       "GoCreate of goroutine 9"},
      {"GoStart dt=1 g=2 g_seq=2",
       "goroutine 2 is Waiting, must be Runnable, and expects sequence number 1 of goroutine 2, "
       "has 2; missing a GoUnblock of goroutine 2 with sequence number 1",
       "GoUnblock of goroutine 2 with sequence number 1"},
      {"GoStart dt=1 g=2 g_seq=1",
       "goroutine 2 is Waiting, must be Runnable; missing a GoUnblock of goroutine 2",
       "GoUnblock of goroutine 2"},
      {"GoStart dt=1 g=1 g_seq=1",
       "goroutine 1 is Running on thread 1, must be Runnable; missing a GoStop of goroutine 1 on "
       "thread 1",
       "GoStop of goroutine 1 on thread 1"},
      {"GoStart dt=1 g=1 g_seq=2",
       "goroutine 1 is Running on thread 1, must be Runnable, and expects sequence number 1 of "
       "goroutine 1, has 2; missing a GoUnblock of goroutine 1 with sequence number 1",
       "GoUnblock of goroutine 1 with sequence number 1"},
      {"GoStart dt=1 g=3 g_seq=5",
       "expects sequence number 1 of goroutine 3, has 5; missing a GoStart of goroutine 3 with "
       "sequence number 1, the first of 4 missing numbers",
       "GoStart of goroutine 3 with sequence number 1, the first of 4 missing numbers"},
      {"GoStart dt=1 g=3 g_seq=0",
       "expects sequence number 1 of goroutine 3, has 0, which was already used", ""},
      {"GoUnblock dt=1 g=9 g_seq=1 stack=0",
       "goroutine 9 does not exist yet; missing a GoStatus of goroutine 9",
       "GoStatus of goroutine 9"},
      {"GoUnblock dt=1 g=1 g_seq=1 stack=0",
       "goroutine 1 is Running on thread 1, must be Waiting; missing a GoBlock of goroutine 1 on "
       "thread 1",
       "GoBlock of goroutine 1 on thread 1"},
      {"GoUnblock dt=1 g=1 g_seq=2 stack=0",
       "goroutine 1 is Running on thread 1, must be Waiting, and expects sequence number 1 of "
       "goroutine 1, has 2; missing a GoStart of goroutine 1 with sequence number 1",
       "GoStart of goroutine 1 with sequence number 1"},
      {"GoUnblock dt=1 g=3 g_seq=1 stack=0",
       "goroutine 3 is Runnable, must be Waiting; missing a GoStart of goroutine 3",
       "GoStart of goroutine 3"},
      {"GoUnblock dt=1 g=2 g_seq=2 stack=0",
       "expects sequence number 1 of goroutine 2, has 2; missing a GoSwitch of goroutine 2 with "
       "sequence number 1",
       "GoSwitch of goroutine 2 with sequence number 1"},
      {"ProcStatus dt=0 p=2 pstatus=1\nGoStatus dt=0 g=4 m=2 gstatus=2\nGoSwitch dt=1 g=9 g_seq=1",
       "goroutine 9 does not exist yet; missing a GoCreateBlocked of goroutine 9",
       "GoCreateBlocked of goroutine 9"},
      {"ProcStatus dt=0 p=2 pstatus=1\nGoStatus dt=0 g=4 m=2 gstatus=2\nGoSwitch dt=1 g=4 g_seq=1",
       "goroutine 4 is Running on thread 2, must be Waiting; missing a GoSwitch away from "
       "goroutine "
       "4 on thread 2",
       "GoSwitch away from goroutine 4 on thread 2"},
      {"ProcStatus dt=0 p=2 pstatus=1\nGoStatus dt=0 g=4 m=2 gstatus=2\n"
       "GoSwitchDestroy dt=1 g=1 g_seq=1",
       "goroutine 1 is Running on thread 1, must be Waiting; missing a GoBlock of goroutine 1 on "
       "thread 1",
       "GoBlock of goroutine 1 on thread 1"},
      {"ProcStart dt=1 p=9 p_seq=1", "P 9 is not yet known; missing a ProcStatus of P 9",
       "ProcStatus of P 9"},
      {"ProcStart dt=1 p=0 p_seq=1",
       "P 0 is Running on thread 1, must be Idle; missing a ProcStop of P 0 on thread 1",
       "ProcStop of P 0 on thread 1"},
      {"ProcStart dt=1 p=0 p_seq=2",
       "P 0 is Running on thread 1, must be Idle, and expects sequence number 1 of P 0, has 2; "
       "missing a GoSyscallBegin of P 0 with sequence number 1",
       "GoSyscallBegin of P 0 with sequence number 1"},
      {"ProcStart dt=1 p=1 p_seq=2",
       "expects sequence number 1 of P 1, has 2; missing a ProcStart of P 1 with sequence number 1",
       "ProcStart of P 1 with sequence number 1"},
      {"ProcStart dt=1 p=1 p_seq=0",
       "expects sequence number 1 of P 1, has 0, which was already used", ""},
      {"ProcStatus dt=0 p=2 pstatus=4\nProcStart dt=1 p=2 p_seq=1",
       "P 2 is SyscallAbandoned, must be Idle; missing a ProcSteal of P 2", "ProcSteal of P 2"},
      {"ProcStatus dt=0 p=2 pstatus=4\nProcStart dt=1 p=2 p_seq=2",
       "P 2 is SyscallAbandoned, must be Idle, and expects sequence number 1 of P 2, has 2; "
       "missing "
       "a ProcSteal of P 2 with sequence number 1",
       "ProcSteal of P 2 with sequence number 1"},
      {"ProcStatus dt=0 p=2 pstatus=1\nProcStart dt=1 p=1 p_seq=1",
       "P 2 is still on thread 2: a ProcStop must come first; missing a ProcStop of P 2 on thread "
       "2",
       "ProcStop of P 2 on thread 2"},
      {"ProcStatus dt=0 p=2 pstatus=3\nProcStart dt=1 p=1 p_seq=1",
       "P 2 is still in a syscall on thread 2: a ProcSteal must come first; missing a ProcSteal of "
       "P "
       "2 with sequence number 1",
       "ProcSteal of P 2 with sequence number 1"},
      {"ProcSteal dt=1 p=9 p_seq=1 m=1", "P 9 is not yet known; missing a ProcStatus of P 9",
       "ProcStatus of P 9"},
      {"ProcSteal dt=1 p=0 p_seq=1 m=1",
       "P 0 is Running on thread 1, must be in a syscall; missing a GoSyscallBegin of P 0",
       "GoSyscallBegin of P 0"},
      {"ProcSteal dt=1 p=0 p_seq=2 m=1",
       "P 0 is Running on thread 1, must be in a syscall, and expects sequence number 1 of P 0, "
       "has 2; missing a GoSyscallBegin of P 0 with sequence number 1",
       "GoSyscallBegin of P 0 with sequence number 1"},
      {"ProcSteal dt=1 p=1 p_seq=2 m=1",
       "P 1 is Idle, must be in a syscall, and expects sequence number 1 of P 1, has 2; missing a "
       "ProcStart of P 1 with sequence number 1",
       "ProcStart of P 1 with sequence number 1"},
      {"ProcStatus dt=0 p=2 pstatus=3\nProcSteal dt=1 p=2 p_seq=2 m=2",
       "expects sequence number 1 of P 2, has 2; missing a GoSyscallBegin of P 2 with sequence "
       "number 1",
       "GoSyscallBegin of P 2 with sequence number 1"},
      {"ProcStatus dt=0 p=2 pstatus=3\nGoStatus dt=0 g=4 m=2 gstatus=3\nGoSyscallEndBlocked dt=1",
       "P 2 is still in a syscall on thread 2: a ProcSteal must come first; missing a ProcSteal of "
       "P "
       "2 with sequence number 1",
       "ProcSteal of P 2 with sequence number 1"},
      {"GCEnd dt=1 gc_seq=7",
       "a GCBegin or GCActive must come first, found no earlier GC event; missing a GCBegin with "
       "sequence "
       "number 6",
       "GCBegin with sequence number 6"},
      {"GCEnd dt=1 gc_seq=0", "a GCBegin or GCActive must come first, found no earlier GC event",
       ""},
      {"GCActive dt=0 gc_seq=4\nGCEnd dt=1 gc_seq=6",
       "expects sequence number 5 of the GC, has 6; missing a GCActive with sequence number 5",
       "GCActive with sequence number 5"},
      {"GCActive dt=0 gc_seq=4\nGCBegin dt=1 gc_seq=6 stack=0",
       "expects sequence number 5 of the GC, has 6; missing a GCEnd with sequence number 5",
       "GCEnd with sequence number 5"},
      {"GCActive dt=0 gc_seq=4\nGCEnd dt=1 gc_seq=4",
       "expects sequence number 5 of the GC, has 4, which was already used", ""},
  };
  for (const RuleCase& c : kCases) {
    SCOPED_TRACE(std::string(c.batches));
    const std::optional<Fault> fault = FaultIn(TraceWith(absl::StrCat(kThread2, c.batches, "\n")));
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(fault->id, FaultId::kNoAdvance);
    EXPECT_EQ(MissingIn(*fault), c.missing);
    ASSERT_EQ(fault->details.size(), 1u);
    EXPECT_TRUE(absl::EndsWith(fault->details[0], absl::StrCat(": ", c.detail)))
        << fault->details[0];
  }
}

TEST(StallTest, ListsPlaceTimeAndEventOfEachThread) {
  const std::optional<Fault> fault = FaultIn(TraceWith(R"(
EventBatch gen=1 m=2 time=200 size=auto
GoStart dt=7 g=2 g_seq=2
EventBatch gen=1 m=18446744073709551615 time=203 size=auto
GoUnblock dt=0 g=2 g_seq=3 stack=0
)"));
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(
      absl::StrJoin(fault->details, "\n"),
      "byte 98, no thread, time 203: GoUnblock of goroutine 2 with sequence number 3: expects "
      "sequence number 1 of goroutine 2, has 3; missing a GoUnblock of goroutine 2 with sequence "
      "number 1\n"
      "byte 79, thread 2, time 207: GoStart of goroutine 2 with sequence number 2: goroutine 2 is "
      "Waiting, must be Runnable, and expects sequence number 1 of goroutine 2, has 2; missing a "
      "GoUnblock of goroutine 2 with sequence number 1");
}

// Three threads wait for each other in a chain; only the event at its end is missing.
TEST(StallTest, FollowsChainsToTheirEnd) {
  const std::optional<Fault> fault = FaultIn(TraceWith(R"(
EventBatch gen=1 m=2 time=200 size=auto
ProcStart dt=1 p=1 p_seq=2
EventBatch gen=1 m=3 time=203 size=auto
ProcStatus dt=0 p=3 pstatus=1
GoStart dt=1 g=9 g_seq=1
GoBlock dt=1 reason_string=0 stack=0
ProcStop dt=1
ProcStart dt=1 p=1 p_seq=1
EventBatch gen=1 m=4 time=202 size=auto
GoUnblock dt=0 g=9 g_seq=2 stack=0
)"));
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(MissingIn(*fault), "GoCreate of goroutine 9");
  ASSERT_EQ(fault->details.size(), 3u);
  EXPECT_TRUE(absl::EndsWith(fault->details[0],
                             "; waits for the ProcStart of P 1 with sequence number 1 at byte 103"))
      << fault->details[0];
}

TEST(StallTest, NothingIsMissingIfThreadsWaitForEachOther) {
  const std::optional<Fault> fault = FaultIn(TraceWith(R"(
EventBatch gen=1 m=2 time=200 size=auto
GoStart dt=1 g=3 g_seq=2
GoUnblock dt=1 g=2 g_seq=1 stack=0
EventBatch gen=1 m=3 time=203 size=auto
GoUnblock dt=1 g=2 g_seq=2 stack=0
GoStart dt=1 g=3 g_seq=1
)"));
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->message,
            absl::StrCat(kMessage, "2 threads can be ordered; this is the earliest of them"));
  EXPECT_EQ(fault->details.size(), 2u);
}

// Thread 1 stops P 0 and blocks goroutine 1 later, but after it got them again, which is not what
// the others wait for.
TEST(StallTest, DistinguishesSuccessiveHoldersOfAResource) {
  const std::optional<Fault> proc = FaultIn(TraceWith(R"(
EventBatch gen=1 m=1 time=200 size=auto
GoStop dt=1 reason_string=0 stack=0
ProcSteal dt=1 p=0 p_seq=3 m=2
ProcStart dt=1 p=0 p_seq=4
ProcStop dt=1
EventBatch gen=1 m=2 time=201 size=auto
ProcStart dt=1 p=0 p_seq=1
GoStart dt=1 g=3 g_seq=1
GoSyscallBegin dt=1 p_seq=2 stack=0
GoSyscallEndBlocked dt=8
)"));
  ASSERT_TRUE(proc.has_value());
  EXPECT_EQ(MissingIn(*proc), "ProcStop of P 0 on thread 1");
  const std::optional<Fault> goroutine = FaultIn(TraceWith(R"(
EventBatch gen=1 m=1 time=200 size=auto
ProcStop dt=1
ProcStart dt=1 p=1 p_seq=2
GoStart dt=1 g=1 g_seq=2
GoBlock dt=1 reason_string=0 stack=0
EventBatch gen=1 m=2 time=201 size=auto
GoUnblock dt=1 g=1 g_seq=1 stack=0
ProcStart dt=1 p=1 p_seq=1
ProcStop dt=1
)"));
  ASSERT_TRUE(goroutine.has_value());
  EXPECT_EQ(MissingIn(*goroutine), "GoBlock of goroutine 1 on thread 1");
}

// What a waiting thread will do later is not missing for the others.
TEST(StallTest, FindsWhatThreadsWillLeave) {
  const std::optional<Fault> fault = FaultIn(TraceWith(R"(
EventBatch gen=1 m=1 time=200 size=auto
GoUnblock dt=1 g=2 g_seq=2 stack=0
GoSyscallBegin dt=1 p_seq=1 stack=0
ProcStop dt=1
GoSyscallEndBlocked dt=1
EventBatch gen=1 m=2 time=201 size=auto
ProcSteal dt=1 p=0 p_seq=2 m=1
EventBatch gen=1 m=3 time=202 size=auto
GoStart dt=1 g=1 g_seq=1
EventBatch gen=1 m=4 time=203 size=auto
ProcStart dt=1 p=0 p_seq=1
)"));
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(MissingIn(*fault), "GoSwitch of goroutine 2 with sequence number 1");
  ASSERT_EQ(fault->details.size(), 4u);
  EXPECT_TRUE(absl::StrContains(fault->details[1],
                                "waits for the GoSyscallBegin of P 0 with sequence number 1 at "));
  EXPECT_TRUE(absl::StrContains(
      fault->details[2], "waits for the GoSyscallEndBlocked of goroutine 1 on thread 1 at "));
  EXPECT_TRUE(
      absl::StrContains(fault->details[3], "waits for the ProcStop of P 0 on thread 1 at "));
}

TEST(StallTest, MostThreadsDecideAndThenTheEarliest) {
  constexpr absl::string_view kTwo = R"(
EventBatch gen=1 m=2 time=200 size=auto
GoStart dt=1 g=8 g_seq=1
EventBatch gen=1 m=3 time=300 size=auto
GoStart dt=1 g=9 g_seq=1
)";
  EXPECT_EQ(MissingIn(*FaultIn(TraceWith(kTwo))), "GoCreate of goroutine 8");
  EXPECT_EQ(MissingIn(*FaultIn(TraceWith(absl::StrCat(kTwo, R"(
EventBatch gen=1 m=4 time=400 size=auto
GoUnblock dt=1 g=9 g_seq=2 stack=0
)")))),
            "GoCreate of goroutine 9");
}

TEST(StallTest, ListsNoMoreThanTwentyThreads) {
  const auto details = [](int threads) {
    std::string batches;
    for (int m = 2; m < 2 + threads; ++m) {
      absl::StrAppend(&batches, "EventBatch gen=1 m=", m, " time=200 size=auto\nGoStart dt=", m,
                      " g=", 100 + m, " g_seq=1\n");
    }
    return FaultIn(TraceWith(batches))->details;
  };
  EXPECT_EQ(details(20).size(), 20u);
  EXPECT_TRUE(absl::StrContains(details(20).back(), "goroutine 121"));
  EXPECT_EQ(details(21).size(), 21u);
  EXPECT_EQ(details(21).back(), "and 1 more thread");
  EXPECT_EQ(details(300).back(), "and 280 more threads");
}

TEST(StallTest, CollectModeReportsTheSame) {
  const std::string bytes = TraceWith(R"(
EventBatch gen=1 m=2 time=200 size=auto
GoStart dt=1 g=9 g_seq=1
)");
  std::vector<Fault> faults;
  ReaderOptions options;
  options.mode = ReadMode::kCollect;
  options.on_fault = [&faults](const Fault& fault) { faults.push_back(fault); };
  EXPECT_TRUE(ReadAll(Reader::FromBytes(bytes, options)).status.ok());
  ASSERT_EQ(faults.size(), 1u);
  const std::optional<Fault> strict = FaultIn(bytes);
  EXPECT_EQ(faults[0].message, strict->message);
  EXPECT_EQ(faults[0].details, strict->details);
}

// Real traces, one event taken out. ---------------------------------------------------------------

std::vector<std::string> LinesOf(absl::string_view trace) {
  const std::string bytes = ReadTestTrace(trace);
  RawReader reader = *RawReader::FromSource(*SourceFromBytes(bytes), RawReader::Types::kOfVersion);
  TextBuffer text;
  AppendHeaderText(reader.version(), &text);
  while (const RawEvent* event = reader.Next()) AppendEventText(*event, &text);
  std::vector<std::string> lines = absl::StrSplit(text.view(), '\n');
  for (std::string& line : lines) {
    // Sizes change if an event is removed.
    if (absl::StartsWith(line, "EventBatch"))
      line.replace(line.find(" size="), line.npos, " size=auto");
  }
  return lines;
}

// Returns the value of the argument `name` in the line of an event.
std::string Arg(absl::string_view line, absl::string_view name) {
  for (const absl::string_view part : absl::StrSplit(line, ' ')) {
    if (absl::StartsWith(part, absl::StrCat(name, "="))) {
      return std::string(part.substr(name.size() + 1));
    }
  }
  return "";
}

std::string NameOf(absl::string_view line) {
  const absl::string_view type = line.substr(0, line.find(' '));
  if (type == "GoCreate") return absl::StrCat("GoCreate of goroutine ", Arg(line, "new_g"));
  const bool is_proc = type == "ProcSteal";
  return absl::StrCat(type, is_proc ? " of P " : " of goroutine ", Arg(line, is_proc ? "p" : "g"),
                      " with sequence number ", Arg(line, is_proc ? "p_seq" : "g_seq"));
}

// Each end names the begin before it, and the lower number comes after the higher one.
TEST(StallTest, CountsNoGapBackwards) {
  const std::optional<Fault> fault =
      FaultIn(TraceWith("EventBatch gen=1 m=2 time=200 size=auto\nGCEnd dt=1 gc_seq=5\n"
                        "EventBatch gen=1 m=3 time=300 size=auto\nGCEnd dt=1 gc_seq=9\n"));
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(MissingIn(*fault), "GCBegin with sequence number 4");
  ASSERT_EQ(fault->details.size(), 2U);
  EXPECT_TRUE(absl::EndsWith(fault->details[1], "missing a GCBegin with sequence number 8"))
      << fault->details[1];
}

struct Removal {
  absl::string_view trace;
  absl::string_view type;
  int least;  // The minimum number of events of the type whose absence shows.
};

TEST(StallTest, NamesTheEventThatWasRemoved) {
  for (const Removal& removal : {Removal{"go1.27-blocking.trace", "GoUnblock", 40},
                                 Removal{"go1.27-blocking.trace", "GoCreate", 20},
                                 Removal{"go1.22-blocking.trace", "GoCreate", 20},
                                 Removal{"go1.27-syscalls.trace", "ProcSteal", 20}}) {
    SCOPED_TRACE(absl::StrCat(removal.trace, " without a ", removal.type));
    const std::vector<std::string> lines = LinesOf(removal.trace);
    int named = 0;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (!absl::StartsWith(lines[i], absl::StrCat(removal.type, " "))) continue;
      std::vector<std::string> rest = lines;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      const std::optional<Fault> fault = FaultIn(Assemble(absl::StrJoin(rest, "\n")));
      // The last event of a goroutine may be removed without a fault.
      if (!fault.has_value() || fault->id != FaultId::kNoAdvance) continue;
      EXPECT_EQ(MissingIn(*fault), NameOf(lines[i]));
      ++named;
    }
    EXPECT_GE(named, removal.least);
  }
}

}  // namespace stall_test
}  // namespace gotrace::internal
