// Takes what a path says about the file: `{service}/{date}/{host}-*.trace`.
#ifndef GOTRACE_TOOLS_PATH_PATTERN_H_
#define GOTRACE_TOOLS_PATH_PATTERN_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gotrace::internal {

// A pattern that the last components of a path match: as many as the pattern has. In a component,
// {name} stands for one or more characters, of which the pattern wants to know, * for any number of
// characters, and everything else for itself. If there are several ways to match, earlier ones of
// {name} and * take as little as possible.
class PathPattern {
 public:
  using Values = std::map<std::string, std::string>;

  // Fails if a brace has no counterpart, or a name is empty or is there twice.
  static absl::StatusOr<PathPattern> Parse(absl::string_view pattern);

  // Returns what the names stand for in the path; nullopt if it does not match.
  std::optional<Values> Match(absl::string_view path) const;

 private:
  struct Piece {
    enum Kind { kText, kName, kAny } kind = kText;
    std::string text;  // What it stands for itself, or the name.
  };
  using Component = std::vector<Piece>;

  static bool MatchComponent(const Component& component, absl::string_view text, Values* values);

  std::vector<Component> components_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_PATH_PATTERN_H_
