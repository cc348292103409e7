#include "tools/cli/flags.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "util/quote.h"
#include "util/text_pattern.h"

namespace gotrace::internal {
namespace {

constexpr size_t kColumns = 80;
// Where the help of a flag starts.
constexpr size_t kHelpColumn = 22;

const GivenFlag* FindGiven(absl::Span<const GivenFlag> given, absl::string_view name) {
  const GivenFlag* found = nullptr;
  for (const GivenFlag& one : given) {
    if (one.flag->name == name) found = &one;
  }
  return found;
}

bool IsOff(const GivenFlag& given) {
  bool value = true;
  return given.flag->is_switch() && absl::SimpleAtob(given.value, &value) && !value;
}

// Returns the flag that a flag requires, as it is typed: "--to=a or --to=b".
std::string FormatNeeds(const Flag& flag) {
  const std::pair<absl::string_view, absl::string_view> needs =
      absl::StrSplit(flag.needs, absl::MaxSplits('=', 1));
  if (needs.second.empty()) return absl::StrCat("--", needs.first);
  const std::string flag_text = absl::StrCat("--", needs.first, "=");
  const std::vector<absl::string_view> values = absl::StrSplit(needs.second, '|');
  return absl::StrCat(flag_text, absl::StrJoin(values, absl::StrCat(" or ", flag_text)));
}

// Checks the columns `needs` and `excludes`.
absl::Status CheckCombination(absl::Span<const GivenFlag> given) {
  for (const GivenFlag& one : given) {
    if (IsOff(one)) continue;
    const Flag& flag = *one.flag;
    if (!flag.needs.empty()) {
      const std::pair<absl::string_view, absl::string_view> needs =
          absl::StrSplit(flag.needs, absl::MaxSplits('=', 1));
      const GivenFlag* const other = FindGiven(given, needs.first);
      // The required flag may be a switch.
      const std::vector<absl::string_view> values =
          absl::StrSplit(needs.second.empty() ? "true" : needs.second, '|');
      const auto is_given = [&](absl::string_view value) {
        return other != nullptr && absl::EqualsIgnoreCase(other->value, value);
      };
      if (std::none_of(values.begin(), values.end(), is_given)) {
        return absl::InvalidArgumentError(
            absl::StrCat(flag.Spelling(), " works only with ", FormatNeeds(flag)));
      }
    }
    const GivenFlag* const excluded =
        flag.excludes.empty() ? nullptr : FindGiven(given, flag.excludes);
    if (excluded != nullptr && !IsOff(*excluded)) {
      return absl::InvalidArgumentError(absl::StrCat(
          flag.Spelling(), " and ", excluded->flag->Spelling(), " cannot be used together"));
    }
  }
  return absl::OkStatus();
}

std::optional<size_t> FindChoice(const std::vector<std::string>& choices, absl::string_view text) {
  for (size_t i = 0; i < choices.size(); ++i) {
    if (absl::EqualsIgnoreCase(choices[i], text)) return i;
  }
  return std::nullopt;
}

absl::Status NoSuchChoice(const std::vector<std::string>& choices, absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("expected ", absl::StrJoin(choices, " or "), ", found ", Quoted(text)));
}

}  // namespace

bool Flag::is_list() const { return absl::EndsWith(value, ",..."); }

bool Flag::has_one_dash() const { return name == "o" || name == "f"; }

std::string Flag::Spelling() const { return absl::StrCat(has_one_dash() ? "-" : "--", name); }

std::string Flag::Usage() const {
  if (is_switch()) return Spelling();
  return absl::StrCat(Spelling(), has_one_dash() ? " " : "=", value);
}

std::string Flag::FullHelp() const {
  if (needs.empty()) return help;
  return absl::StrCat(help, " Only with ", FormatNeeds(*this), ".");
}

SetFlag SetSwitch(bool* value) {
  return [value](absl::string_view text) {
    if (absl::SimpleAtob(text, value)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("expected true or false, found ", Quoted(text)));
  };
}

SetFlag SetText(std::string* value) {
  return [value](absl::string_view text) {
    *value = std::string(text);
    return absl::OkStatus();
  };
}

SetFlag SetPattern(std::string* value) {
  return [value](absl::string_view text) {
    absl::Status status = TextPattern::Parse(text).status();
    if (status.ok()) *value = std::string(text);
    return status;
  };
}

SetFlag SetDuration(std::optional<absl::Duration>* duration) {
  return [=](absl::string_view text) {
    absl::Duration parsed;
    if (!absl::ParseDuration(text, &parsed) || parsed < absl::ZeroDuration()) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected a duration, as in 1.5s or 20ms, found ", Quoted(text)));
    }
    *duration = parsed;
    return absl::OkStatus();
  };
}

SetFlag SetNumber(uint64_t min, uint64_t* value) {
  return [min, value](absl::string_view text) {
    const absl::string_view digits = absl::StripPrefix(text, "-");
    if (digits.empty() || !std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit)) {
      return absl::InvalidArgumentError(absl::StrCat("expected a number, found ", Quoted(text)));
    }
    const bool is_negative = digits.size() < text.size();
    uint64_t number = 0;
    if (!is_negative && !absl::SimpleAtoi(text, &number)) {
      return absl::InvalidArgumentError(
          absl::StrCat(text, " is too large; the maximum is ", ~uint64_t{0}));
    }
    if (is_negative || number < min) {
      return absl::InvalidArgumentError(absl::StrCat("must be ", min, " or more, found ", text));
    }
    *value = number;
    return absl::OkStatus();
  };
}

SetFlag SetChoice(const std::vector<absl::string_view>& names, size_t* position) {
  return SetChoice(names, [position](size_t chosen) { *position = chosen; });
}

SetFlag SetChoice(const std::vector<absl::string_view>& names, std::function<void(size_t)> store) {
  std::vector<std::string> choices(names.begin(), names.end());
  return {[choices, store = std::move(store)](absl::string_view text) {
            const std::optional<size_t> position = FindChoice(choices, text);
            if (!position.has_value()) return NoSuchChoice(choices, text);
            store(*position);
            return absl::OkStatus();
          },
          choices};
}

SetFlag SetChoices(const std::vector<absl::string_view>& names,
                   std::function<void(absl::Span<const size_t>)> store) {
  std::vector<std::string> choices(names.begin(), names.end());
  return {[choices, store = std::move(store)](absl::string_view list) {
            std::vector<size_t> positions;
            for (const absl::string_view text : absl::StrSplit(list, ',')) {
              const std::optional<size_t> position = FindChoice(choices, text);
              if (!position.has_value()) return NoSuchChoice(choices, text);
              positions.push_back(*position);
            }
            store(positions);
            return absl::OkStatus();
          },
          choices};
}

SetFlag SetList(SetFlag set) {
  std::vector<std::string> choices = set.choices();
  return {[set = std::move(set)](absl::string_view list) {
            for (const absl::string_view element : absl::StrSplit(list, ',')) {
              absl::Status status = set(absl::StripAsciiWhitespace(element));
              if (!status.ok()) return status;
            }
            return absl::OkStatus();
          },
          std::move(choices)};
}

const Flag* FindFlag(absl::Span<const Flag> flags, absl::string_view name) {
  const std::string with_dashes = absl::StrReplaceAll(name, {{"_", "-"}});
  for (const Flag& flag : flags) {
    if (flag.name == with_dashes) return &flag;
  }
  return nullptr;
}

absl::Status SetFlags(absl::Span<const GivenFlag> given) {
  for (size_t i = 0; i < given.size(); ++i) {
    const Flag& flag = *given[i].flag;
    // An empty value is more likely an unset variable of a script than intended.
    if (given[i].value.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(flag.Spelling(), " needs a value: ", flag.Usage()));
    }
    // Only the last one would count, although the user may mean all of them.
    if (flag.is_list() && FindGiven(given.subspan(0, i), flag.name) != nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          flag.Spelling(), " was given twice; give it once, with all values: ", flag.Usage()));
    }
    if (absl::Status status = flag.set(given[i].value); !status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(flag.Spelling(), ": ", status.message()));
    }
  }
  return CheckCombination(given);
}

void AppendFlagHelp(absl::Span<const Flag> flags, std::string* help) {
  for (const Flag& flag : flags) {
    std::string usage = absl::StrCat("  ", flag.Usage());
    // At least one space separates the columns; a longer usage has a line of its own.
    if (usage.size() < kHelpColumn) {
      usage.append(kHelpColumn - usage.size(), ' ');
    } else {
      absl::StrAppend(&usage, "\n", std::string(kHelpColumn, ' '));
    }
    help->append(usage);
    AppendWrapped(flag.FullHelp(), kHelpColumn, kHelpColumn, help);
    help->push_back('\n');
  }
}

void AppendWrapped(absl::string_view text, size_t indent, size_t column, std::string* out) {
  bool first_line = true;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!first_line) {
      out->push_back('\n');
      column = 0;
    }
    first_line = false;
    // Indentation in the text is kept, and its continuation lines are indented two columns more.
    const size_t own = line.find_first_not_of(' ');
    const size_t margin = indent + (own == absl::string_view::npos ? 0 : own);
    const size_t hanging = own > 0 && own != absl::string_view::npos ? 2 : 0;
    bool first_word = true;
    for (const absl::string_view word : absl::StrSplit(line, ' ', absl::SkipEmpty())) {
      if (first_word) {
        if (column < margin) out->append(margin - column, ' ');
        column = std::max(column, margin);
      } else if (column + 1 + word.size() > kColumns) {
        absl::StrAppend(out, "\n", std::string(margin + hanging, ' '));
        column = margin + hanging;
      } else {
        out->push_back(' ');
        ++column;
      }
      first_word = false;
      out->append(word.data(), word.size());
      column += word.size();
    }
  }
}

}  // namespace gotrace::internal
