// Tests that no consumer of events crashes, whatever an EventBuilder builds.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "export/json/json.h"
#include "export/text/go_text.h"
#include "gotrace/event_builder.h"
#include "gotrace/goroutine_names.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"
#include "gotrace/validator.h"
#include "gtest/gtest.h"
#include "util/text_buffer.h"

namespace gotrace::internal {
namespace built_events_test {

class NoConsumer : public IntervalConsumer {
 public:
};

// Passes events to all consumers of events.
class Consumers {
 public:
  Consumers() : validator_({}, [this](Finding finding) { text_size_ += Size(finding); }) {}

  void Add(const Event& event) {
    validator_.Check(event);
    names_.Add({&event, 1});
    tracker_.Add({&event, 1});
    go_text_.Append(event, &text_);
    json_.Append(event, &text_);
    text_size_ += text_.size();
    text_.clear();
  }
  void Finish() {
    validator_.Finish().IgnoreError();
    tracker_.Finish().IgnoreError();
  }

  // The size of everything that was written.
  size_t text_size() const { return text_size_; }

 private:
  static size_t Size(const Finding& finding) { return FormatFinding(finding).size(); }

  size_t text_size_ = 0;
  Validator validator_;
  GoroutineNames names_;
  NoConsumer no_consumer_;
  Interner interner_;
  StateTracker tracker_{&interner_, &no_consumer_};
  TextBuffer text_;
  GoTextFormatter go_text_{absl::UTCTimeZone()};
  JsonFormatter json_{/*stacks=*/true};
};

// Calls setters with values of all sorts, whether or not they apply.
class Randomizer {
 public:
  EventBuilder Make(EventType type, const BuiltTables& tables) {
    EventBuilder builder = Pick(2) == 0 ? EventBuilder(type, tables) : EventBuilder(type);
    if (Pick(20) == 0) builder = EventBuilder::MakeSync(Number());
    for (uint64_t calls = Pick(12); calls > 0; --calls) Set(&builder);
    return builder;
  }

 private:
  uint64_t Pick(uint64_t count) { return random_() % count; }

  uint64_t Number() {
    constexpr uint64_t kNumbers[] = {0,           1, 2, 3, 7, uint64_t{1} << 63, ~uint64_t{0} - 1,
                                     ~uint64_t{0}};
    return kNumbers[Pick(std::size(kNumbers))];
  }
  int64_t Id() { return static_cast<int64_t>(Number()); }

  absl::string_view Text() {
    constexpr absl::string_view kTexts[] = {"", "a", "chan receive", "\n\"\xff", "main.f"};
    return kTexts[Pick(std::size(kTexts))];
  }

  std::vector<StackFrame> Frames() {
    std::vector<StackFrame> frames(Pick(4));
    for (StackFrame& frame : frames) frame = {Number(), Text(), Text(), Number()};
    return frames;
  }

  void Set(EventBuilder* builder) {
    const auto state = [&] { return static_cast<uint8_t>(Pick(16) == 0 ? Pick(256) : Pick(6)); };
    switch (Pick(17)) {
      case 0:
        builder->Time(Id());
        break;
      case 1:
        builder->Goroutine(GoId{Id()}).Proc(ProcId{Id()}).Thread(ThreadId{Id()});
        break;
      case 2:
        builder->Offset(Number());
        break;
      case 3:
        builder->Stack(Frames());
        break;
      case 4:
        builder->TransitionStack(Frames());
        break;
      case 5:
      case 6:
        builder->Transition(GoId{Id()}, GoState{state()}, GoState{state()});
        break;
      case 7:
      case 8:
        builder->Transition(ProcId{Id()}, ProcState{state()}, ProcState{state()});
        break;
      case 9:
        builder->Reason(Text());
        break;
      case 10:
        builder->Label(Text());
        break;
      case 11:
        builder->Task(TaskId{Number()}).Parent(TaskId{Number()});
        break;
      case 12:
        builder->TaskType(Text());
        break;
      case 13:
        builder->RegionType(Text());
        break;
      case 14:
        builder->Log(Text(), Text());
        break;
      case 15:
        builder->Clocks({Id(), Number(), absl::FromUnixNanos(Id())});
        break;
      default:
        builder->Arg(Pick(6), Number());
        break;
    }
  }

  std::mt19937_64 random_{1};
};

TEST(BuiltEventsTest, BareEventsOfEveryTypeCanBeConsumed) {
  Consumers consumers;
  for (const bool has_tables : {false, true}) {
    for (int type = 0; type < 256; ++type) {
      const EventBuilder builder = has_tables
                                       ? EventBuilder(static_cast<EventType>(type), BuiltTables())
                                       : EventBuilder(static_cast<EventType>(type));
      consumers.Add(builder.Build());
    }
  }
  consumers.Finish();
  EXPECT_GT(consumers.text_size(), 512u * 20);
}

TEST(BuiltEventsTest, AnySequenceOfCallsGivesAnEventThatCanBeConsumed) {
  Randomizer randomizer;
  for (int trace = 0; trace < 20; ++trace) {
    Consumers consumers;
    const BuiltTables tables;
    for (int i = 0; i < 20 * 256; ++i) {
      const EventBuilder builder = randomizer.Make(static_cast<EventType>(i % 256), tables);
      consumers.Add(builder.Build());
    }
    consumers.Finish();
    EXPECT_GT(consumers.text_size(), 5120u * 20);
  }
}

TEST(BuiltEventsTest, NamesAndStacksAreWritten) {
  TextBuffer text;
  GoTextFormatter formatter(absl::UTCTimeZone());
  EventBuilder block(EventType::kGoBlock);
  block.Time(100)
      .Goroutine(GoId{7})
      .Transition(GoId{7}, GoState::kRunning, GoState::kWaiting)
      .Reason("chan receive")
      .Stack({{0x1f, "main.work", "/src/main.go", 31}});
  formatter.Append(block.Build(), &text);
  EXPECT_EQ(
      text.view(),
      "M=-1 P=-1 G=7 StateTransition Time=100 GoID=7 Running->Waiting Reason=\"chan receive\"\n"
      "TransitionStack=\n"
      "\tmain.work @ 0x1f\n"
      "\t\t/src/main.go:31\n"
      "\n"
      "Stack=\n"
      "\tmain.work @ 0x1f\n"
      "\t\t/src/main.go:31\n"
      "\n");
}

}  // namespace built_events_test
}  // namespace gotrace::internal
