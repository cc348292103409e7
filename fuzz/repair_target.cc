// Fuzzes repair and the writer of traces: the output must read without a fault, and need no repair.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "fuzz/event_check.h"
#include "fuzz/target.h"
#include "gotrace/byte_sink.h"
#include "gotrace/event_sink.h"
#include "gotrace/reader.h"
#include "gotrace/repair.h"
#include "gotrace/transport.h"
#include "rewrite/trace_writer.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace {

void CheckPlan(const RepairPlan& plan, absl::string_view input) {
  FUZZ_CHECK(plan.input_bytes == input.size(), absl::StrCat(plan.input_bytes));
  FUZZ_CHECK(plan.header_offset <= input.size(), absl::StrCat(plan.header_offset));
  FUZZ_CHECK(plan.stray_bytes <= input.size(), absl::StrCat(plan.stray_bytes));
  uint64_t size = 0;
  for (const RepairPiece& piece : plan.pieces) {
    size += piece.bytes.empty() ? piece.size : piece.bytes.size();
    FUZZ_CHECK(!piece.bytes.empty() || piece.offset + piece.size <= input.size(),
               absl::StrCat(piece.size, " bytes at ", piece.offset));
  }
  FUZZ_CHECK(size == plan.output_bytes, absl::StrCat(size, " of ", plan.output_bytes));
  for (const RepairedGeneration& generation : plan.generations) {
    FUZZ_CHECK(generation.begin_offset <= generation.end_offset, "");
    FUZZ_CHECK(generation.end_offset <= input.size(), absl::StrCat(generation.end_offset));
    if (generation.fault.has_value()) CheckFault(*generation.fault, input.size());
  }
  uint64_t events = 0;
  for (const RepairedGeneration& generation : plan.generations) {
    events += generation.events;
    FUZZ_CHECK(generation.events_added + generation.statuses_added <= generation.events ||
                   generation.events == 0,
               absl::StrCat(generation.events));
  }
  FUZZ_CHECK(plan.trace_is_sound || events == plan.events, absl::StrCat(events));
  for (const std::string& line : DescribeRepair(plan)) {
    FUZZ_CHECK(!line.empty() && line.find('\n') == std::string::npos, line);
  }
}

void CheckOutput(const RepairPlan& plan, const std::string& output) {
  FUZZ_CHECK(output.size() == plan.output_bytes, absl::StrCat(output.size()));
  const CheckedReading reading =
      ReadAndCheck(SourceFromBytes(output), ReadMode::kStrict, output.size());
  FUZZ_CHECK(reading.status.ok(), reading.status.ToString());
  const uint64_t events = reading.events.size() - reading.syncs;
  FUZZ_CHECK(events == plan.events, absl::StrCat(events, " events instead of ", plan.events));
  const absl::StatusOr<RepairPlan> again = PlanRepair([&] { return SourceFromBytes(output); });
  FUZZ_CHECK(again.ok() && again->InputIsSound(), "what was repaired is not sound");
}

// Whatever events a Reader returns, they can be written as a trace that reads without a fault.
void CheckWriter(absl::string_view input, ReadMode mode) {
  ReaderOptions options;
  options.mode = mode;
  absl::StatusOr<Reader> reader = Reader::FromBytes(input, options);
  if (!reader.ok()) return;
  std::string bytes;
  const std::unique_ptr<ByteSink> out = SinkToString(&bytes);
  TraceWriter writer(reader->version(), out.get());
  EventSink* const sinks[] = {&writer};
  ReadInto(*reader, sinks).IgnoreError();
  FUZZ_CHECK(out->Finish().ok(), out->status().ToString());
  if (writer.written().generations == 0) return;
  const CheckedReading reading =
      ReadAndCheck(SourceFromBytes(bytes), ReadMode::kStrict, bytes.size());
  FUZZ_CHECK(reading.status.ok(), reading.status.ToString());
  FUZZ_CHECK(reading.events.size() - reading.syncs == writer.written().events,
             absl::StrCat(reading.events.size() - reading.syncs, " events instead of ",
                          writer.written().events));
}

// Reads all of `source`. Returns false if it is long or ends with an error.
bool ReadSome(ByteSource* source, std::string* bytes) {
  constexpr size_t kMaxBytes = 1 << 20;
  while (bytes->size() < kMaxBytes) {
    if (!source->Fill(1).ok()) return false;
    if (source->window().empty()) return true;
    bytes->append(source->window().data(), source->window().size());
    source->Skip(source->window().size());
    source->Release(source->offset());
  }
  return false;
}

}  // namespace

void RunTarget(absl::string_view input) {
  if (FindCompression(input) != Compression::kNone) return;
  const OpenInput open = [&] { return SourceFromBytes(input); };
  absl::StatusOr<UndoneInput> undone = UndoTransport(*open());
  if (!undone.ok()) {
    FUZZ_CHECK(!PlanRepair(open).ok(), "bytes that were replaced cannot be repaired");
    return;
  }
  // The trace inside of the input is what is repaired.
  std::string inside;
  if (!undone->notes.empty()) {
    if (!ReadSome(undone->source.get(), &inside)) return;
    input = inside;
  }
  CheckWriter(input, ReadMode::kStrict);
  CheckWriter(input, ReadMode::kSalvage);
  const absl::StatusOr<RepairPlan> plan = PlanRepair(open);
  const CheckedReading strict =
      ReadAndCheck(SourceFromBytes(input), ReadMode::kStrict, input.size());
  if (!plan.ok()) {
    FUZZ_CHECK(!strict.status.ok(), plan.status().ToString());
    return;
  }
  CheckPlan(*plan, input);
  FUZZ_CHECK(plan->trace_is_sound == strict.status.ok(), strict.status.ToString());
  if (plan->pieces.empty()) {
    FUZZ_CHECK(!plan->trace_is_sound, "a sound trace has no output");
    return;
  }
  const absl::StatusOr<std::unique_ptr<ByteStream>> stream = OpenRepaired(*plan, open);
  FUZZ_CHECK(stream.ok(), stream.status().ToString());
  const StreamContent output = ReadStream(stream->get());
  FUZZ_CHECK(output.status.ok(), output.status.ToString());
  FUZZ_CHECK(!plan->trace_is_sound || plan->clock_divisor != 1 || output.bytes == input,
             "a sound trace was changed");
  CheckOutput(*plan, output.bytes);
}

}  // namespace gotrace::internal
