#include "bench/passes.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "benchmark/benchmark.h"
#include "export/go_text.h"
#include "export/json.h"
#include "parser/batch_decoder.h"
#include "parser/batch_reader.h"
#include "parser/generation.h"
#include "parser/reader.h"
#include "parser/split_trace.h"
#include "tracev2/text_buffer.h"
#include "tracev2/wire_reader.h"
#include "validator/report.h"

namespace gotrace {
namespace {

absl::Status CannotDecode(const Batch& batch, const char* pos) {
  return absl::DataLossError(absl::StrCat("byte ",
                                          batch.payload_offset + (pos - batch.payload.data()),
                                          ": no event that can be decoded"));
}

// Decodes the events of a thread's batch, and adds their number to `*events`.
absl::Status DecodeTimedEvents(const Batch& batch, uint64_t* events) {
  const char* pos = batch.payload.data();
  const char* const end = pos + batch.payload.size();
  TimedEvent event;
  uint64_t count = 0;
  while (pos < end) {
    const char* const next = DecodeTimedEvent(pos, end, &event);
    if (next == nullptr) return CannotDecode(batch, pos);
    benchmark::DoNotOptimize(event);
    pos = next;
    ++count;
  }
  *events += count;
  return absl::OkStatus();
}

// The same for a batch of tables.
absl::Status DecodeRawEvents(const Batch& batch, RawEvent* event, uint64_t* events) {
  absl::string_view left = batch.payload;
  while (!left.empty()) {
    const WireResult result = DecodeRawEvent(left, event);
    if (result.status != WireStatus::kOk) return CannotDecode(batch, left.data());
    benchmark::DoNotOptimize(*event);
    left.remove_prefix(result.size);
    ++*events;
  }
  return absl::OkStatus();
}

// What DumpEvents() does, with nobody to write for.
template <class Formatter>
absl::StatusOr<PassCounts> FormatPass(std::unique_ptr<ByteSource> source,
                                      const ReaderOptions& options, Formatter formatter) {
  constexpr size_t kBlockSize = 1 << 20;
  absl::StatusOr<Reader> reader = Reader::FromSource(std::move(source), options);
  if (!reader.ok()) return reader.status();
  TextBuffer text;
  PassCounts counts;
  while (const Event* event = reader->Next()) {
    formatter.Append(*event, &text);
    if (text.size() >= kBlockSize) text.clear();
    counts.bytes = event->offset();
  }
  if (!reader->status().ok()) return reader->status();
  counts.events = reader->event_count();
  return counts;
}

}  // namespace

absl::StatusOr<PassCounts> DecodePass(std::unique_ptr<ByteSource> source) {
  const absl::StatusOr<Version> version = ReadHeader(source.get());
  if (!version.ok()) return version.status();
  PassCounts counts;
  RawEvent raw_event;
  while (true) {
    Batch batch;
    const absl::StatusOr<bool> more = ReadBatch(source.get(), &batch);
    if (!more.ok()) return more.status();
    if (!*more) break;
    // The batch's own event. A bare end of a generation is told as a batch too, and so is counted
    // as its payload; an experiment's data is no events.
    if (batch.payload_offset != batch.offset) ++counts.events;
    absl::Status status;
    if (IsEventBatch(batch, *version)) {
      status = DecodeTimedEvents(batch, &counts.events);
    } else if (batch.experiment == 0) {
      status = DecodeRawEvents(batch, &raw_event, &counts.events);
    }
    if (!status.ok()) return status;
    source->Release(source->offset());
  }
  counts.bytes = source->offset();
  return counts;
}

namespace {

// Reads all that the Reader gives.
PassCounts ReadOn(Reader* reader) {
  PassCounts counts;
  while (const Event* event = reader->Next()) {
    benchmark::DoNotOptimize(*event);
    // The last event is the sync at the end of the trace.
    counts.bytes = event->offset();
  }
  counts.events = reader->event_count();
  return counts;
}

// What a thread makes of the second half.
struct SecondHalf {
  absl::StatusOr<Reader> reader;
  PassCounts counts;
};

// The Reader and what it counts are made on the thread: they are written to for each event, and
// another thread's must not be in the same cache lines.
std::unique_ptr<SecondHalf> ReadSecond(const SplitTrace& split, const ReaderOptions& options) {
  auto second = std::make_unique<SecondHalf>(SecondHalf{split.OpenSecond(options), {}});
  if (second->reader.ok()) second->counts = ReadOn(&*second->reader);
  return second;
}

// Reads both halves. Returns false, when `reader` stands at the second one, if it must go on.
bool ReadHalves(const SplitTrace& split, const ReaderOptions& options, Reader* reader,
                PassCounts* counts) {
  std::unique_ptr<SecondHalf> second;
  split.Stop(reader);
  std::thread other([&] { second = ReadSecond(split, options); });
  *counts = ReadOn(reader);
  other.join();
  if (!second->reader.ok() || !SplitTrace::Continues(*second->reader, *reader)) {
    SplitTrace::GoOn(reader, options.jobs);
    return false;
  }
  counts->bytes = second->counts.bytes;
  counts->events += second->counts.events;
  return true;
}

}  // namespace

absl::StatusOr<PassCounts> ReadPass(std::unique_ptr<ByteSource> source,
                                    const ReaderOptions& options) {
  std::optional<SplitTrace> split;
  if (options.jobs > 1) split = SplitTrace::Find(*source, options.jobs_from_bytes);
  ReaderOptions half_options = options;
  if (split.has_value()) half_options.jobs = 1;
  absl::StatusOr<Reader> reader = Reader::FromSource(std::move(source), half_options);
  if (!reader.ok()) return reader.status();
  PassCounts counts;
  if (split.has_value() && ReadHalves(*split, half_options, &*reader, &counts)) return counts;
  const uint64_t bytes_before = counts.bytes;
  counts = ReadOn(&*reader);
  if (!reader->status().ok()) return reader->status();
  counts.bytes = std::max(counts.bytes, bytes_before);
  return counts;
}

absl::StatusOr<PassCounts> ValidatePass(std::unique_ptr<ByteSource> source,
                                        const ReaderOptions& options) {
  ValidateOptions validate_options;
  validate_options.jobs = options.jobs;
  const ValidationReport report = ValidateTrace(std::move(source), validate_options);
  if (!report.status.ok()) return report.status;
  if (report.verdict() != Verdict::kSound) {
    return absl::DataLossError(
        absl::StrCat(FormatVerdict(report), report.findings.empty() ? "" : ": ",
                     report.findings.empty() ? "" : FormatFinding(report.findings.front())));
  }
  return PassCounts{report.events, report.bytes};
}

absl::StatusOr<PassCounts> TextPass(std::unique_ptr<ByteSource> source,
                                    const ReaderOptions& options) {
  return FormatPass(std::move(source), options, GoTextFormatter());
}

absl::StatusOr<PassCounts> JsonPass(std::unique_ptr<ByteSource> source,
                                    const ReaderOptions& options) {
  return FormatPass(std::move(source), options, JsonFormatter(/*stacks=*/false));
}

bool FindPass(absl::string_view name, PassKind* kind) {
  for (size_t i = 0; i < std::size(kPassNames); ++i) {
    if (name != kPassNames[i]) continue;
    *kind = static_cast<PassKind>(i);
    return true;
  }
  return false;
}

absl::StatusOr<PassCounts> RunPass(PassKind kind, std::unique_ptr<ByteSource> source,
                                   const ReaderOptions& options) {
  switch (kind) {
    case PassKind::kDecode:
      return DecodePass(std::move(source));
    case PassKind::kRead:
      return ReadPass(std::move(source), options);
    case PassKind::kValidate:
      return ValidatePass(std::move(source), options);
    case PassKind::kText:
      return TextPass(std::move(source), options);
    case PassKind::kJson:
      return JsonPass(std::move(source), options);
  }
  return absl::InvalidArgumentError("no such pass");
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenSource(path);
  if (!source.ok()) return source.status();
  std::string bytes;
  while (true) {
    if (absl::Status status = (*source)->Fill(1); !status.ok()) return status;
    const absl::string_view window = (*source)->window();
    if (window.empty()) return bytes;
    bytes.append(window.data(), window.size());
    (*source)->Skip(window.size());
    (*source)->Release((*source)->offset());
  }
}

}  // namespace gotrace
