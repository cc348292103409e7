#include "gotrace/internal/event_spec.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gotrace/internal/event_rules.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace event_spec_test {

// A row of the tables in FORMAT.md §8.
struct DocumentRow {
  std::string name;
  std::vector<std::string> args;  // Including "dt", which the tables of timed events omit.
  uint32_t since = 0;
  EventForm form = EventForm::kTimed;
  int start = 0;
  bool experimental = false;
};

std::string ReadDocument() {
  const char* const runfiles = std::getenv("TEST_SRCDIR");
  const char* const workspace = std::getenv("TEST_WORKSPACE");
  const std::string root = runfiles == nullptr || workspace == nullptr
                               ? ""
                               : absl::StrCat(runfiles, "/", workspace, "/");
  std::ifstream file(root + "tracev2/FORMAT.md");
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

EventForm FormOf(absl::string_view letter) {
  if (letter == "D") return EventForm::kData;
  if (letter == "K") return EventForm::kStack;
  return EventForm::kStructural;
}

// The cells of a line of a table, without the spaces around them.
std::vector<std::string> Cells(absl::string_view line) {
  std::vector<std::string> cells;
  for (const absl::string_view cell : absl::StrSplit(line, '|')) {
    cells.emplace_back(absl::StripAsciiWhitespace(cell));
  }
  return cells;
}

// Returns the rows of §8 by the value of their types. Tables are distinguished by their number of
// columns and by their section.
std::map<int, DocumentRow> ReadDocumentRows() {
  std::map<int, DocumentRow> rows;
  std::string section;
  const std::string document = ReadDocument();
  for (const absl::string_view line : absl::StrSplit(document, '\n')) {
    if (absl::StartsWith(line, "## ") || absl::StartsWith(line, "### "))
      section = std::string(line);
    if (!absl::StartsWith(section, "### 8.")) continue;
    const std::vector<std::string> cells = Cells(line);
    int value = 0;
    if (cells.size() < 7 || !absl::SimpleAtoi(cells[1], &value) || value == 0) continue;
    DocumentRow row;
    row.name = cells[2];
    row.args = absl::StrSplit(cells[3], ", ", absl::SkipEmpty());
    row.experimental = value >= 128;
    const bool structural = absl::StartsWith(section, "### 8.2");
    if (structural) {
      row.form = FormOf(cells[4]);
    } else {
      row.args.insert(row.args.begin(), "dt");
    }
    EXPECT_TRUE(absl::SimpleAtoi(cells[structural ? 5 : 4], &row.since)) << line;
    if (!structural && !row.experimental) (void)absl::SimpleAtoi(cells[5], &row.start);
    EXPECT_TRUE(rows.emplace(value, row).second) << line;
  }
  return rows;
}

TEST(EventSpecTest, RowsAreThoseOfTheDocument) {
  const std::map<int, DocumentRow> documented = ReadDocumentRows();
  ASSERT_EQ(documented.size(), 52u + 9u);
  EXPECT_EQ(AllEventSpecs().size(), documented.size());
  for (const EventSpec& spec : AllEventSpecs()) {
    SCOPED_TRACE(std::string(spec.name));
    const auto it = documented.find(static_cast<int>(spec.type));
    ASSERT_NE(it, documented.end());
    const DocumentRow& row = it->second;
    EXPECT_EQ(std::string(spec.name), row.name);
    EXPECT_THAT(std::vector<std::string>(spec.args().begin(), spec.args().end()),
                testing::ElementsAreArray(row.args));
    EXPECT_EQ(spec.since, row.since);
    EXPECT_EQ(static_cast<int>(spec.start), row.start);
    EXPECT_EQ(spec.experiment, row.experimental ? Experiment::kAllocFree : Experiment::kNone);
    // A clock snapshot has the layout of timed events, but is in sync batches.
    EXPECT_EQ(spec.form, spec.type == EventType::kClockSnapshot ? EventForm::kTimed : row.form);
  }
}

TEST(EventSpecTest, TimedEventsBeginWithTheTimeDifference) {
  for (const EventSpec& spec : AllEventSpecs()) {
    SCOPED_TRACE(std::string(spec.name));
    EXPECT_EQ(spec.timed(), spec.form == EventForm::kTimed);
    const bool begins_with_dt = spec.arg_count > 0 && spec.arg_types[0] == ArgType::kTimeDelta;
    EXPECT_EQ(spec.timed(), begins_with_dt);
    EXPECT_LE(spec.arg_count, kMaxTimedArgs);
    for (int i = 1; i < spec.arg_count; ++i) EXPECT_NE(spec.arg_types[i], ArgType::kTimeDelta);
  }
}

TEST(EventSpecTest, ArgumentTypesFollowFromTheirNames) {
  const std::map<std::string, ArgType> types = {
      {"dt", ArgType::kTimeDelta},
      {"gc_seq", ArgType::kSequenceNumber},
      {"g_seq", ArgType::kSequenceNumber},
      {"p_seq", ArgType::kSequenceNumber},
      {"pstatus", ArgType::kProcStatus},
      {"gstatus", ArgType::kGoroutineStatus},
      {"g", ArgType::kGoroutine},
      {"new_g", ArgType::kGoroutine},
      {"m", ArgType::kThread},
      {"p", ArgType::kProc},
      {"reason_string", ArgType::kString},
      {"kind_string", ArgType::kString},
      {"label_string", ArgType::kString},
      {"name_string", ArgType::kString},
      {"key_string", ArgType::kString},
      {"value_string", ArgType::kString},
      {"stack", ArgType::kStack},
      {"new_stack", ArgType::kStack},
      {"procs_value", ArgType::kValue},
      {"heapalloc_value", ArgType::kValue},
      {"heapgoal_value", ArgType::kValue},
      {"swept_value", ArgType::kValue},
      {"reclaimed_value", ArgType::kValue},
      {"npages_value", ArgType::kValue},
      {"task", ArgType::kTask},
      {"parent_task", ArgType::kTask},
  };
  const std::set<std::string> raw = {"gen",  "time", "size", "id",   "nframes", "freq",     "exp",
                                     "mono", "sec",  "nsec", "type", "order",   "kindclass"};
  std::set<std::string> seen;
  for (const EventSpec& spec : AllEventSpecs()) {
    for (int i = 0; i < spec.arg_count; ++i) {
      const std::string name = spec.arg_names[i];
      SCOPED_TRACE(absl::StrCat(spec.name, ".", name));
      seen.insert(name);
      const auto it = types.find(name);
      if (it == types.end()) {
        EXPECT_EQ(raw.count(name), 1u);
        EXPECT_EQ(spec.arg_types[i], ArgType::kRaw);
      } else {
        EXPECT_EQ(spec.arg_types[i], it->second);
      }
    }
  }
  EXPECT_EQ(seen.size(), types.size() + raw.size());
}

TEST(EventSpecTest, StackArgumentsAreFoundByName) {
  for (const EventSpec& spec : AllEventSpecs()) {
    SCOPED_TRACE(std::string(spec.name));
    int stack = EventSpec::kNoArg;
    int other = EventSpec::kNoArg;
    for (int i = 0; i < spec.arg_count; ++i) {
      if (std::string(spec.arg_names[i]) == "stack") stack = i;
      if (std::string(spec.arg_names[i]) == "new_stack") other = i;
    }
    EXPECT_EQ(spec.stack_arg, stack);
    EXPECT_EQ(spec.other_stack_arg, other);
  }
  const EventSpec* const create = FindEventSpec(EventType::kGoCreate);
  EXPECT_EQ(create->other_stack_arg, 2);
  EXPECT_EQ(create->stack_arg, 3);
  EXPECT_EQ(FindEventSpec(EventType::kGoDestroy)->stack_arg, EventSpec::kNoArg);
}

TEST(EventSpecTest, RangesBeginWithRowsThatBeginSomething) {
  int ends = 0;
  for (const EventSpec& spec : AllEventSpecs()) {
    if (spec.start == EventType::kNone) continue;
    SCOPED_TRACE(std::string(spec.name));
    ++ends;
    const EventSpec* const start = FindEventSpec(spec.start);
    ASSERT_NE(start, nullptr);
    EXPECT_EQ(start->start, EventType::kNone);
    EXPECT_TRUE(absl::EndsWith(start->name, "Begin")) << start->name;
    EXPECT_LE(start->since, spec.since);
  }
  EXPECT_EQ(ends, 10);
}

TEST(EventSpecTest, EachVersionHasItsRange) {
  const auto last_of = [](Version version) {
    int last = 0;
    for (const EventSpec& spec : AllEventSpecs()) {
      if (spec.experiment != Experiment::kNone || !VersionHas(version, spec)) continue;
      EXPECT_EQ(static_cast<int>(spec.type), last + 1);
      last = static_cast<int>(spec.type);
    }
    return last;
  };
  EXPECT_EQ(last_of(Version::kGo122), 44);
  EXPECT_EQ(last_of(Version::kGo123), 49);
  EXPECT_EQ(last_of(Version::kGo125), 51);
  EXPECT_EQ(last_of(Version::kGo126), 52);
}

TEST(EventSpecTest, ExperimentalEventsBeginWith123) {
  int experimental = 0;
  for (const EventSpec& spec : AllEventSpecs()) {
    if (spec.experiment == Experiment::kNone) continue;
    SCOPED_TRACE(std::string(spec.name));
    EXPECT_EQ(static_cast<int>(spec.type), 128 + experimental++);
    EXPECT_FALSE(VersionHas(Version::kGo122, spec));
    EXPECT_TRUE(VersionHas(Version::kGo123, spec));
    EXPECT_TRUE(VersionHas(Version::kGo125, spec));
    EXPECT_TRUE(VersionHas(Version::kGo126, spec));
    EXPECT_FALSE(GoToolPrints(Version::kGo122, spec));
    EXPECT_FALSE(GoToolPrints(Version::kGo123, spec));
    EXPECT_FALSE(GoToolPrints(Version::kGo125, spec));
    EXPECT_TRUE(GoToolPrints(Version::kGo126, spec));
  }
  EXPECT_EQ(experimental, 9);
  EXPECT_EQ(kEventTypeEnd, 128 + experimental);
}

TEST(EventSpecTest, GoToolPrintsAllOtherEventsOfAVersion) {
  for (const EventSpec& spec : AllEventSpecs()) {
    if (spec.experiment != Experiment::kNone) continue;
    for (const Version version : AllVersions()) {
      EXPECT_EQ(GoToolPrints(version, spec), VersionHas(version, spec)) << spec.name;
    }
  }
}

TEST(EventSpecTest, IsFoundByValue) {
  std::set<int> values;
  for (const EventSpec& spec : AllEventSpecs()) values.insert(static_cast<int>(spec.type));
  for (int value = 0; value < 256; ++value) {
    const EventType type = static_cast<EventType>(value);
    const EventSpec* const spec = FindEventSpec(type);
    if (values.count(value) == 0) {
      EXPECT_EQ(spec, nullptr) << value;
      EXPECT_EQ(EventTypeName(type), "Invalid") << value;
    } else {
      ASSERT_NE(spec, nullptr) << value;
      EXPECT_EQ(spec->type, type);
      EXPECT_EQ(EventTypeName(type), spec->name);
    }
  }
}

TEST(EventSpecTest, IsFoundByExactName) {
  std::set<std::string> names;
  for (const EventSpec& spec : AllEventSpecs()) {
    EXPECT_TRUE(names.insert(std::string(spec.name)).second) << spec.name;
    EXPECT_EQ(FindEventSpec(spec.name), &spec);
  }
  for (const absl::string_view name : {"", "None", "gostart", "GoStart ", "GoStar", "Invalid"}) {
    EXPECT_EQ(FindEventSpec(name), nullptr) << name;
  }
}

TEST(EventSpecTest, NamesExperiments) {
  EXPECT_EQ(ExperimentName(0), "None");
  EXPECT_EQ(ExperimentName(1), "AllocFree");
  EXPECT_EQ(ExperimentName(2), "");
  EXPECT_EQ(ExperimentName(255), "");
  EXPECT_EQ(ExperimentName(~uint64_t{0}), "");
}

// Returns the types that the first cell of a row in §9 names, such as "GoStart g, seq" or
// "GCSweepBegin / End".
std::vector<EventType> TypesIn(absl::string_view cell) {
  std::vector<EventType> types;
  std::string begin;
  for (const absl::string_view word : absl::StrSplit(cell, absl::ByAnyChar(" ,."))) {
    const std::string name = word == "End" ? begin + "End" : std::string(word);
    if (const EventSpec* const spec = FindEventSpec(name)) types.push_back(spec->type);
    if (absl::EndsWith(name, "Begin")) begin = name.substr(0, name.size() - 5);
  }
  if (!absl::StartsWith(cell, "128")) return types;
  for (const EventSpec& spec : AllEventSpecs()) {
    if (spec.experiment != Experiment::kNone) types.push_back(spec.type);
  }
  return types;
}

// Returns what the cells "waits unless" and "fault unless" of a row in §9 say.
EventRule RuleIn(const std::string& waits, const std::string& faults) {
  const auto says = [&](absl::string_view text) { return absl::StrContains(faults, text); };
  const auto waits_for = [&](absl::string_view text) { return absl::StrContains(waits, text); };
  const bool runs = says("running user");
  EventRule rule;
  if (says("M+")) rule.goroutine = GoNeed::kAny;
  if (says("G\u2212")) rule.goroutine = GoNeed::kNone;
  if (runs || says("G+")) rule.goroutine = GoNeed::kSome;
  if (says("own, if known, Running")) rule.goroutine = GoNeed::kRunningIfAny;
  if (says("own Running")) rule.goroutine = GoNeed::kRunning;
  if (says("own Syscall")) rule.goroutine = GoNeed::kSyscall;
  if (runs || says("P+")) rule.proc = ProcNeed::kSome;
  if (says("Running or Syscall")) rule.proc = ProcNeed::kInUse;
  if (says("; P Syscall")) rule.proc = ProcNeed::kSyscall;
  if (says("P, if any, Syscall")) rule.proc = ProcNeed::kSyscallIfAny;
  if (says("seq of the P")) rule.proc = ProcNeed::kNumbered;
  if (waits_for("thread has no P")) rule.proc = ProcNeed::kNone;
  if (waits_for("one that is not Syscall")) rule.proc = ProcNeed::kNotSyscall;
  if (says("new_g not known")) rule.subject = Subject::kNewGoroutine;
  if (faults == "g known") rule.subject = Subject::kKnownGoroutine;
  if (faults == "P known") rule.subject = Subject::kKnownProc;
  if (waits_for("Runnable, seq")) rule.subject = Subject::kRunnableGoroutine;
  if (waits_for("Waiting, seq")) rule.subject = Subject::kWaitingGoroutine;
  if (waits_for("Idle, seq")) rule.subject = Subject::kIdleProc;
  if (waits_for("SyscallAbandoned, seq")) rule.subject = Subject::kSyscallProc;
  if (waits_for("number + 1")) rule.subject = Subject::kGC;
  return rule;
}

Becomes BecomesIn(absl::string_view state) {
  const std::map<absl::string_view, Becomes> states = {
      {"Runnable", Becomes::kRunnable}, {"Running", Becomes::kRunning},
      {"Syscall", Becomes::kSyscall},   {"Waiting", Becomes::kWaiting},
      {"NotExist", Becomes::kGone},     {"Idle", Becomes::kIdle}};
  const auto it = states.find(state);
  return it == states.end() ? Becomes::kSame : it->second;
}

TEST(EventRulesTest, RowsAreThoseOfTheDocument) {
  std::set<EventType> seen;
  std::string section;
  std::string waits;
  std::string faults;
  for (const absl::string_view line : absl::StrSplit(ReadDocument(), '\n')) {
    if (absl::StartsWith(line, "### ")) section = std::string(line);
    const std::vector<std::string> cells = Cells(line);
    if (!absl::StartsWith(section, "### 9.") || cells.size() != 6) continue;
    // A row that says "as" some other follows it.
    if (!absl::StartsWith(cells[2], "as ")) waits = cells[2];
    if (!absl::StartsWith(cells[3], "as ")) faults = cells[3];
    for (const EventType type : TypesIn(cells[1])) {
      SCOPED_TRACE(absl::StrCat(EventTypeName(type), ": ", line));
      const EventRule& rule = RuleOf(type);
      seen.insert(type);
      const std::vector<std::string> states = absl::StrSplit(cells[4], "\u2192");
      if (states.size() == 2) {
        const bool is_own = rule.subject_kind() == ResourceKind::kNone;
        const Becomes own =
            rule.resource == ResourceKind::kProc ? rule.proc_becomes : rule.goroutine_becomes;
        const absl::string_view to = states.back();
        EXPECT_EQ(is_own ? own : rule.subject_becomes, BecomesIn(to.substr(0, to.find(','))));
      }
      if (faults == "below" || rule.goroutine == GoNeed::kSomeUnlessFirst) continue;
      const EventRule documented = RuleIn(waits, faults);
      EXPECT_EQ(rule.goroutine, documented.goroutine);
      EXPECT_EQ(rule.proc, documented.proc);
      EXPECT_EQ(rule.subject, documented.subject);
    }
  }
  // The text describes the others: what a running goroutine does with tasks and regions.
  for (const EventType type : {EventType::kUserTaskBegin, EventType::kUserTaskEnd,
                               EventType::kUserRegionBegin, EventType::kUserRegionEnd}) {
    EXPECT_TRUE(seen.insert(type).second);
    EXPECT_EQ(RuleOf(type).goroutine, GoNeed::kSome);
    EXPECT_EQ(RuleOf(type).proc, ProcNeed::kSome);
  }
  for (const EventSpec& spec : AllEventSpecs()) {
    const bool is_ordered = spec.timed() && spec.type != EventType::kClockSnapshot;
    EXPECT_EQ(seen.count(spec.type), is_ordered ? 1u : 0u) << spec.name;
  }
}

TEST(EventRulesTest, TheSameEventsMayHaveNoThreadAsInTheDocument) {
  const std::string document = ReadDocument();
  const size_t begin = document.find("only the following events can appear");
  ASSERT_NE(begin, std::string::npos);
  const size_t end = document.find("\n\n", begin);
  const std::string text = absl::StrReplaceAll(document.substr(begin, end - begin), {{"\n", " "}});
  const std::vector<EventType> named = TypesIn(text);
  const std::set<EventType> may(named.begin(), named.end());
  EXPECT_EQ(may.size(), 8u);
  for (const EventSpec& spec : AllEventSpecs()) {
    if (!spec.timed() || spec.type == EventType::kClockSnapshot) continue;
    EXPECT_EQ(RuleOf(spec.type).MayHaveNoThread(), may.count(spec.type) == 1) << spec.name;
  }
}

}  // namespace event_spec_test
}  // namespace gotrace::internal
