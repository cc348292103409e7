#include "gotrace/interner.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "parser/event/event_access.h"
#include "parser/event/event_writer.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace interner_test {

std::string FramesOf(const Stack& stack) {
  std::string text;
  for (size_t i = 0; i < stack.size(); ++i) {
    const StackFrame frame = stack.frame(i);
    text += absl::StrCat(frame.pc, " ", frame.func, " ", frame.file, ":", frame.line, "\n");
  }
  return text;
}

std::string FramesOf(const Interner& interner, StackId id) {
  std::string text;
  for (const FrameId frame_id : interner.Frames(id)) {
    const StackFrame frame = interner.Frame(frame_id);
    text += absl::StrCat(frame.pc, " ", frame.func, " ", frame.file, ":", frame.line, "\n");
  }
  return text;
}

TEST(Interner, GivesEqualContentTheSameIdAcrossGenerations) {
  Interner interner;
  std::map<std::string, StackId> ids;
  std::set<uint64_t> stack_ids_of_trace;
  uint64_t lookups = 0;
  const std::string bytes = ReadTestTrace("go1.27-gc.trace");
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  ASSERT_TRUE(reader.ok());
  while (const Event* event = reader->Next()) {
    if (event->stack().none()) continue;
    ++lookups;
    const std::string frames = FramesOf(event->stack());
    const StackId id = interner.InternStack(event->stack());
    EXPECT_EQ(ids.try_emplace(frames, id).first->second, id);
    EXPECT_EQ(FramesOf(interner, id), frames);
    stack_ids_of_trace.insert(event->stack_id());
  }
  ASSERT_TRUE(reader->status().ok());
  EXPECT_GT(lookups, ids.size());
  // Besides kNone.
  EXPECT_EQ(interner.stack_count(), ids.size() + 1);
  for (const auto& [frames, id] : ids) EXPECT_EQ(FramesOf(interner, id), frames);
}

TEST(Interner, KeepsStringsOnce) {
  Interner interner;
  EXPECT_EQ(interner.InternString(""), StringId::kEmpty);
  const StringId a = interner.InternString("a");
  const absl::string_view text = interner.String(a);
  for (int i = 0; i < 1000; ++i) interner.InternString(absl::StrCat("text ", i));
  EXPECT_EQ(interner.InternString("a"), a);
  EXPECT_EQ(interner.String(a).data(), text.data());
  EXPECT_EQ(interner.string_count(), 1002u);
}

TEST(Interner, FindsWhatTheTablesLack) {
  Interner interner;
  EXPECT_EQ(interner.InternString(Event(), 1), StringId::kEmpty);
  EXPECT_EQ(interner.InternStack(Stack()), StackId::kNone);
  FirstGeneration first(Assemble(R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=0 time=1 size=auto
Strings
String id=1
	data="f"
String id=1000000000000
	data="far"
EventBatch gen=1 m=0 time=1 size=auto
Stacks
Stack id=5 nframes=1
	pc=1 func=1 file=1 line=3
EventBatch gen=1 m=1 time=100 size=auto
ProcStatus dt=1 p=0 pstatus=2
)"));
  ASSERT_NE(first.generation, nullptr);
  const EventTables* const tables = &first.generation->tables();
  Event event;
  EventWriter(&event).Tables(tables);
  EXPECT_EQ(interner.InternStack(EventAccess::MakeStack(tables, 0)), StackId::kNone);
  EXPECT_EQ(interner.InternStack(EventAccess::MakeStack(tables, 6)), StackId::kNone);
  EXPECT_EQ(interner.InternString(event, 7), StringId::kEmpty);
  EXPECT_EQ(interner.InternString(event, uint64_t{1} << 60), StringId::kEmpty);
  EXPECT_EQ(interner.String(interner.InternString(event, 1000000000000)), "far");
  EXPECT_EQ(interner.String(interner.InternString(event, 1)), "f");
  EXPECT_EQ(interner.String(interner.InternString(event, 1)), "f");
  const StackId stack = interner.InternStack(EventAccess::MakeStack(tables, 5));
  EXPECT_EQ(interner.InternStack(EventAccess::MakeStack(tables, 5)), stack);
  EXPECT_EQ(FramesOf(interner, stack), "1 f f:3\n");
  EXPECT_EQ(interner.RootFunction(stack), "f");
  EXPECT_EQ(interner.RootFunction(StackId::kNone), "");
}

TEST(Interner, MergesByContent) {
  const std::string bytes = ReadTestTrace("go1.25-blocking.trace");
  // One starts with other content, so that the ids differ.
  Interner a;
  Interner b;
  a.InternString("only in a");
  b.InternString("only in b");
  std::vector<StackId> in_a;
  std::vector<StackId> in_b;
  const auto read = [&](Interner* interner, size_t skip, std::vector<StackId>* ids) {
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    for (size_t i = 0; const Event* event = reader->Next(); ++i) {
      if (i >= skip && !event->stack().none())
        ids->push_back(interner->InternStack(event->stack()));
    }
  };
  read(&a, 0, &in_a);
  read(&b, 200, &in_b);
  ASSERT_LT(in_b.size(), in_a.size());
  const size_t stacks = a.stack_count();
  const InternerMap map = a.Merge(b);
  EXPECT_EQ(a.stack_count(), stacks);
  for (size_t i = 0; i < in_b.size(); ++i) {
    EXPECT_EQ(map(in_b[i]), in_a[in_a.size() - in_b.size() + i]);
  }
  EXPECT_EQ(a.String(map(b.InternString("only in b"))), "only in b");
  EXPECT_EQ(map(StackId::kNone), StackId::kNone);
  EXPECT_EQ(map(StringId::kEmpty), StringId::kEmpty);
  const InternerMap same = a.Merge(a);
  EXPECT_EQ(same(in_a[0]), in_a[0]);
}

}  // namespace interner_test
}  // namespace gotrace::internal
