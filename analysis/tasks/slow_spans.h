// The slowest tasks, regions and HTTP requests, and what their time went to.
#ifndef GOTRACE_ANALYSIS_TASKS_SLOW_SPANS_H_
#define GOTRACE_ANALYSIS_TASKS_SLOW_SPANS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "analysis/intervals/recent_states.h"
#include "analysis/intervals/stack_places.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/histogram.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/states.h"

namespace gotrace::internal {

// The path of a span is followed when the span ends, if it is among the longest of its type in this
// generation of the trace: that does not depend on where the trace is cut. Spans that began in an
// earlier generation are all followed, as far as this one goes, and so is the first request of each
// connection, whose begin may be in doubt.
//
// A request to a server of net/http lasts from the end of one wait of its connection's goroutine
// for the network, outside of the handler, to the next such wait. So it needs no annotations.
class SlowSpans {
 public:
  enum class Kind : uint8_t { kTask, kRegion, kRequest };

  // What a part of a path is, if there are other analyses of it.
  enum class Cause : uint8_t {
    kOther,
    kLock,     // A wait for a Mutex or RWMutex, or what another did meanwhile that had it.
    kReady,    // A wait for a P.
    kAssist,   // A mark assist, or a wait for the garbage collector.
    kStopped,  // A stop of the world.
  };

  // What goroutines on a path did.
  struct Doing {
    Cause cause = Cause::kOther;
    GoState state = GoState::kUndetermined;
    StringId reason = StringId::kEmpty;
    StackId stack = StackId::kNone;

    friend bool operator==(const Doing&, const Doing&) = default;

    template <class H>
    friend H AbslHashValue(H h, const Doing& doing) {
      return H::combine(std::move(h), doing.cause, doing.state, doing.reason, doing.stack);
    }
  };
  struct Part {
    Doing doing;
    uint64_t count = 0;
    int64_t time = 0;
  };

  struct Span {
    int64_t length = 0;
    int64_t end = 0;
    GoId goroutine;
    std::vector<Part> parts;  // In no particular order.
  };

  // All spans of a type whose begin and end are in the trace or window.
  struct Type {
    Kind kind = Kind::kTask;
    StringId name = StringId::kEmpty;  // "" for requests.
    Histogram lengths;
    std::vector<Span> longest;  // At most kLongest, the longest first.
  };
  static constexpr size_t kLongest = 64;

  // Returns the name of a kind: "task". Static lifetime.
  static absl::string_view NameOf(Kind kind);

  // `*interner` must outlive this object.
  explicit SlowSpans(Interner* interner) : interner_(*interner), places_(interner) {}

  // Counts only spans within `window`.
  void SetWindow(EventFilter::Times window) { window_ = window; }

  // Takes an event that `*states` has just taken.
  void Add(const Event& event, RecentStates* states);

  // Adds the spans of `next`, which received the following part of the trace.
  void Merge(SlowSpans& next, const RecentStates::Ids& ids);

  // Returns the types, in no particular order, after all events. `states` is the object that
  // received them.
  std::vector<Type> Finish(const RecentStates& states);

 private:
  struct TypeKey {
    Kind kind = Kind::kTask;
    StringId name = StringId::kEmpty;

    friend bool operator==(const TypeKey&, const TypeKey&) = default;

    template <class H>
    friend H AbslHashValue(H h, const TypeKey& key) {
      return H::combine(std::move(h), key.kind, key.name);
    }
  };
  // What goroutines on a path did, before it is known what older stacks are.
  struct RawDoing {
    bool is_stopped = false;  // Whether the world was stopped; the rest is then not set.
    GoState state = GoState::kUndetermined;
    StringId reason = StringId::kEmpty;
    StackId stack = StackId::kNone;
    StackId via = StackId::kNone;  // RecentStates::Piece::via.

    friend bool operator==(const RawDoing&, const RawDoing&) = default;

    template <class H>
    friend H AbslHashValue(H h, const RawDoing& doing) {
      return H::combine(std::move(h), doing.is_stopped, doing.state, doing.reason, doing.stack,
                        doing.via);
    }
  };
  struct RawPart {
    RawDoing doing;
    uint64_t count = 0;
    int64_t time = 0;
  };
  struct RawSpan {
    int64_t length = 0;
    int64_t end = 0;
    GoId goroutine;
    std::vector<RawPart> parts;
  };

  struct TypeData {
    Histogram lengths;
    std::vector<RawSpan> longest;
  };
  // A span that has begun.
  struct Open {
    int64_t begin = 0;
    StringId name = StringId::kEmpty;
  };
  // A connection of a server.
  struct Connection {
    std::optional<Open> request = std::nullopt;  // If it has one whose begin is known.
    bool is_here = false;  // Whether it began in this generation, or awaited a request.
  };

  // A span that began in an earlier part of the trace. Its length is not known here.
  struct Older {
    Kind kind = Kind::kTask;
    TaskId task;
    RawSpan span;
    // Requests: the value in `woken_`, and the parts of the path until then.
    std::optional<int64_t> woken = std::nullopt;
    std::vector<RawPart> before = {};
  };
  struct Stop {
    int64_t begin = 0;
    int64_t end = 0;
  };

  void AddTransition(const Event& event, RecentStates* states);
  void AddRequestEnd(GoId goroutine, StackId stack, int64_t end, RecentStates* states);
  void EndSpan(Kind kind, TaskId task, const std::optional<Open>& open, GoId goroutine,
               StackId stack, int64_t end, RecentStates* states);
  // Adds a span that began in an earlier generation, or keeps it for Merge().
  void AddOlder(const std::optional<Open>& open, Older older);
  // The same for the first request of a connection.
  void AddRequest(const Connection* connection, Older older);
  // Returns the open span that the end of `older` belongs to, which it ends.
  std::optional<Open> TakeOpen(const Older& older);
  bool IsInWindow(const Open& open, int64_t end) const;
  RawSpan Follow(GoId goroutine, int64_t from, int64_t end, StackId stack, RecentStates* states);
  void AddPiece(const RecentStates::Piece& piece);
  std::vector<RawPart> TakeParts();
  Cause CauseOf(const RawDoing& doing);
  Span Resolve(const RawSpan& raw, const RecentStates& states);
  void EndGeneration();

  static bool IsLonger(const RawSpan& a, const RawSpan& b);
  static void Insert(RawSpan span, std::vector<RawSpan>* longest);

  Interner& interner_;
  StackPlaces places_;
  EventFilter::Times window_;

  absl::flat_hash_map<TypeKey, TypeData> types_;
  absl::flat_hash_map<TypeKey, std::vector<RawSpan>> longest_here_;  // In this generation.

  absl::flat_hash_map<TaskId, Open> tasks_;
  absl::flat_hash_map<GoId, std::vector<Open>> regions_;  // The innermost last.
  absl::flat_hash_map<GoId, Connection> connections_;
  // When a wait ended that was older than its generation, the first since the end of a request of a
  // goroutine that serves a connection, or may do so. If there was no request when the generation
  // began, the wait was for one, and this is its begin.
  absl::flat_hash_map<GoId, int64_t> woken_;
  std::vector<Older> older_;  // In order of time.

  std::vector<Stop> stops_;  // Of this generation, in order of time.
  std::optional<int64_t> stop_begin_;
  // Of the path that is being followed.
  absl::flat_hash_map<RawDoing, std::pair<uint64_t, int64_t>> parts_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_TASKS_SLOW_SPANS_H_
