// Analyses of a whole trace, or of a window of it, with one call.
#ifndef GOTRACE_RUN_ANALYSIS_H_
#define GOTRACE_RUN_ANALYSIS_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gotrace/analysis.h"
#include "gotrace/byte_source.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/interner.h"
#include "gotrace/read_parallel.h"
#include "gotrace/reader_options.h"
#include "gotrace/state_tracker.h"
#include "gotrace/window_reader.h"

namespace gotrace {

// How to read a trace for Analyze().
struct AnalyzeOptions {
  // How to read it. All cores by default; keep_going can stop it. A window is always read with
  // decodes_ahead.
  ReaderOptions reader;

  // The window to analyse; by default the whole trace. Only its times, from_beginning and to_end
  // are used: analyses have filters of their own, and receive all events of the window's
  // generations.
  WindowOptions window;

  // Called now and then while the trace is read, on the calling thread.
  std::function<void(const ReadProgress&)> on_progress;
};

}  // namespace gotrace

namespace gotrace::internal {

// Several analyses that are run as one, so that they share a StateTracker and an Interner.
template <class Base, class... A>
class GroupOf : public Base {
 public:
  explicit GroupOf(std::unique_ptr<A>... analyses) : analyses_(std::move(analyses)...) {}

  void Begin(int64_t trace_start, EventFilter::Times window) override {
    ForEach([&](auto& analysis) { analysis.Begin(trace_start, window); });
  }
  void AddEvents(absl::Span<const Event> events) override {
    ForEach([&](auto& analysis) { analysis.AddEvents(events); });
  }
  void AddGoroutine(const GoInterval& interval) override {
    ForEach([&](auto& analysis) { analysis.AddGoroutine(interval); });
  }
  void AddProc(const ProcInterval& interval) override {
    ForEach([&](auto& analysis) { analysis.AddProc(interval); });
  }
  void AddThread(const ThreadInterval& interval) override {
    ForEach([&](auto& analysis) { analysis.AddThread(interval); });
  }
  bool WantsMore() const override {
    return std::apply([](const auto&... analysis) { return (analysis->WantsMore() || ...); },
                      analyses_);
  }
  void Finish(int64_t end) override {
    ForEach([&](auto& analysis) { analysis.Finish(end); });
  }

  template <class One>
  const One& get() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return *std::get<std::unique_ptr<One>>(analyses_);
  }

 protected:
  template <class One>
  One& own() {
    return *std::get<std::unique_ptr<One>>(analyses_);
  }

 private:
  template <class Call>
  void ForEach(const Call& call) {
    std::apply([&](const auto&... analysis) { (call(*analysis), ...); }, analyses_);
  }

  std::tuple<std::unique_ptr<A>...> analyses_;
};

template <class... A>
class SequentialGroup final : public GroupOf<Analysis, A...> {
 public:
  using GroupOf<Analysis, A...>::GroupOf;
};

template <class... A>
class MergeableGroup final : public GroupOf<MergeableAnalysis<MergeableGroup<A...>>, A...> {
 public:
  using GroupOf<MergeableAnalysis<MergeableGroup<A...>>, A...>::GroupOf;

  void Merge(MergeableGroup&& next, const InternerMap& ids) override {
    (this->template own<A>().Merge(std::move(next.template own<A>()), ids), ...);
  }
};

template <class... A>
using AnalysisGroup = std::conditional_t<(IsMergeableAnalysis<A> && ...), MergeableGroup<A...>,
                                         SequentialGroup<A...>>;

// Returns an analysis with default options.
template <class A>
std::unique_ptr<A> MakeDefault(Interner* interner) {
  if constexpr (requires { A(interner, {}); }) {
    return std::unique_ptr<A>(new A(interner, {}));
  } else if constexpr (std::is_constructible_v<A, Interner*>) {
    return std::make_unique<A>(interner);
  } else if constexpr (requires { A(typename A::Options()); }) {
    return std::make_unique<A>(typename A::Options());
  } else if constexpr (std::is_constructible_v<A, EventFilter>) {
    return std::make_unique<A>(EventFilter());
  } else {
    return std::make_unique<A>();
  }
}

}  // namespace gotrace::internal

namespace gotrace {

// An analysis of any type, for programs that choose the type at run time. AnalysisOf() returns one.
struct AnyAnalysis {
  // Returns a sink that runs the analysis, which is made with `filter`.
  std::function<std::unique_ptr<AnalysisSink>(const EventFilter& filter)> make_sink;

  // Reads a whole trace on several cores, as ReadParallel(); nullptr if the analysis cannot be
  // merged.
  std::function<absl::Status(std::unique_ptr<ByteSource> source, const ReaderOptions& options,
                             const EventFilter& filter,
                             const std::function<void(const ReadProgress&)>& on_progress,
                             std::unique_ptr<AnalysisSink>* result)>
      read_parallel;
};

// Returns functions that run the analysis that `make` returns. `make` takes the Interner* that the
// analysis uses, and an EventFilter with absolute times, and returns a std::unique_ptr of the
// analysis' type. It is called on several threads.
template <class Make>
AnyAnalysis AnalysisOf(const Make& make) {
  using A = typename std::invoke_result_t<Make, Interner*, const EventFilter&>::element_type;
  AnyAnalysis any;
  any.make_sink = [make](const EventFilter& filter) {
    return std::make_unique<AnalysisSink>(
        [&](Interner* interner) { return make(interner, filter); },
        AnalysisSink::Options{filter.times, filter.since_start});
  };
  if constexpr (IsMergeableAnalysis<A>) {
    any.read_parallel = [make](std::unique_ptr<ByteSource> source, const ReaderOptions& options,
                               const EventFilter& filter,
                               const std::function<void(const ReadProgress&)>& on_progress,
                               std::unique_ptr<AnalysisSink>* result) {
      const auto make_sink = [&] {
        return std::make_unique<MergeableAnalysisSink<A>>(
            [&](Interner* interner) { return make(interner, filter); }, AnalysisSink::Options());
      };
      std::unique_ptr<MergeableAnalysisSink<A>> sink;
      absl::Status status = ReadParallel(std::move(source), options, make_sink, &sink, on_progress);
      *result = std::move(sink);
      return status;
    };
  }
  return any;
}

// The result of RunAnalysis().
struct AnalysisRun {
  // OK, or the error that kept the trace from being opened or from being read to its end.
  absl::Status status;

  // The finished analysis of everything before the error. Never nullptr.
  std::unique_ptr<AnalysisSink> sink;

  // Whether the trace, and the window in it, could be opened.
  bool is_open = false;

  // How many bytes of the input were read, or 0 if that is not known.
  uint64_t bytes = 0;

  // The losses of reading, and WindowReader::seen(). Both are empty if the trace was read on
  // several cores.
  Losses losses;
  WindowReader::Seen seen;
};

// Runs an analysis as Analyze() does.
AnalysisRun RunAnalysis(std::unique_ptr<ByteSource> source, const AnalyzeOptions& options,
                        const AnyAnalysis& analysis);

// The results of Analyze() for analyses of the types A, which all differ.
template <class... A>
class Analyzed {
 public:
  // Used by Analyze().
  explicit Analyzed(AnalysisRun run) : run_(std::move(run)) {}

  // Returns OK, or the error that kept the trace from being opened or from being read to its end.
  // The results are those of everything before the error.
  const absl::Status& status() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return run_.status; }

  // Returns the analysis of the type One, which is finished. Valid as long as this object.
  template <class One>
  const One& get() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    using Group = internal::AnalysisGroup<A...>;
    return static_cast<const Group&>(run_.sink->analysis()).template get<One>();
  }

  // Return the analysis if there is only one.
  const auto& operator*() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return get<A...>(); }
  const auto* operator->() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return &get<A...>(); }

  // Returns the interner of the results' strings and stacks. Valid as long as this object.
  const Interner& interner() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return run_.sink->interner(); }

  // Returns how many events were read.
  uint64_t event_count() const { return run_.sink->event_count(); }

 private:
  AnalysisRun run_;
};

// Analyses a trace in one pass. `source` must be positioned at its beginning. `make` are functions
// that take an Interner*, which outlives the analysis, and return the std::unique_ptr of an
// analysis; With() returns such functions. They are called on several threads.
//
// The whole trace is read on several cores, as with ReadParallel(), if all of the analyses are
// mergeable and reading is strict. A window is read sequentially, and only its generations are read
// if the source can be read from any place. Intervals are cut to the window.
//
// Returns an Analyzed, which has the results and the status.
template <std::invocable<Interner*>... Make>
auto Analyze(std::unique_ptr<ByteSource> source, const AnalyzeOptions& options,
             const Make&... make) {
  const auto make_group = [&](Interner* interner, const EventFilter& /*filter*/) {
    using Group =
        internal::AnalysisGroup<typename std::invoke_result_t<Make, Interner*>::element_type...>;
    return std::make_unique<Group>(make(interner)...);
  };
  return Analyzed<typename std::invoke_result_t<Make, Interner*>::element_type...>(
      RunAnalysis(std::move(source), options, AnalysisOf(make_group)));
}

// Like Analyze() above, for analyses of the types A with default options:
// Analyze<GoroutineStats>(source).
template <std::derived_from<Analysis>... A>
Analyzed<A...> Analyze(std::unique_ptr<ByteSource> source, const AnalyzeOptions& options = {}) {
  return Analyze(std::move(source), options, internal::MakeDefault<A>...);
}

// Returns a function for Analyze() that makes an analysis of the type A. Its constructor gets the
// Interner*, if it takes one, and then copies of `arguments`.
template <class A, class... Arguments>
auto With(const Arguments&... arguments) {
  return [=](Interner* interner) {
    if constexpr (std::is_constructible_v<A, Interner*, const Arguments&...>) {
      return std::make_unique<A>(interner, arguments...);
    } else {
      return std::make_unique<A>(arguments...);
    }
  };
}

}  // namespace gotrace

#endif  // GOTRACE_RUN_ANALYSIS_H_
