#include "gotrace/analysis.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "analysis/core/window.h"

namespace gotrace {

using internal::CutBegin;
using internal::CutEnd;
using internal::Overlaps;

namespace {

// Cuts intervals to a window of time, and passes the remaining parts to an analysis.
class WindowedIntervals final : public IntervalConsumer {
 public:
  explicit WindowedIntervals(Analysis* analysis) : analysis_(*analysis) {}

  // Must be called before the first interval is added.
  void SetWindow(EventFilter::Times window) { window_ = window; }

  void AddGoroutine(const GoInterval& interval) override {
    if (!Overlaps(window_, interval)) return;
    GoInterval cut = interval;
    if (CutBegin(window_, &cut)) {
      cut.starts_life = false;
      cut.begun_by = {};
    }
    if (CutEnd(window_, &cut)) {
      cut.ends_life = false;
      cut.ended_by = {};
    }
    cut.proc_until = std::clamp(cut.proc_until, cut.begin, cut.end);
    analysis_.AddGoroutine(cut);
  }

  void AddProc(const ProcInterval& interval) override {
    if (!Overlaps(window_, interval)) return;
    ProcInterval cut = interval;
    CutBegin(window_, &cut);
    if (CutEnd(window_, &cut)) cut.stolen = false;
    analysis_.AddProc(cut);
  }

  void AddThread(const ThreadInterval& interval) override {
    if (!Overlaps(window_, interval)) return;
    ThreadInterval cut = interval;
    CutBegin(window_, &cut);
    CutEnd(window_, &cut);
    analysis_.AddThread(cut);
  }

 private:
  Analysis& analysis_;
  EventFilter::Times window_;
};

}  // namespace

class AnalysisSink::Impl {
 public:
  Impl(const MakeAnalysis& make, const Options& options)
      : analysis_(make(&interner_)),
        options_(options),
        windowed_(analysis_.get()),
        tracker_(&interner_, options.window.MatchesAll() && options.since_start.MatchesAll()
                                 ? static_cast<IntervalConsumer*>(analysis_.get())
                                 : &windowed_) {}

  void StartInMiddle(int64_t trace_start) {
    tracker_.StartInMiddle();
    Begin(trace_start);
  }

  void Add(absl::Span<const Event> events) {
    if (!has_begun_) Begin(events.front().time());
    last_time_ = std::max(last_time_, events.back().time());
    event_count_ += events.size();
    // Only a call from C can reuse the id of a goroutine. All intervals of the id's last goroutine
    // must be added before the events of the next one.
    while (true) {
      const auto reuse = std::find_if(events.begin() + 1, events.end(), [](const Event& event) {
        return event.type() == EventType::kGoCreateSyscall;
      });
      const size_t size = static_cast<size_t>(reuse - events.begin());
      analysis_->AddEvents(events.first(size));
      tracker_.Add(events.first(size));
      if (reuse == events.end()) break;
      events.remove_prefix(size);
    }
  }

  absl::Status Finish() {
    absl::Status status = tracker_.Finish();
    analysis_->Finish(std::min(last_time_, window_.to));
    return status;
  }

  InternerMap Merge(Impl& next) {
    last_time_ = std::max(last_time_, next.last_time_);
    event_count_ += next.event_count_;
    return tracker_.Merge(std::move(next.tracker_));
  }

  bool WantsMore() const { return analysis_->WantsMore(); }
  uint64_t event_count() const { return event_count_; }
  Analysis& analysis() { return *analysis_; }
  const Interner& interner() const { return interner_; }

 private:
  void Begin(int64_t trace_start) {
    has_begun_ = true;
    EventFilter filter;
    filter.since_start = options_.since_start;
    window_ = filter.Within(trace_start, options_.window).times;
    windowed_.SetWindow(window_);
    analysis_->Begin(trace_start, window_);
  }

  Interner interner_;
  const std::unique_ptr<Analysis> analysis_;
  const Options options_;
  bool has_begun_ = false;
  EventFilter::Times window_;
  WindowedIntervals windowed_;
  StateTracker tracker_;
  int64_t last_time_ = std::numeric_limits<int64_t>::min();
  uint64_t event_count_ = 0;
};

AnalysisSink::AnalysisSink(const MakeAnalysis& make, const Options& options)
    : impl_(std::make_unique<Impl>(make, options)) {}
AnalysisSink::~AnalysisSink() = default;

bool AnalysisSink::WantsMore() const { return impl_->WantsMore(); }

void AnalysisSink::Add(absl::Span<const Event> events) { impl_->Add(events); }

absl::Status AnalysisSink::Finish() { return impl_->Finish(); }

void AnalysisSink::StartTrackerInMiddle(int64_t trace_start) { impl_->StartInMiddle(trace_start); }
InternerMap AnalysisSink::MergeTracker(AnalysisSink& next) { return impl_->Merge(*next.impl_); }
Analysis& AnalysisSink::mutable_analysis() { return impl_->analysis(); }

uint64_t AnalysisSink::event_count() const { return impl_->event_count(); }
const Analysis& AnalysisSink::analysis() const { return impl_->analysis(); }
const Interner& AnalysisSink::interner() const { return impl_->interner(); }

}  // namespace gotrace
