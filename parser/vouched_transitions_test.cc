#include "parser/vouched_transitions.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "parser/split_trace.h"
#include "parser/test_util.h"
#include "testdata/test_data.h"

namespace gotrace {
namespace {

ReaderOptions Collecting() {
  ReaderOptions options;
  options.mode = ReadMode::kCollect;
  return options;
}

// All events, as a Reader gives them that leaves out nothing.
struct Whole {
  explicit Whole(const std::string& bytes) {
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes, Collecting());
    while (const Event* event = reader->Next()) {
      events.push_back(Describe(*event));
      times.push_back(event->time());
      types.push_back(event->type());
      stacks.push_back(event->stack().id());
      is_of_goroutine.push_back(event->kind() == EventKind::kStateTransition &&
                                event->transition_resource().kind == ResourceKind::kGoroutine);
    }
  }

  std::vector<std::string> events;
  std::vector<int64_t> times;
  std::vector<EventType> types;
  std::vector<uint64_t> stacks;
  std::vector<bool> is_of_goroutine;
};

// What one gives that leaves out what it vouches for.
struct Given {
  std::map<uint64_t, std::string> events;  // By how many come before.
  std::optional<uint64_t> doubt;           // How many events came before it.
  uint64_t count = 0;                      // Of all events.
};

Given ReadVouched(Reader* reader, const Whole& whole, uint64_t first = 0,
                  const StackWatch* watched = nullptr) {
  Given given;
  VouchedTransitions* vouched_at_doubt = nullptr;
  VouchedTransitions vouched(
      reader, [&] { given.doubt = first + vouched_at_doubt->block().events_before; });
  vouched_at_doubt = &vouched;
  if (watched != nullptr) vouched.GiveStacks(watched);
  uint64_t place = first;
  while (true) {
    const bool left_out = !given.doubt.has_value();
    const absl::Span<const Event> events = reader->NextBlock();
    const VouchedTransitions::Block block = vouched.block();
    const bool leaves_out = !given.doubt.has_value();
    if (left_out && !leaves_out) place = *given.doubt;
    if (leaves_out) {
      place = first + block.events_before;
      EXPECT_LE(place, whole.events.size());
      EXPECT_EQ(block.time_before, place == 0 ? 0 : whole.times[place - 1]);
    }
    if (events.empty()) break;
    for (size_t i = 0; i < events.size(); ++i) {
      const uint64_t at = place + i + (leaves_out ? block.left_out_before[i] : 0);
      given.events[at] = Describe(events[i]);
      if (leaves_out && block.left_out_before[i] > 0) {
        EXPECT_LE(events[i].time() - block.time_before, VouchedTransitions::kLongestBlock);
      }
    }
    place += events.size();
  }
  given.count = first + reader->event_count();
  return given;
}

Given ReadVouched(const std::string& bytes, const Whole& whole,
                  const StackWatch* watched = nullptr) {
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes, Collecting());
  return ReadVouched(&*reader, whole, 0, watched);
}

// Checks that what is given are the events of `whole` from `first` on, but for some transitions of
// goroutines. Returns how many were left out.
uint64_t CheckGiven(const Given& given, const Whole& whole, uint64_t first = 0) {
  EXPECT_EQ(given.count, whole.events.size());
  uint64_t left_out = 0;
  for (uint64_t i = first; i < whole.events.size(); ++i) {
    const auto event = given.events.find(i);
    if (event != given.events.end()) {
      EXPECT_EQ(event->second, whole.events[i]) << i;
      continue;
    }
    ++left_out;
    EXPECT_TRUE(whole.is_of_goroutine[i]) << whole.events[i];
    EXPECT_TRUE(!given.doubt.has_value() || i < *given.doubt) << whole.events[i];
  }
  return left_out;
}

TEST(VouchedTransitionsTest, LeavesOutMostTransitionsOfGoroutines) {
  for (const TestTrace& trace : TestTraces()) {
    SCOPED_TRACE(trace.name);
    const std::string bytes = ReadTestTrace(trace.name);
    const Whole whole(bytes);
    const Given given = ReadVouched(bytes, whole);
    EXPECT_FALSE(given.doubt.has_value());
    const uint64_t left_out = CheckGiven(given, whole);
    // The rest tell statuses, and in small traces of many generations and threads are the last of
    // their threads.
    if (whole.events.size() > 1000) {
      EXPECT_GT(8 * left_out, whole.events.size());
    }
  }
}

TEST(VouchedTransitionsTest, LeavesOutTheSameInASecondHalf) {
  const std::string bytes = ReadTestTrace("go1.27-gc.trace");
  const Whole whole(bytes);
  const std::optional<SplitTrace> split = SplitTrace::Find(**SourceFromBytes(bytes), 0);
  ASSERT_TRUE(split.has_value());
  absl::StatusOr<Reader> first = Reader::FromBytes(bytes);
  split->Stop(&*first);
  while (first->Next() != nullptr) continue;
  absl::StatusOr<Reader> second = split->OpenSecond(Collecting());
  Given given;
  VouchedTransitions vouched(&*second, [&] { given.doubt = 0; });
  uint64_t left_out = 0;
  while (!second->NextBlock().empty()) continue;
  left_out = vouched.block().events_before;
  EXPECT_FALSE(given.doubt.has_value());
  EXPECT_EQ(first->event_count() + left_out, whole.events.size());
  EXPECT_TRUE(SplitTrace::Continues(*second, *first));
}

TEST(VouchedTransitionsTest, GivesWhatRefersToAStack) {
  const std::string bytes = ReadTestTrace("go1.27-generations.trace");
  const Whole whole(bytes);
  for (const uint64_t above : {uint64_t{0}, uint64_t{10}}) {
    StackWatch watch;
    watch.Begin(above, {});
    if (above > 0) watch.Begin(above, {3, above});
    const Given given = ReadVouched(bytes, whole, &watch);
    EXPECT_GT(CheckGiven(given, whole), 0u);
    uint64_t with_stack = 0;
    for (uint64_t i = 0; i < whole.events.size(); ++i) {
      if (!watch.Has(whole.stacks[i])) continue;
      ++with_stack;
      EXPECT_TRUE(given.events.contains(i)) << whole.events[i];
    }
    EXPECT_GT(with_stack, 50u);
  }
}

TEST(VouchedTransitionsTest, GivesAllWhereItIsAskedTo) {
  const std::string bytes = ReadTestTrace("go1.27-generations.trace");
  const Whole whole(bytes);
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  VouchedTransitions vouched(&*reader, [] { FAIL(); });
  for (int i = 0; i < 20; ++i) reader->NextBlock();
  uint64_t place = reader->event_count();
  EXPECT_GT(place, 100u);
  vouched.GiveAll();
  while (const Event* event = reader->Next()) {
    ASSERT_LT(place, whole.events.size());
    EXPECT_EQ(Describe(*event), whole.events[place++]);
  }
  EXPECT_EQ(place, whole.events.size());
}

// A sound trace of which each test changes a line. M 1 has P 0 and goroutine 1; goroutine 2 is in
// a syscall on M 3.
constexpr char kSound[] = R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=0 time=1 size=auto
Strings
String id=1
	data="name"
EventBatch gen=1 m=1 time=100 size=auto
ProcStatus dt=1 p=0 pstatus=1
ProcStatus dt=1 p=1 pstatus=2
GoStatus dt=1 g=1 m=1 gstatus=2
GoStatus dt=1 g=2 m=3 gstatus=3
GoStatus dt=1 g=4 m=18446744073709551615 gstatus=4
GoLabel dt=1 label_string=1
UserTaskBegin dt=1 task=1 parent_task=0 name_string=1 stack=0
GCMarkAssistBegin dt=1 stack=0
GCMarkAssistEnd dt=1
STWBegin dt=1 kind_string=1 stack=0
STWEnd dt=1
GoBlock dt=1 reason_string=1 stack=0
GoUnblock dt=1 g=1 g_seq=1 stack=0
GoStart dt=1 g=1 g_seq=2
GoCreate dt=1 new_g=3 new_stack=0 stack=0
EventBatch gen=2 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=2 m=1 time=300 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
GoStatus dt=1 g=2 m=3 gstatus=3
GoStatus dt=1 g=3 m=18446744073709551615 gstatus=1
GoStatus dt=1 g=4 m=18446744073709551615 gstatus=4
GoUnblock dt=1 g=4 g_seq=1 stack=0
GoDestroy dt=1
)";

TEST(VouchedTransitionsTest, VouchesForASoundTrace) {
  const std::string bytes = Assemble(kSound);
  const Whole whole(bytes);
  const Given given = ReadVouched(bytes, whole);
  EXPECT_FALSE(given.doubt.has_value());
  // The last event of each generation is given by itself.
  EXPECT_EQ(CheckGiven(given, whole), 4u);
}

// What makes no sense, though Go's reader takes it: each is met before it is given, and from there
// on all is given.
TEST(VouchedTransitionsTest, DoubtsWhatMakesNoSense) {
  struct Change {
    EventType doubt;  // Of which it doubts.
    std::vector<std::pair<std::string, std::string>> replaced;
  };
  const std::string other = "GoStatus dt=1 g=4 m=18446744073709551615 gstatus=4\nGoLabel";
  const std::string stop = "STWEnd dt=1\nGoBlock";
  const std::vector<Change> changes = {
      // A state that is none.
      {EventType::kProcStatus, {{"p=1 pstatus=2", "p=1 pstatus=0"}}},
      {EventType::kGoStatus, {{other, "GoStatus dt=1 g=4 m=2 gstatus=0\nGoLabel"}}},
      // What begins to execute where something else does, or nowhere.
      {EventType::kProcStatus, {{"p=1 pstatus=2", "p=1 pstatus=1"}}},
      {EventType::kGoStatus, {{other, "GoStatus dt=1 g=4 m=1 gstatus=2\nGoLabel"}}},
      {EventType::kGoStatus, {{other, "GoStatus dt=1 g=4 m=1 gstatus=3\nGoLabel"}}},
      {EventType::kProcStatus,
       {{"EventBatch gen=1 m=1 ",
         "EventBatch gen=1 m=18446744073709551615 time=50 size=auto\n"
         "ProcStatus dt=1 p=2 pstatus=1\n"
         "EventBatch gen=1 m=1 "}}},
      {EventType::kGoStatus,
       {{"EventBatch gen=1 m=1 ",
         "EventBatch gen=1 m=18446744073709551615 time=50 size=auto\n"
         "GoStatus dt=1 g=5 m=2 gstatus=2\n"
         "EventBatch gen=1 m=1 "}}},
      // What executes in two places.
      {EventType::kGoStatus,
       {{"GCMarkAssistBegin dt=1 stack=0\n", "GoStatus dt=1 g=2 m=7 gstatus=3\n"},
        {"GCMarkAssistEnd dt=1\n", ""}}},
      {EventType::kProcStatus,
       {{"GCMarkAssistBegin dt=1 stack=0\n", ""},
        {"GCMarkAssistEnd dt=1\n", ""},
        {"EventBatch gen=2 m=1 time=300 size=auto\n",
         "EventBatch gen=2 m=5 time=250 size=auto\n"
         "ProcStatus dt=1 p=0 pstatus=1\n"
         "EventBatch gen=2 m=1 time=300 size=auto\n"}}},
      // Ranges.
      {EventType::kGoDestroy, {{"GCMarkAssistEnd dt=1\n", ""}}},
      {EventType::kGoDestroy, {{stop, "GoBlock"}}},
      {EventType::kSTWEnd, {{stop, "GoBlock"}, {"GoDestroy", "STWEnd"}}},
      // Annotations.
      {EventType::kGoLabel, {{"label_string=1", "label_string=0"}}},
      {EventType::kUserTaskBegin, {{"task=1 parent", "task=0 parent"}}},
      {EventType::kUserTaskBegin, {{"task=1 parent", "task=18446744073709551615 parent"}}},
  };
  for (const Change& change : changes) {
    std::string text = kSound;
    for (const auto& [from, to] : change.replaced) {
      ASSERT_TRUE(absl::StrContains(text, from)) << from;
      text = absl::StrReplaceAll(text, {{from, to}});
    }
    SCOPED_TRACE(text);
    const std::string bytes = Assemble(text);
    const Whole whole(bytes);
    const Given given = ReadVouched(bytes, whole);
    CheckGiven(given, whole);
    ASSERT_TRUE(given.doubt.has_value());
    EXPECT_EQ(whole.types[*given.doubt], change.doubt);
  }
}

// In a later generation, what nothing told of before.
TEST(VouchedTransitionsTest, DoubtsWhatAppearsLate) {
  // The first generation has no events: the model begins with the second.
  const std::string text =
      absl::StrReplaceAll(kSound, {{"gen=2", "gen=3"}, {"gen=1", "gen=2"}, {"Trace Go1.22\n", ""}});
  const std::string bytes = Assemble(
      "Trace Go1.22\n"
      "EventBatch gen=1 m=0 time=1 size=auto\n"
      "Frequency freq=1000000000\n" +
      text);
  const Whole whole(bytes);
  const Given given = ReadVouched(bytes, whole);
  CheckGiven(given, whole);
  ASSERT_TRUE(given.doubt.has_value());
  EXPECT_EQ(whole.types[*given.doubt], EventType::kProcStatus);
}

// A fault is met with the model as it was before it, wherever it shows.
TEST(VouchedTransitionsTest, DoubtsBeforeAFault) {
  const std::string sound = ReadTestTrace("go1.27-generations.trace");
  int faults = 0;
  for (size_t i = 0; i < 200; ++i) {
    std::string bytes = sound;
    bytes[100 + i * (bytes.size() - 100) / 200] ^= static_cast<char>(1 << i % 8);
    SCOPED_TRACE(i);
    const Whole whole(bytes);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes, Collecting());
    const Given given = ReadVouched(&*reader, whole);
    CheckGiven(given, whole);
    if (reader->losses().faults == 0) continue;
    ++faults;
    EXPECT_TRUE(given.doubt.has_value());
  }
  EXPECT_GT(faults, 50);
}

// Faults of an event that shows only once the model took it.
TEST(VouchedTransitionsTest, ShowsWhatItKnewBeforeAFault) {
  const std::string block = "GoBlock dt=1 reason_string=1 stack=0\n";
  const std::string with_unknown_stack =
      Assemble(absl::StrReplaceAll(kSound, {{block, "GoBlock dt=1 reason_string=1 stack=7\n"}}));
  // A type of event that there is none of, behind it.
  std::string before_no_event = Assemble(kSound);
  const size_t unblock = before_no_event.find("\x15\x01\x01\x01");
  ASSERT_NE(unblock, std::string::npos);
  before_no_event[unblock] = '\x7f';
  for (const std::string& bytes : {with_unknown_stack, before_no_event}) {
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes, Collecting());
    std::optional<uint8_t> state;
    VouchedTransitions* vouched_at_doubt = nullptr;
    VouchedTransitions vouched(&*reader, [&] {
      vouched_at_doubt->SeeKnown([&](const KnownResource& resource) {
        if (resource.id.kind == ResourceKind::kGoroutine && resource.id.id == 1) {
          state = resource.state;
        }
      });
    });
    vouched_at_doubt = &vouched;
    while (reader->Next() != nullptr) continue;
    EXPECT_EQ(reader->losses().faults, 1u);
    EXPECT_EQ(state, static_cast<uint8_t>(GoState::kRunning));
  }
}

// What the model knows of the sound trace before its last event.
TEST(VouchedTransitionsTest, ShowsWhatItKnows) {
  const std::string bytes = Assemble(
      absl::StrReplaceAll(kSound, {{"GoDestroy dt=1\n", "GoLabel dt=1 label_string=0\n"}}));
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  std::map<std::pair<ResourceKind, int64_t>, KnownResource> known;
  VouchedTransitions* vouched_at_doubt = nullptr;
  VouchedTransitions vouched(&*reader, [&] {
    vouched_at_doubt->SeeKnown([&](const KnownResource& resource) {
      known[{resource.id.kind, resource.id.id}] = resource;
    });
    EXPECT_TRUE(vouched_at_doubt->Exists({ResourceKind::kGoroutine, 3}));
    EXPECT_FALSE(vouched_at_doubt->Exists({ResourceKind::kGoroutine, 5}));
    EXPECT_TRUE(vouched_at_doubt->Exists({ResourceKind::kProc, 1}));
    EXPECT_FALSE(vouched_at_doubt->Exists({ResourceKind::kProc, 2}));
    EXPECT_FALSE(vouched_at_doubt->Exists({ResourceKind::kNone, -1}));
  });
  vouched_at_doubt = &vouched;
  while (reader->Next() != nullptr) continue;
  ASSERT_TRUE(reader->status().ok());
  ASSERT_EQ(known.size(), 6u);
  const auto expect = [&](ResourceKind kind, int64_t id, auto state, int64_t thread, bool is_whole,
                          std::vector<EventType> last) {
    const KnownResource& resource = known[{kind, id}];
    SCOPED_TRACE(id);
    EXPECT_EQ(resource.state, static_cast<uint8_t>(state));
    EXPECT_EQ(resource.thread.value, thread);
    EXPECT_EQ(resource.is_whole, is_whole);
    std::vector<EventType> history;
    for (const PastTransition& past : resource.history.List(resource.transitions)) {
      history.push_back(past.event);
    }
    EXPECT_EQ(history, last);
  };
  using enum EventType;
  expect(ResourceKind::kGoroutine, 1, GoState::kRunning, 1, false,
         {kGoBlock, kGoUnblock, kGoStart, kGoStatus});
  expect(ResourceKind::kGoroutine, 2, GoState::kSyscall, 3, false, {kGoStatus, kGoStatus});
  expect(ResourceKind::kGoroutine, 3, GoState::kRunnable, -1, true, {kGoCreate, kGoStatus});
  expect(ResourceKind::kGoroutine, 4, GoState::kRunnable, -1, false,
         {kGoStatus, kGoStatus, kGoUnblock});
  expect(ResourceKind::kProc, 0, ProcState::kRunning, 1, false, {kProcStatus, kProcStatus});
  expect(ResourceKind::kProc, 1, ProcState::kIdle, -1, false, {kProcStatus});
}

}  // namespace
}  // namespace gotrace
