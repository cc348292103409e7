// Stacks that outlive their generation, and stacks as text.
#ifndef GOTRACE_STACK_COPY_H_
#define GOTRACE_STACK_COPY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/types/span.h"
#include "gotrace/event.h"

namespace gotrace {

// One frame of a stack, which owns its strings. The fields are those of StackFrame.
struct FrameCopy {
  uint64_t pc = 0;   // The PC of the call or, for the innermost frame, the current PC.
  std::string func;  // "" if unknown.
  std::string file;  // "" if unknown.
  uint64_t line = 0;

  friend bool operator==(const FrameCopy&, const FrameCopy&) = default;

  // For Abseil's hash tables.
  template <class H>
  friend H AbslHashValue(H h, const FrameCopy& frame) {
    return H::combine(std::move(h), frame.pc, frame.func, frame.file, frame.line);
  }
};

// A stack that owns its frames. A Stack is valid only until the next kSync event; copy it to keep
// it longer. Stacks with equal frames are equal, whatever generation they come from, so a StackCopy
// can be the key of a table for the whole trace.
class StackCopy {
 public:
  // Makes a stack without frames.
  StackCopy() = default;

  // Copies `stack`, which must be valid. A stack that is none() is copied as one without frames.
  explicit StackCopy(const Stack& stack);

  // Copies `frames`, the innermost first.
  explicit StackCopy(absl::Span<const StackFrame> frames);

  // Returns the frames, the innermost first.
  const std::vector<FrameCopy>& frames() const { return frames_; }

  // Returns whether there are no frames.
  bool empty() const { return frames_.empty(); }

  friend bool operator==(const StackCopy&, const StackCopy&) = default;

  // For Abseil's hash tables; std::hash is below.
  template <class H>
  friend H AbslHashValue(H h, const StackCopy& stack) {
    return H::combine(std::move(h), stack.frames_);
  }

 private:
  std::vector<FrameCopy> frames_;
};

// Formats a stack as Go prints one in a panic, without arguments and offsets: two lines for each
// frame, the innermost first, each with a newline at its end.
//
//   main.work
//           /src/main.go:31
//   main.main
//           /src/main.go:12
//
// An unknown function is printed as its PC: "0x47a1b2". The second line, which begins with a tab,
// is missing if the file is unknown. Names with characters that would break the line, as in a
// damaged trace, are quoted as Go quotes strings. Returns "" for a stack without frames.
std::string FormatStack(const Stack& stack);
std::string FormatStack(const StackCopy& stack);

}  // namespace gotrace

template <>
struct std::hash<gotrace::StackCopy> {
  size_t operator()(const gotrace::StackCopy& stack) const {
    return absl::Hash<gotrace::StackCopy>()(stack);
  }
};

#endif  // GOTRACE_STACK_COPY_H_
