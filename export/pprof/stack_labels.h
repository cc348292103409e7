// Stacks as people read them in a table.
#ifndef GOTRACE_EXPORT_PPROF_STACK_LABELS_H_
#define GOTRACE_EXPORT_PPROF_STACK_LABELS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "analysis/intervals/stack_places.h"
#include "gotrace/interner.h"
#include "gotrace/profile.h"

namespace gotrace::internal {

// Gives stacks that differ only in lines one id.
class StacksByFunctions {
 public:
  // `*interner` must outlive this object.
  explicit StacksByFunctions(const Interner* interner) : interner_(*interner) {}

  // Returns the first of the stacks with these functions for which it was called.
  StackId Of(StackId stack);

 private:
  const Interner& interner_;
  absl::flat_hash_map<std::vector<StringId>, StackId> stacks_;
};

// Writes stacks as StackText() does, with the file and the line of a frame where nothing else tells
// two stacks apart.
class StackLabels {
 public:
  // `stacks` are all stacks that are shown. `*interner` must outlive this object.
  StackLabels(const Interner* interner, absl::Span<const StackId> stacks);

  // Return the text of a sample's stack, and a text of at most `width` characters, if possible. For
  // the latter, frames of the runtime give way first, then those of libraries, and then those of
  // the program from the outermost on; the innermost frame of the program stays.
  std::string Text(const ProfileKey& key) const;
  std::string Fit(const ProfileKey& key, size_t width) const;

 private:
  struct Part {
    std::string text;
    FrameKind kind = FrameKind::kProgram;
  };

  // Returns the frames, the outermost first.
  std::vector<Part> PartsOf(const ProfileKey& key) const;
  void AppendParts(StackId stack, std::vector<Part>* parts) const;

  const Interner& interner_;
  // The stacks that are not the only ones with their functions; and for each frame, the innermost
  // first, whether its line differs.
  absl::flat_hash_map<StackId, std::vector<bool>> lines_;
};

// Returns the file and the line of a frame: "cache.go:17"; "" if it has none.
std::string LineText(const StackFrame& frame);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PPROF_STACK_LABELS_H_
