// The flags of a command, one row each. Parsing, help, and messages about flags all follow from the
// rows.
#ifndef GOTRACE_TOOLS_CLI_FLAGS_H_
#define GOTRACE_TOOLS_CLI_FLAGS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace gotrace::internal {

// Stores the value of a flag, or returns an error that says what is wrong with the value. The name
// of the flag is added to the message.
class SetFlag {
 public:
  SetFlag() = default;

  // Implicit, so that the row of a flag can have a function.
  template <class Set, class = std::enable_if_t<!std::is_same_v<Set, SetFlag>>>
  SetFlag(Set set) : set_(std::move(set)) {}  // NOLINT(google-explicit-constructor)

  // `choices` are the possible values, for completion on the command line.
  template <class Set>
  SetFlag(Set set, std::vector<std::string> choices)
      : set_(std::move(set)), choices_(std::move(choices)) {}

  absl::Status operator()(absl::string_view value) const { return set_(value); }

  // Returns the possible values, or the possible elements of a list; none if they cannot be listed.
  // One that ends in "=" or ":" is the beginning of a value.
  const std::vector<std::string>& choices() const { return choices_; }

 private:
  std::function<absl::Status(absl::string_view value)> set_;
  std::vector<std::string> choices_;
};

struct Flag {
  // Without dashes: "max-per-check". "o" and "f" are shown with one dash, as is usual for the
  // output file and a file of commands, and all others with two; both spellings are accepted for
  // all.
  absl::string_view name;
  // The name of the value in help: "N". FILE and DIR are paths. "" for a switch, which is true
  // unless it is given as --noNAME or --NAME=false. A flag whose value ends in ",..." is a list,
  // and can be given only once.
  absl::string_view value;
  // One or more sentences for --help. A line break starts an indented line.
  std::string help;
  SetFlag set;
  // Another flag that this one requires: a switch, "mmu", or a flag with a value, "format=json".
  // Alternative values are separated by "|".
  absl::string_view needs = {};
  // The name of another flag that cannot be given at the same time.
  absl::string_view excludes = {};
  // The alternative in other commands, for the error message if the flag is given to one of them.
  absl::string_view instead = {};
  // Whether it selects a part of what the input has, so that nothing may be left.
  bool selects = false;

  bool is_switch() const { return value.empty(); }
  bool is_list() const;
  bool is_path() const { return value == "FILE" || value == "DIR"; }
  bool has_one_dash() const;
  // Returns the flag as it is typed: "--kind", "-o".
  std::string Spelling() const;
  // Returns the flag with its value: "--kind=KIND,...", "-o FILE".
  std::string Usage() const;
  // Returns `help` followed by the required flag.
  std::string FullHelp() const;
};

// Setters for common kinds of values. The variable must outlive the setter.
SetFlag SetSwitch(bool* value);
SetFlag SetText(std::string* value);
// Accepts numbers from `min` on.
SetFlag SetNumber(uint64_t min, uint64_t* value);
// Accepts regular expressions, as TextPattern has them.
SetFlag SetPattern(std::string* value);
// Accepts durations of 0 and more, as in 1.5s or 20ms.
SetFlag SetDuration(std::optional<absl::Duration>* duration);
// Accepts the names in `names`, in any case, and stores the position of the name.
SetFlag SetChoice(const std::vector<absl::string_view>& names, size_t* position);
// The same, but calls `store` with the position.
SetFlag SetChoice(const std::vector<absl::string_view>& names,
                  std::function<void(size_t position)> store);
// Accepts lists of the names, and calls `store` with the position of each.
SetFlag SetChoices(const std::vector<absl::string_view>& names,
                   std::function<void(absl::Span<const size_t> positions)> store);
// Calls `set` with each element of a list, until one is wrong.
SetFlag SetList(SetFlag set);

// Returns the row with this name, or nullptr. Underscores count as dashes.
const Flag* FindFlag(absl::Span<const Flag> flags, absl::string_view name);

// A flag as it was given on the command line.
struct GivenFlag {
  const Flag* flag = nullptr;
  std::string value;  // "true" or "false" for a switch.
};

// Stores the values in the order in which they were given, so that the last one counts. Fails if a
// value is missing or wrong, if a list is given twice, or if two flags cannot be combined.
absl::Status SetFlags(absl::Span<const GivenFlag> given);

// Appends the flags for --help, each with its help in a second column.
void AppendFlagHelp(absl::Span<const Flag> flags, std::string* help);

// Appends `text`, broken into lines of at most 80 columns. Existing line breaks are kept. Each line
// but the first is indented by `indent` columns; the first starts at column `column`.
void AppendWrapped(absl::string_view text, size_t indent, size_t column, std::string* out);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CLI_FLAGS_H_
