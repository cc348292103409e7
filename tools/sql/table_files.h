// The files to which tables are written, one for each table.
#ifndef GOTRACE_TOOLS_SQL_TABLE_FILES_H_
#define GOTRACE_TOOLS_SQL_TABLE_FILES_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "export/rows/rows_writer.h"
#include "gotrace/byte_sink.h"
#include "gotrace/trace_tables.h"
#include "tools/cli/output.h"

namespace gotrace::internal {

enum class TableFormat : uint8_t { kParquet, kCsv, kTsv, kJsonLines };

// The options of table files.
struct TableFileOptions {
  TableFormat format = TableFormat::kParquet;
  bool is_signed = false;  // kParquet: whether UINT64 columns are INT64 with the same bits.
  // kParquet: the file that all rows come from; "" if there are several.
  std::string source = {};
  // kParquet: whether the rows are in the order of TableInfo::order, and traces in order of their
  // ids.
  bool is_sorted = true;
};

// Returns the extension of files of a format, without a dot: "csv".
absl::string_view ExtensionOf(TableFormat format);

// Returns a writer for the rows of a table. `*out` must outlive it.
std::unique_ptr<RowsWriter> MakeRowsWriter(const TableFileOptions& options, const TableInfo& table,
                                           ByteSink* out);

// Passes the rows of each table to its writer.
class TableWriters final : public TableConsumer {
 public:
  // Sets the writer of a table. It writes to `*out`, which must outlive this object.
  void Set(const TableFileOptions& options, TableId table, ByteSink* out);

  void BeginTrace(int64_t trace_id);
  void AddRows(const TableRows& rows) override;

  // Returns whether there was no error of writing so far.
  bool ok() const;

  // Writes the rest of the output. `is_complete` is as for RowsWriter::Finish().
  absl::Status Finish(bool is_complete);

 private:
  struct Table {
    std::unique_ptr<RowsWriter> writer;
    ByteSink* out = nullptr;
  };

  std::array<Table, kTableIdEnd> tables_;
};

// Records which traces are in the files of a directory with partitions. Each file is named
// part-HASH, after the ids of its traces, and the directory has a hidden list of these ids for each
// HASH, which is written before the first file with this name. So even if a run is killed, the next
// one knows the contents of each file.
class TableParts {
 public:
  TableParts(std::string directory, absl::string_view extension)
      : directory_(std::move(directory)), extension_(extension) {}

  // Returns the ids of the traces in the files of a partition's folder. Fails if they cannot be
  // determined.
  absl::StatusOr<std::set<int64_t>> TracesIn(const std::string& folder);

  // Returns the name of a file with the rows of these traces, in this order.
  static std::string NameOf(absl::Span<const int64_t> trace_ids);

  // Writes the list for a file, if there is none.
  absl::Status WriteList(absl::Span<const int64_t> trace_ids);

 private:
  std::string ListOf(absl::string_view name) const;

  const std::string directory_;
  const std::string extension_;
};

// Creates directories, and at the end removes those that are empty.
class NewDirectories {
 public:
  NewDirectories() = default;
  NewDirectories(NewDirectories&&) = default;
  NewDirectories& operator=(NewDirectories&&) = delete;
  ~NewDirectories();

  // Creates the directories that the file at `path` needs.
  absl::Status MakeFor(const std::string& path);

 private:
  std::vector<std::string> created_;  // From the outermost on.
};

// New files, one for each table. They get their names only at the end; if one cannot be written,
// none or only some get their names.
class TableFiles {
 public:
  // Creates the file `path_of(name of the table)` for each of `tables`, and the directories that it
  // needs.
  static absl::StatusOr<TableFiles> Create(
      const std::vector<TableId>& tables, const TableFileOptions& options,
      const std::function<std::string(absl::string_view table)>& path_of);

  TableWriters& writers() { return *writers_; }

  // Writes the rest of the output. `is_complete` is as for RowsWriter::Finish().
  absl::Status Finish(bool is_complete);

  // Gives the files their names. Call it once, after Finish().
  absl::Status Commit();

 private:
  struct File {
    OutputFile file;
    std::unique_ptr<Output> out;
  };

  TableFiles() : writers_(std::make_unique<TableWriters>()) {}

  NewDirectories directories_;  // Outlives the files in them.
  std::vector<File> files_;
  std::unique_ptr<TableWriters> writers_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_SQL_TABLE_FILES_H_
