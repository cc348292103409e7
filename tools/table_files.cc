#include "tools/table_files.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "export/parquet/parquet_rows.h"
#include "export/rows/text_rows.h"
#include "gotrace/library_version.h"
#include "util/new_file.h"

namespace gotrace::internal {
namespace {

absl::Status MakeDirectoryOf(const std::string& path) {
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  if (directory.empty()) return absl::OkStatus();
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (!error) return absl::OkStatus();
  return FileError(error.value(), "creating the directory", directory.string());
}

}  // namespace

absl::string_view ExtensionOf(TableFormat format) {
  switch (format) {
    case TableFormat::kParquet:
      return "parquet";
    case TableFormat::kCsv:
      return "csv";
    case TableFormat::kTsv:
      return "tsv";
    case TableFormat::kJsonLines:
      return "jsonl";
  }
  return "";
}

std::unique_ptr<RowsWriter> MakeRowsWriter(const TableFileOptions& options, const TableInfo& table,
                                           ByteSink* out) {
  switch (options.format) {
    case TableFormat::kParquet:
      return MakeParquetRowsWriter({.is_signed = options.is_signed,
                                    .is_sorted = options.is_sorted,
                                    .source = options.source,
                                    .version = GOTRACE_VERSION},
                                   table, out);
    case TableFormat::kCsv:
      return MakeTextRowsWriter(TextRowsFormat::kCsv, table, out);
    case TableFormat::kTsv:
      return MakeTextRowsWriter(TextRowsFormat::kTsv, table, out);
    case TableFormat::kJsonLines:
      return MakeTextRowsWriter(TextRowsFormat::kJsonLines, table, out);
  }
  return nullptr;
}

void TableWriters::Set(const TableFileOptions& options, TableId table, ByteSink* out) {
  tables_[static_cast<size_t>(table)] = {MakeRowsWriter(options, InfoOf(table), out), out};
}

void TableWriters::BeginTrace(int64_t trace_id) {
  for (const Table& table : tables_) {
    if (table.writer != nullptr) table.writer->BeginTrace(trace_id);
  }
}

void TableWriters::AddRows(const TableRows& rows) {
  tables_[static_cast<size_t>(rows.info().id)].writer->Add(rows);
}

bool TableWriters::ok() const {
  for (const Table& table : tables_) {
    if (table.out != nullptr && !table.out->ok()) return false;
  }
  return true;
}

absl::Status TableWriters::Finish(bool is_complete) {
  absl::Status status;
  for (const Table& table : tables_) {
    if (table.writer != nullptr) status.Update(table.writer->Finish(is_complete));
  }
  return status;
}

absl::StatusOr<TableFiles> TableFiles::Create(
    const std::vector<TableId>& tables, const TableFileOptions& options,
    const std::function<std::string(absl::string_view table)>& path_of) {
  TableFiles files;
  files.files_.reserve(tables.size());
  for (const TableId table : tables) {
    const std::string path = path_of(InfoOf(table).name);
    if (absl::Status status = MakeDirectoryOf(path); !status.ok()) return status;
    absl::StatusOr<OutputFile> file = OutputFile::Create(path);
    if (!file.ok()) return file.status();
    const int fd = file->fd();
    files.files_.push_back({*std::move(file), std::make_unique<Output>(fd, path)});
    files.writers_->Set(options, table, files.files_.back().out->bytes());
  }
  return files;
}

absl::Status TableFiles::Commit(bool is_complete) {
  absl::Status status = writers_->Finish(is_complete);
  for (File& file : files_) status.Update(file.out->Finish());
  for (File& file : files_) {
    if (!status.ok()) return status;
    status = file.file.Commit();
  }
  return status;
}

}  // namespace gotrace::internal
