// Cuts a window of time out of a trace.
//
// A WindowReader returns the generations that the window needs: the one before that of its first
// time, which states what exists, and all up to its last time. The events before the window are
// followed, but not written. What exists at its first time is then stated by a Prologue.
#include "gotrace/trim.h"

#include <algorithm>
#include <set>
#include <utility>

#include "gotrace/event_kind.h"
#include "gotrace/states.h"
#include "parser/event/event_writer.h"
#include "rewrite/past_events.h"
#include "rewrite/trace_writer.h"

namespace gotrace {
namespace internal {
namespace {

class Trimmer {
 public:
  Trimmer(const WindowOptions& window, const ReaderOptions& options, ByteSink* out)
      : window_(window), options_(options), out_(*out) {}

  absl::StatusOr<TrimmedTrace> Trim(std::unique_ptr<ByteSource> source) {
    std::unique_ptr<ByteSource> again = source->Fork(source->offset());
    absl::StatusOr<WindowReader> reader = WindowReader::Open(std::move(source), window_, options_);
    if (!reader.ok()) return reader.status();
    TraceWriterImpl writer({.version = reader->reader().version(), .lenient = true}, &out_);
    const Event* event = reader->Next();
    if (again != nullptr && HasFirstTime()) {
      absl::Status status = FindEarlier(std::move(again), &writer);
      if (!status.ok()) return status;
    }
    bool has_earlier = false;  // Whether an event before the window was followed.
    for (; event != nullptr && writer.WantsMore(); event = reader->Next()) {
      if (event->kind() == EventKind::kSync) {
        if (absl::Status status = SetTimes(*reader); !status.ok()) return status;
      }
      const bool continues = writer.Continues(*event);
      if (event->time() > times_.to && !continues) {
        ends_early_ = true;
        if (!begun_ && has_earlier) Begin(*event, &writer);
        if (!NeedsMore(*event)) break;
        StateLate(*event, &writer);
        continue;
      }
      if (event->kind() == EventKind::kSync) is_first_ = event->arg(0) == 1;
      if (!begun_ && (event->time() < times_.from || (continues && has_earlier))) {
        has_earlier = true;
        writer.Follow(*event);
        continue;
      }
      Begin(*event, &writer);
      if (!writer.IsStated(*event)) writer.Add(absl::MakeConstSpan(event, 1));
      last_time_ = event->time();
    }
    if (begun_ && ends_early_) writer.LastUntil(times_.to);
    TrimmedTrace result;
    result.status = reader->reader().status();
    if (!begun_) {
      return result.status.ok() ? absl::NotFoundError("no event is in the window") : result.status;
    }
    if (absl::Status status = writer.Finish(); !status.ok()) return status;
    result.written = writer.written();
    result.window = times_;
    result.seen = reader->seen();
    result.losses = reader->reader().losses();
    result.events_read = reader->reader().event_count();
    result.bytes_read = reader->reader().input_read();
    return result;
  }

 private:
  // Sets the window's ends by the clock of the current generation.
  absl::Status SetTimes(const WindowReader& reader) {
    const absl::StatusOr<EventFilter> filter = reader.AbsoluteFilter();
    if (!filter.ok() && !has_times_) return filter.status();
    if (!filter.ok()) return absl::OkStatus();
    if (!begun_) times_.from = filter->times.from;
    times_.to = filter->times.to;
    has_times_ = true;
    return absl::OkStatus();
  }

  // Returns whether events after the window are still needed. The times of a damaged trace may go
  // back. The first generation states some goroutines and Ps only where it first uses them, or at
  // its end.
  bool NeedsMore(const Event& event) const {
    if (options_.mode != ReadMode::kStrict) return true;
    return begun_ && is_first_ && event.kind() != EventKind::kSync;
  }

  // If the event after the window is the first about a goroutine or P, which thus existed in the
  // window already, states that after the last event of the window.
  void StateLate(const Event& event, TraceWriterImpl* writer) {
    if (!begun_ || !is_first_) return;
    const ResourceId resource = event.transition_resource();
    const bool is_first = IsStatus(event) && event.transition_from() == 0;
    if (!is_first || writer->IsStated(event) || !late_.emplace(resource.kind, resource.id).second)
      return;
    Event late = event;
    // Right after the last event, so that the next one, of which another window may begin, can keep
    // its time: a reader gives no two events the same one.
    EventWriter(&late).Time(std::min(last_time_ + 1, times_.to));
    writer->Add({late});
  }

  // Begins the window before `event`.
  void Begin(const Event& event, TraceWriterImpl* writer) {
    const bool begins = event.kind() == EventKind::kSync;
    if (std::exchange(begun_, true)) return;
    last_time_ = times_.from;
    writer->BeginAt(times_.from, !is_first_ && !begins);
  }

  bool HasFirstTime() const {
    return window_.wall_from.has_value() || window_.filter.times.HasFirst() ||
           window_.filter.since_start.HasFirst();
  }

  // Reads the generations of the window for what is in progress before them, so that it can begin
  // with the window.
  absl::Status FindEarlier(std::unique_ptr<ByteSource> source, TraceWriterImpl* writer) {
    WindowOptions window = window_;
    window.on_progress = nullptr;
    ReaderOptions options = options_;
    options.on_fault = nullptr;
    options.on_time_back = nullptr;
    absl::StatusOr<WindowReader> reader =
        WindowReader::Open(std::move(source), window, std::move(options));
    if (!reader.ok()) return reader.status();
    EarlierSpanFinder finder;
    // A fault is found again by the reader of the events.
    reader->ForEach([&](const Event& event) { finder.Add(event); }).IgnoreError();
    writer->FollowEarlier(finder.found());
    return absl::OkStatus();
  }

  const WindowOptions window_;
  const ReaderOptions options_;
  ByteSink& out_;
  EventFilter::Times times_;
  bool has_times_ = false;
  bool is_first_ = false;  // Whether the window ends in the first generation.
  int64_t last_time_ = 0;  // Of the last event in the window, or of its begin.
  std::set<std::pair<ResourceKind, int64_t>> late_;  // What StateLate() stated.
  bool begun_ = false;                               // Whether the window has begun.
  bool ends_early_ = false;  // Whether the original continues after the window.
};

}  // namespace
}  // namespace internal

absl::StatusOr<TrimmedTrace> TrimTrace(std::unique_ptr<ByteSource> source, WindowOptions window,
                                       ReaderOptions options, ByteSink* out) {
  EventFilter only_times;
  only_times.times = window.filter.times;
  only_times.since_start = window.filter.since_start;
  window.filter = only_times;
  window.whole_generations = true;
  return internal::Trimmer(window, options, out).Trim(std::move(source));
}

}  // namespace gotrace
