// Recognises input that is not a trace.
#ifndef GOTRACE_VALIDATOR_FOREIGN_INPUT_H_
#define GOTRACE_VALIDATOR_FOREIGN_INPUT_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "gotrace/check.h"

namespace gotrace::internal {

// Something in place of a trace, or of a part of it.
struct ForeignInput {
  CheckId check = CheckId::kEnd;
  std::string message;  // What was expected and found.
  std::string what;     // The kind of input if it is not a trace at all: "HTML"; otherwise "".
};

// The number of bytes that RecogniseInput() needs; the magic number of tar is at 257.
inline constexpr size_t kRecognisedBytes = 512;

// Recognises an input that begins with `begin`, decompressed. Returns nullopt if it may be a trace,
// or is not recognised. `begin` must have at least kRecognisedBytes bytes unless the input is
// shorter.
std::optional<ForeignInput> RecogniseInput(absl::string_view begin);

// Recognises `bytes` in place of a batch: a second trace, or text. Returns nullopt for anything
// else.
std::optional<ForeignInput> RecogniseInTrace(absl::string_view bytes);

// How far before a fault the text that RecogniseInPayload() finds may begin, in bytes.
inline constexpr size_t kMaxTextBefore = 64;

// Recognises text that something wrote among the events of a batch, at a fault at
// `bytes[position]`. Returns nullopt if there is none. Requires position < bytes.size().
// `among_strings` says that there are also strings of the trace; then only text with the end of a
// line counts.
std::optional<ForeignInput> RecogniseInPayload(absl::string_view bytes, size_t position,
                                               bool among_strings);

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_FOREIGN_INPUT_H_
