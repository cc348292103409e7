// Analyses of traces, and the sink that runs them.
#ifndef GOTRACE_ANALYSIS_H_
#define GOTRACE_ANALYSIS_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/event_sink.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"

namespace gotrace {

// Computes something from the intervals of a StateTracker, and from the events if it needs them.
// Run it with an AnalysisSink.
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

// Makes an analysis that uses the ids of `interner`, which outlives it.
using MakeAnalysis = std::function<std::unique_ptr<Analysis>(Interner* interner)>;

// Runs one analysis over the events that are added. Sinks for consecutive parts of a trace can be
// merged, so this class can be used with ReadParallel().
class AnalysisSink final : public MergeableSink {
 public:
  // What to analyse.
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

  void StartInMiddle(int64_t trace_start) override;
  void Add(absl::Span<const Event> events) override;
  bool WantsMore() const override;
  absl::Status Finish() override;
  void Merge(MergeableSink&& next) override;

  // Returns how many events were added.
  uint64_t event_count() const;

  // Return the analysis, which has the results after Finish(), and the interner with its strings
  // and stacks. Both are valid as long as this object.
  const Analysis& analysis() const;
  const Interner& interner() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_ANALYSIS_H_
