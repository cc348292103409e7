#include "view/lane_pieces.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "gotrace/event_kind.h"
#include "gotrace/states.h"

namespace gotrace::internal {

void LanePieces::AddEvents(absl::Span<const Event> events) {
  for (const Event& event : events) {
    if (event.kind() == EventKind::kSync) {
      generations_.push_back({event.time(), std::max(event.time(), last_event_ + 1)});
    }
    last_event_ = std::max(last_event_, event.time());
    assists_.Add(event);
    workers_.Add(event);
  }
}

bool LanePieces::Crosses(const Interval& interval) const {
  if (interval.begin_clipped || interval.end_clipped || interval.end > last_event_) return true;
  for (auto it = generations_.rbegin(); it != generations_.rend(); ++it) {
    if (interval.end >= it->first_event) return interval.begin <= it->begin;
  }
  return false;
}

void LanePieces::AddGoroutine(const GoInterval& interval, StringId start) {
  assists_.AddGoroutine(interval);
  const Run run = {interval, start};
  if (interval.end > last_event_) {
    // What the next part says about labels and assists is not known yet.
    crossing_.push_back(run);
  } else {
    Give(run);
  }
}

LaneState LanePieces::StateOf(const GoInterval& interval) {
  switch (interval.state) {
    case GoState::kRunning:
      return workers_.TakeRun(interval) == MarkWorker::kNone ? LaneState::kRunning : LaneState::kGc;
    case GoState::kRunnable:
      return LaneState::kRunnable;
    case GoState::kSyscall:
      return LaneState::kSyscall;
    case GoState::kWaiting:
      return interval.reason == network_ ? LaneState::kNetwork : LaneState::kBlocked;
    default:
      return LaneState::kIdle;
  }
}

void LanePieces::Give(const Run& run) {
  const GoInterval& interval = run.interval;
  const LaneState state = StateOf(interval);
  LanePiece piece;
  piece.goroutine = interval.goroutine;
  piece.start = run.start;
  piece.reason = interval.reason;
  piece.crosses = Crosses(interval);
  const bool is_on_thread =
      interval.state == GoState::kRunning || interval.state == GoState::kSyscall;
  if (is_on_thread) {
    piece.thread = interval.thread;
    piece.proc = interval.proc;
  }
  const auto give = [&](int64_t begin, int64_t end, LaneState state_then) {
    if (begin >= end) return;
    piece.begin = begin;
    piece.end = end;
    piece.state = state_then;
    piece.proc_until =
        interval.state == GoState::kSyscall ? std::min(interval.proc_until, end) : end;
    take_(piece);
  };
  int64_t begin = interval.begin;
  const auto found = assist_parts_.find(interval.goroutine);
  if (found != assist_parts_.end()) {
    std::vector<Part>& parts = found->second;
    absl::c_stable_sort(parts, [](const Part& a, const Part& b) { return a.begin < b.begin; });
    // Where the trace is read in parts, so are assists that cross from one to the next.
    int64_t assist_begin = begin;
    int64_t assist_end = begin;
    const auto give_assist = [&] {
      give(begin, assist_begin, state);
      give(assist_begin, assist_end, LaneState::kAssist);
      begin = assist_end;
    };
    for (const Part& part : parts) {
      // A mark worker does not assist, and only time that is spent running counts as an assist.
      if (part.run_begin != interval.begin || state != LaneState::kRunning) continue;
      if (part.begin > assist_end) {
        give_assist();
        assist_begin = part.begin;
      }
      assist_end = std::max(assist_end, part.end);
    }
    give_assist();
    const auto is_given = [&](const Part& part) { return part.run_begin == interval.begin; };
    parts.erase(std::remove_if(parts.begin(), parts.end(), is_given), parts.end());
    if (parts.empty()) assist_parts_.erase(found);
  }
  give(begin, interval.end, state);
}

void LanePieces::AddThread(const ThreadInterval& interval) {
  const auto [last, is_first] = last_.try_emplace(interval.thread, interval);
  if (is_first) {
    first_.try_emplace(interval.thread, interval);
  } else {
    GiveThread({interval, last->second});
    last->second = interval;
  }
}

void LanePieces::GiveThread(const ThreadRun& run) {
  if (run.interval.end > last_event_) {
    crossing_threads_.push_back(run);
  } else {
    GiveThreadNow(run);
  }
}

// A thread in a syscall that gets a P is about to leave the syscall: the P has no goroutine until
// then.
void LanePieces::GiveThreadNow(const ThreadRun& run) {
  const auto& [interval, before] = run;
  const bool regains_proc =
      interval.state == ThreadState::kSyscall && interval.proc != ProcId::kNone &&
      before.has_value() && before->state == ThreadState::kSyscall &&
      before->proc == ProcId::kNone && before->goroutine == interval.goroutine &&
      before->end == interval.begin;
  if (interval.state != ThreadState::kScheduling && !regains_proc) return;
  if (interval.begin >= interval.end) return;
  LanePiece piece;
  piece.begin = interval.begin;
  piece.end = piece.proc_until = interval.end;
  piece.proc = interval.proc;
  if (!regains_proc) piece.thread = interval.thread;
  piece.state = LaneState::kScheduler;
  piece.crosses = Crosses(interval);
  take_(piece);
}

void LanePieces::Merge(LanePieces& next) {
  assists_.Merge(next.assists_);
  workers_.Merge(next.workers_);
  for (Generation generation : next.generations_) {
    generation.first_event = std::max(generation.first_event, last_event_ + 1);
    generations_.push_back(generation);
  }
  last_event_ = std::max(last_event_, next.last_event_);
  for (const Run& run : std::exchange(crossing_, {})) {
    if (run.interval.end > last_event_) {
      crossing_.push_back(run);
    } else {
      Give(run);
    }
  }
  for (const ThreadRun& run : std::exchange(crossing_threads_, {})) GiveThread(run);
  for (const auto& [thread, first] : next.first_) {
    const auto before = last_.find(thread);
    if (before == last_.end()) {
      first_.try_emplace(thread, first);
    } else {
      GiveThread({first, before->second});
    }
  }
  for (const auto& [thread, last] : next.last_) last_[thread] = last;
}

void LanePieces::Finish() {
  for (const Run& run : std::exchange(crossing_, {})) Give(run);
  for (const ThreadRun& run : std::exchange(crossing_threads_, {})) GiveThreadNow(run);
  for (const auto& [thread, first] : std::exchange(first_, {})) GiveThreadNow({first, {}});
}

}  // namespace gotrace::internal
