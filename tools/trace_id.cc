#include "tools/trace_id.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "analysis/tables/content_hash.h"
#include "gotrace/byte_source.h"
#include "gotrace/byte_stream.h"
#include "tools/file_list.h"

namespace gotrace::internal {

absl::StatusOr<IdentifiedTrace> IdentifyTrace(const std::string& file, TraceNumber number) {
  constexpr size_t kBlock = size_t{1} << 18;
  constexpr uint64_t kMaxKept = uint64_t{4} << 30;
  absl::StatusOr<std::unique_ptr<ByteStream>> stream = OpenStream(file);
  if (!stream.ok()) return stream.status();
  const bool is_kept = !CanBeReadAgain(file);
  std::string kept;
  ContentHasher hasher;
  const std::unique_ptr<char[]> block(new char[kBlock]);
  while (true) {
    const absl::StatusOr<size_t> size = (*stream)->Read(block.get(), kBlock);
    if (!size.ok()) return size.status();
    if (*size == 0) break;
    const absl::string_view bytes(block.get(), *size);
    hasher.Add(bytes);
    if (!is_kept) continue;
    if (kept.size() + bytes.size() > kMaxKept) {
      return absl::ResourceExhaustedError(absl::StrCat(
          ShownNameOf(file), ": has more than 4 GiB; write it to a file, and give that"));
    }
    kept.append(bytes.data(), bytes.size());
  }
  IdentifiedTrace trace;
  trace.file = file;
  trace.id = hasher.Hash();
  if (number > 1) trace.id = ContentHash(absl::StrCat(trace.id, " ", number));
  if (is_kept) trace.bytes = std::make_shared<const std::string>(std::move(kept));
  return trace;
}

absl::StatusOr<OpenedTrace> OpenTrace(const IdentifiedTrace& trace, const ReaderLimits& limits,
                                      TraceNumber number) {
  if (trace.bytes == nullptr) return OpenTrace(trace.file, limits, number);
  absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromBytes(*trace.bytes, limits);
  if (!source.ok()) return source.status();
  return OpenTrace(trace.file, *std::move(source), limits, number);
}

}  // namespace gotrace::internal
