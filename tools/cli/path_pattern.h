// Extracts values from the path of a file by a pattern: `{service}/{date}/{host}-*.trace`.
#ifndef GOTRACE_TOOLS_CLI_PATH_PATTERN_H_
#define GOTRACE_TOOLS_CLI_PATH_PATTERN_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gotrace::internal {

// A pattern for the last components of a path, as many as the pattern has. In a component, {name}
// matches one or more characters and captures them, * matches any number of characters, and
// everything else matches itself. If there are several ways to match, earlier {name} and * match as
// little as possible.
class PathPattern {
 public:
  using Values = std::map<std::string, std::string>;

  // Fails if a brace has no counterpart, or if a name is empty or occurs twice.
  static absl::StatusOr<PathPattern> Parse(absl::string_view pattern);

  // Returns the values of the names in the path; nullopt if the path does not match.
  std::optional<Values> Match(absl::string_view path) const;

 private:
  struct Piece {
    enum Kind { kText, kName, kAny } kind = kText;
    std::string text;  // The literal text, or the name.
  };
  using Component = std::vector<Piece>;

  static bool MatchComponent(const Component& component, absl::string_view text, Values* values);

  std::vector<Component> components_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CLI_PATH_PATTERN_H_
