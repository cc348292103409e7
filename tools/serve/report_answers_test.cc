#include "tools/serve/report_answers.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "export/pprof/gzip.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/json_value.h"
#include "tools/serve/viewed_trace.h"

namespace gotrace::internal {
namespace report_answers_test {

class ReportAnswersTest : public testing::Test {
 protected:
  ReportAnswersTest() { Open("go1.27-annotations.trace.zst"); }

  void Open(absl::string_view name) {
    absl::StatusOr<std::unique_ptr<ViewedTrace>> opened =
        ViewedTrace::Open(TestFilePath(name), InputFlags(), nullptr);
    EXPECT_TRUE(opened.ok()) << opened.status();
    trace_ = *std::move(opened);
    EXPECT_TRUE(trace_->view().Read().ok());
  }

  ViewAnswer Ask(absl::string_view request) const { return trace_->view().Answer(request); }

  std::string Collect(const ReportOptions& options) const {
    return ReportAnswers([&](absl::string_view request) { return Ask(request); }, options);
  }

  static JsonValue Parse(const std::string& text) {
    absl::StatusOr<JsonValue> value = ParseJson(text);
    EXPECT_TRUE(value.ok()) << value.status();
    return value.ok() ? *std::move(value) : JsonValue();
  }

  static constexpr ReportOptions kWhole = {.to = 1200335745, .max_size = 10'000'000};

  std::unique_ptr<ViewedTrace> trace_;
};

TEST_F(ReportAnswersTest, AreThoseToTheRequestsOfThePage) {
  const std::string text = Collect(kWhole);
  const JsonValue answers = Parse(text);
  for (const absl::string_view request : {"trace",
                                          "strip",
                                          "marks",
                                          "groups?limit=100",
                                          "tasklanes?limit=6",
                                          "summary",
                                          "goroutines",
                                          "goroutines?each",
                                          "tasks?each&type=nesting",
                                          "path?type=nesting",
                                          "path?task=2",
                                          "search?text=task:2",
                                          "tasks?each&type=nesting&sort=duration&top=500",
                                          "procs?ready",
                                          "latency?worst=100",
                                          "flame?type=cpu&inverted",
                                          "events?from=0&limit=300",
                                          "members?group=0&from=0&to=1200335745&offset=0&limit=100",
                                          "lanes?ids=p:*&from=0&to=2147483648&step=2097152",
                                          "strip?from=0&to=2147483648&step=2097152"}) {
    if (Ask(request).status != 200) continue;
    EXPECT_NE(answers.Find(request), nullptr) << request;
  }
  bool has_span = false;
  bool has_arrows = false;
  for (const auto& [request, packed] : answers.members) {
    has_span = has_span || absl::StartsWith(request, "span?lane=g:");
    has_arrows = has_arrows || absl::StartsWith(request, "arrows?lane=g:");
    const ViewAnswer answer = Ask(request);
    EXPECT_EQ(answer.status, 200) << request;
    EXPECT_EQ(packed.text, absl::Base64Escape(CompressWithGzip(answer.body))) << request;
  }
  EXPECT_TRUE(has_span);
  EXPECT_TRUE(has_arrows);
  // A small trace is there in full, and does not fill the report.
  EXPECT_LT(text.size(), 2'000'000);
  EXPECT_EQ(Collect(kWhole), text);
  EXPECT_FALSE(absl::StrContains(text, "<"));
}

// The page asks for the goroutines of the longest tasks together.
TEST_F(ReportAnswersTest, HaveTheGoroutinesOfTasks) {
  Open("../diagnosis/slowtask.trace.zst");
  std::set<int64_t> ids;
  const JsonValue longest = Parse(Ask("tasklanes?limit=6").body);
  for (const JsonValue& task : longest.Find("tasks")->elements) {
    const JsonValue& goroutine = *task.Find("goroutine");
    if (goroutine.type == JsonValue::Type::kNumber) ids.insert(std::stoll(goroutine.text));
  }
  ASSERT_EQ(ids.size(), 3);
  const std::string unit = absl::StrCat("lanes?ids=g:", absl::StrJoin(ids, ",g:"), "&from=0&");
  const JsonValue answers = Parse(Collect({.to = 2737496129, .max_size = 400'000}));
  EXPECT_TRUE(absl::c_any_of(answers.members, [&](const auto& member) {
    return absl::StartsWith(member.first, unit);
  })) << unit;
}

TEST_F(ReportAnswersTest, AreNoMoreThanTheSizeAllows) {
  for (const uint64_t size : {2u, 2'000u, 20'000u, 60'000u}) {
    ReportOptions options = kWhole;
    options.max_size = size;
    const std::string text = Collect(options);
    EXPECT_LE(text.size(), size);
    // What matters most is there.
    EXPECT_EQ(absl::StrContains(text, "\"trace\""), size > 1'000) << size;
  }
}

TEST_F(ReportAnswersTest, AreThoseOfTheWindow) {
  ReportOptions options = kWhole;
  options.from = 100'000;
  options.to = 200'000;
  options.is_whole = false;
  const JsonValue answers = Parse(Collect(options));
  EXPECT_NE(answers.Find("summary?from=100000&to=200000"), nullptr);
  EXPECT_NE(answers.Find("goroutines?from=100000&to=200000&each"), nullptr);
  EXPECT_NE(answers.Find("events?from=100000&limit=300"), nullptr);
  EXPECT_EQ(answers.Find("summary"), nullptr);
  EXPECT_NE(answers.Find("strip"), nullptr);
}

}  // namespace report_answers_test
}  // namespace gotrace::internal
