#include "export/table/table.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "export/json/json_text.h"
#include "util/cut_text.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

using NamedNumbers = std::vector<NamedNumber>;

// Formats with three significant digits, in the largest of `units` in which the number is at least
// 1.
std::string FormatScaled(int64_t number, double step, const std::vector<absl::string_view>& units) {
  double value = static_cast<double>(number);
  size_t unit = 0;
  // 999.5 would be shown as 1000.
  while (std::abs(value) >= 999.5 && unit + 1 < units.size()) {
    value /= step;
    ++unit;
  }
  if (unit == 0) return absl::StrCat(number, " ", units[0]);
  const int decimals = std::abs(value) < 9.995 ? 2 : std::abs(value) < 99.95 ? 1 : 0;
  return absl::StrFormat("%.*f %s", decimals, value, units[unit]);
}

std::string FormatNumber(int64_t number, Unit unit) {
  if (number == 0) return "0";
  switch (unit) {
    case Unit::kNanoseconds:
      return FormatNanoseconds(number);
    case Unit::kBytes:
      return FormatBytes(number);
    default:
      return absl::StrCat(number);
  }
}

int64_t Rounded(double number) {
  constexpr double kLimit = 9.2e18;  // Near the maximum of int64_t.
  return std::llround(std::clamp(number, -kLimit, kLimit));
}

double SumOf(const NamedNumbers& numbers) {
  double sum = 0;
  for (const NamedNumber& one : numbers) sum += static_cast<double>(one.number);
  return sum;
}

// "chan receive 98%".
std::string FormatLargest(const NamedNumbers& numbers) {
  const double sum = SumOf(numbers);
  if (sum <= 0) return "";
  const auto largest =
      std::max_element(numbers.begin(), numbers.end(),
                       [](const auto& a, const auto& b) { return a.number < b.number; });
  const absl::string_view name = largest->name.empty() ? kUnknownName : largest->name;
  const double share = static_cast<double>(largest->number) / sum;
  return absl::StrFormat("%s %.0f%%", QuotedUnlessPlain(name), 100 * share);
}

std::string FormatCell(const Cell& cell, Unit unit) {
  if (const auto* const number = std::get_if<int64_t>(&cell)) return FormatNumber(*number, unit);
  if (const auto* const text = std::get_if<absl::string_view>(&cell)) {
    return QuotedUnlessPlain(*text);
  }
  if (const auto* const numbers = std::get_if<NamedNumbers>(&cell)) return FormatLargest(*numbers);
  if (const auto* const number = std::get_if<double>(&cell)) {
    switch (unit) {
      case Unit::kShare:
        return absl::StrFormat("%.1f%%", 100 * *number);
      case Unit::kNone:
        return std::abs(*number) < 999.5 ? absl::StrFormat("%.3g", *number)
                                         : absl::StrCat(Rounded(*number));
      default:
        return FormatNumber(Rounded(*number), unit);
    }
  }
  return "";
}

bool IsText(const Cell& cell) {
  return std::holds_alternative<absl::string_view>(cell) ||
         std::holds_alternative<NamedNumbers>(cell);
}

// The number of characters, which may have several bytes each.
size_t WidthOf(absl::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }));
}

// Returns the last `width` characters of `text`, after a mark for the omitted part; fewer if the
// first of them would be part of an escape.
std::string CutOnTheLeft(absl::string_view text, size_t width) {
  for (size_t left = WidthOf(text); left >= width;) {
    const absl::string_view first = text.substr(0, ShownCharacterSize(text));
    left -= WidthOf(first);
    text.remove_prefix(first.size());
  }
  return absl::StrCat("…", text);
}

// Returns a number as it is, and the sum of named numbers. Everything else is less than all
// numbers.
double KeyOf(const Cell& cell) {
  if (const auto* const number = std::get_if<int64_t>(&cell)) return static_cast<double>(*number);
  if (const auto* const number = std::get_if<double>(&cell)) return *number;
  if (const auto* const numbers = std::get_if<NamedNumbers>(&cell)) {
    return SumOf(*numbers);
  }
  return -INFINITY;
}

// The sort key of a row: a text, or else a number.
struct SortKey {
  double number = 0;
  absl::string_view text;
  size_t row = 0;

  friend bool operator<(const SortKey& a, const SortKey& b) {
    return a.number != b.number ? a.number > b.number : a.text < b.text;
  }
};

void AppendJsonValue(const Cell& cell, TextBuffer* out) {
  if (const auto* const number = std::get_if<int64_t>(&cell)) return out->Append(*number);
  if (const auto* const text = std::get_if<absl::string_view>(&cell)) {
    return AppendJsonString(*text, out);
  }
  if (const auto* const number = std::get_if<double>(&cell)) {
    return out->Append(absl::StrFormat("%.17g", *number));
  }
  if (const auto* const json = std::get_if<JsonText>(&cell)) return out->Append(json->text);
  const auto* const numbers = std::get_if<NamedNumbers>(&cell);
  if (numbers == nullptr) return out->Append("null");
  out->Append('{');
  for (size_t i = 0; i < numbers->size(); ++i) {
    if (i > 0) out->Append(',');
    AppendJsonString((*numbers)[i].name, out);
    out->Append(':', (*numbers)[i].number);
  }
  out->Append('}');
}

void AppendCsvCell(const Cell& cell, TextBuffer* out) {
  if (const auto* const text = std::get_if<absl::string_view>(&cell)) {
    AppendCsvField(*text, out);
  } else if (std::holds_alternative<NamedNumbers>(cell) || std::holds_alternative<JsonText>(cell)) {
    TextBuffer json;
    AppendJsonValue(cell, &json);
    AppendCsvField(json.view(), out);
  } else if (!std::holds_alternative<std::monostate>(cell)) {
    AppendJsonValue(cell, out);
  }
}

}  // namespace

void AppendCsvField(absl::string_view text, TextBuffer* out) {
  if (text.find_first_of(",\"\r\n") == text.npos) return out->Append(text);
  out->Append('"');
  for (const char c : text) {
    if (c == '"') out->Append('"');
    out->Append(c);
  }
  out->Append('"');
}

void AppendCsvText(absl::string_view text, TextBuffer* out) {
  if (text.empty()) return out->Append("\"\"");
  AppendCsvField(text, out);
}

void AppendTsvText(absl::string_view text, TextBuffer* out) {
  constexpr absl::string_view kSpecial("\t\n\r\\\b\f\0", 7);
  constexpr absl::string_view kLetters = "tnr\\bf0";
  if (text.find_first_of(kSpecial) == text.npos) return out->Append(text);
  for (const char c : text) {
    const size_t special = kSpecial.find(c);
    if (special == kSpecial.npos) {
      out->Append(c);
    } else {
      out->Append('\\', kLetters[special]);
    }
  }
}

std::string FormatNanoseconds(int64_t nanoseconds) {
  return FormatScaled(nanoseconds, 1000, {"ns", "µs", "ms", "s"});
}

std::string FormatBytes(int64_t bytes) {
  return FormatScaled(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
}

Table::Table(size_t rows, std::vector<Column> columns)
    : columns_(std::move(columns)), order_(rows) {
  std::iota(order_.begin(), order_.end(), size_t{0});
}

std::vector<std::string> Table::Names() const {
  std::vector<std::string> names;
  for (const Column& column : columns_) {
    if (!column.name.empty()) names.push_back(column.name);
  }
  return names;
}

absl::Status Table::Sort(absl::string_view column) {
  const auto has_name = [&](const Column& candidate) {
    absl::string_view name = candidate.name;
    if (column == name || column == absl::AsciiStrToLower(candidate.title)) return true;
    return (absl::ConsumeSuffix(&name, "_ns") || absl::ConsumeSuffix(&name, "_bytes")) &&
           column == name;
  };
  const auto found = std::find_if(columns_.begin(), columns_.end(), has_name);
  if (found == columns_.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no column ", Quoted(column), "; the columns are ", absl::StrJoin(Names(), ", ")));
  }
  std::vector<SortKey> keys;
  keys.reserve(order_.size());
  for (const size_t row : order_) {
    const Cell cell = found->value(row);
    SortKey& key = keys.emplace_back();
    key.number = KeyOf(cell);
    if (const auto* const text = std::get_if<absl::string_view>(&cell)) key.text = *text;
    key.row = row;
  }
  std::stable_sort(keys.begin(), keys.end());
  for (size_t i = 0; i < keys.size(); ++i) order_[i] = keys[i].row;
  return absl::OkStatus();
}

void Table::Truncate(size_t rows) {
  if (rows < order_.size()) order_.resize(rows);
}

namespace {

constexpr absl::string_view kGap = "  ";

// A column as text.
struct TextColumn {
  const Column* column = nullptr;
  std::vector<std::string> cells;  // The first is the title.
  bool is_text = false;
  bool is_last = false;
  size_t width = 0;
};

// How narrow texts may become, in the last column and in others.
struct Narrowest {
  size_t last;
  size_t other;
};
// From one to the next as long as they are not enough. The last text says most about a row.
constexpr Narrowest kNarrowest[] = {{26, 24}, {20, 18}, {20, 10}, {12, 10}};
constexpr size_t kWidest = 48;  // For a text that is not in the last column.

// Returns the width of a line in which the last text has at most `last` characters, and no other
// text more than `limit`.
size_t WidthWith(const std::vector<TextColumn>& columns, size_t last, size_t limit) {
  size_t sum = 0;
  for (const TextColumn& column : columns) {
    const size_t most = column.is_last ? last : limit;
    sum += kGap.size() + (column.is_text ? std::min(column.width, most) : column.width);
  }
  return sum - kGap.size();
}

// Removes the last column that may be omitted. Returns its title, or "" if there is none.
absl::string_view RemoveOne(bool only_minor, std::vector<TextColumn>* columns) {
  // The first columns say what a row is, or what it is sorted by.
  const size_t kept = only_minor ? 1 : 2;
  for (size_t i = columns->size(); i-- > kept;) {
    const TextColumn& one = (*columns)[i];
    if (only_minor ? !one.column->is_minor : one.is_text) continue;
    const absl::string_view title = one.column->title;
    const bool was_last = one.is_last;
    columns->erase(columns->begin() + static_cast<ptrdiff_t>(i));
    columns->back().is_last |= was_last;
    return title;
  }
  return "";
}

// Returns the text of a cell in at most `width` characters.
std::string Shortened(const TextColumn& column, size_t row, const std::string& cell, size_t width) {
  if (WidthOf(cell) <= width) return cell;
  const auto& fit = column.column->fit;
  const std::string text = fit == nullptr ? cell : QuotedUnlessPlain(fit(row, width));
  return WidthOf(text) > width ? CutOnTheLeft(text, width) : text;
}

}  // namespace

std::vector<absl::string_view> Table::AppendText(size_t width, TextBuffer* out) const {
  std::vector<absl::string_view> omitted;
  if (order_.empty()) return omitted;
  std::vector<const Column*> columns;
  for (const bool is_last : {false, true}) {
    for (const Column& column : columns_) {
      if (!column.title.empty() && column.is_last_in_text == is_last) columns.push_back(&column);
    }
  }
  std::vector<TextColumn> shown;
  for (const Column* const column : columns) {
    TextColumn text;
    text.column = column;
    text.cells.emplace_back(column->title);
    bool is_zero = column->unit == Unit::kNanoseconds || column->unit == Unit::kBytes;
    for (const size_t row : order_) {
      const Cell cell = column->value(row);
      text.is_text |= IsText(cell);
      const Unit unit = column->unit_of == nullptr ? column->unit : column->unit_of(row);
      text.cells.push_back(FormatCell(cell, unit));
      is_zero &= text.cells.back().empty() || text.cells.back() == "0";
    }
    if (is_zero) continue;
    for (const std::string& cell : text.cells) text.width = std::max(text.width, WidthOf(cell));
    shown.push_back(std::move(text));
  }
  if (shown.empty()) return omitted;
  shown.back().is_last = true;
  Narrowest narrowest = kNarrowest[0];
  const auto is_too_wide = [&] {
    return WidthWith(shown, narrowest.last, narrowest.other) > width;
  };
  const auto omit = [&](bool only_minor) {
    while (is_too_wide()) {
      const absl::string_view title = RemoveOne(only_minor, &shown);
      if (title.empty()) return;
      omitted.push_back(title);
    }
  };
  omit(/*only_minor=*/true);
  for (const Narrowest& step : kNarrowest) {
    if (is_too_wide()) narrowest = step;
  }
  omit(/*only_minor=*/false);
  size_t limit = kWidest;
  while (limit > narrowest.other && WidthWith(shown, narrowest.last, limit) > width) --limit;
  size_t before_last = 0;
  for (TextColumn& column : shown) {
    if (column.is_last) break;
    if (column.is_text && column.width > limit) {
      column.width = 0;
      for (size_t line = 0; line < column.cells.size(); ++line) {
        std::string& cell = column.cells[line];
        // The title is not cut.
        if (line > 0) cell = Shortened(column, order_[line - 1], cell, limit);
        column.width = std::max(column.width, WidthOf(cell));
      }
    }
    before_last += column.width + kGap.size();
  }
  const size_t room = std::max(width > before_last ? width - before_last : 0, narrowest.last);
  std::string text;
  for (size_t line = 0; line <= order_.size(); ++line) {
    text.clear();
    for (size_t i = 0; i < shown.size(); ++i) {
      const TextColumn& column = shown[i];
      const std::string& cell = column.cells[line];
      if (i > 0) absl::StrAppend(&text, kGap);
      const std::string padding(column.width - WidthOf(cell), ' ');
      if (!column.is_text) {
        absl::StrAppend(&text, padding, cell);
      } else if (column.is_last) {
        absl::StrAppend(&text, line == 0 ? cell : Shortened(column, order_[line - 1], cell, room));
      } else {
        absl::StrAppend(&text, cell, padding);
      }
    }
    out->Append(absl::StripTrailingAsciiWhitespace(text), "\n");
  }
  return omitted;
}

void Table::AppendCsv(bool has_names, absl::string_view before, absl::string_view before_value,
                      TextBuffer* out, const RowDone& row_done) const {
  if (has_names) {
    absl::string_view comma;
    if (!before.empty()) out->Append(before), comma = ",";
    for (const Column& column : columns_) {
      if (!column.name.empty()) out->Append(std::exchange(comma, ","), column.name);
    }
    out->Append('\n');
  }
  for (const size_t row : order_) {
    absl::string_view comma;
    if (!before.empty()) AppendCsvField(before_value, out), comma = ",";
    for (const Column& column : columns_) {
      if (column.name.empty()) continue;
      out->Append(std::exchange(comma, ","));
      AppendCsvCell(column.value(row), out);
    }
    out->Append('\n');
    if (row_done != nullptr) row_done();
  }
}

void Table::AppendJson(absl::string_view separator, absl::string_view before,
                       absl::string_view before_value, TextBuffer* out,
                       const RowDone& row_done) const {
  for (size_t i = 0; i < order_.size(); ++i) {
    if (i > 0) out->Append(separator);
    out->Append('{');
    absl::string_view comma;
    if (!before.empty()) {
      AppendJsonString(before, out);
      out->Append(':');
      AppendJsonString(before_value, out);
      comma = ",";
    }
    for (const Column& column : columns_) {
      if (column.name.empty()) continue;
      out->Append(std::exchange(comma, ","), "\"", column.name, "\":");
      AppendJsonValue(column.value(order_[i]), out);
    }
    out->Append('}');
    if (row_done != nullptr) row_done();
  }
}

}  // namespace gotrace::internal
