#include "gotrace/trace_view.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "analysis/core/cut_trace.h"
#include "analysis/intervals/interval_log.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader.h"
#include "gotrace/repair.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/json_value.h"
#include "testing/test_directory.h"

namespace gotrace::internal {
namespace trace_view_test {

// A trace of testdata that is open and read.
struct OpenedView {
  explicit OpenedView(absl::string_view name) : OpenedView(name, ReadTestTrace(name)) {}
  OpenedView(absl::string_view name, std::string trace) : bytes(std::move(trace)) {
    absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromBytes(bytes);
    EXPECT_TRUE(source.ok());
    TraceViewOptions options;
    options.name = std::string(name);
    absl::StatusOr<std::unique_ptr<TraceView>> opened =
        TraceView::Open(*std::move(source), std::move(options));
    EXPECT_TRUE(opened.ok()) << opened.status();
    view = *std::move(opened);
    EXPECT_TRUE(view->Read().ok());
  }

  // Returns the answer to a request that must succeed.
  JsonValue Ask(absl::string_view request) const {
    const ViewAnswer answer = view->Answer(request);
    EXPECT_EQ(answer.status, 200) << request << ": " << answer.body;
    EXPECT_EQ(answer.media_type, "application/json");
    EXPECT_EQ(CheckJson(answer.body), "") << request;
    absl::StatusOr<JsonValue> value = ParseJson(answer.body);
    return value.ok() ? *std::move(value) : JsonValue();
  }

  const std::string bytes;
  std::unique_ptr<TraceView> view;
};

int64_t NumberOf(const JsonValue& value, absl::string_view name) {
  const JsonValue* const member = value.Find(name);
  EXPECT_NE(member, nullptr) << name;
  return member == nullptr ? 0 : std::stoll(member->text);
}

std::string TextOf(const JsonValue& value, absl::string_view name) {
  const JsonValue* const member = value.Find(name);
  EXPECT_NE(member, nullptr) << name;
  return member == nullptr ? "" : member->text;
}

// By lane and state.
using Totals = std::map<std::string, int64_t>;

void AddTotals(const JsonValue& answer, Totals* totals) {
  for (const JsonValue& lane : answer.Find("lanes")->elements) {
    const std::string id = TextOf(lane, "id");
    for (const auto& [state, time] : lane.Find("totals")->members) {
      (*totals)[absl::StrCat(id, " ", state)] += std::stoll(time.text);
    }
  }
}

TEST(TraceView, HasTheSameTotalsAtEveryZoom) {
  for (const TestTrace& test : SomeTestTraces()) {
    SCOPED_TRACE(test.name);
    const OpenedView opened(test.name);
    const JsonValue trace = opened.Ask("trace");
    const int64_t duration = NumberOf(trace, "duration");
    std::string ids = "p:*,m:*";
    for (int64_t group = 0; group < NumberOf(trace, "groups"); ++group) {
      absl::StrAppend(&ids, ",group:", group);
      const JsonValue answer = opened.Ask(absl::StrCat("members?limit=3&group=", group));
      for (const JsonValue& member : answer.Find("members")->elements) {
        absl::StrAppend(&ids, ",", TextOf(member, "id"));
      }
    }
    Totals expected;
    const JsonValue whole = opened.Ask(absl::StrCat("lanes?ids=", ids));
    AddTotals(whole, &expected);
    EXPECT_FALSE(expected.empty());
    EXPECT_TRUE(whole.Find("skipped")->elements.empty());
    // From one column to eight times as many as fit into one answer.
    constexpr int64_t kColumns = 8192;
    int64_t step = 1;
    while (step * kColumns * 8 < duration) step *= 2;
    for (; step / 2 < duration; step *= 4) {
      SCOPED_TRACE(step);
      Totals totals;
      for (int64_t from = 0; from < duration; from += step * kColumns) {
        const JsonValue part =
            opened.Ask(absl::StrCat("lanes?ids=", ids, "&step=", step, "&from=", from,
                                    "&to=", std::min(from + step * kColumns, duration)));
        EXPECT_EQ(NumberOf(part, "step"), step);
        EXPECT_EQ(NumberOf(part, "begin"), from);
        AddTotals(part, &totals);
      }
      EXPECT_EQ(totals, expected);
    }
  }
}

// Of generations that are decoded alone, too, also where they overlap by more than 100 ms.
TEST(TraceView, GoroutinesHaveTheTimesOfStateTracker) {
  std::vector<std::string> names = {"../overlap.trace"};
  for (const TestTrace& test : SomeTestTraces()) names.push_back(test.name);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const OpenedView opened(name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(opened.bytes);
    ASSERT_TRUE(reader.ok());
    TrackedTrace tracked;
    ASSERT_TRUE(ReadInto(*reader, {&tracked.tracker}).ok());
    Totals expected;
    std::set<std::string> lanes;
    for (const GoInterval& interval : tracked.log.goroutines()) {
      if (interval.duration() == 0 || lanes.size() > 200) continue;
      lanes.insert(absl::StrCat("g:", interval.goroutine.value));
    }
    for (const GoInterval& interval : tracked.log.goroutines()) {
      const std::string lane = absl::StrCat("g:", interval.goroutine.value);
      if (interval.duration() == 0 || lanes.count(lane) == 0) continue;
      expected[absl::StrCat(lane, " ", GoStateName(interval.state))] +=
          static_cast<int64_t>(interval.duration());
    }
    const std::map<std::string, std::string> states = {
        {"running", "Running"},   {"gc", "Running"},      {"assist", "Running"},
        {"runnable", "Runnable"}, {"syscall", "Syscall"}, {"blocked", "Waiting"},
        {"network", "Waiting"}};
    Totals totals;
    const JsonValue answer = opened.Ask(absl::StrCat("lanes?ids=", absl::StrJoin(lanes, ",")));
    for (const JsonValue& lane : answer.Find("lanes")->elements) {
      for (const auto& [state, time] : lane.Find("totals")->members) {
        totals[absl::StrCat(TextOf(lane, "id"), " ", states.at(state))] += std::stoll(time.text);
      }
    }
    EXPECT_EQ(totals, expected);
  }
}

TEST(TraceView, AnswersAreThoseOfTheOverviewAndOfDecodedGenerations) {
  for (const TestTrace& test : SomeTestTraces()) {
    SCOPED_TRACE(test.name);
    const OpenedView opened(test.name);
    const JsonValue lanes = opened.Ask("lanes?ids=p:*,m:*");
    // Each span that is shown is the one that there are details of.
    for (const JsonValue& lane : lanes.Find("lanes")->elements) {
      const std::string id = TextOf(lane, "id");
      int count = 0;
      for (const JsonValue& span : lane.Find("spans")->elements) {
        if (++count > 5) break;
        const JsonValue details =
            opened.Ask(absl::StrCat("span?lane=", id, "&at=", span.elements[0].text));
        EXPECT_EQ(TextOf(details, "begin"), span.elements[0].text);
        EXPECT_EQ(NumberOf(details, "end") - NumberOf(details, "begin"),
                  std::stoll(span.elements[1].text));
        EXPECT_EQ(TextOf(details, "goroutine"),
                  span.elements[3].text == "-1" ? "null" : span.elements[3].text);
      }
    }
  }
}

// The lane of a goroutine is a chain from its begin to its end.
TEST(TraceView, LeadsFromSpanToSpan) {
  for (const TestTrace& test : SomeTestTraces()) {
    SCOPED_TRACE(test.name);
    const OpenedView opened(test.name);
    const JsonValue answer = opened.Ask("members?group=0&limit=1");
    const JsonValue& member = answer.Find("members")->elements.at(0);
    const std::string id = TextOf(member, "id");
    int64_t at = NumberOf(member, "begin");
    const int64_t end = NumberOf(member, "end");
    for (int i = 0; i < 30 && at < end; ++i) {
      const JsonValue span = opened.Ask(absl::StrCat("span?lane=", id, "&at=", at));
      EXPECT_EQ(NumberOf(span, "begin"), at);
      EXPECT_EQ(TextOf(span, "created"),
                TextOf(member, "begins") == "true" ? TextOf(member, "begin") : "null");
      const int64_t next = NumberOf(span, "end");
      if (next == end) {
        // Unless the id is used again.
        const JsonValue& after = *span.Find("next");
        if (after.type != JsonValue::Type::kNull) {
          EXPECT_GE(NumberOf(after, "at"), next);
        }
      } else {
        EXPECT_EQ(NumberOf(*span.Find("next"), "at"), next);
      }
      if (i > 0) {
        EXPECT_EQ(NumberOf(*span.Find("previous"), "at"), at - 1);
      }
      at = next;
    }
  }
}

// A mark of the collector is a span of its own, which leads to its neighbours.
TEST(TraceView, LeadsFromMarkToMark) {
  const OpenedView opened("go1.27-gc.trace");
  const JsonValue marks = opened.Ask("marks?from=0&to=1000000000&step=1");
  for (const std::string kind : {"stops", "cycles"}) {
    SCOPED_TRACE(kind);
    const std::vector<JsonValue>& rows = marks.Find(kind)->elements;
    ASSERT_GT(rows.size(), 2);
    std::string before = "null";
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::vector<JsonValue>& mark = rows[i].elements;
      const std::string at = mark[0].text;
      const JsonValue span = opened.Ask(absl::StrCat("span?lane=", kind, "&at=", at));
      EXPECT_EQ(TextOf(span, "begin"), at);
      EXPECT_EQ(NumberOf(span, "end") - NumberOf(span, "begin"), std::stoll(mark[1].text));
      EXPECT_EQ(TextOf(span, "name"),
                marks.Find("names")->elements.at(std::stoul(mark[2].text)).text);
      EXPECT_EQ(TextOf(span, "state"), kind == "stops" ? "stopped" : "gc");
      const JsonValue& previous = *span.Find("previous");
      EXPECT_EQ(previous.type == JsonValue::Type::kNull ? "null" : TextOf(previous, "at"), before);
      const JsonValue& next = *span.Find("next");
      EXPECT_EQ(next.type == JsonValue::Type::kNull, i + 1 == rows.size());
      before = at;
    }
  }
  // Who stopped the world, and where: as `gotrace-dump gc --pauses` says.
  const std::string at = marks.Find("stops")->elements.at(1).elements[0].text;
  const JsonValue stop = opened.Ask(absl::StrCat("span?lane=stops&at=", at));
  EXPECT_NE(TextOf(stop, "goroutine"), "null");
  EXPECT_FALSE(stop.Find("stack")->elements.empty());
}

// A run has the stack with which it ended: where the goroutine then waited.
TEST(TraceView, ShowsWhereARunEnded) {
  const OpenedView opened("go1.27-gc.trace");
  const JsonValue wait = opened.Ask("span?lane=g:1&at=1000000");
  const JsonValue run =
      opened.Ask(absl::StrCat("span?lane=g:1&at=", NumberOf(*wait.Find("previous"), "at")));
  EXPECT_EQ(TextOf(run, "state"), "running");
  ASSERT_FALSE(run.Find("stack")->elements.empty());
  EXPECT_EQ(TextOf(run.Find("stack")->elements.at(0), "func"), "sync.(*WaitGroup).Wait");
}

TEST(TraceView, ShowsWhoWokeAGoroutine) {
  const OpenedView opened("go1.27-gc.trace");
  // As `gotrace-dump tables --tables=g_states` says.
  const JsonValue span = opened.Ask("span?lane=g:1&at=1000000");
  EXPECT_EQ(TextOf(span, "begin"), "838016");
  EXPECT_EQ(TextOf(span, "end"), "122674048");
  EXPECT_EQ(TextOf(span, "state"), "blocked");
  EXPECT_EQ(TextOf(span, "reason"), "sync");
  EXPECT_EQ(TextOf(span.Find("stack")->elements.at(0), "func"), "sync.(*WaitGroup).Wait");
  EXPECT_EQ(TextOf(*span.Find("ended_by"), "lane"), "g:20");
  const JsonValue waker = opened.Ask("span?lane=g:20&at=122674048");
  EXPECT_EQ(TextOf(waker, "state"), "running");
  std::set<std::string> woken;
  for (const JsonValue& wake : waker.Find("wakes")->elements) woken.insert(TextOf(wake, "lane"));
  EXPECT_TRUE(woken.contains("g:1"));
  bool has_arrow = false;
  const JsonValue arrows = opened.Ask("arrows?lane=g:1");
  for (const JsonValue& arrow : arrows.Find("arrows")->elements) {
    has_arrow |= arrow.elements[0].text == "122674048" && arrow.elements[1].text == "20" &&
                 arrow.elements[2].text == "1" && arrow.elements[3].text == "122675584";
  }
  EXPECT_TRUE(has_arrow);
}

TEST(TraceView, NamesWhatAGoroutineWaitsFor) {
  const OpenedView opened("go1.27-gc.trace");
  const JsonValue answer = opened.Ask("lanes?ids=g:1&from=0&to=130000000&step=131072");
  std::vector<std::string> waits;
  for (const JsonValue& span : answer.Find("lanes")->elements.at(0).Find("spans")->elements) {
    const std::string& name =
        answer.Find("names")->elements.at(std::stoul(span.elements[4].text)).text;
    waits.push_back(absl::StrCat(span.elements[0].text, " ", span.elements[1].text, " ", name));
  }
  EXPECT_NE(std::find(waits.begin(), waits.end(), "838016 121836032 sync"), waits.end())
      << absl::StrJoin(waits, "\n");
}

TEST(TraceView, FindsFunctionsLanesAndTasks) {
  const OpenedView opened("go1.27-annotations.trace");
  const JsonValue groups = opened.Ask("search?text=MAIN.main");
  EXPECT_FALSE(groups.Find("groups")->elements.empty());
  const JsonValue functions = opened.Ask("search?text=GOPARK&limit=2");
  ASSERT_EQ(functions.Find("functions")->elements.size(), 2);
  EXPECT_EQ(functions.Find("functions")->elements[0].text, "runtime.gopark");
  const JsonValue lane = opened.Ask("search?text=g:1");
  EXPECT_EQ(TextOf(lane.Find("goroutines")->elements.at(0), "name"), "main.main");
  const JsonValue task = opened.Ask("search?text=across");
  EXPECT_EQ(TextOf(task.Find("tasks")->elements.at(0), "type"), "across generations");
  EXPECT_EQ(TextOf(task.Find("tasks")->elements.at(0), "duration"), "1200098112");
  const JsonValue nothing = opened.Ask("search?text=g:999");
  EXPECT_TRUE(nothing.Find("goroutines")->elements.empty());
}

TEST(TraceView, RefusesNonsense) {
  const OpenedView opened("go1.27-gc.trace");
  const std::pair<absl::string_view, int> kRequests[] = {
      {"", 404},
      {"?", 404},
      {"nothing", 404},
      {"../lanes", 404},
      {"trace?x=1", 400},
      {"lanes", 400},
      {"lanes?ids=x", 400},
      {"lanes?ids=p:", 400},
      {"lanes?ids=group:999", 404},
      {"lanes?ids=group:-1", 404},
      {"lanes?ids=p:0&from=-1", 400},
      {"lanes?ids=p:0&from=2&to=1", 400},
      {"lanes?ids=p:0&from=99999999999999999999", 400},
      {"lanes?ids=p:0&step=3", 400},
      {"lanes?ids=p:0&step=0", 400},
      {"lanes?ids=p:0&ids=p:1", 400},
      {"span?lane=p:0", 400},
      {"span?lane=group:0&at=1", 400},
      {"span?lane=g:999&at=1", 404},
      {"span?lane=stops&at=9000000000000", 404},
      {"lanes?ids=stops", 400},
      {"members?group=999", 404},
      {"members", 400},
      {"groups?limit=0", 400},
      {"groups?limit=%00", 400},
      {"search", 400},
      {"arrows?lane=p:0", 400},
      {"goroutines", 404},
  };
  for (const auto& [request, status] : kRequests) {
    const ViewAnswer answer = opened.view->Answer(request);
    EXPECT_EQ(answer.status, status) << request << ": " << answer.body;
    EXPECT_EQ(CheckJson(answer.body), "");
  }
  // Empty windows, and windows and lanes outside of the trace, are no mistake.
  for (const absl::string_view request :
       {"lanes?ids=", "lanes?ids=p:0&from=5&to=5", "lanes?ids=p:999,g:999,m:999",
        "lanes?ids=p:0&from=9007199254740992", "lanes?ids=g:1&step=9007199254740992",
        "strip?from=7&to=7", "strip?step=1", "marks?from=1&to=1", "groups?offset=1000",
        "groups?text=%ff%00", "trace?"}) {
    const ViewAnswer answer = opened.view->Answer(request);
    EXPECT_EQ(answer.status, 200) << request << ": " << answer.body;
    EXPECT_EQ(CheckJson(answer.body), "") << request;
  }
}

TEST(TraceView, SaysHowFarItIsWhileTheTraceIsRead) {
  const std::string bytes = ReadTestTrace("go1.27-gc.trace");
  absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromBytes(bytes);
  ASSERT_TRUE(source.ok());
  absl::StatusOr<std::unique_ptr<TraceView>> view = TraceView::Open(*std::move(source), {});
  ASSERT_TRUE(view.ok());
  EXPECT_EQ((*view)->Answer("trace").status, 200);
  EXPECT_EQ((*view)->Answer("lanes?ids=p:0").status, 200);
  EXPECT_EQ((*view)->Answer("members?group=0").status, 503);
  EXPECT_EQ((*view)->Answer("lanes?idx=p:0").status, 400);
  EXPECT_TRUE((*view)->Read().ok());
  EXPECT_EQ((*view)->Answer("lanes?ids=p:0").status, 200);
}

// What there is of a trace before it is read to its end is a part of what there is afterwards.
TEST(TraceView, AnswersWhileTheTraceIsRead) {
  const std::string bytes = ReadTestTrace("go1.27-annotations.trace");
  absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromBytes(bytes);
  ASSERT_TRUE(source.ok());
  const TraceView* reading = nullptr;
  const auto ask = [&](absl::string_view request) {
    const ViewAnswer answer = reading->Answer(request);
    EXPECT_EQ(CheckJson(answer.body), "") << request;
    absl::StatusOr<JsonValue> value = ParseJson(answer.body);
    return answer.status == 200 && value.ok() ? *std::move(value) : JsonValue();
  };
  std::vector<JsonValue> strips;
  TraceViewOptions options;
  options.reader.jobs = 1;
  options.reader.keep_going = [&] {
    if (reading == nullptr) return true;
    EXPECT_EQ(TextOf(ask("trace"), "complete"), "false");
    JsonValue strip = ask("strip");
    // Nothing is known yet.
    if (strip.Find("totals")->Find("running") == nullptr) return true;
    for (const absl::string_view request :
         {"lanes?ids=p:*,m:*", "lanes?ids=group:0,g:1&step=1", "marks", "groups"}) {
      EXPECT_EQ(reading->Answer(request).status, 200) << request;
    }
    EXPECT_FALSE(ask("groups").Find("groups")->elements.empty());
    EXPECT_EQ(ask("lanes?ids=g:1").Find("skipped")->elements.at(0).text, "g:1");
    for (const absl::string_view request :
         {"members?group=0", "search?text=main", "span?lane=p:0"}) {
      EXPECT_EQ(reading->Answer(request).status, 503) << request;
    }
    strips.push_back(std::move(strip));
    return true;
  };
  absl::StatusOr<std::unique_ptr<TraceView>> view =
      TraceView::Open(*std::move(source), std::move(options));
  ASSERT_TRUE(view.ok());
  reading = view->get();
  EXPECT_TRUE((*view)->Read().ok());
  ASSERT_FALSE(strips.empty());
  const JsonValue whole = ask("strip");
  for (const JsonValue& strip : strips) {
    const int64_t running = NumberOf(*strip.Find("totals"), "running");
    EXPECT_GT(running, 0);
    EXPECT_LE(running, NumberOf(*whole.Find("totals"), "running"));
  }
}

TEST(TraceView, ShowsWhatIsLeftOfABrokenTrace) {
  // Without its last generation, and a part of the one before.
  const std::string whole = ReadTestTrace("go1.27-annotations.trace");
  const std::string bytes = whole.substr(0, whole.size() * 3 / 4);
  for (const bool repairs : {false, true}) {
    SCOPED_TRACE(repairs);
    absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromBytes(bytes);
    ASSERT_TRUE(source.ok());
    TraceViewOptions options;
    if (repairs) {
      // As if nothing were lost.
      options.repair = [&]() -> absl::StatusOr<RepairedTrace> {
        absl::StatusOr<std::unique_ptr<ByteSource>> sound = SourceFromBytes(whole);
        if (!sound.ok()) return sound.status();
        return RepairedTrace{*std::move(sound), "all is well"};
      };
    }
    absl::StatusOr<std::unique_ptr<TraceView>> view =
        TraceView::Open(*std::move(source), std::move(options));
    ASSERT_TRUE(view.ok());
    EXPECT_FALSE((*view)->Read().ok());
    const absl::StatusOr<JsonValue> trace = ParseJson((*view)->Answer("trace").body);
    ASSERT_TRUE(trace.ok());
    EXPECT_EQ(TextOf(*trace, "complete"), "true");
    EXPECT_TRUE(absl::EndsWith(TextOf(*trace, "fault"),
                               repairs ? "; all is well" : "; everything before that is shown"));
    if (repairs) {
      EXPECT_EQ(TextOf(*trace, "events"), "305");
    }
    EXPECT_EQ((*view)->Answer("strip").status, 200);
  }
}

// The last generation of this repaired trace has ends of mark assists, and not their beginnings.
// These goroutines live as long as the trace.
TEST(TraceView, ShowsAllOfARepairedTrace) {
  const absl::StatusOr<std::string> repaired =
      RepairBytes(ReadTestTrace("go1.26-gc.trace").substr(0, 60000));
  ASSERT_TRUE(repaired.ok());
  const OpenedView opened("repaired", *repaired);
  const int64_t duration = NumberOf(opened.Ask("trace"), "duration");
  Totals totals;
  AddTotals(opened.Ask("lanes?ids=g:3,g:4,g:9,g:11,g:12,g:13"), &totals);
  std::map<std::string, int64_t> sums;
  for (const auto& [key, time] : totals) sums[key.substr(0, key.find(' '))] += time;
  EXPECT_EQ(sums.size(), 6);
  for (const auto& [lane, sum] : sums) EXPECT_EQ(sum, duration) << lane;
}

// A P that has nothing to do has a span, too, between those around it.
TEST(TraceView, ShowsHowLongAProcIsIdle) {
  const OpenedView opened("go1.27-annotations.trace");
  const JsonValue lanes = opened.Ask("lanes?ids=p:*");
  int found = 0;
  for (const JsonValue& lane : lanes.Find("lanes")->elements) {
    const std::string id = TextOf(lane, "id");
    const int64_t duration = NumberOf(opened.Ask("trace"), "duration");
    for (int64_t at = 0; at < duration; at += duration / 16) {
      const JsonValue span = opened.Ask(absl::StrCat("span?lane=", id, "&at=", at));
      EXPECT_LE(NumberOf(span, "begin"), at);
      EXPECT_GT(NumberOf(span, "end"), at);
      if (TextOf(span, "state") != "idle") continue;
      ++found;
      EXPECT_EQ(TextOf(span, "goroutine"), "null");
      const JsonValue& next = *span.Find("next");
      if (next.type == JsonValue::Type::kNull) continue;
      EXPECT_EQ(NumberOf(next, "at"), NumberOf(span, "end"));
      const JsonValue after =
          opened.Ask(absl::StrCat("span?lane=", id, "&at=", NumberOf(next, "at")));
      EXPECT_NE(TextOf(after, "state"), "idle");
    }
  }
  EXPECT_GT(found, 0);
}

// Goroutines that wait would hide those that do something.
TEST(TraceView, DrawsGroupsWithoutThoseThatWait) {
  const OpenedView opened("go1.27-annotations.trace");
  const int64_t groups = NumberOf(opened.Ask("trace"), "groups");
  bool has_blocked = false;
  for (int64_t group = 0; group < groups; ++group) {
    const JsonValue answer = opened.Ask(absl::StrCat("lanes?ids=group:", group));
    const JsonValue& lane = answer.Find("lanes")->elements.at(0);
    has_blocked |= lane.Find("totals")->Find("blocked") != nullptr;
    EXPECT_EQ(lane.Find("columns")->Find("blocked"), nullptr);
    EXPECT_EQ(lane.Find("columns")->Find("network"), nullptr);
  }
  EXPECT_TRUE(has_blocked);
}

TEST(TraceView, GivesTimesOfTheTraceToWhoeverAnswersMore) {
  const std::string bytes = ReadTestTrace("go1.27-gc.trace");
  absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromBytes(bytes);
  ASSERT_TRUE(source.ok());
  TraceViewOptions options;
  std::string asked;
  options.answer_more = [&](absl::string_view path, absl::Span<const ViewParameter> parameters,
                            const std::function<bool()>& keep_going) {
    EXPECT_TRUE(keep_going == nullptr || !keep_going());
    asked = std::string(path);
    for (const auto& [name, value] : parameters) absl::StrAppend(&asked, " ", name, "=", value);
    return ViewAnswer{200, "text/plain", "yes"};
  };
  absl::StatusOr<std::unique_ptr<TraceView>> view =
      TraceView::Open(*std::move(source), std::move(options));
  ASSERT_TRUE(view.ok());
  ASSERT_TRUE((*view)->Read().ok());
  EXPECT_EQ((*view)->Answer("goroutines?each&from=5&sort=a%20b").body, "yes");
  EXPECT_EQ(asked, "goroutines each= from=@2084150140677 sort=a b");
  EXPECT_EQ((*view)->Answer("info", [] { return false; }).body, "yes");
  EXPECT_EQ((*view)->Answer("goroutines?from=x").status, 400);
  EXPECT_EQ((*view)->Answer("goroutines?each&flags=1").status, 400);
}

TEST(TraceView, GivesUpWhatNobodyWaitsFor) {
  const OpenedView opened("go1.27-annotations.trace");
  for (const absl::string_view request :
       {"lanes?ids=p:0&from=0&to=1000", "arrows?lane=g:1", "span?lane=g:1&at=100", "tasklanes"}) {
    EXPECT_EQ(opened.view->Answer(request).status, 200) << request;
    EXPECT_EQ(opened.view->Answer(request, [] { return false; }).status, 503) << request;
  }
  // What is known costs nothing.
  EXPECT_EQ(opened.view->Answer("groups", [] { return false; }).status, 200);
}

// Each request has a section of docs/serve-api.md, or a row of its table of commands, with all of
// its parameters; and nothing else has.
TEST(TraceView, RequestsAreInTheDocument) {
  const std::string text = ReadFile("docs/serve-api.md");
  ASSERT_NE(text, "");
  std::map<std::string, std::set<std::string>> documented;
  std::string section;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "## ")) section = std::string(line.substr(3));
    if (absl::StartsWith(line, "## ") && absl::ascii_islower(static_cast<unsigned char>(line[3]))) {
      documented[section];
    }
    if (!absl::StartsWith(line, "| `")) continue;
    const std::vector<std::string> cells = absl::StrSplit(line, '|');
    const auto names = [](absl::string_view cell) {
      std::vector<std::string> quoted;
      const std::vector<std::string> pieces = absl::StrSplit(cell, '`');
      for (size_t i = 1; i < pieces.size(); i += 2) quoted.push_back(pieces[i]);
      return quoted;
    };
    if (section == "Tables") {
      for (const std::string& path : names(cells[1])) {
        std::set<std::string>& parameters = documented[path];
        for (const std::string& name : names(cells[2])) parameters.insert(name);
        if (path != "info") parameters.insert({"from", "to"});
      }
    } else if (documented.contains(section)) {
      for (const std::string& name : names(cells[1])) documented[section].insert(name);
    }
  }
  documented.erase("trace");
  std::map<std::string, std::set<std::string>> known;
  for (const TraceView::Request& request : TraceView::Requests()) {
    if (request.path == "trace") continue;
    std::set<std::string>& parameters = known[std::string(request.path)];
    for (const absl::string_view name : request.parameters) parameters.emplace(name);
  }
  EXPECT_EQ(documented, known);
}

}  // namespace trace_view_test
}  // namespace gotrace::internal
