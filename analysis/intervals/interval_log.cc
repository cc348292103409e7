#include "analysis/intervals/interval_log.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gotrace::internal {
namespace {

std::string Times(const Interval& interval) {
  return absl::StrCat(interval.begin_clipped ? "(" : "[", interval.begin, ",", interval.end,
                      interval.end_clipped ? "]" : ")");
}

std::string Number(absl::string_view name, int64_t id) {
  return id == -1 ? "" : absl::StrCat(" ", name, id);
}

std::string FramesOf(const Interner& interner, StackId stack) {
  return absl::StrJoin(interner.Frames(stack), ";", [&](std::string* out, FrameId id) {
    const StackFrame frame = interner.Frame(id);
    absl::StrAppend(out, frame.func, ":", frame.line);
  });
}

std::string Describe(const Interner& interner, const Cause& cause) {
  std::string text(CauseKindName(cause.kind));
  absl::StrAppend(&text, Number("g", cause.goroutine.value), Number("p", cause.proc.value),
                  Number("m", cause.thread.value));
  if (cause.stack != StackId::kNone) {
    absl::StrAppend(&text, " at ", FramesOf(interner, cause.stack));
  }
  return text;
}

std::string Describe(const Interner& interner, const GoInterval& interval) {
  std::string text = absl::StrCat(Times(interval), " ", GoStateName(interval.state));
  if (interval.reason != StringId::kEmpty) {
    absl::StrAppend(&text, " (", interner.String(interval.reason), ")");
  }
  absl::StrAppend(&text, Number("p", interval.proc.value), Number("m", interval.thread.value));
  if (interval.proc != ProcId::kNone && interval.proc_until != interval.end) {
    absl::StrAppend(&text, " until ", interval.proc_until);
  }
  if (interval.stack != StackId::kNone) {
    absl::StrAppend(&text, " at ", FramesOf(interner, interval.stack));
  }
  absl::StrAppend(&text, interval.starts_life ? ", created by " : ", by ",
                  Describe(interner, interval.begun_by));
  absl::StrAppend(&text, interval.ends_life ? ", ended by " : ", until ",
                  Describe(interner, interval.ended_by));
  return text;
}

std::string Describe(const Interner&, const ProcInterval& interval) {
  return absl::StrCat(Times(interval), " ", ProcStateName(interval.state),
                      Number("m", interval.thread.value), interval.stolen ? ", stolen" : "");
}

std::string Describe(const Interner&, const ThreadInterval& interval) {
  return absl::StrCat(Times(interval), " ", ThreadStateName(interval.state),
                      Number("p", interval.proc.value), Number("g", interval.goroutine.value));
}

int64_t IdOf(const GoInterval& interval) { return interval.goroutine.value; }
int64_t IdOf(const ProcInterval& interval) { return interval.proc.value; }
int64_t IdOf(const ThreadInterval& interval) { return interval.thread.value; }

template <class IntervalType>
std::map<int64_t, std::vector<IntervalType>> ById(const std::vector<IntervalType>& intervals) {
  std::map<int64_t, std::vector<IntervalType>> by_id;
  for (const IntervalType& interval : intervals) by_id[IdOf(interval)].push_back(interval);
  return by_id;
}

template <class IntervalType>
std::string Of(const Interner& interner, const std::vector<IntervalType>& intervals, int64_t id) {
  std::string text;
  for (const IntervalType& interval : intervals) {
    if (IdOf(interval) == id) absl::StrAppend(&text, Describe(interner, interval), "\n");
  }
  return text;
}

// Returns whether two consecutive intervals are the same apart from time, and so should be one.
bool IsSame(const GoInterval& a, const GoInterval& b) { return a.state == b.state; }
bool IsSame(const ProcInterval& a, const ProcInterval& b) { return a.state == b.state; }
bool IsSame(const ThreadInterval& a, const ThreadInterval& b) {
  return a.state == b.state && a.proc == b.proc && a.goroutine == b.goroutine;
}

// Return whether a resource ends with an interval, and whether it begins with it.
bool Ends(const GoInterval& interval) { return interval.ends_life; }
bool Starts(const GoInterval& interval) { return interval.starts_life; }
template <class IntervalType>
bool Ends(const IntervalType&) {
  return false;
}
template <class IntervalType>
bool Starts(const IntervalType&) {
  return false;
}

absl::string_view FaultBetween(const GoInterval& a, const GoInterval& b, bool has_gaps) {
  return !has_gaps && a.ended_by != b.begun_by ? "two causes for one transition" : "";
}
template <class IntervalType>
absl::string_view FaultBetween(const IntervalType&, const IntervalType&, bool) {
  return "";
}

absl::string_view FaultIn(const GoInterval& interval) {
  const bool may_have_proc =
      interval.state == GoState::kRunning || interval.state == GoState::kSyscall;
  if (!may_have_proc && (interval.proc != ProcId::kNone || interval.thread != ThreadId::kNone)) {
    return "neither running nor in a syscall, but on a P or a thread";
  }
  if (interval.proc_until < interval.begin || interval.proc_until > interval.end) {
    return "proc_until is outside";
  }
  if (interval.state == GoState::kRunning && interval.proc != ProcId::kNone &&
      interval.proc_until != interval.end) {
    return "running without a P";
  }
  return "";
}
template <class IntervalType>
absl::string_view FaultIn(const IntervalType&) {
  return "";
}

template <class IntervalType>
std::string FindFaultOf(const Interner& interner, const std::vector<IntervalType>& intervals,
                        std::optional<int64_t> trace_end, bool has_gaps) {
  for (const auto& entry : ById(intervals)) {
    const int64_t id = entry.first;
    const std::vector<IntervalType>& all = entry.second;
    for (size_t i = 0; i < all.size(); ++i) {
      const IntervalType& interval = all[i];
      const auto fault = [&](absl::string_view what) {
        return absl::StrCat(what, ": interval ", i, " of ", id, ": ", Describe(interner, interval));
      };
      if (interval.end < interval.begin) return fault("ends before it begins");
      if (const absl::string_view what = FaultIn(interval); !what.empty()) return fault(what);
      // A trace that is cut off may end with a transition.
      const bool may_be_empty = has_gaps || (interval.end_clipped && interval.end == trace_end);
      if (interval.end == interval.begin && !may_be_empty) return fault("empty");
      const bool is_first = i == 0 || Ends(all[i - 1]);
      const bool is_last = i + 1 == all.size() || Ends(interval);
      if (!has_gaps) {
        if (!is_first && interval.begin_clipped) return fault("begin is clipped");
        if (interval.end_clipped == (Ends(interval) || !is_last)) return fault("end is clipped");
        if (interval.end_clipped && interval.end != trace_end) return fault("trace goes on");
        if (Starts(interval) && !is_first) return fault("created while it exists");
      }
      if (i == 0) continue;
      const IntervalType& before = all[i - 1];
      if (interval.begin < before.end && trace_end.has_value()) {
        return fault("overlaps the one before");
      }
      if (is_first || Starts(interval)) continue;
      if (interval.begin != before.end && !before.end_clipped) return fault("after a gap");
      if (!before.end_clipped && IsSame(before, interval)) return fault("same as before");
      if (before.end_clipped) continue;
      if (const absl::string_view what = FaultBetween(before, interval, has_gaps); !what.empty()) {
        return fault(what);
      }
    }
  }
  return "";
}

}  // namespace

void IntervalLog::Note(const Interval& interval) {
  is_in_order_ &= interval.end >= last_end_;
  last_end_ = interval.end;
}

void IntervalLog::AddGoroutine(const GoInterval& interval) {
  Note(interval);
  goroutines_.push_back(interval);
}

void IntervalLog::AddProc(const ProcInterval& interval) {
  Note(interval);
  procs_.push_back(interval);
}

void IntervalLog::AddThread(const ThreadInterval& interval) {
  Note(interval);
  threads_.push_back(interval);
}

void IntervalLog::Merge(IntervalLog&& next, const InternerMap& ids) {
  is_in_order_ = false;
  for (GoInterval interval : next.goroutines_) {
    interval.reason = ids(interval.reason);
    interval.stack = ids(interval.stack);
    interval.begun_by.stack = ids(interval.begun_by.stack);
    interval.ended_by.stack = ids(interval.ended_by.stack);
    goroutines_.push_back(interval);
  }
  procs_.insert(procs_.end(), next.procs_.begin(), next.procs_.end());
  threads_.insert(threads_.end(), next.threads_.begin(), next.threads_.end());
}

std::string IntervalLog::OfGoroutine(int64_t id) const { return Of(interner_, goroutines_, id); }
std::string IntervalLog::OfProc(int64_t id) const { return Of(interner_, procs_, id); }
std::string IntervalLog::OfThread(int64_t id) const { return Of(interner_, threads_, id); }

std::string IntervalLog::All() const {
  std::string text;
  const auto append = [&](absl::string_view name, const auto& intervals) {
    for (const auto& [id, all] : ById(intervals)) {
      for (const auto& interval : all) {
        absl::StrAppend(&text, name, id, " ", Describe(interner_, interval), "\n");
      }
    }
  };
  append("g", goroutines_);
  append("p", procs_);
  append("m", threads_);
  return text;
}

std::string IntervalLog::FindFault(std::optional<int64_t> trace_end, bool has_gaps) const {
  std::string fault = FindFaultOf(interner_, goroutines_, trace_end, has_gaps);
  if (fault.empty()) fault = FindFaultOf(interner_, procs_, trace_end, has_gaps);
  if (fault.empty()) fault = FindFaultOf(interner_, threads_, trace_end, has_gaps);
  return fault;
}

}  // namespace gotrace::internal
