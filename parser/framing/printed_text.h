// Separates a trace from text that was printed into it.
//
// If a program writes its trace to a descriptor to which it, or `go test -v`, also prints, there
// are lines among the trace's bytes: between batches, inside a payload, even inside a number.
// Nothing is overwritten, so the trace is complete once the lines are cut out. Their places follow
// from the batches' sizes: the rest of a payload must have the size in its header, and must decode
// exactly to its end.
#ifndef GOTRACE_PARSER_FRAMING_PRINTED_TEXT_H_
#define GOTRACE_PARSER_FRAMING_PRINTED_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "gotrace/version.h"
#include "parser/framing/batch_reader.h"

namespace gotrace::internal {

// Returns the size in bytes of the character at the beginning of `bytes` if it may be part of text:
// a printable character in UTF-8, a tab, the end of a line, or an escape to a terminal. Otherwise
// returns 0.
size_t TextCharacterSize(absl::string_view bytes);

// A batch among text. All positions are in the bytes passed to SeparateText().
struct SeparatedBatch {
  size_t begin = 0;             // The position of its header, or of an EndOfGeneration.
  size_t payload = 0;           // The position of its payload; `begin` for an EndOfGeneration.
  size_t end = 0;               // One past its last byte.
  std::vector<ByteRange> text;  // The text inside it, in order.
};

// The result of SeparateText().
struct SeparatedText {
  std::vector<SeparatedBatch> batches;  // In order.
  std::vector<ByteRange> text;          // Every piece of text, inside batches or not, in order.
  size_t size = 0;                      // How many of the bytes these cover.
};

// What is known about the place where text is searched for.
struct TextContext {
  // What follows the bytes.
  enum class End : uint8_t {
    kBatch,  // A sound batch.
    kTrace,  // Nothing: the trace ends, possibly inside a batch.
    kMore,   // More bytes, which were not examined.
  };

  Version version = kNewestVersion;
  uint64_t generation = 0;       // The current generation, or 0.
  uint64_t next_generation = 0;  // The generation of the batch that follows; 0 if none does.
  uint64_t time = 0;             // The time of a nearby batch, in ticks; 0 if unknown.
  End end = End::kBatch;

  bool after_strings = false;  // Whether the batch before holds strings.

  absl::string_view text_before;  // The beginning of the previous piece of text, or "".

  // The maximum number of steps of the search. A step takes about ten nanoseconds.
  uint64_t max_steps = 16'000'000;
};

// Interprets `bytes` as batches with text between them and inside them, and returns the
// interpretation with the fewest cuts and the most plausible events. It covers all bytes or, if
// there is none that does, or the trace continues or ends inside a batch, a prefix of them. `bytes`
// must begin where a batch is expected. Returns nullopt if they contain no text, or if there is no
// plausible interpretation. Adds the number of steps taken to `*steps`: at most context.max_steps,
// plus one for every eight bytes.
std::optional<SeparatedText> SeparateText(absl::string_view bytes, const TextContext& context,
                                          uint64_t* steps);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_FRAMING_PRINTED_TEXT_H_
