#include "export/report/report_text.h"

#include <string>

#include "gotrace/byte_source.h"
#include "gtest/gtest.h"
#include "testing/json_value.h"
#include "tracev2/text_form.h"
#include "util/text_buffer.h"

namespace gotrace::internal {
namespace report_text_test {

// A goroutine's status contradicts its earlier events, and a task ends that never began.
constexpr char kTrace[] = R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=1 time=100 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
UserTaskEnd dt=1 task=7 stack=0
UserTaskEnd dt=1 task=8 stack=0
GoBlock dt=1 reason_string=0 stack=0
GoStatus dt=1 g=1 m=1 gstatus=2
)";

ValidationReport Validate(const std::string& bytes) {
  ValidateOptions options;
  options.max_per_check = 1;
  return ValidateTrace(*SourceFromBytes(bytes), options);
}

TEST(ReportTextTest, FormatsFoldedFindingsAndShares) {
  EXPECT_EQ(FormatReport("a.trace", Validate(*AssembleText(kTrace))),
            "a.trace: note: byte 41, generation 1, thread 1, event UserTaskEnd: expected an open "
            "task, found the end of task 7, which never began [task-end-unknown]\n"
            "a.trace: error: byte 53, generation 1, batch at byte 27, thread 1, event GoStatus: "
            "expected goroutine 1 to be Waiting, found its status reported as Running "
            "[goroutine-status-conflict]\n"
            "    goroutine 1 before that:\n"
            "      byte 36: GoStatus, Undetermined -> Running\n"
            "      byte 49: GoBlock, Running -> Waiting\n"
            "a.trace: note: 1 more [task-end-unknown]\n"
            "a.trace: broken; 87.50 % of 8 events and 100 % of 58 bytes are good\n");
  TextBuffer without_notes;
  AppendReport("a.trace", Validate(*AssembleText(kTrace)), /*with_notes=*/false, &without_notes);
  EXPECT_EQ(without_notes.view(),
            "a.trace: error: byte 53, generation 1, batch at byte 27, thread 1, event GoStatus: "
            "expected goroutine 1 to be Waiting, found its status reported as Running "
            "[goroutine-status-conflict]\n"
            "    goroutine 1 before that:\n"
            "      byte 36: GoStatus, Undetermined -> Running\n"
            "      byte 49: GoBlock, Running -> Waiting\n"
            "a.trace: 2 notes: 2 task-end-unknown; --notes prints them\n"
            "a.trace: broken; 87.50 % of 8 events and 100 % of 58 bytes are good\n");
}

TEST(ReportTextTest, JsonIsOneLineOfJson) {
  const std::string line = FormatReportJson("a \"b\"", Validate(*AssembleText(kTrace)));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(CheckJson(line.substr(0, line.size() - 1)), "") << line;
  EXPECT_NE(line.find(R"("file":"a \"b\"","verdict":"broken","version":"1.22","errors":1)"),
            std::string::npos)
      << line;
  EXPECT_NE(line.find(R"("folded":{"task-end-unknown":1})"), std::string::npos) << line;
  EXPECT_NE(line.find(R"({"offset":49,"event":"GoBlock","from":"Running","to":"Waiting"})"),
            std::string::npos)
      << line;
}

// The details of a finding, as text and as JSON.
TEST(ReportTextTest, FormatsDetails) {
  const ValidationReport report = Validate(*AssembleText(R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=1 time=100 size=auto
GoStart dt=1 g=9 g_seq=1
)"));
  TextBuffer text;
  AppendReport("a", report, /*with_notes=*/true, &text);
  EXPECT_NE(
      text.view().find("is a GoCreate of goroutine 9 [no-advance]\n"
                       "    byte 32, thread 1, time 101: GoStart of goroutine 9 with "
                       "sequence number 1: goroutine 9 does not exist yet; missing a GoCreate "
                       "of goroutine 9\n"),
      std::string::npos)
      << text.view();
  TextBuffer json;
  AppendReportJson("a", report, &json);
  EXPECT_NE(json.view().find(R"("details":["byte 32, thread 1, time 101: GoStart of)"),
            std::string::npos)
      << json.view();
}

// The stack of the event that shows a finding, and the regions that are open on its goroutine.
TEST(ReportTextTest, FormatsStacksAndOpenRegions) {
  const ValidationReport report = Validate(*AssembleText(R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=0 time=1 size=auto
Strings
String id=1
	data="outer"
String id=2
	data="inner"
String id=3
	data="main.main"
String id=4
	data="/src/main.go"
EventBatch gen=1 m=0 time=1 size=auto
Stacks
Stack id=7 nframes=1
	pc=1 func=3 file=4 line=31
EventBatch gen=1 m=1 time=100 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
UserRegionBegin dt=1 task=0 name_string=1 stack=7
UserRegionBegin dt=1 task=0 name_string=2 stack=0
UserRegionEnd dt=1 task=0 name_string=1 stack=7
)"));
  TextBuffer text;
  AppendReport("a", report, /*with_notes=*/true, &text);
  EXPECT_NE(text.view().find("of task 0 [region-nesting]\n"
                             "    stack of the event:\n"
                             "      main.main (/src/main.go:31)\n"
                             "    regions open on goroutine 1, the innermost first:\n"
                             "      \"inner\" of task 0, begun at byte 108 and time 104\n"
                             "      \"outer\" of task 0, begun at byte 103 and time 103 in "
                             "main.main (/src/main.go:31)\n"
                             "    goroutine 1 before that:\n"),
            std::string::npos)
      << text.view();
  TextBuffer json;
  AppendReportJson("a", report, &json);
  EXPECT_NE(json.view().find(
                R"("details":[],"stack":[{"func":"main.main","file":"/src/main.go","line":31}],)"
                R"("open_regions":[{"type":"inner","task":0,"offset":108,"time":104},)"
                R"({"type":"outer","task":0,"offset":103,"time":103,)"
                R"("frame":{"func":"main.main","file":"/src/main.go","line":31}}],"history":[)"),
            std::string::npos)
      << json.view();
}

}  // namespace report_text_test
}  // namespace gotrace::internal
