#include "export/fxt/read_back.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "export/fxt/fxt_text.h"
#include "gotrace/fxt_reader.h"
#include "util/text_buffer.h"

namespace gotrace::internal {
namespace {

// The members of a record that are needed after the next one is read.
struct Item {
  int64_t time = 0;
  FxtType type = FxtType::kEvent;
  uint8_t kind = 0;
  uint64_t thread = 0;
  std::string name;
  std::string arguments;
  uint64_t id = 0;
  uint64_t outgoing = 0;
  uint64_t incoming = 0;
  bool outgoing_idle = false;
  bool incoming_idle = false;
  FxtState state = FxtState::kNew;
};

class Reconstruction {
 public:
  ReadBack Run(absl::string_view bytes) {
    FxtReader reader(*SourceFromBytes(bytes), [this](const FxtProblem& problem) {
      Problem(absl::StrCat("byte ", problem.offset, ": ", problem.message));
    });
    while (const FxtRecord* record = reader.Next()) Keep(*record);
    if (reader.end() != FxtEnd::kComplete) Problem("the file is not complete");
    UseOwnIds();
    std::stable_sort(items_.begin(), items_.end(),
                     [](const Item& a, const Item& b) { return a.time < b.time; });
    for (const Item& item : items_) {
      back_.end = item.time;
      item.type == FxtType::kScheduling ? TakeScheduling(item) : TakeEvent(item);
    }
    for (const auto& [thread, state] : states_) Close(thread, back_.end);
    for (const auto& [thread, open] : durations_) {
      for (const Item& item : open) {
        back_.durations.push_back(
            absl::StrCat(item.thread, " ", item.name, " [", item.time, ", open)"));
      }
    }
    for (const auto& [key, begin] : tasks_) {
      back_.tasks.push_back(absl::StrCat(key.first, " ", key.second, " [", begin, ", open)"));
    }
    for (auto* list : {&back_.durations, &back_.tasks, &back_.instants, &back_.flows}) {
      std::sort(list->begin(), list->end());
    }
    return std::move(back_);
  }

 private:
  void Keep(const FxtRecord& record) {
    if (record.type == FxtType::kKernelObject && record.kind == kFxtThreadObject) {
      back_.names[record.id] = std::string(record.name);
      for (const FxtArgument& argument : record.arguments) {
        if (argument.name == "goroutine") own_ids_[record.id] = argument.value;
      }
      return;
    }
    if (record.type != FxtType::kEvent && record.type != FxtType::kScheduling) return;
    Item item;
    item.time = static_cast<int64_t>(record.ticks);
    item.type = record.type;
    item.kind = record.kind;
    item.thread = record.thread.thread;
    item.name = absl::StrCat(record.category, " ", record.name);
    item.id = record.id;
    item.outgoing = record.outgoing.thread;
    item.incoming = record.incoming.thread;
    item.state = static_cast<FxtState>(record.outgoing_state);
    for (const FxtArgument& argument : record.arguments) {
      const bool is_idle = argument.value == static_cast<uint32_t>(kFxtIdleWeight);
      if (argument.name == "outgoing_weight") item.outgoing_idle = is_idle;
      if (argument.name == "incoming_weight") item.incoming_idle = is_idle;
      if (argument.name == "waker") item.id = argument.value;
      absl::StrAppend(&item.arguments, " ", argument.name, "=",
                      argument.type == FxtArgumentType::kString ? std::string(argument.text)
                                                                : absl::StrCat(argument.value));
    }
    items_.push_back(std::move(item));
  }

  // Records may come before the record of their thread.
  void UseOwnIds() {
    for (Item& item : items_) {
      const bool is_wakeup = item.type == FxtType::kScheduling &&
                             item.kind == static_cast<uint8_t>(FxtScheduling::kWakeup);
      for (uint64_t* id : {&item.thread, &item.outgoing, &item.incoming, &item.id}) {
        if (id == &item.id && !is_wakeup) continue;
        const auto found = own_ids_.find(*id);
        if (found != own_ids_.end()) *id = found->second;
      }
    }
    for (const auto& [koid, id] : own_ids_) {
      back_.names[id] = std::move(back_.names[koid]);
      back_.names.erase(koid);
    }
  }

  // A thread's state, and the time since which it lasts.
  struct State {
    GoState state = GoState::kUndetermined;
    int64_t since = 0;
  };

  void Close(uint64_t thread, int64_t time) {
    const State& state = states_[thread];
    back_.sums[thread][static_cast<int>(state.state)] +=
        static_cast<uint64_t>(time) - static_cast<uint64_t>(state.since);
  }

  void Change(uint64_t thread, GoState state, int64_t time) {
    if (states_.contains(thread)) Close(thread, time);
    states_[thread] = {state, time};
  }

  void TakeScheduling(const Item& item) {
    if (item.kind == static_cast<uint8_t>(FxtScheduling::kWakeup)) {
      back_.wakeups[{item.time, item.incoming}] = item.id;
      return Change(item.incoming, GoState::kRunnable, item.time);
    }
    if (item.incoming_idle == item.outgoing_idle) Problem("a switch without the idle thread");
    if (!item.incoming_idle) return Change(item.incoming, GoState::kRunning, item.time);
    switch (item.state) {
      case FxtState::kRunning:
        return Change(item.outgoing, GoState::kRunnable, item.time);
      case FxtState::kBlocked:
        return Change(item.outgoing, GoState::kWaiting, item.time);
      case FxtState::kSuspended:
        return Change(item.outgoing, GoState::kSyscall, item.time);
      case FxtState::kDead:
        return Change(item.outgoing, GoState::kNotExist, item.time);
      default:
        return Problem("a state that is not used");
    }
  }

  void TakeEvent(const Item& item) {
    const std::string what = absl::StrCat(item.thread, " ", item.name);
    switch (static_cast<FxtEvent>(item.kind)) {
      case FxtEvent::kInstant:
      case FxtEvent::kCounter:
      case FxtEvent::kAsyncInstant:
        back_.instants.push_back(absl::StrCat(what, " ", item.time, " {", item.arguments, "}"));
        break;
      case FxtEvent::kDurationBegin:
        durations_[item.thread].push_back(item);
        break;
      case FxtEvent::kDurationEnd: {
        std::vector<Item>& open = durations_[item.thread];
        if (open.empty() || open.back().name != item.name) {
          return Problem(absl::StrCat("end of what is not the innermost duration: ", what));
        }
        back_.durations.push_back(absl::StrCat(what, " [", open.back().time, ", ", item.time, ")"));
        open.pop_back();
        break;
      }
      case FxtEvent::kDurationComplete:
        back_.durations.push_back(
            absl::StrCat(what, " [", item.time, ", ", static_cast<int64_t>(item.id), ")"));
        break;
      case FxtEvent::kAsyncBegin:
        tasks_[{item.id, item.name}] = item.time;
        break;
      case FxtEvent::kAsyncEnd: {
        const auto open = tasks_.find({item.id, item.name});
        if (open == tasks_.end()) return Problem(absl::StrCat("end of no task: ", what));
        back_.tasks.push_back(
            absl::StrCat(item.id, " ", item.name, " [", open->second, ", ", item.time, ")"));
        tasks_.erase(open);
        break;
      }
      case FxtEvent::kFlowBegin:
        flows_[item.id] = absl::StrCat(item.name, " ", item.thread, " ", item.time);
        break;
      case FxtEvent::kFlowEnd: {
        const auto begin = flows_.find(item.id);
        if (begin == flows_.end()) return Problem("end of no flow");
        back_.flows.push_back(absl::StrCat(begin->second, " -> ", item.thread, " ", item.time));
        flows_.erase(begin);
        break;
      }
      default:
        return Problem("an event that is not used");
    }
  }

  void Problem(absl::string_view text) { absl::StrAppend(&back_.problems, text, "\n"); }

  ReadBack back_;
  std::vector<Item> items_;
  std::map<uint64_t, uint64_t> own_ids_;  // By the id in the file, where they differ.
  std::map<uint64_t, State> states_;
  std::map<uint64_t, std::vector<Item>> durations_;
  std::map<std::pair<uint64_t, std::string>, int64_t> tasks_;
  std::map<uint64_t, std::string> flows_;
};

}  // namespace

ReadBack ReadFxtBack(absl::string_view bytes) { return Reconstruction().Run(bytes); }

}  // namespace gotrace::internal
