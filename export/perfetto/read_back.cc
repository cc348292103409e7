#include "export/perfetto/read_back.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "export/perfetto/fields.h"
#include "export/perfetto/packet_text.h"

namespace gotrace::internal {
namespace {

// A line of DescribePackets() without its names.
struct Record {
  std::vector<std::string> words;  // Without numbers.
  std::vector<int64_t> numbers;
};

Record Parse(absl::string_view line) {
  std::string text(line);
  const size_t quote = text.find('"');
  if (quote != std::string::npos) text.erase(quote, text.rfind('"') + 1 - quote);
  Record record;
  for (absl::string_view word : absl::StrSplit(text, absl::ByAnyChar(" ,"), absl::SkipEmpty())) {
    // Times are printed as unsigned numbers.
    uint64_t unsigned_number;
    int64_t number;
    if (absl::SimpleAtoi(word, &number)) {
      record.numbers.push_back(number);
    } else if (absl::SimpleAtoi(word, &unsigned_number)) {
      record.numbers.push_back(static_cast<int64_t>(unsigned_number));
    } else {
      record.words.emplace_back(word);
    }
  }
  return record;
}

GoState StateThatLeavesCpu(int64_t linux_state) {
  switch (static_cast<uint64_t>(linux_state)) {
    case perfetto::kTaskInterruptible:
      return GoState::kWaiting;
    case perfetto::kTaskUninterruptible:
      return GoState::kSyscall;
    case perfetto::kTaskDead:
      return GoState::kNotExist;
    default:
      return GoState::kRunnable;
  }
}

GoState StateOf(perfetto::GenericTaskState state) {
  switch (state) {
    case perfetto::GenericTaskState::kRunnable:
      return GoState::kRunnable;
    case perfetto::GenericTaskState::kRunning:
      return GoState::kRunning;
    case perfetto::GenericTaskState::kInterruptibleSleep:
      return GoState::kWaiting;
    case perfetto::GenericTaskState::kUninterruptibleSleep:
      return GoState::kSyscall;
    case perfetto::GenericTaskState::kDestroyed:
      return GoState::kNotExist;
  }
  return GoState::kUndetermined;
}

class Replay {
 public:
  PerfettoReadBack Run(absl::string_view bytes, int64_t end) {
    std::vector<Record> events;
    std::map<int64_t, std::pair<int64_t, int64_t>>
        switches;  // By CPU: the times of the first and last switch.
    for (const std::string& line : DescribePackets(bytes)) {
      if (absl::StartsWith(line, "error")) absl::StrAppend(&result_.problems, line, "\n");
      if (absl::StartsWith(line, "track")) Declare(line);
      if (!absl::ascii_isdigit(line[0])) continue;
      Record record = Parse(line);
      if (IsSwitch(record)) {
        const int64_t time = record.numbers[0];
        auto& [first, last] = switches.try_emplace(record.numbers[1], time, time).first->second;
        // The first state of the CPU may come late.
        if (time < last && time > first) absl::StrAppend(&result_.disorder, line, "\n");
        first = std::min(first, time);
        last = time;
      } else if (UsesTrack(record) && !tracks_.contains(record.numbers[1])) {
        absl::StrAppend(&result_.problems, "no track: ", line, "\n");
      }
      events.push_back(std::move(record));
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const Record& a, const Record& b) { return a.numbers[0] < b.numbers[0]; });
    for (const Record& record : events) {
      if (record.numbers[0] > end) break;
      Take(record);
    }
    for (const auto& [id, state] : states_) Enter(end, id, GoState::kNotExist);
    return std::move(result_);
  }

 private:
  struct State {
    GoState state = GoState::kNotExist;
    int64_t since = 0;
  };

  static bool IsSwitch(const Record& record) {
    return record.words[0] == "switch" && record.words[1] == "cpu";
  }

  static bool UsesTrack(const Record& record) {
    const std::string& word = record.words[0];
    return word == "begin" || word == "end" || word == "instant" || word == "counter";
  }

  // Parses "track UUID", or "track UUID in PARENT".
  void Declare(absl::string_view line) {
    const Record record = Parse(line);
    if (record.words.size() > 1 && record.words[1] == "in" &&
        !tracks_.contains(record.numbers[1])) {
      absl::StrAppend(&result_.problems, "no parent: ", line, "\n");
    }
    tracks_.insert(record.numbers[0]);
  }

  void Enter(int64_t time, int64_t id, GoState state) {
    State& now = states_[id];
    if (now.state != GoState::kNotExist) {
      result_.sums[id][static_cast<size_t>(now.state)] +=
          static_cast<uint64_t>(time) - static_cast<uint64_t>(now.since);
    }
    now = {state, time};
  }

  void Take(const Record& record) {
    const std::string& word = record.words[0];
    const std::vector<int64_t>& numbers = record.numbers;
    const int64_t time = numbers[0];
    if (word == "begin") {
      ++open_slices_[numbers[1]];
    } else if (word == "end") {
      if (--open_slices_[numbers[1]] < 0) {
        absl::StrAppend(&result_.disorder, "no slice to end at ", time, " on track ", numbers[1],
                        "\n");
      }
    } else if (word == "switch") {
      int64_t& current = current_[numbers[1]];
      if (IsSwitch(record) && current != 0) Enter(time, current, StateThatLeavesCpu(numbers[3]));
      current = numbers[2];
      if (current != 0) Enter(time, current, GoState::kRunning);
    } else if (word == "wake") {
      Enter(time, numbers[2], GoState::kRunnable);
    } else if (word == "state") {
      const auto state = static_cast<perfetto::GenericTaskState>(numbers.back());
      Enter(time, numbers[numbers.size() - 2], StateOf(state));
    }
  }

  PerfettoReadBack result_;
  std::set<int64_t> tracks_;
  std::map<int64_t, int64_t> open_slices_;  // By track.
  std::map<int64_t, State> states_;
  std::map<int64_t, int64_t> current_;  // The goroutine of a CPU, or 0.
};

}  // namespace

PerfettoReadBack ReadPerfettoBack(absl::string_view bytes, int64_t end) {
  return Replay().Run(bytes, end);
}

}  // namespace gotrace::internal
