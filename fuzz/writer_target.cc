// Fuzzes the writer of traces with events of any kind in any order: what it writes must read
// without a fault, and a strict writer accepts only what it need not change.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "fuzz/event_check.h"
#include "fuzz/target.h"
#include "gotrace/event_builder.h"
#include "gotrace/trace_writer.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace {

// Takes small numbers from the input; 0 after its end.
class Numbers {
 public:
  explicit Numbers(absl::string_view input) : input_(input) {}

  bool empty() const { return input_.empty(); }

  uint64_t Take() {
    if (input_.empty()) return 0;
    const auto number = static_cast<uint8_t>(input_.front());
    input_.remove_prefix(1);
    return number;
  }

 private:
  absl::string_view input_;
};

// Few different ids, so that events are about the same goroutines; sometimes none.
int64_t IdFrom(uint64_t number) { return static_cast<int64_t>(number % 6) - 1; }

EventBuilder MakeEvent(Numbers* numbers, uint64_t number, const BuiltTables& tables) {
  const uint64_t type = numbers->Take();
  if (type == 0) return EventBuilder::MakeSync(number, tables);
  EventBuilder builder(static_cast<EventType>(type), tables);
  const uint64_t context = numbers->Take();
  builder.Thread(ThreadId{IdFrom(context)}).Proc(ProcId{IdFrom(context / 6)});
  const uint64_t subjects = numbers->Take();
  builder.Goroutine(GoId{IdFrom(subjects)});
  const uint64_t argument = numbers->Take();
  for (size_t i = 0; i < 3; ++i) builder.Arg(i, argument >> (2 * i) & 3);
  const int64_t subject = IdFrom(subjects / 6);
  builder.Transition(GoId{subject}, static_cast<GoState>(argument % 6),
                     static_cast<GoState>(argument / 6 % 6));
  builder.Transition(ProcId{subject}, static_cast<ProcState>(argument % 4),
                     static_cast<ProcState>(argument / 4 % 4));
  const absl::string_view name = argument % 2 == 0 ? "one" : "another";
  const StackFrame frame = {argument, name, "/src/main.go", argument};
  if (argument % 3 == 0) builder.Stack({frame});
  if (argument % 5 == 0) builder.TransitionStack({frame, frame});
  builder.Reason(name).Label(name).Task(TaskId{argument % 4}).Parent(TaskId{argument % 3});
  builder.TaskType(name).RegionType(name).Log(name, "message");
  return builder;
}

struct Written {
  std::string bytes;
  absl::Status status;
  WrittenTrace counts;
};

Written Write(absl::string_view input, const TraceWriterOptions& options) {
  Written written;
  const std::unique_ptr<ByteSink> out = SinkToString(&written.bytes);
  TraceWriter writer(options, out.get());
  const BuiltTables tables;
  Numbers numbers(input);
  int64_t time = 1000;
  for (uint64_t number = 1; !numbers.empty() && writer.WantsMore(); ++number) {
    const auto step = static_cast<int64_t>(numbers.Take());
    // Most times are later than the one before.
    time += step < 250 ? step : 200 - step;
    writer.Add({MakeEvent(&numbers, number, tables).Time(time).Build()});
  }
  written.status = writer.Finish();
  FUZZ_CHECK(out->Finish().ok(), out->status().ToString());
  written.counts = writer.written();
  return written;
}

void CheckReads(const Written& written) {
  if (written.counts.generations == 0) return;
  const CheckedReading reading =
      ReadAndCheck(SourceFromBytes(written.bytes), ReadMode::kStrict, written.bytes.size());
  FUZZ_CHECK(reading.status.ok(), reading.status.ToString());
  FUZZ_CHECK(reading.events.size() - reading.syncs == written.counts.events,
             absl::StrCat(reading.events.size() - reading.syncs, " events instead of ",
                          written.counts.events));
}

}  // namespace

void RunTarget(absl::string_view input) {
  TraceWriterOptions options;
  if (!input.empty()) {
    constexpr Version kVersions[] = {Version::kGo122, Version::kGo123, Version::kGo125,
                                     Version::kGo126};
    const auto first = static_cast<uint8_t>(input.front());
    options.version = kVersions[first % 4];
    options.max_events = first / 4 % 2 == 0 ? 0 : 5;
    input.remove_prefix(1);
  }
  const Written strict = Write(input, options);
  CheckReads(strict);
  FUZZ_CHECK(strict.counts.events_added == 0 && strict.counts.events_left_out == 0,
             "a strict writer adds and leaves out nothing");
  options.lenient = true;
  const Written lenient = Write(input, options);
  CheckReads(lenient);
  // An argument may be the id of a string or stack that the tables lack.
  const bool lacks_entry = absl::StrContains(lenient.status.message(), " refers to a string ");
  FUZZ_CHECK(lenient.status.ok() || lacks_entry || lenient.counts.generations == 0,
             lenient.status.ToString());
  if (!strict.status.ok()) return;
  FUZZ_CHECK(lenient.bytes == strict.bytes, "what needs no change is the same");
}

}  // namespace gotrace::internal
