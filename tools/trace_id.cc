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

// Whether the bytes, with which an input begins, can be the beginning of a trace that goes on. It
// does not if there are no batches any more: then the input may be endless.
bool MayBeTrace(const std::string& file, absl::string_view bytes) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromBytes(bytes);
  if (!source.ok()) return false;
  bool has_ended = false;
  absl::StatusOr<UndoneInput> input =
      UndoAndRecognise(GuardSource(file, *std::move(source), &has_ended), ReaderLimits());
  return input.ok() && ListTraces(input->source.get()).ok() && !has_ended;
}

// Reads all bytes of an input that can be read only once, unless it is not a trace.
absl::StatusOr<std::string> ReadAll(const std::string& file, ByteStream& stream) {
  constexpr size_t kBlock = size_t{1} << 18;
  constexpr uint64_t kMaxSize = uint64_t{4} << 30;
  uint64_t next_look = uint64_t{1} << 20;
  std::string bytes;
  const std::unique_ptr<char[]> block(new char[kBlock]);
  while (true) {
    const absl::StatusOr<size_t> size = stream.Read(block.get(), kBlock);
    if (!size.ok()) return size.status();
    if (*size == 0) return bytes;
    if (bytes.size() + *size > kMaxSize) {
      return absl::ResourceExhaustedError(absl::StrCat(
          ShownNameOf(file), ": has more than 4 GiB; write it to a file, and give that"));
    }
    bytes.append(block.get(), *size);
    if (bytes.size() < next_look) continue;
    if (!MayBeTrace(file, bytes)) return bytes;
    // Twice as many bytes each time, so that looking takes linear time.
    next_look = 2 * bytes.size();
  }
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
    absl::StatusOr<std::string> bytes = ReadAll(file, **stream);
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
