#include "tools/input/trace_id.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "analysis/tables/content_hash.h"
#include "gotrace/byte_source.h"
#include "gotrace/byte_stream.h"
#include "tools/cli/file_list.h"
#include "tools/cli/report.h"
#include "tools/cli/self_trace.h"

namespace gotrace::internal {

namespace {

// The bytes of an input that can be read only once.
struct KeptBytes {
  std::string bytes;
  absl::Status status;  // The error that ended reading.
};

// Forwards another stream, and keeps everything that is read from it.
class KeepingStream final : public ByteStream {
 public:
  KeepingStream(const std::string& file, ByteStream* stream, KeptBytes* kept)
      : file_(file), stream_(*stream), kept_(*kept) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    constexpr uint64_t kMaxSize = uint64_t{4} << 30;
    if (!kept_.status.ok()) return kept_.status;
    const absl::StatusOr<size_t> count = stream_.Read(buffer, size);
    if (!count.ok()) return kept_.status = count.status();
    if (kept_.bytes.size() + *count > kMaxSize) {
      return kept_.status = absl::ResourceExhaustedError(absl::StrCat(
                 ShownNameOf(file_), ": has more than 4 GiB; write it to a file, and give that"));
    }
    kept_.bytes.append(buffer, *count);
    return count;
  }

 private:
  const std::string& file_;
  ByteStream& stream_;
  KeptBytes& kept_;
};

// Reads all traces of a stream. Returns whether to continue reading: not if it is not a trace, or
// if no more batches come, since it may be endless.
bool ReadTraces(const std::string& file, std::unique_ptr<ByteStream> stream) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromStream(std::move(stream));
  if (!source.ok()) return false;
  bool has_ended = false;
  absl::StatusOr<UndoneInput> input =
      UndoAndRecognise(GuardSource(file, *std::move(source), &has_ended), ReaderLimits());
  return input.ok() && ListTraces(input->source.get()).ok() && !has_ended;
}

// Reads all bytes of an input that can be read only once, unless it is not a trace. It is read as a
// trace while it arrives, so that little is kept if it is none.
absl::StatusOr<std::string> ReadAll(const std::string& file, ByteStream* stream) {
  // Enough that any small input has the same id as a file with the same bytes.
  constexpr size_t kAlwaysRead = size_t{1} << 20;
  constexpr size_t kBlock = size_t{1} << 16;
  KeptBytes kept;
  const bool may_go_on = ReadTraces(file, std::make_unique<KeepingStream>(file, stream, &kept));
  // Other data may follow the compressed data.
  const std::unique_ptr<char[]> block(new char[kBlock]);
  KeepingStream rest(file, stream, &kept);
  while ((may_go_on || kept.bytes.size() < kAlwaysRead) &&
         rest.Read(block.get(), kBlock).value_or(0) > 0) {
    continue;
  }
  if (!kept.status.ok()) return kept.status;
  return std::move(kept.bytes);
}

// Reads the input for its id. The trace is the first one.
absl::StatusOr<IdentifiedTrace> IdentifyInput(const std::string& file) {
  IdentifiedTrace trace;
  trace.file = file;
  if (CanBeReadAgain(file)) {
    const absl::StatusOr<int64_t> id = ContentHashOfFile(file, &trace.state);
    if (!id.ok()) return id.status();
    trace.id = *id;
    return trace;
  }
  absl::StatusOr<std::unique_ptr<ByteStream>> stream = OpenStream(file);
  if (!stream.ok()) return stream.status();
  absl::StatusOr<std::string> bytes = ReadAll(file, stream->get());
  if (!bytes.ok()) return bytes.status();
  trace.id = ContentHash(*bytes);
  trace.bytes = std::make_shared<const std::string>(*std::move(bytes));
  return trace;
}

}  // namespace

std::string IdentifiedTrace::label() const { return LabelOf(file, span.has_value() ? number : 0); }

absl::StatusOr<std::vector<IdentifiedTrace>> IdentifyTraces(const std::string& file,
                                                            const ReaderLimits& limits,
                                                            TraceNumber number) {
  const absl::StatusOr<IdentifiedTrace> input = IdentifyInput(file);
  if (!input.ok()) return input.status();
  std::vector<IdentifiedTrace> traces;
  const auto add = [&](TraceNumber which) -> IdentifiedTrace& {
    IdentifiedTrace& trace = traces.emplace_back(*input);
    trace.id = IdOfTrace(input->id, which);
    trace.number = which;
    return trace;
  };
  absl::StatusOr<UndoneInput> opened = OpenInput(*input, limits);
  if (absl::IsAborted(opened.status())) return opened.status();
  const absl::StatusOr<std::vector<TraceSpan>> spans =
      opened.ok() ? ListTraces(opened->source.get())
                  : absl::StatusOr<std::vector<TraceSpan>>(opened.status());
  // Errors in a single trace are reported when it is read.
  const size_t count = spans.ok() && spans->size() > 1 ? spans->size() : 0;
  for (TraceNumber which = 1; which <= count; ++which) {
    if (number == 0 || number == which) add(which).span = (*spans)[which - 1];
  }
  if (traces.empty()) add(std::max<TraceNumber>(number, 1));
  return traces;
}

bool DifferentTraces::Add(const IdentifiedTrace& trace) {
  const auto [first, is_new] = files_.emplace(trace.id, trace.file);
  if (!is_new) {
    Note(trace.file,
         absl::StrCat("has the same bytes as ", ShownNameOf(first->second), ", left out"));
  }
  return is_new;
}

absl::StatusOr<UndoneInput> OpenInput(const IdentifiedTrace& trace, const ReaderLimits& limits) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source =
      trace.bytes == nullptr ? OpenUnchanged(trace.file, limits, trace.state)
                             : SourceFromBytes(*trace.bytes, limits);
  if (!source.ok()) return source.status();
  return UndoAndRecognise(*std::move(source), limits);
}

absl::StatusOr<OpenedTrace> OpenTrace(const IdentifiedTrace& trace, const ReaderLimits& limits) {
  const Trace2Region region(SelfTrace(), "trace", "open");
  absl::StatusOr<UndoneInput> input = OpenInput(trace, limits);
  if (!input.ok()) return input.status();
  if (!trace.span.has_value()) {
    return OpenTrace(trace.file, *std::move(input), limits, trace.number);
  }
  absl::StatusOr<std::unique_ptr<ByteSource>> source =
      OneTrace(std::move(input->source), *trace.span);
  if (!source.ok()) return source.status();
  OpenedTrace opened;
  opened.source = *std::move(source);
  opened.notes = std::move(input->notes);
  opened.number = trace.number;
  opened.limits = limits;
  return opened;
}

}  // namespace gotrace::internal
