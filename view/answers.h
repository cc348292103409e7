// Requests are rows of one table, kRequests. Lanes come from one of two places. If the columns that
// are asked for are at least as wide as those of the overview, which the pass over the trace made,
// they follow from it. Otherwise the generations of the window are decoded; what crosses from one
// to another was kept by the pass. Both give the same lanes. While the pass runs, what it has is
// copied now and then, and lanes come from such a copy alone.
//
// What several files of this folder define are the requests of one class: those for lanes are in
// lane_answers.cc, and so on.
#ifndef GOTRACE_VIEW_ANSWERS_H_
#define GOTRACE_VIEW_ANSWERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "export/json/json_text.h"
#include "gotrace/analysis.h"
#include "gotrace/byte_source.h"
#include "gotrace/interner.h"
#include "gotrace/task_stats.h"
#include "gotrace/trace_index.h"
#include "gotrace/trace_view.h"
#include "view/answer_json.h"
#include "view/decoded_generations.h"
#include "view/lanes.h"
#include "view/overview.h"
#include "view/parameters.h"
#include "view/previews.h"
#include "view/span_details.h"

namespace gotrace::internal::view {

// The most rows of a list, and how many it has if the request does not say.
inline constexpr int64_t kMaxRows = 1000;
inline constexpr int64_t kRows = 100;

using OverviewSink = MergeableAnalysisSink<Overview>;

// A part of a trace, since its begin.
struct Window {
  int64_t from = 0;
  int64_t to = 0;
};

// Returns the columns of a window; they become wider than `step` if there would be too many.
ColumnRange ColumnsOf(const Window& window, int64_t step);

// Whether a text has another in it, in whatever case.
bool ContainsIgnoringCase(absl::string_view text, absl::string_view piece);

// A trace, and the places of its generations.
struct OpenedTrace {
  OpenedTrace(std::unique_ptr<ByteSource> its_source, TraceIndex its_index)
      : source(std::move(its_source)), index(std::move(its_index)) {}

  const std::unique_ptr<ByteSource> source;
  const TraceIndex index;
};

// What is known of a trace at some time. Nothing in it changes any more, so a request is answered
// from one of these, whatever is read meanwhile.
struct Known {
  std::shared_ptr<const OpenedTrace> trace;
  std::shared_ptr<const Preview> preview;           // While the trace is read.
  std::unique_ptr<OverviewSink> sink;               // Once it is read.
  std::unique_ptr<DecodedGenerations> generations;  // The same.
  std::string fault;

  bool is_complete() const { return sink != nullptr; }
  const Overview& overview() const { return is_complete() ? sink->analysis() : preview->overview; }
  const Interner& interner() const { return is_complete() ? sink->interner() : preview->interner; }
};

// Answers a request from what is known of the trace.
class Answers {
 public:
  // All must outlive this object.
  Answers(const TraceViewOptions& options, const Known& known, const ReadProgress& progress,
          const std::function<bool()>& keep_going)
      : options_(options),
        known_(known),
        progress_(progress),
        keep_going_(keep_going),
        source_(known.trace->source.get()),
        index_(known.trace->index),
        generations_(known.generations.get()) {}

  ViewAnswer Answer(absl::string_view text) const;

  using Handler = absl::Status (Answers::*)(const ViewRequest& request, JsonWriter* json) const;
  struct Row {
    absl::string_view path;
    absl::string_view parameters;  // Separated by spaces.
    Handler handler;               // nullptr if options_.answer_more answers it.
    bool is_early = false;         // Whether it is answered while the trace is read.
  };
  static absl::Span<const Row> Rows();

 private:
  const Overview& overview() const { return known_.overview(); }
  const Interner& interner() const { return known_.interner(); }
  absl::string_view NameOfGroup(size_t group) const {
    return interner().String(overview().groups()[group].start);
  }
  absl::string_view NameOfGoroutine(GoId id, int64_t time) const {
    const Overview::Goroutine* const goroutine = overview().Find(id, time);
    return goroutine == nullptr ? absl::string_view() : NameOfGroup(goroutine->group);
  }

  ViewAnswer AnswerMore(const ViewRequest& request) const;

  absl::StatusOr<Window> WindowOf(const ViewRequest& request) const;
  absl::StatusOr<int64_t> StepOf(const ViewRequest& request, const Window& window) const;
  absl::StatusOr<std::vector<Lane>> LanesOf(const ViewRequest& request,
                                            const ColumnRange& range) const;

  // Returns the generations that overlap a part of the trace: the first one, and the one after the
  // last.
  std::pair<size_t, size_t> GenerationsOf(const Window& window) const;
  size_t GenerationAt(int64_t time) const { return GenerationsOf({time, time + 1}).first; }
  // Returns the time since the trace's begin of a time on its clock.
  int64_t SinceBegin(int64_t time) const { return time - overview().begin(); }
  // Returns when a task or region begins and ends; if it does not do that in the trace, when the
  // trace does.
  template <class Span>
  int64_t BeginOf(const Span& span) const {
    return span.begin.has_value() ? SinceBegin(*span.begin) : 0;
  }
  template <class Span>
  int64_t EndOf(const Span& span) const {
    return span.end.has_value() ? SinceBegin(*span.end) : overview().duration();
  }
  bool CanDecode(const Window& window) const;
  // Adds what the overview has of a lane. Returns whether it has such lanes.
  bool AddKnown(Lane* lane) const;
  absl::Status Decode(const Window& window, PieceSorter* sorter) const;
  void AppendGroup(size_t index, JsonWriter* json) const;
  void AppendLane(Lane* lane, const std::vector<std::string>& reasons, Names* names,
                  JsonWriter* json) const;
  // Calls `use` with each piece of a lane in the generation at place `n`, and with all pieces that
  // cross between generations.
  absl::Status ForEachPiece(const LaneId& lane, size_t n,
                            const std::function<void(const LanePiece& piece)>& use) const;
  absl::StatusOr<GoroutineIntervals> IntervalsOf(GoId goroutine, size_t n) const;
  // A wait that crosses into another generation, where its reason and stack are not known.
  struct WaitBefore {
    GoroutineIntervals intervals;  // Of the generation in which it began.
    absl::string_view reason;
    StackId stack = StackId::kNone;
  };
  // Returns the wait that ended where the piece begins, or an empty one if it does not cross.
  absl::StatusOr<WaitBefore> FindWaitBefore(GoId goroutine, const LanePiece& piece) const;
  struct FoundSpan {
    LanePiece piece;
    // Times in the pieces before and after it, if they are near.
    std::optional<int64_t> previous;
    std::optional<int64_t> next;
  };
  // Returns what a lane does at a time, which may be nothing where a P or thread is idle.
  absl::StatusOr<FoundSpan> FindSpan(const LaneId& lane, int64_t at) const;
  // Appends what the intervals of a goroutine say of its piece: reason, stack, causes and wakes.
  absl::Status AppendInterval(const LanePiece& piece, const Overview::Goroutine& goroutine,
                              JsonWriter* json) const;
  // Appends whom the goroutine of the piece woke during it, by its intervals in some generations.
  void AppendWakes(const LanePiece& piece, absl::Span<const GoroutineIntervals> parts,
                   JsonWriter* json) const;
  // Appends the functions in stacks whose names contain a text, the shortest ones first.
  void AppendFunctions(absl::string_view text, size_t most, JsonWriter* json) const;
  void AppendStack(const Interner& interner, StackId stack, JsonWriter* json) const;
  void AppendPlace(absl::string_view key, absl::string_view lane, std::optional<int64_t> at,
                   JsonWriter* json) const;
  void AppendCause(absl::string_view key, const std::optional<Cause>& cause, int64_t time,
                   const Interner& interner, JsonWriter* json) const;
  void AppendRegions(std::vector<RegionSpan> regions, const Interner& types, Names* names,
                     JsonWriter* json) const;
  void AppendId(absl::string_view key, int64_t id, JsonWriter* json) const;

  absl::Status AnswerTrace(const ViewRequest& request, JsonWriter* json) const;
  absl::Status AnswerStrip(const ViewRequest& request, JsonWriter* json) const;
  absl::Status AnswerLanes(const ViewRequest& request, JsonWriter* json) const;
  absl::Status AnswerGroups(const ViewRequest& request, JsonWriter* json) const;
  absl::Status AnswerMembers(const ViewRequest& request, JsonWriter* json) const;
  absl::Status AnswerSpan(const ViewRequest& request, JsonWriter* json) const;
  absl::Status AnswerMark(absl::string_view lane, int64_t at, JsonWriter* json) const;
  absl::Status AnswerArrows(const ViewRequest& request, JsonWriter* json) const;
  absl::Status AnswerMarks(const ViewRequest& request, JsonWriter* json) const;
  absl::Status AnswerTaskLanes(const ViewRequest& request, JsonWriter* json) const;
  absl::Status AnswerSearch(const ViewRequest& request, JsonWriter* json) const;

  const TraceViewOptions& options_;
  const Known& known_;
  const ReadProgress& progress_;
  const std::function<bool()>& keep_going_;
  const ByteSource* const source_;
  const TraceIndex& index_;
  DecodedGenerations* const generations_;  // nullptr while the trace is read.
};

}  // namespace gotrace::internal::view

#endif  // GOTRACE_VIEW_ANSWERS_H_
