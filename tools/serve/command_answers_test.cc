#include "tools/serve/command_answers.h"

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gotrace/trace_index.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/json_value.h"
#include "testing/test_directory.h"
#include "tools/serve/flame.h"
#include "tools/serve/seekable_trace.h"

namespace gotrace::internal {
namespace command_answers_test {

TEST(FlameJson, IsTheTreeOfAFoldedProfile) {
  constexpr absl::string_view kFolded =
      "main.a;main.b 5\n"
      "main.a 2\n"
      "main.a;main.c;main.b 4\n"
      "main.d 1\n"
      "no number\n";
  EXPECT_EQ(FlameJson(kFolded, {}),
            R"({"unit":"nanoseconds","total":12,"nodes_left_out":0,)"
            R"("nodes":[[-1,0,12,0],[0,1,11,2],[1,2,5,5],[1,3,4,0],[3,2,4,4],[0,4,1,1]],)"
            R"("names":["","main.a","main.b","main.c","main.d"]})");
  EXPECT_EQ(FlameJson(kFolded, {.inverted = true, .unit = "count"}),
            R"({"unit":"count","total":12,"nodes_left_out":0,)"
            R"("nodes":[[-1,0,12,0],[0,1,9,0],[1,2,5,5],[1,3,4,0],[3,2,4,4],[0,2,2,2],[0,4,1,1]],)"
            R"("names":["","main.b","main.a","main.c","main.d"]})");
  // The heaviest nodes stay, and count what is left out.
  EXPECT_EQ(FlameJson(kFolded, {.max_nodes = 3}),
            R"({"unit":"nanoseconds","total":12,"nodes_left_out":3,)"
            R"("nodes":[[-1,0,12,0],[0,1,11,2],[1,2,5,5]],"names":["","main.a","main.b"]})");
  EXPECT_EQ(
      FlameJson("", {}),
      R"({"unit":"nanoseconds","total":0,"nodes_left_out":0,"nodes":[[-1,0,0,0]],"names":[""]})");
}

class CommandAnswersTest : public testing::Test {
 protected:
  ViewAnswer Ask(absl::string_view path, std::vector<ViewParameter> parameters = {}) const {
    return answers_.Answer(path, parameters);
  }
  JsonValue AskForJson(absl::string_view path, std::vector<ViewParameter> parameters = {}) const {
    const ViewAnswer answer = Ask(path, std::move(parameters));
    EXPECT_EQ(answer.status, 200) << path << ": " << answer.body;
    EXPECT_EQ(answer.media_type, "application/json");
    absl::StatusOr<JsonValue> value = ParseJson(answer.body);
    EXPECT_TRUE(value.ok()) << value.status();
    return value.ok() ? *std::move(value) : JsonValue();
  }

  const CommandAnswers answers_{TestFilePath("go1.27-annotations.trace.zst"), "some name"};
};

TEST_F(CommandAnswersTest, GivesTheSameProfileWhateverWasAskedBefore) {
  const std::vector<ViewParameter> offcpu = {{"type", "offcpu"}};
  const std::vector<ViewParameter> inverted = {{"type", "offcpu"}, {"inverted", "1"}};
  const std::vector<ViewParameter> window = {{"type", "offcpu"}, {"from", "1ms"}};
  for (const auto& parameters : {offcpu, inverted, offcpu, window, inverted, offcpu}) {
    const CommandAnswers fresh(TestFilePath("go1.27-annotations.trace.zst"), "some name");
    const ViewAnswer answer = Ask("flame", parameters);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, fresh.Answer("flame", parameters).body);
  }
  EXPECT_NE(Ask("flame", offcpu).body, Ask("flame", window).body);
  EXPECT_NE(Ask("flame", offcpu).body, Ask("flame", inverted).body);
}

TEST_F(CommandAnswersTest, AreTheJsonOfCommands) {
  const std::pair<absl::string_view, absl::string_view> kRows[] = {
      {"goroutines", "goroutines"}, {"tasks", "tasks"}, {"regions", "regions"},
      {"latency", "latencies"},     {"gc", "cycles"},   {"procs", "procs"},
      {"leaks", "leaks"},           {"heap", "types"},  {"profile", "samples"}};
  for (const auto& [path, rows] : kRows) {
    const JsonValue answer = AskForJson(path, {{"top", "1"}});
    ASSERT_NE(answer.Find(rows), nullptr) << path;
    EXPECT_LE(answer.Find(rows)->elements.size(), 1u) << path;
    EXPECT_EQ(answer.Find("file")->text, "some name");
  }
  EXPECT_NE(AskForJson("summary").Find("duration_ns"), nullptr);
  EXPECT_EQ(AskForJson("info").Find("events")->text, "305");
  EXPECT_NE(AskForJson("path", {{"task", "2"}}).Find("pieces"), nullptr);
  // The window of a few events.
  EXPECT_EQ(
      AskForJson("tasks", {{"each", ""}, {"from", "@2078707121152"}, {"to", "@2078707121153"}})
          .Find("complete")
          ->text,
      "true");
}

TEST_F(CommandAnswersTest, RefuseWhatTheCommandsRefuse) {
  const std::pair<absl::string_view, std::vector<ViewParameter>> kRequests[] = {
      {"goroutines", {{"sort", "nope"}}}, {"goroutines", {{"top", "x"}}},
      {"goroutines", {{"from", "x"}}},    {"goroutines", {{"nope", "1"}}},
      {"profile", {{"type", "nope"}}},    {"flame", {{"limit", "0"}}},
      {"time", {{"text", "x"}}},          {"time", {}},
      {"save", {{"format", "x"}}},        {"sql", {}},
      {"sql", {{"query", "; ;"}}},        {"sql", {{"query", "SELECT nope"}}},
      {"sql", {{"limit", "x"}}}};
  for (const auto& [path, parameters] : kRequests) {
    const ViewAnswer answer = Ask(path, parameters);
    EXPECT_EQ(answer.status, 400) << path << ": " << answer.body;
    EXPECT_EQ(CheckJson(answer.body), "") << path;
  }
}

TEST_F(CommandAnswersTest, SayWhatTheCommandsReport) {
  const ViewAnswer answer = Ask("path", {{"task", "999"}});
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.body, R"({"error":"found no task 999"})");
}

TEST_F(CommandAnswersTest, QueriesOnlyRead) {
  const JsonValue answer = AskForJson(
      "sql", {{"query", "SELECT g, name FROM goroutines ORDER BY g -- no more;"}, {"limit", "2"}});
  EXPECT_EQ(answer.Find("columns")->elements.size(), 2u);
  EXPECT_EQ(answer.Find("rows")->elements.size(), 2u);
  EXPECT_EQ(answer.Find("more")->text, "true");
  for (const absl::string_view query :
       {"ATTACH 'x' AS y", "CREATE TABLE x (y)", "DELETE FROM goroutines", "/etc/passwd", ".tables",
        "PRAGMA user_version = 1", "VACUUM INTO 'x'", "SELECT load_extension('x')",
        "SELECT 1) UNION SELECT * FROM (SELECT 2); DROP TABLE goroutines; --",
        "SELECT 1; SELECT 2"}) {
    EXPECT_EQ(Ask("sql", {{"query", std::string(query)}}).status, 400) << query;
  }
}

TEST_F(CommandAnswersTest, HaveRowsOfAnyValues) {
  const auto rows = [&](absl::string_view query) {
    return Ask("sql", {{"query", std::string(query)}}).body;
  };
  EXPECT_EQ(rows("SELECT 9e999 a, -9e999, NULL, 'x' UNION ALL SELECT 1, 2, 3, 4"),
            R"({"columns":["a","-9e999","NULL","'x'"],)"
            R"("rows":[[9e999,-9e999,null,"x"],[1,2,3,4]],"more":false})");
  EXPECT_EQ(rows("SELECT 1 a, 2 b WHERE 0"), R"({"columns":["a","b"],"rows":[],"more":false})");
  // Neither one value nor all of them can take all memory.
  EXPECT_TRUE(absl::StrContains(rows("SELECT zeroblob(1000000000)"), "too big"));
  EXPECT_TRUE(absl::StrContains(
      rows("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100) "
           "SELECT hex(zeroblob(1000000)) FROM n"),
      "larger than 64 MiB"));
}

TEST_F(CommandAnswersTest, CallTheFileByItsName) {
  for (const absl::string_view path : {"summary", "goroutines", "info", "latency"}) {
    const std::string body = Ask(path).body;
    EXPECT_TRUE(absl::StrContains(body, R"("file":"some name")")) << path;
    EXPECT_FALSE(absl::StrContains(body, "annotations.trace")) << path;
  }
  const std::string tables = Ask("sql", {{"query", "SELECT source FROM traces"}}).body;
  EXPECT_EQ(tables, R"({"columns":["source"],"rows":[["some name"]],"more":false})");
}

TEST_F(CommandAnswersTest, AreGivenUpIfNobodyWaitsForThem) {
  const std::pair<absl::string_view, std::vector<ViewParameter>> kRequests[] = {
      {"goroutines", {}},
      {"events", {}},
      {"save", {{"format", "perfetto"}}},
      {"flame", {}},
      {"sql", {{"query", "SELECT * FROM goroutines"}}},
      {"sql",
       {{"query",
         "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x FROM t) SELECT sum(x) "
         "FROM t"}}}};
  for (const auto& [path, parameters] : kRequests) {
    std::atomic<int> looks = 0;
    const ViewAnswer answer = answers_.Answer(path, parameters, [&] { return ++looks < 2; });
    EXPECT_EQ(answer.status, 503) << path << ": " << answer.body;
    EXPECT_EQ(CheckJson(answer.body), "") << path;
  }
  // One that waits for another to end is given up, too.
  std::atomic<bool> is_running = false;
  std::atomic<bool> is_over = false;
  std::thread endless([&] {
    const ViewAnswer answer = answers_.Answer("sql", kRequests[5].second, [&] {
      is_running = true;
      return !is_over;
    });
    EXPECT_EQ(answer.status, 503);
  });
  while (!is_running) std::this_thread::yield();
  EXPECT_EQ(answers_.Answer("goroutines", {}, [] { return false; }).status, 503);
  is_over = true;
  endless.join();
  EXPECT_EQ(Ask("goroutines").status, 200);
}

TEST_F(CommandAnswersTest, ReadTimesAsFlagsDo) {
  const CommandAnswers answers(
      WriteFile("annotations.trace", ReadTestTrace("go1.27-annotations.trace")), "x");
  const auto time = [&](absl::string_view text) {
    return answers.Answer("time", {{"text", std::string(text)}}).body;
  };
  EXPECT_EQ(time("1.5s"), R"({"at":1500000000})");
  EXPECT_EQ(time("@2078707121252"), R"({"at":100})");
  // The first event was at 04:25:01.927686024.
  EXPECT_EQ(time("2026-11-21T04:25:02Z"), R"({"at":72313976})");
}

TEST_F(CommandAnswersTest, RefuseTimesThatTheTraceCannotHave) {
  const CommandAnswers answers(
      WriteFile("annotations.trace", ReadTestTrace("go1.27-annotations.trace")), "x");
  for (const absl::string_view text :
       {"", "@", "@0", "inf", "99999999h", "9999-12-31T00:00:00Z", "0001-01-01T00:00:00Z"}) {
    EXPECT_EQ(answers.Answer("time", {{"text", std::string(text)}}).status, 400) << text;
  }
}

TEST_F(CommandAnswersTest, SaveFilesAndEvents) {
  EXPECT_TRUE(absl::StartsWith(Ask("save", {{"format", "pprof"}}).body, "\x1f\x8b"));
  EXPECT_FALSE(Ask("save", {{"format", "perfetto"}}).body.empty());
  EXPECT_TRUE(absl::StrContains(Ask("save", {{"format", "folded"}}).body, "main.main 246657\n"));
  EXPECT_TRUE(absl::StrContains(Ask("save", {{"format", "text"}}).body, "M=-1 P=-1 G=-1 Sync"));
  const ViewAnswer events = Ask("events", {{"limit", "1"}, {"format", "json"}});
  EXPECT_EQ(events.media_type, "application/x-ndjson");
  EXPECT_TRUE(absl::StartsWith(events.body, "{\"time\":2078707121152,\"kind\":\"Sync\""));
  const JsonValue flame = AskForJson("flame", {{"type", "create"}, {"limit", "2"}});
  EXPECT_EQ(flame.Find("unit")->text, "count");
  EXPECT_EQ(flame.Find("nodes")->elements.size(), 2u);
}

TEST(RepairTrace, MakesASoundTraceAndSaysWhatIsMissing) {
  const std::string whole = ReadTestTrace("go1.27-annotations.trace");
  const absl::StatusOr<SeekableTrace> trace =
      RepairTrace(WriteFile("broken.trace", whole.substr(0, whole.size() * 3 / 4)), {}, nullptr);
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_TRUE(absl::StartsWith(trace->note, "what can be saved is shown: ")) << trace->note;
  const absl::StatusOr<TraceIndex> index = TraceIndex::Build(*trace->source);
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_TRUE(index->status().ok()) << index->status();
  EXPECT_FALSE(index->generations().empty());
  EXPECT_FALSE(RepairTrace(WriteFile("nothing.trace", "x"), {}, nullptr).ok());
}

TEST_F(CommandAnswersTest, NameTheFilesToSave) {
  EXPECT_EQ(Ask("save", {{"format", "pprof"}}).file_name, "some name.pb.gz");
  EXPECT_EQ(Ask("events").file_name, "");
}

}  // namespace command_answers_test
}  // namespace gotrace::internal
