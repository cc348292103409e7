// Reads the events of a window of time. Its ends may be times of the trace or of the wall clock.
#ifndef GOTRACE_WINDOW_READER_H_
#define GOTRACE_WINDOW_READER_H_

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gotrace/byte_source.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/event_times.h"
#include "gotrace/reader.h"
#include "gotrace/reader_options.h"

namespace gotrace {

// A window of time, and the events of it to read.
struct WindowOptions {
  // The conditions that events must meet. Its times are the window's ends: values of Event::time(),
  // times since the start of the trace, or both.
  EventFilter filter;

  // The window's ends as wall-clock times, both included. The window is the time between all ends
  // that are set. The trace needs clock snapshots, as Go writes them since 1.25.
  std::optional<absl::Time> wall_from;
  std::optional<absl::Time> wall_to;

  // Whether to return all events of the generations that overlap the window, including events that
  // do not meet the conditions: for sinks that need the state at the window's first time, and that
  // apply AbsoluteFilter() themselves. A generation may state the first status of a goroutine only
  // later, when it changes.
  bool whole_generations = false;

  // Whether to read from the beginning of the trace even if the first time is later. With
  // whole_generations, all events before the window are then returned, too.
  bool from_beginning = false;

  // Whether to continue after an event that is too late for the window, since the times of a
  // damaged trace may be wrong.
  bool to_end = false;

  // Called now and then while the trace is read, on the thread that calls WindowReader::Next().
  std::function<void(const ReadProgress&)> on_progress;

  // Returns whether an end of the window is a wall-clock time.
  bool has_wall_times() const { return wall_from.has_value() || wall_to.has_value(); }

  // Returns whether the window has an end of any kind.
  bool has_times() const {
    return has_wall_times() || !filter.times.MatchesAll() || !filter.since_start.MatchesAll();
  }
};

// The events of a window of a trace, in order. If the source can be read from any place, only the
// generations that the window needs are read.
class WindowReader {
 public:
  // Opens the trace in `source`, which must be positioned at its beginning. Fails as
  // Reader::FromSource() does, and with kFailedPrecondition if the trace is of a version without
  // wall-clock times, but an end of the window is one.
  static absl::StatusOr<WindowReader> Open(std::unique_ptr<ByteSource> source,
                                           const WindowOptions& options,
                                           ReaderOptions reader_options);

  // Returns the next event, or nullptr if there is none: at the end of the trace, after a fault
  // (see reader().status()), or once no later event can be in the window. The event is valid until
  // the next call.
  const Event* Next() ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Calls `f` with each of the events that are left, and returns reader().status(): see
  // Reader::ForEach().
  template <std::invocable<const Event&> F>
  [[nodiscard]] absl::Status ForEach(F&& f) {
    internal::ForEachEvent(*this, f);
    return reader_.status();
  }

  // Returns the next events, at least one, or none where Next() would return nullptr. All belong to
  // one generation: a kSync event is always the first of its block. Faster than Next() if the
  // options select the whole trace. The events are valid until the next call.
  absl::Span<const Event> NextBlock() ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the filter with all ends of the window as values of Event::time(), by the clock of the
  // generation that was read last. Call it after Next(). Fails with kFailedPrecondition if an end
  // of the window is a wall-clock time, but that generation has no clock snapshot.
  absl::StatusOr<EventFilter> AbsoluteFilter() const;

  // Returns the time of the trace's first event. Call it after Next().
  int64_t trace_start() const { return start_.value_or(0); }

  // Returns the clocks of the current generation, which convert the times of its events. Valid as
  // long as this object.
  const EventTimes& times() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return times_; }

  // Returns the reader of the trace, for its status, losses and counts. Valid as long as this
  // object.
  const Reader& reader() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return reader_; }

  // Facts about the trace that reading has shown.
  struct Seen {
    // The times of the trace's first event, even if its generation was skipped, and of the latest
    // event that was compared with the window.
    int64_t first_time = 0;
    int64_t last_time = 0;

    // If an end of the window is a wall-clock time: the same times on the wall clock, if they are
    // known, and whether any event was between the ends.
    std::optional<absl::Time> first_wall;
    std::optional<absl::Time> last_wall;
    bool within_wall = false;

    // With WindowOptions::whole_generations: whether any event meets the conditions that are not on
    // time.
    bool any_matches = false;

    // The first generation whose frequency of the trace clock is not plausible, so that the times
    // of its events are meaningless.
    std::optional<GenerationInfo> timeless;
  };

  // Returns the facts known so far. Valid as long as this object.
  const Seen& seen() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return seen_; }

 private:
  enum class Verdict { kTake, kSkip, kTakeAndStop, kStop };

  WindowReader(const WindowOptions& options, Reader reader, std::optional<int64_t> start);

  void BeginGeneration(const Event& sync);
  void CountForProgress(uint64_t events);
  Verdict Check(const Event& event);
  bool IsPast(const Event& event) const;

  WindowOptions options_;
  Reader reader_;
  std::optional<int64_t> start_;  // The time of the trace's first event.
  EventFilter filter_;            // With the wall-clock times of this generation.
  EventFilter filter_without_times_;
  bool matches_all_ = false;
  bool stopped_ = false;
  uint64_t events_since_progress_ = 0;
  EventTimes times_;
  Seen seen_;
};

}  // namespace gotrace

#endif  // GOTRACE_WINDOW_READER_H_
