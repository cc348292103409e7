#include "tools/docs/man_page.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gotrace/library_version.h"
#include "tools/cli/command_line.h"

namespace gotrace::internal {
namespace {

std::string Bold(absl::string_view text) {
  return absl::StrCat("\\fB", EscapeForMan(text, /*is_literal=*/true), "\\fP");
}

std::string Italic(absl::string_view text) {
  return absl::StrCat("\\fI", EscapeForMan(text, /*is_literal=*/true), "\\fP");
}

// Formats placeholders in capitals: "FILE", "NAME=N,...".
std::string Placeholders(absl::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t length = 0;
    while (length < text.size() && absl::ascii_isupper(text[length])) ++length;
    if (length > 0) {
      out += Italic(text.substr(0, length));
    } else {
      length = 1;
      out += EscapeForMan(text.substr(0, length), /*is_literal=*/true);
    }
    text.remove_prefix(length);
  }
  return out;
}

// Formats the short form of a command line. The words before the first placeholder are literal.
std::string Synopsis(absl::string_view usage) {
  const size_t literal = usage.find_first_of("[ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  return absl::StrCat(Bold(usage.substr(0, literal - 1)), " ", Placeholders(usage.substr(literal)));
}

bool IsFlag(absl::string_view word) {
  return word.size() > 1 && word[0] == '-' && (word[1] == '-' || absl::ascii_isalpha(word[1]));
}

// Formats a line of prose: text in backquotes and flags are bold.
std::string Prose(absl::string_view line) {
  std::string out;
  bool is_code = false;
  for (const absl::string_view part : absl::StrSplit(line, '`')) {
    if (is_code) {
      out += Bold(part);
    } else {
      std::string separator;
      for (absl::string_view word : absl::StrSplit(part, ' ')) {
        out += std::exchange(separator, " ");
        const absl::string_view before = word.substr(0, absl::StartsWith(word, "(") ? 1 : 0);
        word.remove_prefix(before.size());
        const size_t end = word.find_last_not_of(".,;:)");
        const absl::string_view after = end == word.npos ? word : word.substr(end + 1);
        word.remove_suffix(after.size());
        absl::StrAppend(&out, before,
                        IsFlag(word) ? Bold(word) : EscapeForMan(word, /*is_literal=*/false),
                        after);
      }
    }
    is_code = !is_code;
  }
  return out;
}

class ManPage {
 public:
  ManPage(absl::string_view name, absl::string_view date) {
    absl::StrAppend(&text_, ".\\\" Written by write_cli_docs.\n.TH ",
                    EscapeForMan(absl::AsciiStrToUpper(name), true), " 1 ", date,
                    " \"gotrace " GOTRACE_VERSION "\" \"gotrace manual\"\n");
  }

  void Section(absl::string_view title) {
    absl::StrAppend(&text_, ".SH ", title, "\n");
    is_first_ = true;
  }

  // Appends a line of text that is already escaped.
  void Line(absl::string_view line) {
    // The line must not be taken for a request.
    const bool is_request = absl::StartsWith(line, ".") || absl::StartsWith(line, "'");
    absl::StrAppend(&text_, is_request ? "\\&" : "", line, "\n");
  }

  // Appends an item with a body of paragraphs.
  void Item(absl::string_view escaped_term, absl::string_view body) {
    absl::StrAppend(&text_, ".TP\n");
    Line(escaped_term);
    Lines(body, /*is_item=*/true);
    is_first_ = false;
  }

  void Paragraphs(absl::string_view text) {
    for (const absl::string_view paragraph : absl::StrSplit(text, "\n\n")) {
      if (!is_first_) text_ += ".PP\n";
      is_first_ = false;
      Lines(paragraph, /*is_item=*/false);
    }
  }

  // Appends literal lines.
  void Example(absl::string_view lines) {
    text_ += is_first_ ? ".EX\n" : ".PP\n.EX\n";
    is_first_ = false;
    for (const absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
      Line(EscapeForMan(absl::StripLeadingAsciiWhitespace(line), /*is_literal=*/true));
    }
    text_ += ".EE\n";
  }

  // Indented lines "NUMBER  text" or "name: text" are items.
  void Lines(absl::string_view text, bool is_item) {
    bool is_list = false;
    for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      if (!absl::StartsWith(line, " ")) {
        EndList(&is_list, is_item);
        Sentences(line);
        continue;
      }
      if (!std::exchange(is_list, true) && is_item) text_ += ".RS\n";
      const absl::string_view item = absl::StripLeadingAsciiWhitespace(line);
      const bool is_number = absl::ascii_isdigit(item.front());
      const absl::string_view separator = is_number ? "  " : ": ";
      const size_t end = item.find(separator);
      text_ += ".TP\n";
      Line(Bold(item.substr(0, end)));
      Sentences(item.substr(end + separator.size()));
    }
    EndList(&is_list, is_item);
  }

  std::string Take() { return std::move(text_); }

 private:
  void EndList(bool* is_list, bool is_item) {
    if (std::exchange(*is_list, false) && is_item) text_ += ".RE\n";
  }

  // Appends each sentence on its own line, so that man recognises its end.
  void Sentences(absl::string_view text) {
    while (true) {
      const size_t end = text.find(". ");
      const absl::string_view sentence = text.substr(0, end == text.npos ? end : end + 1);
      Line(Prose(sentence));
      if (end == text.npos) return;
      text = absl::StripLeadingAsciiWhitespace(text.substr(end + 1));
    }
  }

  std::string text_;
  bool is_first_ = true;  // Whether the section is empty.
};

// The reference to a page: gotrace-dump(1).
std::string PageReference(absl::string_view name) { return absl::StrCat(Bold(name), "(1)"); }

}  // namespace

std::string EscapeForMan(absl::string_view text, bool is_literal) {
  std::string escaped = absl::StrReplaceAll(
      text, {{"\\", "\\e"}, {"'", "\\(aq"}, {"`", "\\(ga"}, {"^", "\\(ha"}, {"~", "\\(ti"}});
  return is_literal ? absl::StrReplaceAll(escaped, {{"-", "\\-"}}) : escaped;
}

std::string ProgramManPage(const CommandList& commands, absl::string_view date) {
  ManPage page("gotrace-dump", date);
  page.Section("NAME");
  page.Line("gotrace\\-dump \\- read, check, repair, analyse and convert Go execution traces");
  page.Section("SYNOPSIS");
  page.Line(Synopsis(kProgramUsage));
  page.Section("DESCRIPTION");
  page.Paragraphs(ProgramDescription(commands));
  page.Section("COMMANDS");
  page.Paragraphs("Each command has a page of its own, with its flags.");
  for (const auto& command : commands) {
    const CommandText& text = command->text();
    page.Item(PageReference(absl::StrCat("gotrace-dump-", text.name)), text.summary);
  }
  page.Section("OPTIONS");
  for (const HelpItem& flag : CommonFlags()) page.Item(Bold(flag.name), flag.help);
  page.Section("EXIT STATUS");
  page.Lines(kUsualExitCodes, /*is_item=*/false);
  page.Section("ENVIRONMENT");
  for (const HelpItem& variable : EnvironmentVariables()) {
    page.Item(Bold(variable.name), variable.help);
  }
  page.Section("EXAMPLES");
  std::string examples;
  for (const auto& command : commands) absl::StrAppend(&examples, FirstExample(*command), "\n");
  page.Example(examples);
  page.Section("SEE ALSO");
  for (size_t i = 0; i < commands.size(); ++i) {
    page.Line(absl::StrCat(PageReference(absl::StrCat("gotrace-dump-", commands[i]->text().name)),
                           i + 1 < commands.size() ? "," : ""));
  }
  return page.Take();
}

std::string CommandManPage(Command& command, absl::string_view date) {
  const CommandText& text = command.text();
  const std::string name = absl::StrCat("gotrace-dump-", text.name);
  ManPage page(name, date);
  page.Section("NAME");
  page.Line(absl::StrCat(EscapeForMan(name, true), " \\- ", EscapeForMan(text.summary, false)));
  page.Section("SYNOPSIS");
  page.Line(Synopsis(command.Usage()));
  page.Section("DESCRIPTION");
  page.Paragraphs(command.Description());
  page.Section("OPTIONS");
  for (const Flag& flag : command.Flags()) {
    const absl::string_view between = flag.is_switch() ? "" : flag.has_one_dash() ? " " : "=";
    page.Item(absl::StrCat(Bold(flag.Spelling()), between, Placeholders(flag.value)),
              flag.FullHelp());
  }
  for (const HelpItem& flag : CommonFlags()) page.Item(Bold(flag.name), flag.help);
  page.Section("EXIT STATUS");
  page.Lines(text.exit_codes, /*is_item=*/false);
  page.Section("EXAMPLES");
  page.Example(text.examples);
  page.Section("SEE ALSO");
  page.Line(PageReference("gotrace-dump"));
  return page.Take();
}

}  // namespace gotrace::internal
