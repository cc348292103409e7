// Recognises what people give for a trace and is none.
#ifndef GOTRACE_VALIDATOR_FOREIGN_INPUT_H_
#define GOTRACE_VALIDATOR_FOREIGN_INPUT_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "gotrace/check.h"

namespace gotrace::internal {

struct ForeignInput {
  CheckId check = CheckId::kEnd;
  std::string message;  // What was expected and found.
  std::string what;     // The input, if it is no trace at all: "HTML"; else "".
};

// How much of an input is enough for RecogniseInput(), in bytes: tar has its magic at 257.
inline constexpr size_t kRecognisedBytes = 512;

// What an input is that begins with `begin`, decompressed; nullopt if it may be a trace, or is
// nothing that is known. `begin` may be shorter than kRecognisedBytes only if the input is.
std::optional<ForeignInput> RecogniseInput(absl::string_view begin);

// What `bytes` are that stand where a batch must begin: a second trace, or text; else nullopt.
std::optional<ForeignInput> RecogniseInTrace(absl::string_view bytes);

// How far before a fault text may begin that RecogniseInPayload() is to find, in bytes.
inline constexpr size_t kMostTextBefore = 64;

// Text that something wrote among the events of a batch, at a fault at `bytes[position]`; nullopt
// if there is none. Requires position < bytes.size(). `among_strings` tells that strings of the
// trace stand there too: then only what ends a line is taken for foreign.
std::optional<ForeignInput> RecogniseInPayload(absl::string_view bytes, size_t position,
                                               bool among_strings);

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_FOREIGN_INPUT_H_
