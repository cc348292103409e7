#include "tools/sql/table_files.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "analysis/tables/content_hash.h"
#include "export/parquet/parquet_rows.h"
#include "export/rows/text_rows.h"
#include "gotrace/library_version.h"
#include "util/new_file.h"
#include "util/quote.h"

namespace gotrace::internal {
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

absl::StatusOr<std::set<int64_t>> TableParts::TracesIn(const std::string& folder) {
  std::set<int64_t> ids;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::filesystem::path& path = it->path();
    const std::string name = path.stem().string();
    if (!absl::StartsWith(name, "part-") || path.extension() != absl::StrCat(".", extension_)) {
      continue;
    }
    std::ifstream list(ListOf(name));
    int64_t id = 0;
    while (list >> id) ids.insert(id);
    if (list.eof()) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        QuotedUnlessPlain(path.string()), ": ", QuotedUnlessPlain(ListOf(name)),
        " is missing, the list of its traces; remove both, or write to another directory"));
  }
  if (!error || error == std::errc::no_such_file_or_directory) return ids;
  return FileError(error.value(), "reading the directory", folder);
}

std::string TableParts::NameOf(absl::Span<const int64_t> trace_ids) {
  return absl::StrFormat("part-%016x", ContentHash(absl::StrJoin(trace_ids, " ")));
}

std::string TableParts::ListOf(absl::string_view name) const {
  return absl::StrCat(directory_, "/.parts/", name);
}

absl::Status TableParts::WriteList(absl::Span<const int64_t> trace_ids) {
  const std::string path = ListOf(NameOf(trace_ids));
  if (std::filesystem::exists(path)) return absl::OkStatus();
  NewDirectories directories;
  if (absl::Status status = directories.MakeFor(path); !status.ok()) return status;
  absl::StatusOr<OutputFile> file = OutputFile::Create(path);
  if (!file.ok()) return file.status();
  const int error = WriteAll(file->fd(), absl::StrCat(absl::StrJoin(trace_ids, "\n"), "\n"));
  return error == 0 ? file->Commit() : FileError(error, "writing", path);
}

NewDirectories::~NewDirectories() {
  for (; !created_.empty(); created_.pop_back()) rmdir(created_.back().c_str());
}

absl::Status NewDirectories::MakeFor(const std::string& path) {
  std::vector<std::string> missing;
  std::error_code error;
  for (std::filesystem::path directory = std::filesystem::path(path).parent_path();
       !directory.empty() && !std::filesystem::exists(directory, error);
       directory = directory.parent_path()) {
    missing.push_back(directory.string());
  }
  for (; !missing.empty(); missing.pop_back()) {
    // Another run may have made it meanwhile.
    if (std::filesystem::create_directory(missing.back(), error)) {
      created_.push_back(missing.back());
    } else if (error) {
      return FileError(error.value(), "creating the directory", missing.back());
    }
  }
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  if (directory.empty() || std::filesystem::is_directory(directory, error)) return absl::OkStatus();
  return FileError(ENOTDIR, "creating the directory", directory.string());
}

absl::StatusOr<TableFiles> TableFiles::Create(
    const std::vector<TableId>& tables, const TableFileOptions& options,
    const std::function<std::string(absl::string_view table)>& path_of) {
  TableFiles files;
  files.files_.reserve(tables.size());
  for (const TableId table : tables) {
    const std::string path = path_of(InfoOf(table).name);
    if (absl::Status status = files.directories_.MakeFor(path); !status.ok()) return status;
    absl::StatusOr<OutputFile> file = OutputFile::Create(path);
    if (!file.ok()) return file.status();
    const int fd = file->fd();
    files.files_.push_back({*std::move(file), std::make_unique<Output>(fd, path)});
    files.writers_->Set(options, table, files.files_.back().out->bytes());
  }
  return files;
}

absl::Status TableFiles::Finish(bool is_complete) {
  absl::Status status = writers_->Finish(is_complete);
  for (File& file : files_) status.Update(file.out->Finish());
  return status;
}

absl::Status TableFiles::Commit() {
  for (File& file : files_) {
    if (absl::Status status = file.file.Commit(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace gotrace::internal
