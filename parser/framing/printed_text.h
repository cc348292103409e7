// Separates a trace from text that something printed into it.
//
// A program that writes its trace to a descriptor that it, or `go test -v`, also prints to gets
// lines between the trace's bytes: between batches, inside a payload, even inside a number. Nothing
// is overwritten, so the trace is whole once the lines are cut out. Where they are follows from the
// batches' sizes: what is left of a payload has to have the size that its header says, and has to
// decode exactly to its end.
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

// The length in bytes of the character at the front of `bytes` if text may contain it: a printable
// one in UTF-8, a tab, the end of a line, or an escape to a terminal. Else 0.
size_t TextCharacterSize(absl::string_view bytes);

struct SeparatedBatch {
  size_t begin = 0;             // Of its header, or of an EndOfGeneration.
  size_t payload = 0;           // Of its payload's first byte; begin for an EndOfGeneration.
  size_t end = 0;               // One past its last byte.
  std::vector<ByteRange> text;  // Inside of it, in order.
};

struct SeparatedText {
  std::vector<SeparatedBatch> batches;  // In order.
  std::vector<ByteRange> text;          // Every piece, those inside batches too, in order.
  size_t size = 0;                      // How many of the bytes these cover.
};

// What is known of the place where text is looked for.
struct TextContext {
  // What follows the bytes.
  enum class End : uint8_t {
    kBatch,  // A batch that is sound.
    kTrace,  // Nothing: the trace ends, maybe inside a batch.
    kMore,   // More bytes, which were not looked at.
  };

  Version version = kNewestVersion;
  uint64_t generation = 0;  // That a batch here belongs to, if it does not begin the next; or 0.
  uint64_t next_generation = 0;  // Of the batch that follows; 0 if none does.
  uint64_t time = 0;             // Of a batch near the place, in ticks; 0 if none is known.
  End end = End::kBatch;

  bool after_strings = false;  // Whether the batch before holds strings.

  absl::string_view text_before;  // The beginning of a text found before, or "".

  // How long to search. A step takes some ten nanoseconds.
  uint64_t max_steps = 16'000'000;
};

// Reads `bytes` as batches with text between them and inside them, and returns the reading that
// takes the least cuts and makes the most plausible events: of all bytes, or, if there is none or
// the trace goes on or ends inside a batch, of the first so many. `bytes` must begin where a batch
// is expected. Returns nullopt if they hold no text, or there is no plausible reading. Adds the
// number of steps taken to `*steps`: at most context.max_steps, and one for every eight bytes.
std::optional<SeparatedText> SeparateText(absl::string_view bytes, const TextContext& context,
                                          uint64_t* steps);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_FRAMING_PRINTED_TEXT_H_
