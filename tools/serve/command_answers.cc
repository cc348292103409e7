#include "tools/serve/command_answers.h"

#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "export/json/json_text.h"
#include "gotrace/byte_source.h"
#include "gotrace/profile.h"
#include "gotrace/trace_index.h"
#include "parser/event/trace_clock.h"
#include "tools/cli/command.h"
#include "tools/cli/command_line.h"
#include "tools/cli/flags.h"
#include "tools/cli/inner_command.h"
#include "tools/cli/output.h"
#include "tools/cli/registry.h"
#include "tools/cli/shared_flags.h"
#include "tools/serve/flame.h"
#include "tools/sql/sql_output.h"
#include "tools/sql/sql_session.h"
#include "util/text_buffer.h"
#include "view/answer_json.h"
#include "view/overview.h"

namespace gotrace::internal {

using view::ErrorAnswer;

namespace {

// The most rows of an answer, and the most events and how many there are by default.
constexpr uint64_t kMaxRows = 10000;
constexpr uint64_t kEvents = 500;

// Stacks of a profile that take more bytes than this are not kept.
constexpr size_t kMaxKeptProfile = size_t{16} << 20;

// The most rows of a query.
constexpr uint64_t kMaxSqlRows = 100'000;

// The most bytes of its rows, and of a single value.
constexpr size_t kMaxSqlBytes = size_t{64} << 20;
constexpr int kMaxSqlValue = 16 << 20;

// The most nodes of a flame graph.
constexpr uint64_t kMaxNodes = 50000;

constexpr absl::string_view kJson = "application/json";
constexpr absl::string_view kJsonLines = "application/x-ndjson";
constexpr absl::string_view kText = "text/plain; charset=utf-8";

// Parameters that say how large the answer becomes.
constexpr absl::string_view kSizes[] = {"top", "slices", "worst", "limit"};

// Returns the members that name a file in JSON. They occur in no text, where quotes are escaped.
std::string FileMembers(absl::string_view name) {
  TextBuffer out;
  JsonWriter json(&out);
  json.BeginObject();
  AppendFileMembers(name, &json);
  return std::string(out.view().substr(1));
}

// A file in memory.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("answer", MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (fd_ >= 0) close(fd_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int fd() const { return fd_; }

  std::string Contents() const {
    struct stat facts = {};
    if (fd_ < 0 || fstat(fd_, &facts) != 0) return "";
    std::string bytes(static_cast<size_t>(facts.st_size), '\0');
    size_t size = 0;
    while (size < bytes.size()) {
      const ssize_t count = pread(fd_, &bytes[size], bytes.size() - size, static_cast<off_t>(size));
      if (count <= 0) break;
      size += static_cast<size_t>(count);
    }
    bytes.resize(size);
    return bytes;
  }

 private:
  const int fd_;
};

// The rows of a query as JSON: {"columns":[...],"rows":[[...],...],"more":false}.
class QueryRows final : public SqlRows {
 public:
  explicit QueryRows(uint64_t limit) : limit_(limit) {}

  bool AddRow(sqlite3_stmt* statement) override {
    if (count_ == limit_) {
      has_more_ = true;
      return false;
    }
    rows_.Append(count_++ == 0 ? "[" : ",[");
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      if (i > 0) rows_.Append(',');
      AppendJsonValue(statement, i, &rows_);
    }
    rows_.Append(']');
    return !is_too_large();
  }

  void Finish(sqlite3_stmt* statement) override {
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      if (i > 0) columns_.Append(',');
      AppendJsonString(sqlite3_column_name(statement, i), &columns_);
    }
  }

  bool is_too_large() const { return rows_.view().size() > kMaxSqlBytes; }

  std::string Answer() const {
    return absl::StrCat(R"({"columns":[)", columns_.view(), R"(],"rows":[)", rows_.view(),
                        R"(],"more":)", has_more_ ? "true" : "false", "}");
  }

 private:
  const uint64_t limit_;
  uint64_t count_ = 0;
  bool has_more_ = false;
  TextBuffer columns_;
  TextBuffer rows_;
};

bool IsGivenUp(const std::function<bool()>& keep_going) {
  return keep_going != nullptr && !keep_going();
}

int StatusOf(const absl::Status& status) { return absl::IsCancelled(status) ? 503 : 400; }

}  // namespace

// Waits until no other command runs, and then runs one.
class CommandAnswers::Turn {
 public:
  Turn(const CommandAnswers& answers, const std::function<bool()>& keep_going)
      : answers_(answers), inner_(keep_going) {
    constexpr std::chrono::milliseconds kLook(50);
    std::unique_lock lock(answers_.mutex_);
    while (answers_.is_running_) {
      answers_.has_ended_.wait_until(lock, std::chrono::system_clock::now() + kLook);
      if (IsGivenUp(keep_going)) return;
    }
    has_come_ = answers_.is_running_ = true;
  }
  ~Turn() {
    if (!has_come_) return;
    const std::lock_guard lock(answers_.mutex_);
    answers_.is_running_ = false;
    answers_.has_ended_.notify_one();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // Returns what the command reported.
  const std::string& messages() const { return inner_.messages(); }

  // Fails if nobody waits for the answer any more.
  absl::Status status() const {
    return has_come_ ? absl::OkStatus() : absl::CancelledError("given up");
  }

 private:
  const CommandAnswers& answers_;
  const InnerCommand inner_;
  bool has_come_ = false;
};

CommandAnswers::Result CommandAnswers::Run(std::vector<std::string> words,
                                           const std::function<bool()>& keep_going) const {
  const CommandList commands = MakeCommands();
  std::vector<char*> args;
  for (std::string& word : words) args.push_back(word.data());
  // The analyses use all cores.
  const Turn turn(*this, keep_going);
  CommandLine line;
  Result output = {.status = turn.status(), .bytes = ""};
  if (output.status.ok()) {
    output.status = ParseCommandLine(args, commands, /*is_terminal=*/false, &line);
  }
  if (!output.status.ok()) return output;
  if (line.command == nullptr) {
    output.status = absl::InvalidArgumentError("not a request for an answer");
    return output;
  }
  const MemoryFile file;
  Output out(file.fd(), "answer");
  const int code = line.command->Run(line.files, &out);
  output.status = out.Finish();
  output.bytes = file.Contents();
  if (IsGivenUp(keep_going)) output.status = absl::CancelledError("given up");
  if (output.status.ok() && code == kUsageOrIo && output.bytes.empty()) {
    output.status = absl::InvalidArgumentError(turn.messages());
  }
  return output;
}

absl::StatusOr<std::vector<std::string>> CommandAnswers::WordsFor(
    absl::string_view command, absl::Span<const ViewParameter> parameters) const {
  const CommandList commands = MakeCommands();
  const auto found =
      absl::c_find_if(commands, [&](const auto& one) { return one->text().name == command; });
  if (found == commands.end()) return absl::NotFoundError("no such command");
  const std::vector<Flag> flags = (*found)->Flags();
  std::vector<std::string> words = {std::string(command)};
  for (const auto& [name, value] : parameters) {
    const Flag* const flag = FindFlag(flags, name);
    if (flag == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(name, " is of no use here"));
    }
    std::string text = value;
    if (absl::c_linear_search(kSizes, name)) {
      uint64_t size = 0;
      if (!absl::SimpleAtoi(value, &size)) {
        return absl::InvalidArgumentError(absl::StrCat(name, " must be a number"));
      }
      text = absl::StrCat(size == 0 ? kMaxRows : std::min(size, kMaxRows));
    }
    // A value is in the same word as its flag, so it cannot be a flag or a file itself.
    words.push_back(flag->is_switch() && text.empty() ? absl::StrCat("--", name)
                                                      : absl::StrCat("--", name, "=", text));
  }
  return words;
}

ViewAnswer CommandAnswers::AnswerOf(absl::string_view command,
                                    absl::Span<const ViewParameter> parameters,
                                    absl::Span<const absl::string_view> more,
                                    absl::string_view media_type,
                                    const std::function<bool()>& keep_going) const {
  absl::StatusOr<std::vector<std::string>> words = WordsFor(command, parameters);
  if (!words.ok()) return ErrorAnswer(400, words.status().message());
  for (const absl::string_view word : more) words->emplace_back(word);
  words->push_back(file_);
  Result output = Run(*std::move(words), keep_going);
  if (!output.status.ok()) {
    absl::string_view message = output.status.message();
    absl::ConsumePrefix(&message, absl::StrCat(file_, ": "));
    return ErrorAnswer(StatusOf(output.status), message);
  }
  // Whatever the file is called here, it has one name for the person.
  if (media_type == kJson) {
    absl::StrReplaceAll({{FileMembers(file_), FileMembers(name_)}}, &output.bytes);
  }
  return {200, std::string(media_type), std::move(output.bytes)};
}

ViewAnswer CommandAnswers::ProfileOf(const std::vector<ViewParameter>& parameters,
                                     const std::function<bool()>& keep_going) const {
  std::shared_ptr<const KeptProfile> last;
  {
    const std::lock_guard lock(profile_mutex_);
    last = last_profile_;
  }
  if (last != nullptr && last->parameters == parameters) return last->answer;
  ViewAnswer answer = AnswerOf("profile", parameters, {"--format=folded"}, kJson, keep_going);
  if (answer.status != 200 || answer.body.size() > kMaxKeptProfile) return answer;
  last = std::make_shared<KeptProfile>(KeptProfile{parameters, std::move(answer)});
  const std::lock_guard lock(profile_mutex_);
  last_profile_ = last;
  return last->answer;
}

ViewAnswer CommandAnswers::AnswerFlame(absl::Span<const ViewParameter> parameters,
                                       const std::function<bool()>& keep_going) const {
  FlameOptions options;
  std::vector<ViewParameter> others;
  for (const ViewParameter& parameter : parameters) {
    if (parameter.first == "inverted") {
      options.inverted = true;
    } else if (parameter.first == "limit") {
      uint64_t limit = 0;
      if (!absl::SimpleAtoi(parameter.second, &limit) || limit == 0) {
        return ErrorAnswer(400, "limit must be a number");
      }
      options.max_nodes = std::min<uint64_t>(limit, kMaxNodes);
    } else {
      others.push_back(parameter);
    }
    if (parameter.first != "type") continue;
    for (const ProfileTypeInfo& info : ProfileTypes()) {
      if (info.name == parameter.second && info.time_name.empty()) options.unit = "count";
    }
  }
  ViewAnswer answer = ProfileOf(others, keep_going);
  if (answer.status == 200) answer.body = FlameJson(answer.body, options);
  return answer;
}

ViewAnswer CommandAnswers::AnswerTime(absl::Span<const ViewParameter> parameters) const {
  if (parameters.empty()) return ErrorAnswer(400, "text is missing");
  FilterFlags flags;
  const std::vector<Flag> rows = flags.Rows();
  const absl::Status status = FindFlag(rows, "from")->set(parameters[0].second);
  if (!status.ok()) return ErrorAnswer(400, status.message());
  int64_t at = flags.filter.since_start.from;
  if (!flags.filter.since_start.HasFirst()) {
    const absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenSource(file_);
    if (!source.ok()) return ErrorAnswer(500, source.status().message());
    const absl::StatusOr<TraceIndex> index = TraceIndex::Build(**source);
    if (!index.ok()) return ErrorAnswer(500, index.status().message());
    at = flags.filter.times.from;
    if (flags.wall_from.has_value()) {
      if (index->generations().empty() || !index->generations()[0].clock_snapshot.has_value()) {
        return ErrorAnswer(400, "the trace has no wall-clock times");
      }
      const ClockSnapshot& clocks = *index->generations()[0].clock_snapshot;
      const absl::Duration after = *flags.wall_from - clocks.wall;
      at = absl::ToInt64Nanoseconds(absl::Nanoseconds(clocks.trace_time) + after);
    }
    at = TraceClock::Subtract(at, index->start_time());
  }
  if (at < 0) return ErrorAnswer(400, "this is before the begin of the trace");
  if (at > kMaxViewTime) return ErrorAnswer(400, "this is after the end of the trace");
  TextBuffer out;
  JsonWriter json(&out);
  json.BeginObject();
  json.Member("at", at);
  json.EndObject();
  return {200, std::string(kJson), std::string(out.view())};
}

ViewAnswer CommandAnswers::AnswerSave(absl::Span<const ViewParameter> parameters,
                                      const std::function<bool()>& keep_going) const {
  std::string format;
  std::vector<ViewParameter> others;
  for (const ViewParameter& parameter : parameters) {
    if (parameter.first == "format") {
      format = parameter.second;
    } else {
      others.push_back(parameter);
    }
  }
  constexpr absl::string_view kBytes = "application/octet-stream";
  struct Format {
    absl::string_view name;
    absl::string_view command;
    std::vector<absl::string_view> flags;
    absl::string_view media_type;
    absl::string_view suffix;
  };
  const Format formats[] = {
      {"perfetto", "convert", {"--to=perfetto", "-o=-"}, kBytes, ".perfetto.pftrace"},
      {"chrome", "convert", {"--to=chrome", "-o=-"}, kBytes, ".chrome.json"},
      {"fxt", "convert", {"--to=fxt", "-o=-"}, kBytes, ".fxt"},
      {"pprof", "profile", {"-o=-"}, kBytes, ".pb.gz"},
      {"folded", "profile", {"--format=folded"}, kText, ".folded"},
      {"text", "events", {}, kText, ".txt"},
      {"json", "events", {"--format=json"}, kJsonLines, ".jsonl"},
  };
  for (const Format& known : formats) {
    if (known.name != format) continue;
    ViewAnswer answer = AnswerOf(known.command, others, known.flags, known.media_type, keep_going);
    if (answer.status == 200) answer.file_name = absl::StrCat(name_, known.suffix);
    return answer;
  }
  return ErrorAnswer(400, "format must be perfetto, chrome, fxt, text, json, pprof or folded");
}

ViewAnswer CommandAnswers::AnswerSql(absl::Span<const ViewParameter> parameters,
                                     const std::function<bool()>& keep_going) const {
  absl::string_view query;
  uint64_t limit = 1000;
  for (const auto& [name, value] : parameters) {
    if (name == "query") query = absl::StripAsciiWhitespace(value);
    if (name == "limit" && (!absl::SimpleAtoi(value, &limit) || limit > kMaxSqlRows)) {
      return ErrorAnswer(400, absl::StrCat("limit must be a number up to ", kMaxSqlRows));
    }
  }
  while (absl::ConsumeSuffix(&query, ";")) query = absl::StripTrailingAsciiWhitespace(query);
  if (query.empty()) return ErrorAnswer(400, "query is missing");
  // One more row shows whether there are more. Whatever comments the query has end with its line.
  const std::string limited =
      absl::StrCat("SELECT * FROM (\n", query, "\n) LIMIT ", limit + 1, ";");
  QueryRows rows(limit);
  const Turn turn(*this, keep_going);
  if (!turn.status().ok()) return ErrorAnswer(StatusOf(turn.status()), turn.status().message());
  const MemoryFile file;
  Output out(file.fd(), "answer");
  const ReadingFlags reading;
  SqlSession session(reading, {.file_name = name_, .max_value_bytes = kMaxSqlValue}, &out);
  absl::Status status = session.Open({file_});
  absl::string_view text = limited;
  if (status.ok()) status = session.RunNext(&text, &rows);
  if (status.ok() && !absl::StripAsciiWhitespace(text).empty()) {
    status = absl::InvalidArgumentError("only one statement is allowed");
  }
  if (IsGivenUp(keep_going)) status = absl::CancelledError("given up");
  if (!status.ok()) return ErrorAnswer(StatusOf(status), status.message());
  if (rows.is_too_large()) {
    return ErrorAnswer(400, "the rows are larger than 64 MiB: ask for fewer rows or columns");
  }
  return {200, std::string(kJson), rows.Answer()};
}

ViewAnswer CommandAnswers::Answer(absl::string_view path,
                                  absl::Span<const ViewParameter> parameters,
                                  const std::function<bool()>& keep_going) const {
  const auto has = [&](absl::string_view name) {
    return absl::c_any_of(parameters,
                          [&](const ViewParameter& parameter) { return parameter.first == name; });
  };
  if (path == "flame") return AnswerFlame(parameters, keep_going);
  if (path == "time") return AnswerTime(parameters);
  if (path == "save") return AnswerSave(parameters, keep_going);
  if (path == "sql") return AnswerSql(parameters, keep_going);
  if (path == "summary" || path == "info")
    return AnswerOf(path, parameters, {"--json"}, kJson, keep_going);
  if (path == "events") {
    const bool is_json = absl::c_linear_search(parameters, ViewParameter("format", "json"));
    const std::string limit = absl::StrCat("--limit=", kEvents);
    std::vector<absl::string_view> more;
    if (!has("limit")) more.push_back(limit);
    return AnswerOf(path, parameters, more, is_json ? kJsonLines : kText, keep_going);
  }
  const std::string top = absl::StrCat("--top=", kMaxRows);
  std::vector<absl::string_view> more = {"--format=json"};
  if (!has("top")) more.push_back(top);
  return AnswerOf(path, parameters, more, kJson, keep_going);
}

}  // namespace gotrace::internal
