#include "testing/chrome_view.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "testing/json_value.h"

namespace gotrace::internal {
namespace {

constexpr absl::string_view kTasks = "2";  // The process of tasks.

std::string TextOf(const JsonValue& event, absl::string_view member) {
  const JsonValue* const value = event.Find(member);
  return value == nullptr ? "" : value->text;
}

// Microseconds as nanoseconds.
std::string Nanoseconds(const JsonValue& event, absl::string_view member) {
  double microseconds = 0;
  const JsonValue* const value = event.Find(member);
  if (value != nullptr && !absl::SimpleAtod(value->text, &microseconds)) return "?";
  return absl::StrCat(std::llround(microseconds * 1000));
}

class View {
 public:
  View(const JsonValue& trace, absl::string_view query)
      : query_(query), frames_(*trace.Find("stackFrames")) {
    for (const auto& [number, frame] : frames_.members) frame_by_number_[number] = &frame;
    for (const JsonValue& event : trace.Find("traceEvents")->elements) {
      if (TextOf(event, "pid") == kTasks && TextOf(event, "ph") == "X") {
        task_lanes_.insert(TextOf(event, "tid"));
      }
    }
    for (const JsonValue& event : trace.Find("traceEvents")->elements) Add(event);
  }

  std::vector<std::string> TakeLines() {
    std::sort(lines_.begin(), lines_.end());
    // A lane may be named twice.
    const auto is_repeated = [](const std::string& a, const std::string& b) {
      return a == b && absl::StartsWith(a, "M ");
    };
    lines_.erase(std::unique(lines_.begin(), lines_.end(), is_repeated), lines_.end());
    return std::move(lines_);
  }

 private:
  bool has_parts() const { return absl::StartsWith(query_, "taskid="); }
  bool has_tasks() const { return has_parts() || absl::StartsWith(query_, "focustask="); }

  void Add(const JsonValue& event) {
    const std::string phase = TextOf(event, "ph");
    const bool is_arrow = phase == "s" || phase == "t";
    if (is_arrow || phase == "b" || phase == "e") {
      const auto [begin, is_new] = open_.try_emplace({is_arrow, TextOf(event, "id")}, &event);
      if (!is_new) AddPair(*begin->second, event, is_arrow);
    } else if (phase == "M") {
      AddName(event);
    } else if (!IsLeftOut(event)) {
      lines_.push_back(absl::StrCat(phase, " ", Place(event), " ", Nanoseconds(event, "ts"), " +",
                                    Nanoseconds(event, "dur"), " ", Words(event), " [",
                                    StackOf(event, "sf"), "] [", StackOf(event, "esf"), "] ",
                                    Args(event)));
    }
  }

  void AddPair(const JsonValue& begin, const JsonValue& end, bool is_arrow) {
    const bool is_of_tasks = TextOf(begin, "pid") == kTasks;
    if (is_arrow ? is_of_tasks && !has_tasks() : !has_parts()) return;
    if (is_of_tasks && !task_lanes_.contains(TextOf(begin, "tid"))) return;
    if (is_arrow && IsUnblockWithoutArrow(begin)) return;
    lines_.push_back(absl::StrCat(is_arrow ? "arrow " : "region ", Place(begin), " -> ", Place(end),
                                  " ", Nanoseconds(begin, "ts"), " ", Nanoseconds(end, "ts"), " ",
                                  Words(begin), " [", StackOf(begin, "sf"), "] [",
                                  StackOf(end, "sf"), "] ", Args(end)));
  }

  // In Go's, an unblock without a P begins in the lane 2^64 - 1, and one by P 0 has no arrow.
  static bool IsUnblockWithoutArrow(const JsonValue& begin) {
    const std::string lane = TextOf(begin, "tid");
    return lane == "18446744073709551615" ||
           (lane == "0" && absl::StartsWith(TextOf(begin, "name"), "unblock"));
  }

  void AddName(const JsonValue& event) {
    const std::string name = TextOf(event, "name");
    const bool is_of_tasks = TextOf(event, "pid") == kTasks;
    if (name == "thread_sort_index" || (is_of_tasks && !has_tasks())) return;
    if (is_of_tasks && name == "thread_name" && !task_lanes_.contains(TextOf(event, "tid"))) return;
    lines_.push_back(absl::StrCat("M ", Place(event), " ", name, " ", Args(event)));
  }

  bool IsLeftOut(const JsonValue& event) const {
    if (TextOf(event, "pid") == kTasks && !has_tasks()) return true;
    if (TextOf(event, "cat") == "arrow") return true;  // Which Go does not have.
    // In Go's view of threads, the lane of a blocked syscall is that of the goroutine's next slice.
    const JsonValue* const args = event.Find("args");
    return query_ == "view=thread" && TextOf(event, "name") == "syscall" && args != nullptr &&
           TextOf(*args, "blocked") == "yes";
  }

  static std::string Place(const JsonValue& event) {
    return absl::StrCat(TextOf(event, "pid"), "/", TextOf(event, "tid"));
  }

  static std::string Words(const JsonValue& event) {
    return absl::StrCat("'", TextOf(event, "name"), "' '", TextOf(event, "cat"), "' '",
                        TextOf(event, "s"), "'");
  }

  // The innermost frame comes first.
  std::string StackOf(const JsonValue& event, absl::string_view member) const {
    std::vector<std::string> names;
    for (std::string number = TextOf(event, member); !number.empty();) {
      const auto frame = frame_by_number_.find(number);
      if (frame == frame_by_number_.end()) return absl::StrCat("no frame ", number);
      names.push_back(TextOf(*frame->second, "name"));
      number = TextOf(*frame->second, "parent");
    }
    return absl::StrJoin(names, "<");
  }

  // Go does not write 0.
  static std::string Args(const JsonValue& event) {
    const JsonValue* const args = event.Find("args");
    std::vector<std::string> texts;
    if (args != nullptr) {
      for (const auto& [name, value] : args->members) {
        if (value.text != "0") texts.push_back(absl::StrCat(name, "=", value.text));
      }
    }
    std::sort(texts.begin(), texts.end());
    return absl::StrJoin(texts, ",");
  }

  const absl::string_view query_;
  const JsonValue& frames_;
  std::map<std::string, const JsonValue*> frame_by_number_;
  std::map<std::pair<bool, std::string>, const JsonValue*> open_;  // Begins, by their ids.
  std::set<std::string> task_lanes_;                               // Those with a slice.
  std::vector<std::string> lines_;
};

}  // namespace

absl::StatusOr<std::vector<std::string>> ComparableChromeEvents(absl::string_view json,
                                                                absl::string_view query) {
  while (absl::EndsWith(json, "\n")) json.remove_suffix(1);
  const absl::StatusOr<JsonValue> trace = ParseJson(json);
  if (!trace.ok()) return trace.status();
  if (trace->Find("traceEvents") == nullptr || trace->Find("stackFrames") == nullptr) {
    return absl::InvalidArgumentError("not a trace");
  }
  return View(*trace, query).TakeLines();
}

}  // namespace gotrace::internal
