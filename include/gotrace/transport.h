// Undoes what transport did to the bytes of a trace: a terminal that turns "\n" into "\r\n", a
// shell that writes UTF-16, base64, a hex dump, HTTP's framing, and others.
//
//   absl::StatusOr<std::unique_ptr<gotrace::ByteSource>> source = gotrace::OpenSource(path);
//   if (!source.ok()) return source.status();
//   absl::StatusOr<gotrace::UndoneInput> input = gotrace::UndoTransport(*std::move(source));
//   if (!input.ok()) return input.status();
//   for (const gotrace::TransportNote& note : input->notes) {
//     std::cerr << gotrace::FormatTransportNote(note) << '\n';
//   }
//   absl::StatusOr<gotrace::Reader> reader = gotrace::Reader::FromSource(std::move(input->source));
#ifndef GOTRACE_TRANSPORT_H_
#define GOTRACE_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader_limits.h"

namespace gotrace {

// The kinds of damage to a trace in transport, one row each in transports.def. All can be undone.
enum class TransportKind : uint8_t {
#define GOTRACE_TRANSPORT(id, name, noun, what, avoid) k##id,
#include "gotrace/internal/transports.def"
};

// The row of a kind. All texts have static lifetime.
struct TransportSpec {
  absl::string_view name;   // "transport-base64"
  absl::string_view noun;   // The encoding or data around the trace: "base64".
  absl::string_view what;   // What happened, one sentence.
  absl::string_view avoid;  // How to avoid it, one sentence.
};

// Returns the row of a kind.
const TransportSpec& SpecOf(TransportKind kind);

// A kind of damage that was found and undone.
struct TransportNote {
  TransportKind kind = TransportKind::kTextBefore;
  std::string detail;  // What was found: "UTF-16, little-endian"; may be "".
};

// Returns what happened, without how to avoid it: "the trace is encoded as base64". No full stop.
std::string DescribeTransport(const TransportNote& note);

// Returns a line of sentences that say what happened, that it was undone, and how to avoid it.
std::string FormatTransportNote(const TransportNote& note);

// The result of UndoTransport().
struct UndoneInput {
  std::unique_ptr<ByteSource> source;
  // The damage to the trace, most recent first. Empty if there was none.
  std::vector<TransportNote> notes;
};

// How far into an input, or into a decoded layer of it, the trace may begin, in bytes.
inline constexpr size_t kMaxBytesBeforeTrace = 64 << 10;

// Recognises damage in transport to the trace in `source`, which must be positioned at its
// beginning, and undoes it: any combination of the kinds of transports.def, gzip and zstd, up to 8
// layers deep.
//
// The returned source is positioned at the trace header, and its offsets count from there; its
// input_size() and input_read() are those of `source`. It decodes while it is read, in bounded
// memory, and cannot be forked. Data that cannot be decoded causes the fault transport-corrupt
// after everything before it. More than limits.decompressed_bytes cause the fault
// limit-decompressed-bytes.
//
// An input that shows no sign of damage in transport is returned unchanged, with none of its bytes
// consumed. For a trace as Go writes it, this is decided by its first hundred bytes or so. An input
// in which no trace can be found is also returned unchanged; if it is text, up to 256 KiB are read
// first.
//
// Returns the fault bytes-replaced if bytes of the trace were replaced by others, so that the trace
// is lost. I/O errors are not reported here; they occur again when the source is read.
absl::StatusOr<UndoneInput> UndoTransport(std::unique_ptr<ByteSource> source,
                                          const ReaderLimits& limits = {});

}  // namespace gotrace

#endif  // GOTRACE_TRANSPORT_H_
