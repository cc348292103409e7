// Writes a random table as a Parquet file, and its rows as lines of JSON:
//
//   random_table SEED MAX_ROWS PARQUET JSONL
#include <cstdio>
#include <fstream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "export/parquet/parquet_table.h"

namespace {

bool WriteFile(const char* path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  if (!file) std::fprintf(stderr, "random_table: cannot write %s\n", path);
  return static_cast<bool>(file);
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t seed;
  uint64_t max_rows;
  if (argc != 5 || !absl::SimpleAtoi(argv[1], &seed) || !absl::SimpleAtoi(argv[2], &max_rows) ||
      max_rows == 0) {
    std::fprintf(stderr, "usage: random_table SEED MAX_ROWS PARQUET JSONL\n");
    return 2;
  }
  const gotrace::internal::RandomTable random = gotrace::internal::MakeRandomTable(seed, max_rows);
  const absl::StatusOr<std::string> file =
      gotrace::internal::WriteParquet(random.table, random.options, random.batches);
  if (!file.ok()) {
    std::fprintf(stderr, "random_table: %s\n", file.status().ToString().c_str());
    return 1;
  }
  return WriteFile(argv[3], *file) &&
                 WriteFile(argv[4], gotrace::internal::ToJsonLines(random.table))
             ? 0
             : 1;
}
