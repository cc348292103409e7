// Writes a trace again without the names, texts and other details that show whose it is.
#ifndef GOTRACE_ANONYMISE_H_
#define GOTRACE_ANONYMISE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_sink.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader_options.h"
#include "gotrace/trace_writer.h"

namespace gotrace {

// What can be replaced in a trace.
enum class PrivatePart : uint8_t {
  kFunctions,
  kFiles,
  kLabels,  // Of goroutines.
  kTasks,
  kRegions,
  kMessages,  // And their categories.
  kLines,
  kPcs,    // The addresses of the frames of stacks.
  kTimes,  // Shifted, so that the trace and its clocks begin at times that are always the same.
};

// One past the last PrivatePart.
inline constexpr int kPrivatePartEnd = 9;

// Returns the name of a part: "functions".
absl::string_view PrivatePartName(PrivatePart part);

// What to replace.
struct AnonymiseOptions {
  std::set<PrivatePart> parts = {PrivatePart::kFunctions, PrivatePart::kFiles,
                                 PrivatePart::kLabels,    PrivatePart::kTasks,
                                 PrivatePart::kRegions,   PrivatePart::kMessages};

  // Returns whether to keep a name or text. None, if it is not set.
  std::function<bool(absl::string_view text)> keeps;
};

// Something that was replaced.
struct Replacement {
  PrivatePart part = PrivatePart::kFunctions;
  std::string made_up;   // Of kLines: "FILE:LINE", with the made-up name of the file if it has one.
  std::string original;  // Of kPcs: in hexadecimal. Of kTimes: the nanoseconds to add to times.
};

// The result of Anonymise().
struct AnonymisedTrace {
  WrittenTrace written;
  uint64_t events_read = 0;
  uint64_t experimental_events = 0;  // How many events of experiments were left out.

  // All that was replaced by something else, in order of parts, and then of the made-up texts.
  std::vector<Replacement> replacements;

  // OK, or why the original could not be read to its end.
  absl::Status status;
  Losses losses;
};

// Writes the trace in `source` to `*out`, which is not finished, with some parts replaced. Go's
// reader accepts the result. Memory is bounded by the largest generation and all that is replaced.
//
// A text is replaced word by word, where letters, digits and "_" make a word: "github.com/me/db"
// becomes "anon1.anon2/anon3/anon4", and "(*Conn)" becomes "(*Anon5)". The same word always becomes
// the same made-up one, everywhere in the trace, numbered in the order in which the words appear.
// Words with a capital letter at their beginning keep that. These things stay:
//
// - functions of the standard library and the runtime: those whose package and whose file, after
//   "src/", have paths that begin with one of its folders, such as "net/http". Of their files, the
//   part of the path from the package on stays, and their lines;
// - of other functions, the package "main", and the names that the compiler makes: "init", "func1";
// - the ends of files' names: ".go";
// - labels of the runtime, and the reasons for which goroutines wait and the world stops, which are
//   texts of the runtime, too;
// - the ids of goroutines, threads, Ps and tasks, the time that everything took, and the values of
//   metrics.
//
// Lines are numbered anew, in each file in the order in which they appear, and so are PCs. Times
// are shifted so that the trace begins a second after the start of its clock, the wall clock with
// the year 2000, and the monotonic clock at a second.
//
// Events of experiments, and the batches that belong to them, are left out: they consist of
// addresses.
absl::StatusOr<AnonymisedTrace> Anonymise(std::unique_ptr<ByteSource> source,
                                          const AnonymiseOptions& options,
                                          const ReaderOptions& reader_options, ByteSink* out);

}  // namespace gotrace

#endif  // GOTRACE_ANONYMISE_H_
