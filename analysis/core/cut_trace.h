// Analyses of traces that are cut into parts, for tests.
#ifndef GOTRACE_ANALYSIS_CORE_CUT_TRACE_H_
#define GOTRACE_ANALYSIS_CORE_CUT_TRACE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gotrace/analysis.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_sink.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "parser/event/event_access.h"

namespace gotrace::internal {

// Runs an analysis over each part of a trace that is cut before every `size`th generation. `Make`
// takes AnalysisSink::Options and returns the std::unique_ptr of a MergeableAnalysisSink.
template <class Make>
class CutTrace final : public EventSink {
 public:
  CutTrace(size_t size, const Make& make) : size_(size), make_(make) {}

  void Add(absl::Span<const Event> events) override {
    const Event& first = events.front();
    if (parts_.empty()) start_ = first.time();
    if (first.kind() == EventKind::kSync && EventAccess::Tables(first) != nullptr &&
        generations_++ % size_ == 0) {
      parts_.push_back(make_(AnalysisSink::Options()));
      if (parts_.size() > 1) parts_.back()->StartInMiddle(start_);
    }
    parts_.back()->Add(events);
  }

  // Merges the parts.
  const AnalysisSink& Merge() {
    for (size_t i = 1; i < parts_.size(); ++i) parts_[0]->Merge(std::move(*parts_[i]));
    EXPECT_TRUE(parts_[0]->Finish().ok());
    return *parts_[0];
  }

  size_t size() const { return parts_.size(); }

 private:
  const size_t size_;
  const Make make_;
  size_t generations_ = 0;
  int64_t start_ = 0;  // The time of the first event.
  std::vector<std::invoke_result_t<Make, AnalysisSink::Options>> parts_;
};

// Analyses a trace as a whole, and expects `text_of` to return the same for it as where it is cut
// into generations, and into pairs of them. `read` gives all events of the trace to the sinks.
// Returns the analysis of the whole.
template <class Make>
std::unique_ptr<AnalysisSink> ExpectSameHoweverCut(
    const std::function<absl::Status(absl::Span<EventSink* const> sinks)>& read, const Make& make,
    const std::function<std::string(const AnalysisSink& sink)>& text_of) {
  std::unique_ptr<AnalysisSink> whole = make(AnalysisSink::Options());
  CutTrace<Make> one(1, make);
  CutTrace<Make> two(2, make);
  EXPECT_TRUE(read({whole.get(), &one, &two}).ok());
  const std::string expected = text_of(*whole);
  EXPECT_EQ(text_of(one.Merge()), expected);
  EXPECT_EQ(text_of(two.Merge()), expected);
  return whole;
}

// Returns the time of the first status in the trace `bytes`, before which nothing was seen.
inline int64_t FirstStatusOf(const std::string& bytes) {
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  EXPECT_TRUE(reader.ok());
  const Event* event = reader->Next();
  while (event != nullptr && event->kind() != EventKind::kStateTransition) event = reader->Next();
  EXPECT_NE(event, nullptr);
  return event == nullptr ? 0 : event->time();
}

// The same for the trace `bytes`.
template <class Make>
std::unique_ptr<AnalysisSink> ExpectSameHoweverCut(
    const std::string& bytes, const Make& make,
    const std::function<std::string(const AnalysisSink& sink)>& text_of) {
  const auto read = [&](absl::Span<EventSink* const> sinks) {
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    return reader.ok() ? ReadInto(*reader, sinks) : reader.status();
  };
  return ExpectSameHoweverCut(read, make, text_of);
}

// The same for events, of which each generation begins with a kSync event.
template <class Make>
std::unique_ptr<AnalysisSink> ExpectSameHoweverCut(
    absl::Span<const Event> events, const Make& make,
    const std::function<std::string(const AnalysisSink& sink)>& text_of) {
  const auto read = [&](absl::Span<EventSink* const> sinks) {
    absl::Status status;
    for (size_t begin = 0, end = 0; begin < events.size(); begin = end) {
      for (end = begin + 1; end < events.size() && events[end].kind() != EventKind::kSync;) ++end;
      for (EventSink* const sink : sinks) sink->Add(events.subspan(begin, end - begin));
    }
    for (EventSink* const sink : sinks) status.Update(sink->Finish());
    return status;
  };
  return ExpectSameHoweverCut(read, make, text_of);
}

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_CORE_CUT_TRACE_H_
