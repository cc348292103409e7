#include "tools/commands/table_command.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/cli/terminal.h"

namespace gotrace::internal {
namespace {

// The default maximum number of rows of a table for people.
constexpr uint64_t kTextRows = 40;

}  // namespace

std::vector<Flag> TableCommand::OutputFlags() {
  const OwnFormat own = own_format();
  std::vector<absl::string_view> formats = {"text", "csv", "json", "jsonl"};
  if (!own.name.empty()) formats.push_back(own.name);
  std::vector<Flag> rows = {
      {.name = "format",
       .value = "FORMAT",
       .help = absl::StrCat("text (default), a table for people; csv; json, one object for each "
                            "file; or jsonl, one object on a line for each row. Only text rounds "
                            "numbers; the other formats have nanoseconds and bytes.",
                            own.help),
       .set = SetChoice(std::move(formats), &format_)},
      {.name = "sort",
       .value = "COLUMN",
       .help = "Sort by a column, the largest first; texts in alphabetical order. "
               "docs/analyses.md lists the columns.",
       // They depend on the flags that say what the rows are, which may follow this one.
       .set = {SetText(&sort_), MakeTable(nullptr, Interner()).Names()}},
      {.name = "top",
       .value = "N",
       .help = absl::StrCat("Print at most N rows; 0 for all. Default: ", kTextRows,
                            " as text, and all in other formats."),
       .set = SetNumber(0, &top_)}};
  if (HasStacks()) {
    rows.push_back(
        {.name = "lines",
         .value = "",
         .help = "Keep stacks apart that differ only in lines, and print their files and lines. "
                 "CSV and JSON always have them.",
         .set = SetSwitch(&lines_)});
  }
  return rows;
}

absl::Status TableCommand::Check() const {
  absl::Status status = AnalysisCommand::Check();
  if (!PrintsTable() && (!sort_.empty() || top_ != kDefaultTop)) {
    status.Update(absl::InvalidArgumentError("--sort and --top work only with tables"));
  }
  const Interner none;
  if (!sort_.empty()) {
    const absl::Status sorted = MakeTable(nullptr, none).Sort(sort_);
    if (!sorted.ok()) {
      status.Update(absl::InvalidArgumentError(absl::StrCat("--sort: ", sorted.message())));
    }
  }
  return status;
}

int TableCommand::Run(const std::vector<std::string>& files, Output* out) {
  has_csv_names_ = false;
  return AnalysisCommand::Run(files, out);
}

absl::Status TableCommand::PrintResult(const ReadResult& result, FileOutput* output) {
  Table table = MakeTable(&result.sink->analysis(), result.sink->interner());
  const absl::string_view sort = sort_.empty() ? DefaultSort() : sort_;
  // Check() has found that the column exists.
  if (!sort.empty()) table.Sort(sort).IgnoreError();
  const size_t all = table.rows();
  const uint64_t top = top_ == kDefaultTop ? (format_ == kTable ? kTextRows : 0) : top_;
  if (top > 0) table.Truncate(top);
  if (all == 0) NoteNothing(result, output->file());
  const std::string file = output->name();
  const absl::string_view file_column = output->several() ? this->file_column() : "";
  TextBuffer& out = output->buffer();
  const auto flush = [output] { output->out().MaybeFlush(); };
  switch (format_) {
    case kTable:
      output->BeginText();
      if (const std::vector<absl::string_view> omitted = table.AppendText(TableWidth(), &out);
          !omitted.empty()) {
        out.Append("(no room for ", absl::StrJoin(omitted, ", "), "; --format=csv has all)\n");
      }
      if (all == 0) out.Append("no ", RowsName(), "\n");
      if (table.rows() < all) {
        out.Append("(", uint64_t{all - table.rows()}, " more; --top=0 shows all)\n");
      }
      break;
    case kCsv:
      table.AppendCsv(!std::exchange(has_csv_names_, true), file_column, file, &out, flush);
      break;
    case kJson: {
      JsonWriter json(&out);
      json.BeginObject();
      AppendFileMembers(ObjectName(*output), &json);
      AppendOwnMembers(&json);
      AppendCompleteness(result.status, result.losses, &json);
      json.Key(RowsName());
      json.BeginArray();
      table.AppendJson(",", "", "", &out, flush);
      json.EndArray();
      json.EndObject();
      out.Append('\n');
      break;
    }
    default:
      table.AppendJson("\n", file_column, file, &out, flush);
      if (table.rows() > 0) out.Append('\n');
      break;
  }
  return absl::OkStatus();
}

}  // namespace gotrace::internal
