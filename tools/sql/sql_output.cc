#include "tools/sql/sql_output.h"

#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "export/json/json_text.h"
#include "export/table/table.h"
#include "util/cut_text.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

// The number of rows of a table from which the widths of its columns are determined. Later rows may
// be wider.
constexpr size_t kRowsForWidths = 1000;

constexpr size_t kNarrowestText = 12;

absl::string_view TextOf(sqlite3_stmt* statement, int column) {
  // Converts numbers too.
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  if (text == nullptr) return "";
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement, column))};
}

bool IsNumber(int type) { return type == SQLITE_INTEGER || type == SQLITE_FLOAT; }

// Cuts the end off a text of Printable() that has more than `columns` columns.
std::string Cut(absl::string_view text, size_t columns) {
  if (ColumnsOf(text) <= columns) return std::string(text);
  size_t end = 0;
  for (size_t seen = 0; end < text.size();) {
    const absl::string_view next = text.substr(end, ShownCharacterSize(text.substr(end)));
    seen += ColumnsOf(next);
    if (seen >= columns) break;
    end += next.size();
  }
  return absl::StrCat(text.substr(0, end), "…");
}

// Appends the shortest text for the number, with `infinity` for an infinite one.
void AppendReal(double number, absl::string_view infinity, TextBuffer* out) {
  if (std::isinf(number)) return out->Append(number < 0 ? "-" : "", infinity);
  char text[32];
  const char* const end = std::to_chars(std::begin(text), std::end(text), number).ptr;
  const absl::string_view digits(text, static_cast<size_t>(end - text));
  // SQLite marks numbers that are not integers in this way.
  out->Append(digits, digits.find_first_of(".e") == digits.npos ? ".0" : "");
}

// JSON has no infinite numbers, but allows numbers of any size, and readers treat this one as
// infinite.
constexpr absl::string_view kJsonInfinity = "9e999";

// The text of values in a format whose rows are lines.
struct Notation {
  char separator;
  absl::string_view null;
  void (*append_name)(absl::string_view name, TextBuffer* out);
  void (*append_text)(absl::string_view text, TextBuffer* out);
};

const Notation& NotationOf(SqlFormat format) {
  static constexpr Notation kCsv = {',', "", AppendCsvField, AppendCsvText};
  static constexpr Notation kTsv = {'\t', "\\N", AppendTsvText, AppendTsvText};
  return format == SqlFormat::kCsv ? kCsv : kTsv;
}

}  // namespace

std::string Printable(absl::string_view text) {
  std::string line;
  while (!text.empty()) {
    int size = 0;
    const uint32_t rune = DecodeRune(text, &size);
    const absl::string_view character = text.substr(0, static_cast<size_t>(size));
    if (IsPrintable(rune) && (rune != 0xFFFD || size > 1)) {
      absl::StrAppend(&line, character);
    } else {
      const std::string quoted = Quoted(character);
      absl::StrAppend(&line, quoted.substr(1, quoted.size() - 2));
    }
    text.remove_prefix(character.size());
  }
  return line;
}

size_t ColumnsOf(absl::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }));
}

void AppendJsonValue(sqlite3_stmt* statement, int column, TextBuffer* out) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
      return out->Append("null");
    case SQLITE_INTEGER:
      return out->Append(int64_t{sqlite3_column_int64(statement, column)});
    case SQLITE_FLOAT:
      return AppendReal(sqlite3_column_double(statement, column), kJsonInfinity, out);
    default:
      return AppendJsonString(TextOf(statement, column), out);
  }
}

void SqlOutput::Begin(sqlite3_stmt* statement) {
  if (std::exchange(has_begun_, true)) return;
  for (int i = 0; i < sqlite3_column_count(statement); ++i) {
    const absl::string_view name = sqlite3_column_name(statement, i);
    names_.emplace_back(format_ == SqlFormat::kTable ? Printable(name) : std::string(name));
  }
  TextBuffer& out = out_.buffer();
  if (format_ == SqlFormat::kCsv || format_ == SqlFormat::kTsv) {
    const Notation& notation = NotationOf(format_);
    for (size_t i = 0; i < names_.size(); ++i) {
      if (i > 0) out.Append(notation.separator);
      notation.append_name(names_[i], &out);
    }
    out.Append('\n');
  }
  if (format_ == SqlFormat::kJson) out.Append('[');
}

bool SqlOutput::AddRow(sqlite3_stmt* statement) {
  Begin(statement);
  switch (format_) {
    case SqlFormat::kTable:
      AddTableRow(statement);
      break;
    case SqlFormat::kCsv:
    case SqlFormat::kTsv:
      AddSeparatedRow(statement);
      break;
    default:
      AddJsonRow(statement);
      break;
  }
  ++rows_;
  out_.MaybeFlush();
  return out_.usable();
}

void SqlOutput::AddTableRow(sqlite3_stmt* statement) {
  std::vector<Cell> cells;
  for (int i = 0; i < static_cast<int>(names_.size()); ++i) {
    const int type = sqlite3_column_type(statement, i);
    cells.push_back({Printable(TextOf(statement, i)), IsNumber(type)});
    if (type == SQLITE_FLOAT) {
      cells.back().text = absl::StrFormat("%.6g", sqlite3_column_double(statement, i));
    }
  }
  if (!widths_.empty()) return PrintLine(cells);
  kept_.push_back(std::move(cells));
  if (kept_.size() == kRowsForWidths) PrintKept();
}

void SqlOutput::PrintKept() {
  std::vector<Cell> heading;
  for (size_t i = 0; i < names_.size(); ++i) {
    size_t width = ColumnsOf(names_[i]);
    bool is_numeric = !kept_.empty();
    for (const std::vector<Cell>& cells : kept_) {
      width = std::max(width, ColumnsOf(cells[i].text));
      is_numeric &= cells[i].is_number || cells[i].text.empty();
    }
    widths_.push_back(width);
    is_numeric_.push_back(is_numeric);
    heading.push_back({names_[i], is_numeric});
  }
  // Cuts the widest texts if everything fits then.
  const std::vector<size_t> whole = widths_;
  const auto total = [&] {
    size_t sum = 2 * (widths_.size() - 1);
    for (const size_t width : widths_) sum += width;
    return sum;
  };
  while (width_ > 0 && total() > width_) {
    size_t* widest = nullptr;
    for (size_t i = 0; i < widths_.size(); ++i) {
      if (!is_numeric_[i] && (widest == nullptr || widths_[i] > *widest)) widest = &widths_[i];
    }
    if (widest == nullptr || *widest <= kNarrowestText) break;
    const size_t excess = total() - width_;
    *widest -= std::min(excess, *widest - kNarrowestText > 8 ? size_t{8} : size_t{1});
  }
  if (width_ > 0 && total() > width_) widths_ = whole;
  PrintLine(heading);
  for (const std::vector<Cell>& cells : kept_) PrintLine(cells);
  kept_.clear();
}

void SqlOutput::PrintLine(const std::vector<Cell>& cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string text = cells[i].is_number ? cells[i].text : Cut(cells[i].text, widths_[i]);
    const size_t columns = ColumnsOf(text);
    const std::string space(widths_[i] > columns ? widths_[i] - columns : 0, ' ');
    absl::StrAppend(&line, i == 0 ? "" : "  ", is_numeric_[i] ? space : "", text,
                    is_numeric_[i] ? "" : space);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out_.buffer().Append(line, "\n");
}

void SqlOutput::AddSeparatedRow(sqlite3_stmt* statement) {
  const Notation& notation = NotationOf(format_);
  TextBuffer& out = out_.buffer();
  for (int i = 0; i < static_cast<int>(names_.size()); ++i) {
    if (i > 0) out.Append(notation.separator);
    if (sqlite3_column_type(statement, i) == SQLITE_NULL) {
      out.Append(notation.null);
    } else if (sqlite3_column_type(statement, i) == SQLITE_FLOAT) {
      AppendReal(sqlite3_column_double(statement, i), "Inf", &out);
    } else {
      notation.append_text(TextOf(statement, i), &out);
    }
  }
  out.Append('\n');
}

void SqlOutput::AddJsonRow(sqlite3_stmt* statement) {
  TextBuffer& out = out_.buffer();
  if (format_ == SqlFormat::kJson) out.Append(rows_ == 0 ? "\n" : ",\n");
  for (int i = 0; i < static_cast<int>(names_.size()); ++i) {
    out.Append(i == 0 ? '{' : ',');
    AppendJsonString(names_[static_cast<size_t>(i)], &out);
    out.Append(':');
    AppendJsonValue(statement, i, &out);
  }
  out.Append('}');
  if (format_ == SqlFormat::kJsonLines) out.Append('\n');
}

void SqlOutput::Finish(sqlite3_stmt* statement) {
  if (sqlite3_column_count(statement) == 0) return;
  Begin(statement);
  if (format_ == SqlFormat::kTable && widths_.empty()) PrintKept();
  if (format_ == SqlFormat::kJson) out_.buffer().Append(rows_ == 0 ? "]\n" : "\n]\n");
}

}  // namespace gotrace::internal
