#include "testing/trace2_checker.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "testing/json_value.h"

namespace gotrace::internal {
namespace {

using Type = JsonValue::Type;

// A member that the event must have.
struct Required {
  absl::string_view key;
  Type type;
};

const std::map<std::string, std::vector<Required>>& RequiredMembers() {
  static const auto* const required = new std::map<std::string, std::vector<Required>>{
      {"version", {{"evt", Type::kString}, {"exe", Type::kString}}},
      {"too_many_files", {}},
      {"start", {{"t_abs", Type::kNumber}, {"argv", Type::kArray}}},
      {"exit", {{"t_abs", Type::kNumber}, {"code", Type::kNumber}}},
      {"atexit", {{"t_abs", Type::kNumber}, {"code", Type::kNumber}}},
      {"signal", {{"t_abs", Type::kNumber}, {"signo", Type::kNumber}}},
      {"error", {{"msg", Type::kString}, {"fmt", Type::kString}}},
      {"cmd_path", {{"path", Type::kString}}},
      {"cmd_ancestry", {{"ancestry", Type::kArray}}},
      {"cmd_name", {{"name", Type::kString}, {"hierarchy", Type::kString}}},
      {"cmd_mode", {{"name", Type::kString}}},
      {"alias", {{"alias", Type::kString}, {"argv", Type::kArray}}},
      {"def_param", {{"scope", Type::kString}, {"param", Type::kString}, {"value", Type::kString}}},
      {"child_start",
       {{"child_id", Type::kNumber},
        {"child_class", Type::kString},
        {"use_shell", Type::kBool},
        {"argv", Type::kArray}}},
      {"child_exit",
       {{"child_id", Type::kNumber},
        {"pid", Type::kNumber},
        {"code", Type::kNumber},
        {"t_rel", Type::kNumber}}},
      {"child_ready",
       {{"child_id", Type::kNumber},
        {"pid", Type::kNumber},
        {"ready", Type::kString},
        {"t_rel", Type::kNumber}}},
      {"exec", {{"exec_id", Type::kNumber}, {"argv", Type::kArray}}},
      {"exec_result", {{"exec_id", Type::kNumber}, {"code", Type::kNumber}}},
      {"def_repo", {{"repo", Type::kNumber}, {"worktree", Type::kString}}},
      {"printf", {{"t_abs", Type::kNumber}, {"msg", Type::kString}}},
      {"thread_start", {}},
      {"thread_exit", {{"t_rel", Type::kNumber}}},
      {"region_enter",
       {{"nesting", Type::kNumber}, {"category", Type::kString}, {"label", Type::kString}}},
      {"region_leave",
       {{"t_rel", Type::kNumber},
        {"nesting", Type::kNumber},
        {"category", Type::kString},
        {"label", Type::kString}}},
      {"data",
       {{"t_abs", Type::kNumber},
        {"t_rel", Type::kNumber},
        {"nesting", Type::kNumber},
        {"category", Type::kString},
        {"key", Type::kString},
        {"value", Type::kString}}},
      {"data_json",
       {{"t_abs", Type::kNumber},
        {"t_rel", Type::kNumber},
        {"nesting", Type::kNumber},
        {"category", Type::kString},
        {"key", Type::kString}}},
      {"th_timer",
       {{"category", Type::kString},
        {"name", Type::kString},
        {"intervals", Type::kNumber},
        {"t_total", Type::kNumber},
        {"t_min", Type::kNumber},
        {"t_max", Type::kNumber}}},
      {"timer",
       {{"category", Type::kString},
        {"name", Type::kString},
        {"intervals", Type::kNumber},
        {"t_total", Type::kNumber},
        {"t_min", Type::kNumber},
        {"t_max", Type::kNumber}}},
      {"th_counter",
       {{"category", Type::kString}, {"name", Type::kString}, {"count", Type::kNumber}}},
      {"counter", {{"category", Type::kString}, {"name", Type::kString}, {"count", Type::kNumber}}},
  };
  return *required;
}

class Checker {
 public:
  // Returns what is wrong with the line, or "".
  std::string Check(absl::string_view text, bool is_first, bool is_last) {
    const absl::StatusOr<JsonValue> parsed = ParseJson(text);
    if (!parsed.ok()) return std::string(parsed.status().message());
    const JsonValue& line = *parsed;
    for (const absl::string_view key : {"event", "sid", "thread", "time"}) {
      if (!Has(line, {key, Type::kString})) return absl::StrCat("no ", key);
    }
    absl::Time time;
    std::string error;
    if (!absl::ParseTime("%Y-%m-%dT%H:%M:%E6SZ", Text(line, "time"), &time, &error)) return error;
    const std::string event = Text(line, "event");
    const auto required = RequiredMembers().find(event);
    if (required == RequiredMembers().end()) return "unknown event";
    for (const Required& member : required->second) {
      if (!Has(line, member)) return absl::StrCat("no ", member.key, ", or of a wrong type");
    }
    if ((event == "version") != is_first) return "version must be first";
    if ((event == "atexit") != is_last) return "atexit must be last";
    if (!is_first && Text(line, "sid") != session_id_) return "another sid";
    session_id_ = Text(line, "sid");
    return CheckOrder(event, line);
  }

  // Returns what is missing at the end of the trace, or "".
  std::string CheckEnd() const {
    if (regions_.size() != 1) return "a thread did not end";
    if (!regions_.at("main").empty()) return "a region did not end";
    return children_.empty() ? "" : "a child did not end";
  }

 private:
  static bool Has(const JsonValue& line, const Required& required) {
    const JsonValue* const member = line.Find(required.key);
    return member != nullptr && member->type == required.type;
  }

  static std::string Text(const JsonValue& line, absl::string_view key) {
    const JsonValue* const member = line.Find(key);
    return member == nullptr ? "" : member->text;
  }

  std::string CheckOrder(const std::string& event, const JsonValue& line) {
    const std::string thread = Text(line, "thread");
    if (event == "thread_start") {
      return regions_.try_emplace(thread).second ? "" : "the thread has started before";
    }
    const auto it = regions_.find(thread);
    if (it == regions_.end()) return "the thread has not started";
    std::vector<std::string>& open = it->second;
    const std::string region = absl::StrCat(Text(line, "category"), "/", Text(line, "label"));
    if (event == "region_leave") {
      if (open.empty() || open.back() != region) return "the region is not open";
      open.pop_back();
    }
    if ((event == "region_enter" || event == "region_leave") &&
        Text(line, "nesting") != absl::StrCat(open.size() + 1)) {
      return "wrong nesting";
    }
    if (event == "region_enter") open.push_back(region);
    if (event == "child_start" && !children_.insert(Text(line, "child_id")).second) {
      return "the child has started before";
    }
    if ((event == "child_exit" || event == "child_ready") &&
        children_.erase(Text(line, "child_id")) == 0) {
      return "the child has not started";
    }
    if (event == "thread_exit") {
      if (!open.empty()) return "a region did not end";
      regions_.erase(it);
    }
    return "";
  }

  std::string session_id_;
  std::map<std::string, std::vector<std::string>> regions_ = {{"main", {}}};  // Of open threads.
  std::set<std::string> children_;
};

}  // namespace

absl::Status CheckTrace2Events(absl::string_view trace) {
  if (!absl::ConsumeSuffix(&trace, "\n")) return absl::DataLossError("no line break at the end");
  const std::vector<absl::string_view> lines = absl::StrSplit(trace, '\n');
  Checker checker;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string error = checker.Check(lines[i], i == 0, i + 1 == lines.size());
    if (!error.empty()) return absl::DataLossError(absl::StrCat(error, ": ", lines[i]));
  }
  const std::string error = checker.CheckEnd();
  return error.empty() ? absl::OkStatus() : absl::DataLossError(error);
}

}  // namespace gotrace::internal
