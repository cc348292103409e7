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
  absl::string_view file = interner.String(place.file);
  file.remove_prefix(file.find_last_of("/\\") + 1);
  const std::string line = file.empty() ? "" : absl::StrCat(" ", file, ":", place.line);
  return TextOf(place, line, interner);
}

std::string FunctionText(const WaitPlace& place, const Interner& interner) {
  return TextOf(place, "", interner);
}

}  // namespace gotrace::internal
