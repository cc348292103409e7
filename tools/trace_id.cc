#include "tools/trace_id.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "analysis/tables/content_hash.h"
#include "gotrace/byte_source.h"
#include "gotrace/byte_stream.h"
#include "gotrace/trace_list.h"
#include "tools/file_list.h"
#include "tools/report.h"

namespace gotrace::internal {

namespace {

// The bytes of an input that can be read only once.
struct KeptBytes {
  std::string bytes;
  absl::Status status;  // Why no more could be read.
};

// Passes on another stream, and keeps everything that was read of it.
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

// Reads all traces of a stream. Returns whether it may go on: it does not if it is not a trace, or
// if there are no batches any more, since it may be endless then.
bool ReadTraces(const std::string& file, std::unique_ptr<ByteStream> stream) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromStream(std::move(stream));
  if (!source.ok()) return false;
  bool has_ended = false;
  absl::StatusOr<UndoneInput> input =
      UndoAndRecognise(GuardSource(file, *std::move(source), &has_ended), ReaderLimits());
  return input.ok() && ListTraces(input->source.get()).ok() && !has_ended;
}

// Reads all bytes of an input that can be read only once, unless it is not a trace. So that little
// is kept then, it is read as a trace while it arrives.
absl::StatusOr<std::string> ReadAll(const std::string& file, ByteStream* stream) {
  // Enough that a small input has the same id as a file, whatever it is.
  constexpr size_t kAlwaysRead = size_t{1} << 20;
  constexpr size_t kBlock = size_t{1} << 16;
  KeptBytes kept;
  const bool may_go_on = ReadTraces(file, std::make_unique<KeepingStream>(file, stream, &kept));
  // Something may follow the end of what was compressed.
  const std::unique_ptr<char[]> block(new char[kBlock]);
  KeepingStream rest(file, stream, &kept);
  while ((may_go_on || kept.bytes.size() < kAlwaysRead) &&
         rest.Read(block.get(), kBlock).value_or(0) > 0) {
    continue;
  }
  if (!kept.status.ok()) return kept.status;
  return std::move(kept.bytes);
}

}  // namespace

int64_t IdOfTrace(int64_t input_id, TraceNumber number) {
  return number > 1 ? ContentHash(absl::StrCat(input_id, " ", number)) : input_id;
}

absl::StatusOr<IdentifiedTrace> IdentifyTrace(const std::string& file, TraceNumber number) {
  const FileState state = StateOf(file);
  absl::StatusOr<std::unique_ptr<ByteStream>> stream = OpenStream(file);
  if (!stream.ok()) return stream.status();
  IdentifiedTrace trace;
  trace.file = file;
  trace.state = state;
  if (CanBeReadAgain(file)) {
    const absl::StatusOr<int64_t> id = ContentHash(**stream);
    if (!id.ok()) return id.status();
    trace.id = *id;
  } else {
    absl::StatusOr<std::string> bytes = ReadAll(file, stream->get());
    if (!bytes.ok()) return bytes.status();
    trace.id = ContentHash(*bytes);
    trace.bytes = std::make_shared<const std::string>(*std::move(bytes));
  }
  trace.id = IdOfTrace(trace.id, number);
  return trace;
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
  absl::StatusOr<std::unique_ptr<ByteSource>> source = trace.bytes == nullptr
                                                           ? OpenGuarded(trace.file, limits)
                                                           : SourceFromBytes(*trace.bytes, limits);
  if (!source.ok()) return source.status();
  return UndoAndRecognise(*std::move(source), limits);
}

absl::StatusOr<OpenedTrace> OpenTrace(const IdentifiedTrace& trace, const ReaderLimits& limits,
                                      TraceNumber number) {
  if (trace.bytes == nullptr) {
    absl::StatusOr<OpenedTrace> opened = OpenTrace(trace.file, limits, number);
    if (absl::Status status = CheckUnchanged(trace.file, trace.state); !status.ok()) return status;
    return opened;
  }
  absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromBytes(*trace.bytes, limits);
  if (!source.ok()) return source.status();
  return OpenTrace(trace.file, *std::move(source), limits, number);
}

}  // namespace gotrace::internal
