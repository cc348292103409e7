#include "tools/serve/command_answers.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "export/json/json_text.h"
#include "tools/cli/command.h"
#include "tools/cli/command_line.h"
#include "tools/cli/flags.h"
#include "tools/cli/output.h"
#include "tools/cli/registry.h"
#include "util/text_buffer.h"

namespace gotrace::internal {
namespace {

// The most rows of an answer, and the most events and how many there are by default.
constexpr uint64_t kMaxRows = 10000;
constexpr uint64_t kEvents = 500;

// Parameters that say how large the answer becomes.
constexpr absl::string_view kSizes[] = {"top", "slices", "worst", "limit"};

ViewAnswer ErrorAnswer(int status, absl::string_view message) {
  TextBuffer out;
  JsonWriter json(&out);
  json.BeginObject();
  json.Member("error", message);
  json.EndObject();
  return {status, "application/json", std::string(out.view())};
}

std::string FileMember(absl::string_view name) {
  TextBuffer out;
  JsonWriter json(&out);
  json.BeginObject();
  AppendFileMembers(name, &json);
  return std::string(out.view());
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

}  // namespace

ViewAnswer CommandAnswers::Answer(absl::string_view path,
                                  absl::Span<const ViewParameter> parameters) const {
  const CommandList commands = MakeCommands();
  const auto command =
      absl::c_find_if(commands, [&](const auto& one) { return one->text().name == path; });
  if (command == commands.end()) return ErrorAnswer(404, "no such command");
  const std::vector<Flag> flags = (*command)->Flags();
  const bool is_events = path == "events";
  const absl::string_view size_name = is_events ? "limit" : "top";

  std::vector<std::string> words = {std::string(path)};
  bool has_size = FindFlag(flags, size_name) == nullptr;
  bool is_text = is_events;
  for (const auto& [name, value] : parameters) {
    const Flag* const flag = FindFlag(flags, name);
    if (flag == nullptr) return ErrorAnswer(400, absl::StrCat("unknown parameter ", name));
    std::string text = value;
    if (absl::c_linear_search(kSizes, name)) {
      uint64_t size = 0;
      if (!absl::SimpleAtoi(value, &size)) {
        return ErrorAnswer(400, absl::StrCat(name, " must be a number"));
      }
      text = absl::StrCat(size == 0 ? kMaxRows : std::min(size, kMaxRows));
      has_size |= name == size_name;
    }
    if (is_events && name == "format") is_text = value != "json";
    // A value is in the same word as its flag, so it cannot be a flag or a file itself.
    words.push_back(flag->is_switch() && text.empty() ? absl::StrCat("--", name)
                                                      : absl::StrCat("--", name, "=", text));
  }
  if (!has_size) {
    words.push_back(absl::StrCat("--", size_name, "=", is_events ? kEvents : kMaxRows));
  }
  if (FindFlag(flags, "json") != nullptr) {
    words.emplace_back("--json");
  } else if (!is_events) {
    words.emplace_back("--format=json");
  }
  words.push_back(file_);
  std::vector<char*> args;
  for (std::string& word : words) args.push_back(word.data());

  // The analyses use all cores, and report to the same standard error.
  const std::lock_guard lock(mutex_);
  CommandLine line;
  const absl::Status status = ParseCommandLine(args, commands, &line);
  if (!status.ok()) return ErrorAnswer(400, status.message());
  if (line.command == nullptr) return ErrorAnswer(400, "not a request for an answer");
  const MemoryFile file;
  Output out(file.fd(), "answer");
  const int code = line.command->Run(line.files, &out);
  if (absl::Status written = out.Finish(); !written.ok()) {
    return ErrorAnswer(500, written.message());
  }
  std::string body = file.Contents();
  if (code == kUsageOrIo && body.empty()) {
    return ErrorAnswer(400, "the trace has nothing of that kind");
  }
  if (is_events) {
    return {200, is_text ? "text/plain; charset=utf-8" : "application/x-ndjson", std::move(body)};
  }
  absl::string_view rest = body;
  if (absl::ConsumePrefix(&rest, FileMember(file_))) {
    body = absl::StrCat(FileMember(name_), rest);
  }
  return {200, "application/json", std::move(body)};
}

}  // namespace gotrace::internal
