// Fuzzes Parquet files: the reader of the tests reads any bytes, and finds the rows that were
// written, whatever they are.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "export/parquet/parquet_reader.h"
#include "export/parquet/parquet_table.h"
#include "fuzz/target.h"

namespace gotrace::internal {
namespace {

// Takes parts of an input, and zeros after its end.
class Input {
 public:
  explicit Input(absl::string_view bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }

  uint64_t Take(size_t size) {
    uint64_t value = 0;
    for (size_t i = 0; i < size && !bytes_.empty(); ++i) {
      value |= uint64_t{static_cast<uint8_t>(bytes_[0])} << (8 * i);
      bytes_.remove_prefix(1);
    }
    return value;
  }

  std::string TakeText() {
    const std::string text(bytes_.substr(0, Take(1) % 64));
    bytes_.remove_prefix(std::min(text.size(), bytes_.size()));
    return text;
  }

 private:
  absl::string_view bytes_;
};

template <typename T>
T Last(const std::vector<T>& values) {
  return values.back();
}

// Adds a value: of the last row, near it, or another one.
void AddValue(Input* input, ParquetTableColumn* column) {
  const uint64_t choice = input->Take(1) % 8;
  const bool is_first = column->present.empty();
  const bool is_null = column->column.nullable && choice == 0;
  column->present.push_back(!is_null);
  switch (column->column.type) {
    case ParquetType::kText:
    case ParquetType::kFreeText:
      column->texts.push_back(choice < 5 && !is_first ? column->texts.back() : input->TakeText());
      break;
    case ParquetType::kTextMap: {
      auto map = is_first ? decltype(column->maps)::value_type() : column->maps.back();
      if (choice == 1) map.clear();
      if (choice > 4) map.emplace_back(input->TakeText(), absl::StrCat(choice));
      column->maps.push_back(std::move(map));
      break;
    }
    default: {
      const uint64_t last = is_first ? 0 : column->integers.back();
      column->integers.push_back(choice < 4   ? last
                                 : choice < 6 ? last + input->Take(1)
                                              : input->Take(choice == 6 ? 2 : 8));
      break;
    }
  }
}

RandomTable MakeTable(absl::string_view bytes) {
  Input input(bytes);
  RandomTable result;
  // Not so small that all the time goes to compressing pages.
  result.options.row_group_rows = 20 + input.Take(2);
  result.options.row_group_bytes = 1 + input.Take(3);
  result.options.page_rows = 20 + input.Take(1);
  result.options.page_bytes = 50 + input.Take(2);
  result.options.zstd_level = 1;
  result.batches = {1 + static_cast<size_t>(input.Take(1)), 3};
  for (uint64_t columns = 1 + input.Take(1) % 6; columns > 0; --columns) {
    const uint64_t choice = input.Take(1);
    ParquetTableColumn& column = result.table.columns.emplace_back();
    column.column.name = absl::StrCat("c", columns);
    column.column.type = static_cast<ParquetType>(choice % 8);
    column.column.nullable = choice & 8;
    column.column.bloom_filter = choice & 16;
  }
  constexpr size_t kMaxRows = 1000;
  while (!input.empty() && result.table.rows < kMaxRows) {
    // Mostly one row, and sometimes many of the same.
    const uint64_t choice = input.Take(1);
    const uint64_t times = choice < 0xF0 ? 1 : (choice - 0xEF) * 8;
    for (ParquetTableColumn& column : result.table.columns) {
      AddValue(&input, &column);
      const auto repeat = [times](auto* values) {
        if (!values->empty()) values->insert(values->end(), times - 1, Last(*values));
      };
      repeat(&column.present);
      repeat(&column.integers);
      repeat(&column.texts);
      repeat(&column.maps);
    }
    result.table.rows += times;
  }
  MakeValid(&result.table);
  return result;
}

}  // namespace

void RunTarget(absl::string_view input) {
  ParquetReadOptions options;
  options.max_values = 100'000;
  options.max_bytes = 1 << 20;
  ReadParquet(input, options).IgnoreError();
  // Without checksums, changes get further.
  options.checks_crc = false;
  ReadParquet(input, options).IgnoreError();

  const RandomTable made = MakeTable(input);
  const absl::StatusOr<std::string> bytes = WriteParquet(made.table, made.options, made.batches);
  FUZZ_CHECK(bytes.ok(), bytes.status().message());
  const absl::StatusOr<ParquetFile> file = ReadParquet(*bytes);
  FUZZ_CHECK(file.ok(), file.status().message());
  const std::string difference = FindDifference(made.table, file->table);
  FUZZ_CHECK(difference.empty(), difference);
}

}  // namespace gotrace::internal
