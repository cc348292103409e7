#include "export/sqlite/row_set.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "util/quote.h"

namespace gotrace::internal {
namespace {

// A trace has less than 2 to the power of this rows in a table.
constexpr int kRowBits = 40;

constexpr uint64_t kUnknownName = std::numeric_limits<uint64_t>::max();

}  // namespace

bool RowCondition::IsMetBy(int64_t other) const {
  switch (comparison) {
    case Comparison::kEqual:
      return other == value;
    case Comparison::kLess:
      return other < value;
    case Comparison::kLessOrEqual:
      return other <= value;
    case Comparison::kGreater:
      return other > value;
    case Comparison::kGreaterOrEqual:
      return other >= value;
  }
  return false;
}

RowSet::RowSet(const TableInfo* info, uint64_t columns, std::vector<RowCondition> conditions,
               Interner* names)
    : info_(*info),
      columns_(columns),
      conditions_(std::move(conditions)),
      names_(*names),
      data_(info->columns.size() + 1) {}

void RowSet::BeginTrace(int64_t trace_id, size_t place) {
  begins_.emplace_back(added_, static_cast<int64_t>(place) << kRowBits);
  trace_id_ = trace_id;
  names_of_trace_.clear();
}

uint64_t RowSet::NameOf(const TableRows& rows, uint64_t value) {
  if (value >= names_of_trace_.size()) {
    names_of_trace_.resize(rows.interner().string_count(), kUnknownName);
  }
  uint64_t& name = names_of_trace_[value];
  if (name == kUnknownName) {
    const absl::string_view text = rows.interner().String(static_cast<StringId>(value));
    std::string valid;
    name = static_cast<uint64_t>(names_.InternString(ValidUtf8(text, &valid)));
  }
  return name;
}

void RowSet::Select(const TableRows& rows) {
  selected_.resize(rows.size());
  std::iota(selected_.begin(), selected_.end(), 0);
  for (const RowCondition& condition : conditions_) {
    if (condition.column == kTraceIdColumn) {
      if (!condition.IsMetBy(trace_id_)) selected_.clear();
      continue;
    }
    const size_t column = condition.column - 1;
    const std::vector<uint64_t>& values = rows.column(column).values;
    const bool is_name = info_.columns[column].type == ColumnType::kName;
    const auto fails = [&](uint32_t row) {
      if (rows.IsNull(column, row)) return true;
      const uint64_t value = is_name ? NameOf(rows, values[row]) : values[row];
      return !condition.IsMetBy(static_cast<int64_t>(value));
    };
    selected_.erase(std::remove_if(selected_.begin(), selected_.end(), fails), selected_.end());
  }
}

int64_t RowSet::NumberAt(uint64_t before) const {
  auto begin = std::prev(begins_.end());
  // Rows of earlier traces are there only where they are stored together.
  if (begin->first > before) {
    begin = std::prev(
        std::upper_bound(begins_.begin(), begins_.end(), before,
                         [](uint64_t count, const auto& trace) { return count < trace.first; }));
  }
  return begin->second + static_cast<int64_t>(before - begin->first);
}

void RowSet::AddRows(const TableRows& rows) {
  added_ += rows.size();
  if (columns_ == 0 && conditions_.empty()) {
    size_ += rows.size();
    return;
  }
  Select(rows);
  size_ += selected_.size();
  if (!conditions_.empty()) {
    const int64_t first = NumberAt(added_ - rows.size());
    for (const uint32_t row : selected_) numbers_.push_back(first + row);
  }
  if ((columns_ & 1) != 0) data_[0].values.resize(size_, static_cast<uint64_t>(trace_id_));
  for (size_t column = 0; column < info_.columns.size(); ++column) {
    if ((columns_ >> (column + 1) & 1) == 0) continue;
    TableRows::Column& to = data_[column + 1];
    const TableRows::Column& from = rows.column(column);
    for (const uint32_t row : selected_) {
      uint64_t value = from.values[row];
      const bool is_null = rows.IsNull(column, row);
      if (is_null) {
        value = 0;
      } else if (info_.columns[column].type == ColumnType::kName) {
        value = NameOf(rows, value);
      } else if (info_.columns[column].type == ColumnType::kText) {
        std::string valid;
        texts_.emplace_back(ValidUtf8(rows.Text(column, row), &valid));
        value = texts_.size() - 1;
      }
      to.values.push_back(value);
      if (info_.columns[column].is_nullable) to.present.push_back(is_null ? 0 : 1);
    }
  }
}

bool RowSet::Meets(const RowCondition& condition, size_t row) const {
  return !IsNull(condition.column, row) && condition.IsMetBy(Value(condition.column, row));
}

void RowSet::Clear() {
  size_ = 0;
  numbers_.clear();
  for (TableRows::Column& column : data_) {
    column.values.clear();
    column.present.clear();
  }
  texts_.clear();
}

}  // namespace gotrace::internal
