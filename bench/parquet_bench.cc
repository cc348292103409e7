// Measures how fast Parquet files are written:
//
//   parquet_bench [FILE]
//
// The table has 2,000,000 rows and 20 columns, like the events of a trace: a time, ids, numbers,
// and texts with handles; twelve of them have nulls. Prints rows a second of processor time, and
// bytes a row, for each level of compression. Writes the table to FILE, so that another writer can
// write the same rows.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "export/parquet/parquet_writer.h"
#include "gotrace/byte_sink.h"

namespace gotrace::internal {
namespace {

struct BenchColumn {
  ParquetColumn column;
  std::vector<uint64_t> values;
  std::vector<uint8_t> present;
};

constexpr size_t kRows = 2'000'000;
constexpr uint64_t kTexts = 200;

std::vector<BenchColumn> MakeColumns() {
  constexpr uint64_t kHash = 0x9E3779B97F4A7C15;
  std::mt19937_64 random(1);
  const auto below = [&random](uint64_t limit) { return random() % limit; };
  std::vector<BenchColumn> columns;
  size_t next = 0;
  // Adds a value to the next column, and makes that for the first row.
  const auto add = [&](absl::string_view name, ParquetType type, uint64_t value) {
    if (next == columns.size()) columns.push_back({{std::string(name), type}, {}, {}});
    columns[next++].values.push_back(value);
  };
  const auto add_nullable = [&](absl::string_view name, ParquetType type, bool present,
                                uint64_t value) {
    add(name, type, value);
    columns[next - 1].column.nullable = true;
    columns[next - 1].present.push_back(present);
  };
  uint64_t time = 1'000'000'000, offset = 100, goroutines = 1;
  uint64_t running[4] = {0, 1, 2, 3};  // The goroutine on each P.
  for (size_t row = 0; row < kRows; ++row) {
    const uint64_t kind = below(8), p = below(4);
    const bool is_state = kind < 6;
    time += below(uint64_t{1} << (1 + below(12)));
    offset += 3 + below(10);
    if (below(8) == 0) {
      running[p] =
          below(4) == 0 ? goroutines++ : goroutines - below(std::min<uint64_t>(goroutines, 2000));
    }
    next = 0;
    add("time_ns", ParquetType::kInt64, time);
    add("kind", ParquetType::kText, is_state ? 0 : kind);
    add("type", ParquetType::kText, 20 + 3 * kind + below(3));
    add("generation", ParquetType::kUint64, row / 1'500'000);
    add("offset", ParquetType::kUint64, offset);
    add("g", ParquetType::kInt64, running[p]);
    add("p", ParquetType::kInt32, p);
    add("m", ParquetType::kInt64, 100 + 7 * p + (below(100) == 0));
    add_nullable("resource_kind", ParquetType::kText, is_state, 50 + below(3));
    add_nullable("resource", ParquetType::kInt64, is_state, running[p]);
    add_nullable("from_state", ParquetType::kText, is_state, 60 + below(6));
    add_nullable("to_state", ParquetType::kText, is_state, 60 + below(6));
    add_nullable("reason", ParquetType::kText, is_state && below(2) == 0, 100 + below(20));
    add_nullable("stack_id", ParquetType::kUint64, kind < 5, (below(40) * below(40) + 1) * kHash);
    add_nullable("resource_stack_id", ParquetType::kUint64, kind == 3, (below(30) + 1) * kHash);
    add_nullable("dur_ns", ParquetType::kInt64, is_state, random() >> (34 + below(26)));
    add_nullable("value", ParquetType::kUint64, kind == 7 && below(4) == 0, below(100'000) * 8192);
    add_nullable("task", ParquetType::kUint64, kind == 6 && below(16) == 0, row / 50);
    add_nullable("parent", ParquetType::kUint64, kind == 6 && below(64) == 0, row / 60);
    add_nullable("fault", ParquetType::kInt32, false, 0);
  }
  return columns;
}

class NullSink : public ByteSink {
 protected:
  absl::Status Write(absl::string_view) override { return absl::OkStatus(); }
};

// Writes the table, and returns how long that took in seconds.
double WriteTable(const std::vector<BenchColumn>& columns, const std::vector<std::string>& texts,
                  int level, ByteSink* sink) {
  std::vector<ParquetColumn> schema;
  for (const BenchColumn& column : columns) schema.push_back(column.column);
  ParquetOptions options;
  options.zstd_level = level;
  options.sorting_columns = {0};
  const std::clock_t start = std::clock();
  ParquetWriter writer(
      schema, options, [&](uint64_t handle) { return absl::string_view(texts[handle]); }, sink);
  constexpr size_t kBatch = 4096;
  std::vector<ColumnValues> values(columns.size());
  for (size_t row = 0; row < kRows; row += kBatch) {
    for (size_t i = 0; i < columns.size(); ++i) {
      values[i].values = absl::MakeConstSpan(columns[i].values).subspan(row, kBatch);
      if (columns[i].column.nullable) {
        values[i].present = absl::MakeConstSpan(columns[i].present).subspan(row, kBatch);
      }
    }
    writer.Append(values[0].values.size(), values);
  }
  absl::Status status = writer.Finish();
  if (status.ok()) status = sink->Finish();
  if (!status.ok()) std::fprintf(stderr, "parquet_bench: %s\n", status.ToString().c_str());
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

int Run(const char* file) {
  const std::vector<BenchColumn> columns = MakeColumns();
  std::vector<std::string> texts;
  for (uint64_t i = 0; i < kTexts; ++i) {
    texts.push_back(absl::StrCat("github.com/example/package", i % 37, ".Function", i));
  }
  for (const int level : {1, 3, 6}) {
    double best = 1e9;
    uint64_t bytes = 0;
    for (int i = 0; i < 5; ++i) {
      NullSink sink;
      best = std::min(best, WriteTable(columns, texts, level, &sink));
      bytes = sink.size();
    }
    std::printf("level %d: %.2f M rows/s, %.2f bytes a row\n", level, kRows / best / 1e6,
                static_cast<double>(bytes) / kRows);
  }
  if (file == nullptr) return 0;
  absl::StatusOr<std::unique_ptr<ByteSink>> sink = SinkToFile(file);
  if (sink.ok()) WriteTable(columns, texts, 3, sink->get());
  const absl::Status status = sink.ok() ? (*sink)->status() : sink.status();
  if (!status.ok()) std::fprintf(stderr, "parquet_bench: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace gotrace::internal

int main(int argc, char** argv) {
  if (argc <= 2) return gotrace::internal::Run(argc == 2 ? argv[1] : nullptr);
  std::fprintf(stderr, "usage: parquet_bench [FILE]\n");
  return 2;
}
