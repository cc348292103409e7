#include "parser/generation/table_use.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "parser/reader/reader_access.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace table_use_test {

struct Found {
  TableUse::Unused strings;
  TableUse::Unused stacks;
  std::string last_string;
};

// Returns the unused entries of each generation of the trace in text form `text`.
std::vector<Found> UnusedIn(const std::string& text) {
  std::vector<Found> all;
  ReaderHooks hooks;
  hooks.on_generation_end = [&](const GenerationTables& tables, const TableUse& use) {
    Found found = {use.UnusedStrings(tables), use.UnusedStacks(tables), ""};
    if (found.strings.count > 0) {
      found.last_string = std::string(tables.StringAt(found.strings.last_index));
    }
    all.push_back(found);
  };
  const std::string bytes = Assemble(text);
  absl::StatusOr<Reader> reader = ReaderAccess::FromSource(*SourceFromBytes(bytes), {}, hooks);
  if (!reader.ok()) return all;
  while (reader->Next() != nullptr) continue;
  EXPECT_TRUE(reader->status().ok()) << reader->status();
  return all;
}

constexpr char kText[] = R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=0 time=1 size=auto
Strings
String id=1
	data="func"
String id=2
	data="file"
String id=3
	data="reason"
String id=900000
	data="nobody"
EventBatch gen=1 m=0 time=1 size=auto
Stacks
Stack id=1 nframes=1
	pc=1 func=1 file=2 line=3
Stack id=2 nframes=0
Stack id=3 nframes=0
EventBatch gen=1 m=0 time=1 size=auto
CPUSamples
CPUSample time=105 m=1 p=0 g=1 stack=3
EventBatch gen=1 m=1 time=100 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
GoStop dt=1 reason_string=3 stack=2
EventBatch gen=2 m=0 time=200 size=auto
Frequency freq=1000000000
EventBatch gen=2 m=0 time=200 size=auto
Strings
String id=3
	data="reason"
EventBatch gen=2 m=1 time=200 size=auto
ProcStatus dt=1 p=0 pstatus=1
)";

TEST(TableUseTest, CountsEverythingThatAnEventRefersTo) {
  // A log has two strings, and a goroutine's creation two stacks.
  const std::vector<Found> found = UnusedIn(R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=0 time=1 size=auto
Strings
String id=1
	data="key"
String id=2
	data="value"
String id=3
	data="nobody"
EventBatch gen=1 m=0 time=1 size=auto
Stacks
Stack id=1 nframes=0
Stack id=2 nframes=0
Stack id=3 nframes=0
Stack id=4 nframes=0
EventBatch gen=1 m=1 time=100 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
UserLog dt=1 task=0 key_string=1 value_string=2 stack=1
GoCreate dt=1 new_g=5 new_stack=2 stack=3
)");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].strings.count, 1u);
  EXPECT_EQ(found[0].last_string, "nobody");
  EXPECT_EQ(found[0].stacks.count, 1u);
  EXPECT_EQ(found[0].stacks.last_index, 3u);
}

// A batch that is longer than the longest event, so that most events are decoded in bulk, and ids
// far above the number of entries.
TEST(TableUseTest, CountsInBulkAndFarIds) {
  std::string text = R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=0 time=1 size=auto
Strings
String id=2
	data="second"
String id=1
	data="first"
String id=3
	data="nobody"
String id=900000
	data="far"
String id=900001
	data="far and nobody"
EventBatch gen=1 m=0 time=1 size=auto
Stacks
Stack id=1 nframes=0
Stack id=7000000 nframes=0
EventBatch gen=1 m=1 time=100 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
)";
  for (int i = 0; i < 50; ++i) text += "UserLog dt=1 task=0 key_string=1 value_string=2 stack=1\n";
  const std::vector<Found> near = UnusedIn(text);
  ASSERT_EQ(near.size(), 1u);
  EXPECT_EQ(near[0].strings.count, 3u);
  EXPECT_EQ(near[0].last_string, "far and nobody");
  EXPECT_EQ(near[0].stacks.count, 1u);
  text += "UserLog dt=1 task=0 key_string=2 value_string=900000 stack=7000000\n";
  for (int i = 0; i < 50; ++i) text += "UserLog dt=1 task=0 key_string=1 value_string=2 stack=1\n";
  const std::vector<Found> far = UnusedIn(text);
  ASSERT_EQ(far.size(), 1u);
  EXPECT_EQ(far[0].strings.count, 2u);
  EXPECT_EQ(far[0].stacks.count, 0u);
}

TEST(TableUseTest, CountsIdsWithGaps) {
  std::string text = R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=0 time=1 size=auto
Strings
String id=2
	data="second"
String id=4
	data="nobody"
EventBatch gen=1 m=0 time=1 size=auto
Stacks
Stack id=5 nframes=0
Stack id=3 nframes=0
Stack id=2 nframes=0
EventBatch gen=1 m=1 time=100 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
)";
  for (int i = 0; i < 50; ++i) text += "UserLog dt=1 task=0 key_string=2 value_string=2 stack=3\n";
  const std::vector<Found> found = UnusedIn(text);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].strings.count, 1u);
  EXPECT_EQ(found[0].last_string, "nobody");
  EXPECT_EQ(found[0].stacks.all, 3u);
  EXPECT_EQ(found[0].stacks.count, 2u);
  EXPECT_EQ(found[0].stacks.last_index, 2u);
}

TEST(TableUseTest, CountsIdsThatWereFarFromTheFirstEntries) {
  constexpr int kLast = 1026;
  std::string text = R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=0 time=1 size=auto
Stacks
)";
  const auto add = [&text](int id) { absl::StrAppend(&text, "Stack id=", id, " nframes=0\n"); };
  add(kLast);
  for (int id = 1; id < kLast; ++id) add(id);
  text += R"(EventBatch gen=1 m=1 time=100 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
)";
  for (int id = kLast; id > 0; --id) {
    absl::StrAppend(&text, "ProcsChange dt=1 procs_value=4 stack=", id, "\n");
  }
  const std::vector<Found> found = UnusedIn(text);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].stacks.all, static_cast<uint64_t>(kLast));
  EXPECT_EQ(found[0].stacks.count, 0u);
}

TEST(TableUseTest, CountsEntriesThatNothingRefersTo) {
  const std::vector<Found> found = UnusedIn(kText);
  ASSERT_EQ(found.size(), 2u);
  // Frames use strings, and samples use stacks.
  EXPECT_EQ(found[0].strings.count, 1u);
  EXPECT_EQ(found[0].strings.all, 4u);
  EXPECT_EQ(found[0].last_string, "nobody");
  EXPECT_EQ(found[0].stacks.count, 1u);
  EXPECT_EQ(found[0].stacks.all, 3u);
  EXPECT_EQ(found[0].stacks.last_index, 0u);
  // Uses of another generation do not count.
  EXPECT_EQ(found[1].strings.count, 1u);
  EXPECT_EQ(found[1].last_string, "reason");
  EXPECT_EQ(found[1].stacks.all, 0u);
}

}  // namespace table_use_test
}  // namespace gotrace::internal
