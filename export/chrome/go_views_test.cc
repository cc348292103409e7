// Compares the views of real traces with those of `go tool trace`.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gotrace/byte_sink.h"
#include "gotrace/chrome_exporter.h"
#include "gotrace/event_sink.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/chrome_view.h"

namespace gotrace::internal {
namespace go_views_test {

// A line of traces/chrome_views.tsv, which testdata/make_chrome_views.sh writes.
struct GoView {
  std::string trace;
  std::string query;
  uint64_t events = 0;
  std::string sha256;
};

std::vector<GoView> ReadGoViews() {
  std::vector<GoView> views;
  const std::string file = ReadTestFile("chrome_views.tsv");
  for (const absl::string_view line : absl::StrSplit(file, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> columns = absl::StrSplit(line, '\t');
    if (columns[0] == "# trace") continue;
    GoView view = {columns.at(0), columns.at(1), 0, columns.at(3)};
    EXPECT_TRUE(absl::SimpleAtoi(columns.at(2), &view.events)) << line;
    views.push_back(view);
  }
  return views;
}

// When the goroutine runs for the first time, and when it ends, if at all: what Go's view of it
// covers.
EventFilter::Times LifeOf(GoId id, const std::string& trace) {
  Reader reader = *Reader::FromBytes(trace);
  EventFilter::Times life;
  while (const Event* const event = reader.Next()) {
    if (event->transition_resource() != ResourceId{ResourceKind::kGoroutine, id.value}) continue;
    const StateTransition transition = event->state_transition();
    if (transition.go_to == GoState::kRunning && !life.HasFirst()) life.from = event->time();
    if (transition.go_to == GoState::kNotExist) life.to = event->time();
  }
  return life;
}

ChromeOptions OptionsFor(absl::string_view query, const std::string& trace) {
  ChromeOptions options;
  if (query == "view=proc") return options;
  if (query == "view=thread") {
    options.view = ChromeOptions::View::kThread;
    return options;
  }
  ChromeFocus::On on = ChromeFocus::On::kTasks;
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(query, '=');
  uint64_t id = 0;
  EXPECT_TRUE(absl::SimpleAtoi(parts.second, &id)) << query;
  if (parts.first != "focustask") options.view = ChromeOptions::View::kGoroutine;
  if (parts.first == "goid") {
    on = ChromeFocus::On::kRelatedGoroutines;
    options.filter.goroutines = {GoId{static_cast<int64_t>(id)}};
    options.filter.times = LifeOf(GoId{static_cast<int64_t>(id)}, trace);
  } else {
    EXPECT_TRUE(parts.first == "taskid" || parts.first == "focustask") << query;
    if (parts.first == "focustask") on = ChromeFocus::On::kTaskTimes;
    options.tasks = {TaskId{id}};
  }
  ChromeFocus focus(on, &options.filter, &options.tasks);
  Reader reader = *Reader::FromBytes(trace);
  EXPECT_TRUE(ReadInto(reader, {&focus}).ok());
  return options;
}

std::string Export(const std::string& trace, const ChromeOptions& options) {
  std::string json;
  const std::unique_ptr<ByteSink> out = SinkToString(&json);
  ChromeExporter exporter(out.get(), options);
  Reader reader = *Reader::FromBytes(trace);
  EXPECT_TRUE(ReadInto(reader, {&exporter}).ok());
  EXPECT_TRUE(out->Finish().ok());
  return json;
}

TEST(GoViews, HaveTheSameEvents) {
  std::string name;
  std::string trace;
  const std::vector<GoView> views = ReadGoViews();
  EXPECT_GE(views.size(), 3 * TestTraces().size());
  for (size_t i = 0; i < views.size(); i += views.size() / TestRounds(views.size())) {
    const GoView& view = views[i];
    SCOPED_TRACE(view.trace + " " + view.query);
    if (view.trace != name) trace = ReadTestTrace(name = view.trace);
    const absl::StatusOr<std::vector<std::string>> events =
        ComparableChromeEvents(Export(trace, OptionsFor(view.query, trace)), view.query);
    ASSERT_TRUE(events.ok()) << events.status();
    EXPECT_EQ(events->size(), view.events);
    EXPECT_EQ(Sha256Hex(absl::StrJoin(*events, "\n")), view.sha256);
  }
}

}  // namespace go_views_test
}  // namespace gotrace::internal
