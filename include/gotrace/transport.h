// Undoes what the way of a trace did to its bytes: a terminal that turns "\n" into "\r\n", a shell
// that writes UTF-16, base64, a hex dump, HTTP's framing, and others.
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

// What may have happened to the bytes of a trace, one row each in transports.def. All of it can be
// undone.
enum class TransportKind : uint8_t {
#define GOTRACE_TRANSPORT(id, name, noun, what, avoid) k##id,
#include "gotrace/internal/transports.def"
};

// The row of a kind. All texts have static lifetime.
struct TransportSpec {
  absl::string_view name;   // "transport-base64"
  absl::string_view noun;   // What lies around the trace: "base64".
  absl::string_view what;   // What happened, one sentence.
  absl::string_view avoid;  // How to avoid it, one sentence.
};
const TransportSpec& SpecOf(TransportKind kind);

// One thing that happened to the trace, and was undone.
struct TransportNote {
  TransportKind kind = TransportKind::kTextBefore;
  std::string detail;  // What was found: "UTF-16, little-endian"; may be "".
};

// What happened, without how to avoid it: "the trace is encoded as base64". No full stop.
std::string DescribeTransport(const TransportNote& note);

// What happened, that it was undone, and how to avoid it, in a line of sentences.
std::string FormatTransportNote(const TransportNote& note);

struct UndoneInput {
  std::unique_ptr<ByteSource> source;
  // What happened to the trace, the last thing first. Empty if nothing did.
  std::vector<TransportNote> notes;
};

// How far into an input, or into what is undone of it, the trace may begin, in bytes.
inline constexpr size_t kMostBeforeTrace = 64 << 10;

// Recognises what happened to the trace in `source`, which must stand at its beginning, and undoes
// it, whatever of transports.def, gzip and zstd lies around the trace, up to 8 layers. The source
// that this gives stands at the beginning of the trace's header, and its offsets are those of the
// trace; its input_size() and input_read() are those of `source`. It decodes while it is read, in
// bounded memory, and cannot be forked. What cannot be decoded is the fault transport-corrupt, with
// all that stands before it given first; more than limits.decompressed_bytes is the fault
// limit-decompressed-bytes.
//
// An input that shows no sign of any of this is given back as it was, and no byte of it is touched.
// For a trace as Go writes it that is decided by its first hundred bytes or so. So is an input in
// which no trace can be found, whatever it is; of one that is text up to 256 KiB are read for that.
//
// Fails with the fault bytes-replaced if bytes of the trace were replaced by others, so that it is
// lost. An error of reading is not reported: it shows again when the source is read.
absl::StatusOr<UndoneInput> UndoTransport(std::unique_ptr<ByteSource> source,
                                          const ReaderLimits& limits = {});

}  // namespace gotrace

#endif  // GOTRACE_TRANSPORT_H_
