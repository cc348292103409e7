#include "tools/cli/path_pattern.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "util/quote.h"

namespace gotrace::internal {

absl::StatusOr<PathPattern> PathPattern::Parse(absl::string_view pattern) {
  PathPattern parsed;
  std::set<std::string> names;
  for (absl::string_view text : absl::StrSplit(pattern, '/')) {
    Component component;
    while (!text.empty()) {
      if (text.front() == '*') {
        component.push_back({Piece::kAny, ""});
        text.remove_prefix(1);
        continue;
      }
      if (text.front() != '{') {
        const size_t size = std::min(text.find_first_of("*{}"), text.size());
        if (size == 0) return absl::InvalidArgumentError("a } has no { before it");
        component.push_back({Piece::kText, std::string(text.substr(0, size))});
        text.remove_prefix(size);
        continue;
      }
      const size_t end = text.find_first_of("{}", 1);
      if (end == text.npos || text[end] == '{') {
        return absl::InvalidArgumentError("a { has no } after it");
      }
      std::string name(text.substr(1, end - 1));
      if (name.empty()) return absl::InvalidArgumentError("{} needs a name, as in {host}");
      if (!names.insert(name).second) {
        return absl::InvalidArgumentError(absl::StrCat("{", name, "} is there twice"));
      }
      component.push_back({Piece::kName, std::move(name)});
      text.remove_prefix(end + 1);
    }
    if (component.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a part of ", Quoted(pattern), " between slashes is empty"));
    }
    parsed.components_.push_back(std::move(component));
  }
  return parsed;
}

std::optional<PathPattern::Values> PathPattern::Match(absl::string_view path) const {
  const std::vector<absl::string_view> parts = absl::StrSplit(path, '/', absl::SkipEmpty());
  if (parts.size() < components_.size()) return std::nullopt;
  Values values;
  const size_t first = parts.size() - components_.size();
  for (size_t i = 0; i < components_.size(); ++i) {
    if (!MatchComponent(components_[i], parts[first + i], &values)) return std::nullopt;
  }
  return values;
}

bool PathPattern::MatchComponent(const Component& component, absl::string_view text,
                                 Values* values) {
  // Whether the pieces from one on can match the text from a position on. Filled from the end.
  std::vector<std::vector<bool>> can(component.size() + 1, std::vector<bool>(text.size() + 1));
  can.back()[text.size()] = true;
  for (size_t piece = component.size(); piece-- > 0;) {
    const Piece& what = component[piece];
    bool later = false;  // Whether the pieces after it can match from a later position on.
    for (size_t at = text.size() + 1; at-- > 0;) {
      switch (what.kind) {
        case Piece::kText:
          can[piece][at] =
              absl::StartsWith(text.substr(at), what.text) && can[piece + 1][at + what.text.size()];
          break;
        case Piece::kAny:
          can[piece][at] = later || can[piece + 1][at];
          break;
        case Piece::kName:
          can[piece][at] = later;
          break;
      }
      later |= can[piece + 1][at];
    }
  }
  if (!can[0][0]) return false;
  size_t at = 0;
  for (size_t piece = 0; piece < component.size(); ++piece) {
    const Piece& what = component[piece];
    size_t end = at + (what.kind == Piece::kText ? what.text.size() : what.kind == Piece::kName);
    while (!can[piece + 1][end]) ++end;
    if (what.kind == Piece::kName) (*values)[what.text] = std::string(text.substr(at, end - at));
    at = end;
  }
  return true;
}

}  // namespace gotrace::internal
