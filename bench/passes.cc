#include "bench/passes.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "benchmark/benchmark.h"
#include "gotrace/byte_sink.h"
#include "gotrace/event_sink.h"
#include "gotrace/json_exporter.h"
#include "gotrace/read_parallel.h"
#include "gotrace/reader.h"
#include "gotrace/state_tracker.h"
#include "gotrace/text_exporter.h"
#include "gotrace/validate.h"
#include "parser/framing/batch_reader.h"
#include "parser/generation/generation.h"
#include "parser/order/batch_decoder.h"
#include "tracev2/wire_reader.h"

namespace gotrace::internal {
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

class DiscardingSink final : public ByteSink {
 protected:
  absl::Status Write(absl::string_view) override { return absl::OkStatus(); }
};

// Does what `events` does, one event after the other, but discards the output.
template <class Exporter>
absl::StatusOr<PassCounts> ExportPass(std::unique_ptr<ByteSource> source,
                                      const ReaderOptions& options) {
  absl::StatusOr<Reader> reader = Reader::FromSource(std::move(source), options);
  if (!reader.ok()) return reader.status();
  DiscardingSink out;
  Exporter exporter(&out);
  EventSink& sink = exporter;
  PassCounts counts;
  while (const Event* event = reader->Next()) {
    sink.Add(absl::MakeConstSpan(event, 1));
    counts.bytes = event->offset();
  }
  if (!reader->status().ok()) return reader->status();
  if (absl::Status status = sink.Finish(); !status.ok()) return status;
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
    // Counts the event of the batch itself. An end of generation without a batch is reported as a
    // batch and counted as its payload. The data of an experiment is not events.
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

class CountingSink final : public MergeableSink<CountingSink> {
 public:
  void Add(absl::Span<const Event> events) override {
    for (const Event& event : events) benchmark::DoNotOptimize(event);
    counts_.events += events.size();
    counts_.bytes = events.back().offset();
  }
  void Merge(CountingSink&& next) override {
    const PassCounts& more = next.counts_;
    counts_.events += more.events;
    counts_.bytes = more.bytes;
  }
  const PassCounts& counts() const { return counts_; }

 private:
  PassCounts counts_;
};

absl::StatusOr<PassCounts> ReadParallelPass(std::unique_ptr<ByteSource> source,
                                            const ReaderOptions& options) {
  std::unique_ptr<CountingSink> sink;
  const absl::Status status = ReadParallel(
      std::move(source), options, [] { return std::make_unique<CountingSink>(); }, &sink);
  if (!status.ok()) return status;
  return static_cast<CountingSink&>(*sink).counts();
}

}  // namespace

absl::StatusOr<PassCounts> ReadPass(std::unique_ptr<ByteSource> source,
                                    const ReaderOptions& options) {
  if (options.jobs > 1) return ReadParallelPass(std::move(source), options);
  absl::StatusOr<Reader> reader = Reader::FromSource(std::move(source), options);
  if (!reader.ok()) return reader.status();
  PassCounts counts;
  while (const Event* event = reader->Next()) {
    benchmark::DoNotOptimize(*event);
    // The last event is the sync at the end of the trace.
    counts.bytes = event->offset();
  }
  if (!reader->status().ok()) return reader->status();
  counts.events = reader->event_count();
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
  return ExportPass<TextExporter>(std::move(source), options);
}

absl::StatusOr<PassCounts> JsonPass(std::unique_ptr<ByteSource> source,
                                    const ReaderOptions& options) {
  return ExportPass<JsonExporter>(std::move(source), options);
}

absl::StatusOr<PassCounts> TrackPass(std::unique_ptr<ByteSource> source,
                                     const ReaderOptions& options) {
  struct Discard : IntervalConsumer {
    void AddGoroutine(const GoInterval& interval) override { benchmark::DoNotOptimize(interval); }
    void AddProc(const ProcInterval& interval) override { benchmark::DoNotOptimize(interval); }
    void AddThread(const ThreadInterval& interval) override { benchmark::DoNotOptimize(interval); }
  };
  absl::StatusOr<Reader> reader = Reader::FromSource(std::move(source), options);
  if (!reader.ok()) return reader.status();
  Interner interner;
  Discard discard;
  StateTracker tracker(&interner, &discard);
  PassCounts counts;
  for (absl::Span<const Event> block; !(block = reader->NextBlock()).empty();) {
    tracker.Add(block);
    counts.bytes = block.back().offset();
  }
  if (!reader->status().ok()) return reader->status();
  counts.events = reader->event_count();
  return counts;
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
    case PassKind::kTrack:
      return TrackPass(std::move(source), options);
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

}  // namespace gotrace::internal
