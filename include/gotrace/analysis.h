// Analyses of traces, and the sink that runs them.
#ifndef GOTRACE_ANALYSIS_H_
#define GOTRACE_ANALYSIS_H_

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/event_sink.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"

namespace gotrace {

// Computes something from the intervals of a StateTracker, and from the events if it needs them.
// Run it with Analyze(), or with an AnalysisSink.
class Analysis : public IntervalConsumer {
 public:
  // Called once, before everything else. `trace_start` is the time of the trace's first event, from
  // which EventFilter::since_start counts. `window` is the window to analyse, in values of
  // Event::time(), as set in AnalysisSink::Options. An analysis that consists of others passes both
  // on to them.
  virtual void Begin(int64_t /*trace_start*/, EventFilter::Times /*window*/) {}

  // Called with the events, as EventSink::Add() is. An event comes before the interval that it
  // ends.
  virtual void AddEvents(absl::Span<const Event> /*events*/) {}

  // Returns whether more events are of use: see EventSink::WantsMore().
  virtual bool WantsMore() const { return true; }

  // Called once, after the last event and interval. `end` is the time of the last event, or the end
  // of the window.
  virtual void Finish(int64_t /*end*/) {}
};

// An analysis whose results for consecutive parts of a trace can be combined, so that several cores
// can compute them. Its own type is `A`: class Stats : public MergeableAnalysis<Stats>.
template <class A>
class MergeableAnalysis : public Analysis {
 public:
  // Appends the results of `next`, which received the part of the trace after this one's. They do
  // not include the intervals that cross the border: this analysis received these already, in one
  // piece. `ids` maps ids of the interner of `next` to ids of this analysis' interner.
  virtual void Merge(A&& next, const InternerMap& ids) = 0;
};

// Whether analyses of the type A can be merged.
template <class A>
concept IsMergeableAnalysis = std::derived_from<A, MergeableAnalysis<A>>;

// Makes an analysis that uses the ids of `interner`, which outlives it.
using MakeAnalysis = std::function<std::unique_ptr<Analysis>(Interner* interner)>;

// Runs one analysis over the events that it is given. Analyze() in run_analysis.h does all of this,
// and reads the trace.
class AnalysisSink : public EventSink {
 public:
  // The part of the trace to analyse.
  struct Options {
    // The window of time to analyse, in values of Event::time(). Intervals are cut to it. The
    // analysis receives all events, and has to ignore events outside of the window.
    EventFilter::Times window = {};

    // A window in times since the first event of the trace. Only times in both windows are
    // analysed.
    EventFilter::Times since_start = {};
  };

  // Calls `make` once, with the Interner that this object owns.
  AnalysisSink(const MakeAnalysis& make, const Options& options);
  ~AnalysisSink() override;

  void Add(absl::Span<const Event> events) final;
  bool WantsMore() const final;
  absl::Status Finish() final;

  // Returns how many events were added.
  uint64_t event_count() const;

  // Return the analysis, which has the results after Finish(), and the interner with its strings
  // and stacks. Both are valid as long as this object.
  const Analysis& analysis() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  const Interner& interner() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 protected:
  // For MergeableAnalysisSink. MergeTracker() merges the interner and the StateTracker of `next`,
  // and returns the ids to merge the analysis with.
  void StartTrackerInMiddle(int64_t trace_start);
  InternerMap MergeTracker(AnalysisSink& next);
  Analysis& mutable_analysis();

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

// An AnalysisSink for an analysis of the type A that can be merged. ReadParallel() takes such
// sinks.
template <IsMergeableAnalysis A>
class MergeableAnalysisSink final : public MergeableSink<MergeableAnalysisSink<A>, AnalysisSink> {
 public:
  // Like the constructor of AnalysisSink.
  MergeableAnalysisSink(const std::function<std::unique_ptr<A>(Interner* interner)>& make,
                        const AnalysisSink::Options& options)
      : MergeableSink<MergeableAnalysisSink<A>, AnalysisSink>(make, options) {}

  void StartInMiddle(int64_t trace_start) override { this->StartTrackerInMiddle(trace_start); }

  void Merge(MergeableAnalysisSink&& next) override {
    const InternerMap ids = this->MergeTracker(next);
    own().Merge(std::move(next.own()), ids);
  }

  // Returns the analysis, which has the results after Finish().
  const A& analysis() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return static_cast<const A&>(AnalysisSink::analysis());
  }

 private:
  // The function that was passed to the constructor returns an A.
  A& own() { return static_cast<A&>(this->mutable_analysis()); }
};

}  // namespace gotrace

#endif  // GOTRACE_ANALYSIS_H_
