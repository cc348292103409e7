#include "gotrace/stack_copy.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "util/quote.h"

namespace gotrace {
namespace {

FrameCopy CopyFrame(const StackFrame& frame) {
  return {frame.pc, std::string(frame.func), std::string(frame.file), frame.line};
}

void AppendFrame(uint64_t pc, absl::string_view func, absl::string_view file, uint64_t line,
                 std::string* out) {
  if (func.empty()) {
    absl::StrAppend(out, "0x", absl::Hex(pc), "\n");
  } else {
    absl::StrAppend(out, internal::QuotedUnlessPlain(func), "\n");
  }
  if (!file.empty()) absl::StrAppend(out, "\t", internal::QuotedUnlessPlain(file), ":", line, "\n");
}

}  // namespace

StackCopy::StackCopy(const Stack& stack) {
  const size_t size = stack.size();
  frames_.reserve(size);
  for (size_t i = 0; i < size; ++i) frames_.push_back(CopyFrame(stack.frame(i)));
}

StackCopy::StackCopy(absl::Span<const StackFrame> frames) {
  frames_.reserve(frames.size());
  for (const StackFrame& frame : frames) frames_.push_back(CopyFrame(frame));
}

std::string FormatStack(const Stack& stack) {
  std::string text;
  const size_t size = stack.size();
  for (size_t i = 0; i < size; ++i) {
    const StackFrame frame = stack.frame(i);
    AppendFrame(frame.pc, frame.func, frame.file, frame.line, &text);
  }
  return text;
}

std::string FormatStack(const StackCopy& stack) {
  std::string text;
  for (const FrameCopy& frame : stack.frames()) {
    AppendFrame(frame.pc, frame.func, frame.file, frame.line, &text);
  }
  return text;
}

}  // namespace gotrace
