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
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
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

}  // namespace event_spec_test
}  // namespace gotrace::internal
