#include "tools/commands/stack_columns.h"

#include "absl/strings/str_cat.h"

namespace gotrace::internal {
namespace {

// Returns the place with `line` after its function.
std::string TextOf(const WaitPlace& place, absl::string_view line, const Interner& interner) {
  std::string text(interner.String(place.function));
  if (text.empty()) return std::string(kUnknownName);
  absl::StrAppend(&text, line);
  const absl::string_view library = interner.String(place.library);
  if (!library.empty()) absl::StrAppend(&text, " -> ", library);
  return text;
}

}  // namespace

std::string PlaceText(const WaitPlace& place, const Interner& interner) {
  StackFrame frame;
  frame.file = interner.String(place.file);
  frame.line = place.line;
  const std::string line = LineText(frame);
  return TextOf(place, line.empty() ? "" : absl::StrCat(" ", line), interner);
}

std::string FunctionText(const WaitPlace& place, const Interner& interner) {
  return TextOf(place, "", interner);
}

}  // namespace gotrace::internal
