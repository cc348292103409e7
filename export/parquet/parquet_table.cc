#include "export/parquet/parquet_table.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "export/json/json_text.h"
#include "gotrace/byte_sink.h"
#include "util/quote.h"
#include "util/text_buffer.h"

namespace gotrace::internal {
namespace {

bool IsText(ParquetType type) {
  return type == ParquetType::kText || type == ParquetType::kFreeText;
}

// The values of a column in the form that ParquetWriter requires.
struct Input {
  std::vector<uint64_t> values;
  std::vector<absl::string_view> texts;
  std::vector<std::vector<std::pair<absl::string_view, absl::string_view>>> entries;
  std::vector<ParquetMap> maps;
};

}  // namespace

absl::StatusOr<std::string> WriteParquet(const ParquetTable& table, ParquetOptions options,
                                         std::vector<size_t> batches) {
  std::string bytes;
  const std::unique_ptr<ByteSink> sink = SinkToString(&bytes);
  std::vector<ParquetColumn> schema;
  std::vector<Input> inputs(table.columns.size());
  std::map<absl::string_view, uint64_t> handles;
  std::vector<absl::string_view> texts;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const ParquetTableColumn& column = table.columns[i];
    schema.push_back(column.column);
    Input& input = inputs[i];
    switch (column.column.type) {
      case ParquetType::kText:
        for (const std::string& text : column.texts) {
          const auto [handle, is_new] = handles.emplace(text, texts.size());
          if (is_new) texts.push_back(text);
          input.values.push_back(handle->second);
        }
        break;
      case ParquetType::kFreeText:
        input.texts.assign(column.texts.begin(), column.texts.end());
        break;
      case ParquetType::kTextMap:
        for (const auto& map : column.maps) input.entries.emplace_back(map.begin(), map.end());
        input.maps.assign(input.entries.begin(), input.entries.end());
        break;
      default:
        input.values = column.integers;
        break;
    }
  }
  options.metadata = table.metadata;
  ParquetWriter writer(
      schema, std::move(options), [&](uint64_t handle) { return texts[handle]; }, sink.get());
  size_t batch = 0;
  for (size_t row = 0; row < table.rows;) {
    const size_t rows = std::min(batches[batch++ % batches.size()], table.rows - row);
    std::vector<ColumnValues> values(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto slice = [&](const auto& all) {
        const auto span = absl::MakeConstSpan(all);
        return all.empty() ? span : span.subspan(row, rows);
      };
      const std::vector<uint8_t>& present = table.columns[i].present;
      const bool has_nulls = std::count(present.begin() + row, present.begin() + row + rows, 0) > 0;
      values[i].values = slice(inputs[i].values);
      if (has_nulls) values[i].present = slice(present);
      values[i].texts = slice(inputs[i].texts);
      values[i].maps = slice(inputs[i].maps);
    }
    writer.Append(rows, values);
    row += rows;
  }
  absl::Status status = writer.Finish();
  if (status.ok()) status = sink->Finish();
  if (!status.ok()) return status;
  return bytes;
}

namespace {

std::string Valid(absl::string_view text) {
  std::string valid;
  while (!text.empty()) {
    int size = 0;
    const bool is_valid = DecodeRune(text, &size) != 0xFFFD || size > 1;
    valid.append(is_valid ? std::string(text.substr(0, size)) : "\xEF\xBF\xBD");
    text.remove_prefix(size);
  }
  return valid;
}

}  // namespace

void MakeValid(ParquetTable* table) {
  for (ParquetTableColumn& column : table->columns) {
    for (size_t row = 0; row < column.present.size(); ++row) {
      if (column.present[row]) continue;
      if (!column.integers.empty()) column.integers[row] = 0;
      if (!column.texts.empty()) column.texts[row].clear();
      if (!column.maps.empty()) column.maps[row].clear();
    }
    for (uint64_t& value : column.integers) {
      switch (column.column.type) {
        case ParquetType::kBool:
          value = value != 0;
          break;
        case ParquetType::kInt32:
          value = static_cast<uint64_t>(static_cast<int32_t>(value));
          break;
        case ParquetType::kUint32:
          value = static_cast<uint32_t>(value);
          break;
        default:
          break;
      }
    }
    for (std::string& text : column.texts) text = Valid(text);
    for (auto& map : column.maps) {
      for (auto& [key, value] : map) {
        key = Valid(key);
        value = Valid(value);
      }
    }
  }
}

std::string FindDifference(const ParquetTable& expected, const ParquetTable& actual) {
  if (expected.rows != actual.rows) {
    return absl::StrCat("expected ", expected.rows, " rows, found ", actual.rows);
  }
  if (expected.metadata != actual.metadata) return "the metadata differs";
  if (expected.columns.size() != actual.columns.size()) {
    return absl::StrCat("expected ", expected.columns.size(), " columns, found ",
                        actual.columns.size());
  }
  for (size_t i = 0; i < expected.columns.size(); ++i) {
    const ParquetTableColumn& a = expected.columns[i];
    const ParquetTableColumn& b = actual.columns[i];
    if (a.column.name != b.column.name || a.column.nullable != b.column.nullable ||
        (a.column.type != b.column.type && !(IsText(a.column.type) && IsText(b.column.type)))) {
      return absl::StrCat("column ", i, " is another one");
    }
    for (size_t row = 0; row < expected.rows; ++row) {
      const auto differs = [&](const auto& x, const auto& y) {
        return x.size() != y.size() || (!x.empty() && x[row] != y[row]);
      };
      if (differs(a.present, b.present) || differs(a.integers, b.integers) ||
          differs(a.texts, b.texts) || differs(a.maps, b.maps)) {
        return absl::StrCat("column ", i, ", row ", row, ": another value");
      }
    }
  }
  return "";
}

std::string ToJsonLines(const ParquetTable& table) {
  TextBuffer out;
  for (size_t row = 0; row < table.rows; ++row) {
    out.Append('{');
    for (const ParquetTableColumn& column : table.columns) {
      if (&column != &table.columns[0]) out.Append(',');
      AppendJsonString(column.column.name, &out);
      out.Append(':');
      if (!column.present[row]) {
        out.Append("null");
      } else if (IsText(column.column.type)) {
        AppendJsonString(column.texts[row], &out);
      } else if (column.column.type == ParquetType::kTextMap) {
        out.Append('{');
        bool is_first = true;
        for (const auto& [key, value] : column.maps[row]) {
          if (!is_first) out.Append(',');
          is_first = false;
          AppendJsonString(key, &out);
          out.Append(':');
          AppendJsonString(value, &out);
        }
        out.Append('}');
      } else if (column.column.type == ParquetType::kBool) {
        out.Append(column.integers[row] ? "true" : "false");
      } else {
        const uint64_t value = column.integers[row];
        const bool is_signed =
            column.column.type == ParquetType::kInt32 || column.column.type == ParquetType::kInt64;
        AppendJsonString(
            is_signed ? absl::StrCat(static_cast<int64_t>(value)) : absl::StrCat(value), &out);
      }
    }
    out.Append("}\n");
  }
  return std::string(out.view());
}

namespace {

// Random numbers that are the same on every platform, unlike the distributions in <random>.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t Bits() { return engine_(); }
  uint64_t Below(uint64_t limit) { return engine_() % limit; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  // Returns a number of up to 64 bits; each number of bits is equally likely.
  uint64_t AnySize() { return Bits() >> Below(64); }

 private:
  std::mt19937_64 engine_;
};

uint64_t RandomInteger(int kind, uint64_t range, uint64_t step, size_t row, uint64_t last,
                       Random* random) {
  constexpr uint64_t kExtremes[] = {0,           1,           ~0ull,        1ull << 63, ~0ull >> 1,
                                    1ull << 31,  ~0u >> 1,    ~0u,          1ull << 32, 0x80000001,
                                    ~0ull << 31, ~0ull << 32, ~(1ull << 62)};
  switch (kind) {
    case 0:
      return random->Bits();
    case 1:
      return random->AnySize();
    case 2:
      return random->Below(range);
    case 3:  // Ascending, like times.
      return last + random->Below(step);
    case 4:  // Random, with few different values.
      return random->Below(range) * 0x9E3779B97F4A7C15;
    case 5:
      return kExtremes[random->Below(std::size(kExtremes))];
    case 6:  // Runs.
      return random->OneIn(50) ? random->Below(range) : last;
    case 7:
      return range + row * step;
    default:
      return range;
  }
}

std::string RandomText(int kind, uint64_t range, Random* random) {
  constexpr const char* kPieces[] = {"a",
                                     "\xC3\xA9",
                                     "\xE2\x82\xAC",
                                     "\xF0\x9F\x98\x80",
                                     "\x7F",
                                     "\xFF",
                                     "\xC3",
                                     "\xED\xA0\x80",
                                     "\n",
                                     "\"",
                                     "\xF4\x8F\xBF\xBF",
                                     "\xDF\xBF",
                                     "z",
                                     "\\",
                                     "\xEF\xBF\xBD"};
  std::string text;
  switch (kind) {
    case 0:
      return absl::StrCat("name ", random->Below(range));
    case 1:  // Different texts, often with a common prefix that is longer than a bound.
      return absl::StrCat("github.com/example/service/internal/handler.",
                          absl::Hex(random->Bits()));
    case 2: {  // Any characters, valid or not.
      const uint64_t size = random->Below(1 + random->Below(60));
      for (uint64_t i = 0; i < size; ++i) text += kPieces[random->Below(std::size(kPieces))];
      return text;
    }
    case 3: {  // Bytes.
      const uint64_t size = random->AnySize() % 200;
      for (uint64_t i = 0; i < size; ++i) text += static_cast<char>(random->Bits());
      return text;
    }
    case 4:  // Characters whose successor has another number of bytes.
      for (uint64_t i = random->Below(20); i < 40; ++i) text += kPieces[10 + random->Below(2)];
      return text;
    case 5:
      return std::string(random->OneIn(500) ? random->Below(20'000) : 3, 'x');
    default:
      return "";
  }
}

}  // namespace

RandomTable MakeRandomTable(uint64_t seed, size_t max_rows) {
  Random random(seed);
  RandomTable result;
  ParquetTable& table = result.table;
  table.rows = random.OneIn(20) ? 0 : 1 + random.AnySize() % max_rows;
  const size_t columns = 1 + random.Below(10);
  for (size_t i = 0; i < columns; ++i) {
    ParquetTableColumn& column = table.columns.emplace_back();
    constexpr int kTypes = static_cast<int>(ParquetType::kTextMap) + 1;
    // Each type in turn, from a random one on.
    column.column.type = static_cast<ParquetType>((seed + i) % kTypes);
    column.column.name = absl::StrCat("c", i);
    column.column.nullable = random.OneIn(2);
    column.column.bloom_filter = random.OneIn(3);
    const uint64_t nulls = random.Below(4);
    const int kind = static_cast<int>(random.Below(9));
    const uint64_t range = 1 + random.AnySize() % (uint64_t{1} << random.Below(40));
    const uint64_t step = 1 + random.Below(100'000);
    uint64_t last = random.AnySize();
    uint8_t present = 1;
    for (size_t row = 0; row < table.rows; ++row) {
      if (column.column.nullable) {
        present = nulls == 0   ? 0
                  : nulls == 1 ? 1
                  : nulls == 2 ? !random.OneIn(3)
                               : random.OneIn(100) != present;
      }
      column.present.push_back(present);
      switch (column.column.type) {
        case ParquetType::kText:
        case ParquetType::kFreeText:
          column.texts.push_back(RandomText(kind % 7, range, &random));
          break;
        case ParquetType::kTextMap: {
          auto& map = column.maps.emplace_back();
          for (uint64_t k = random.Below(4); k > 0; --k) {
            map.emplace_back(absl::StrCat("k", k), RandomText(kind % 7, range, &random));
          }
          break;
        }
        default:
          last = RandomInteger(kind, range, step, row, last, &random);
          column.integers.push_back(last);
          break;
      }
    }
  }
  MakeValid(&table);
  if (random.OneIn(2)) {
    table.metadata = {{"example.seed", absl::StrCat(seed)}, {"empty", ""}};
  }
  // Half of the tables would be small compared to the sizes in ParquetOptions, and would not test
  // the boundaries.
  if (random.OneIn(2)) {
    result.options.row_group_rows = 1 + random.AnySize() % 5000;
    result.options.page_rows = 1 + random.Below(500);
    result.options.page_bytes = 1 + random.AnySize() % 100'000;
  }
  // No more than about a hundred row groups and ten thousand pages.
  result.options.row_group_rows = std::max(result.options.row_group_rows, table.rows / 100);
  result.options.page_rows = std::max(result.options.page_rows, table.rows / 200);
  if (random.OneIn(4)) result.options.row_group_bytes = 1 + random.AnySize() % 1'000'000;
  result.options.zstd_level = static_cast<int>(random.Below(5)) - 1;
  for (size_t i = 0; i < 3; ++i) result.batches.push_back(1 + random.AnySize() % 4000);
  return result;
}

}  // namespace gotrace::internal
