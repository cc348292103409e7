#include "tools/trace_id.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "analysis/tables/content_hash.h"
#include "gotrace/byte_source.h"
#include "gotrace/byte_stream.h"
#include "tools/file_list.h"
#include "tools/report.h"

namespace gotrace::internal {

namespace {

// Reads all bytes of an input that can be read only once.
absl::StatusOr<std::string> ReadAll(const std::string& file, ByteStream& stream) {
  constexpr size_t kBlock = size_t{1} << 18;
  constexpr uint64_t kMaxSize = uint64_t{4} << 30;
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
  }
}

}  // namespace

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
  if (number > 1) trace.id = ContentHash(absl::StrCat(trace.id, " ", number));
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
