#include "gotrace/fault.h"

#include <set>
#include <sstream>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gotrace/reader_limits.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace fault_test {

TEST(FaultTest, NamesAreUniqueAndKebabCase) {
  std::set<std::string> names;
  for (int i = 0; i < kFaultIdEnd; ++i) {
    const std::string name(FaultName(static_cast<FaultId>(i)));
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_GT(name.size(), 2u);
    EXPECT_TRUE(absl::ascii_islower(name.front()) && absl::ascii_isalnum(name.back())) << name;
    EXPECT_EQ(name.find("--"), std::string::npos) << name;
    for (const char c : name) {
      EXPECT_TRUE(absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-') << name;
    }
  }
  EXPECT_EQ(FaultName(FaultId::kNotATrace), "not-a-trace");
  EXPECT_EQ(FaultName(FaultId::kStringBatchEvent), "string-batch-event");
  EXPECT_EQ(FaultName(FaultId::kGCRunning), "gc-running");
}

TEST(FaultTest, MeaningsAreSentences) {
  std::set<std::string> meanings;
  for (int i = 0; i < kFaultIdEnd; ++i) {
    const std::string meaning(FaultMeaning(static_cast<FaultId>(i)));
    EXPECT_TRUE(meanings.insert(meaning).second) << meaning;
    EXPECT_TRUE(absl::ascii_isupper(meaning.front())) << meaning;
    EXPECT_TRUE(absl::EndsWith(meaning, ".")) << meaning;
  }
}

TEST(FaultTest, FormatsPlaces) {
  Place place;
  EXPECT_EQ(FormatPlace(place), "");
  place.offset = 1234;
  EXPECT_EQ(FormatPlace(place), "byte 1234");
  place.event = EventType::kGoStart;
  EXPECT_EQ(FormatPlace(place), "byte 1234, event GoStart");
  place.generation = 2;
  place.thread = ThreadId{77};
  EXPECT_EQ(FormatPlace(place), "byte 1234, generation 2, thread 77, event GoStart");
  place.batch_offset = 1200;
  EXPECT_EQ(FormatPlace(place),
            "byte 1234, generation 2, batch at byte 1200, thread 77, event GoStart");
  place.thread = ThreadId::kNone;
  place.event = static_cast<EventType>(99);
  EXPECT_EQ(FormatPlace(place),
            "byte 1234, generation 2, batch at byte 1200, no thread, event Invalid");
  place = Place();
  place.thread = ThreadId{0};
  EXPECT_EQ(FormatPlace(place), "thread 0");
}

TEST(FaultTest, FormatsFaults) {
  Fault fault = {FaultId::kBatchSize, Place(), "expected little, found much", {}};
  EXPECT_EQ(FormatFault(fault), "expected little, found much [batch-size]");
  fault.place.offset = 16;
  EXPECT_EQ(FormatFault(fault), "byte 16: expected little, found much [batch-size]");
}

TEST(FaultTest, EveryFaultComesBackFromItsStatus) {
  for (int i = 0; i < kFaultIdEnd; ++i) {
    Fault fault;
    fault.id = static_cast<FaultId>(i);
    fault.message = std::string("with a NUL \0 and a \xff", 20);
    fault.place.offset = 1;
    fault.place.generation = ~uint64_t{0};
    fault.place.batch_offset = 3;
    fault.place.thread = ThreadId{-1};
    fault.place.event = EventType::kGoroutineStackFree;
    fault.place.time = -5;
    const absl::Status status = FaultStatus(fault);
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(status.message(), FormatFault(fault) + "\n    at time -5 ns");
    const std::optional<Fault> back = FaultOf(absl::Status(status.code(), status.message()));
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(back->id, fault.id);
    EXPECT_EQ(back->message, fault.message);
    EXPECT_EQ(back->place.offset, fault.place.offset);
    EXPECT_EQ(back->place.generation, fault.place.generation);
    EXPECT_EQ(back->place.batch_offset, fault.place.batch_offset);
    EXPECT_EQ(back->place.thread, fault.place.thread);
    EXPECT_EQ(back->place.event, fault.place.event);
    EXPECT_EQ(back->place.time, fault.place.time);
  }
}

// Every combination of what may be known of a place.
TEST(FaultTest, PartsOfPlacesComeBack) {
  for (int known = 0; known < 64; ++known) {
    Fault fault = {FaultId::kBatchSize, Place(), "byte 5: expected [this], found: that", {}};
    if ((known & 1) != 0) fault.place.offset = ~uint64_t{0};
    if ((known & 2) != 0) fault.place.generation = 0;
    if ((known & 4) != 0) fault.place.batch_offset = 16;
    if ((known & 8) != 0) fault.place.thread = ThreadId{-77};
    if ((known & 16) != 0) fault.place.event = EventType::kGoStart;
    if ((known & 32) != 0) fault.place.time = 0;
    // A message alone must not look like a place.
    if ((known & 31) == 0) fault.message = "expected [this], found: that";
    const std::optional<Fault> back = FaultOf(FaultStatus(fault));
    ASSERT_TRUE(back.has_value()) << known;
    EXPECT_EQ(FormatFault(*back), FormatFault(fault)) << known;
    EXPECT_EQ(back->message, fault.message) << known;
    EXPECT_EQ(back->place.offset, fault.place.offset) << known;
    EXPECT_EQ(back->place.generation, fault.place.generation) << known;
    EXPECT_EQ(back->place.batch_offset, fault.place.batch_offset) << known;
    EXPECT_EQ(back->place.thread, fault.place.thread) << known;
    EXPECT_EQ(back->place.event, fault.place.event) << known;
    EXPECT_EQ(back->place.time, fault.place.time) << known;
    EXPECT_TRUE(back->details.empty());
  }
}

TEST(FaultTest, TypesWithoutANameComeBackAsOneOfThem) {
  Fault fault = {FaultId::kBatchSize, Place(), "message", {}};
  fault.place.event = static_cast<EventType>(250);
  const std::optional<Fault> back = FaultOf(FaultStatus(fault));
  EXPECT_EQ(FormatFault(*back), "event Invalid: message [batch-size]");
  EXPECT_EQ(EventTypeName(back->place.event), "Invalid");
}

TEST(FaultTest, APrintedStatusShowsItsMessageAndNothingElse) {
  Fault fault = {FaultId::kBatchSize, Place(), "expected little, found\n much", {"a detail"}};
  fault.place.offset = 16;
  std::ostringstream out;
  out << FaultStatus(CutOff(fault));
  EXPECT_EQ(out.str(),
            "DATA_LOSS: byte 16: the trace is cut off: expected little, found  much [batch-size]\n"
            "    a detail");
}

TEST(FaultTest, DetailsComeBackAndFollowTheFirstLine) {
  Fault fault = {FaultId::kNoAdvance, Place(), "message", {"first", "", "with a \xff"}};
  const absl::Status status = FaultStatus(fault);
  EXPECT_EQ(status.message(), "message [no-advance]\n    first\n    \n    with a \xff");
  EXPECT_EQ(FaultOf(status)->details, fault.details);
  fault.details = {"at time 5 past noon"};
  EXPECT_EQ(FaultOf(FaultStatus(fault))->details, fault.details);
  EXPECT_FALSE(FaultOf(FaultStatus(fault))->place.time.has_value());
  fault.details.clear();
  EXPECT_TRUE(FaultOf(FaultStatus(fault))->details.empty());
  EXPECT_FALSE(FaultOf(FaultStatus(fault))->cut_off);
  const Fault cut = CutOff(fault);
  EXPECT_EQ(cut.message, "the trace is cut off: " + fault.message);
  EXPECT_TRUE(FaultOf(FaultStatus(cut))->cut_off);
  EXPECT_EQ(FaultOf(FaultStatus(cut))->message, cut.message);
}

TEST(FaultTest, ThePlaceOfAHeaderComesBack) {
  const Fault fault = {FaultId::kNotATrace, Place(), "found \"; a trace header is at byte 5\"", {}};
  EXPECT_EQ(FaultOf(FaultStatus(fault))->header_offset, std::nullopt);
  for (const uint64_t offset : {uint64_t{0}, uint64_t{18}, ~uint64_t{0}}) {
    const Fault with_header = HeaderAt(fault, offset);
    EXPECT_EQ(with_header.message,
              absl::StrCat(fault.message, "; a trace header is at byte ", offset));
    EXPECT_EQ(FaultOf(FaultStatus(with_header))->header_offset, offset);
    EXPECT_EQ(FaultOf(FaultStatus(with_header))->message, with_header.message);
  }
  EXPECT_EQ(FaultOf(absl::InvalidArgumentError("x; a trace header is at byte -1 [not-a-trace]"))
                ->header_offset,
            std::nullopt);
}

TEST(FaultTest, FormatsContexts) {
  FaultContext context;
  EXPECT_TRUE(FormatContext(context).empty());
  context.stack = {{"main.run", "/src/main.go", 12}, {"", "", 0}, {"main.two\nlines", "", 3}};
  context.more_frames = 4;
  context.goroutine = GoId{6};
  context.regions = {{"inner \"\n", TaskId{3}, 100, 2000, FaultFrame{"main.work", "w.go", 7}},
                     {"outer", TaskId{0}, 90, 1000, {}},
                     {"lost", TaskId{0}, {}, {}, {}}};
  context.more_regions = 5;
  const std::vector<std::string> expected = {
      "stack of the event:",
      "  main.run (/src/main.go:12)",
      "  an unknown function",
      R"(  "main.two\nlines")",
      "  and 4 more",
      "regions open on goroutine 6, the innermost first:",
      R"(  "inner \"\n" of task 3, begun at byte 100 and time 2000 in main.work (w.go:7))",
      R"(  "outer" of task 0, begun at byte 90 and time 1000)",
      R"(  "lost" of task 0, whose beginning is not in the trace)",
      "  and 5 more"};
  EXPECT_EQ(FormatContext(context), expected);

  const std::optional<Fault> back =
      FaultOf(FaultStatus({FaultId::kRegionNesting, Place(), "message", {"first"}, context}));
  ASSERT_EQ(back->details.size(), 1 + expected.size());
  EXPECT_EQ(back->details[0], "first");
  EXPECT_EQ(back->details[1], expected[0]);
  EXPECT_EQ(back->details.back(), expected.back());
}

TEST(FaultTest, UnknownPlacesStayUnknown) {
  const std::optional<Fault> fault = FaultOf(FaultStatus({FaultId::kNoAdvance, Place(), "", {}}));
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->message, "");
  EXPECT_FALSE(fault->place.offset.has_value());
  EXPECT_FALSE(fault->place.generation.has_value());
  EXPECT_FALSE(fault->place.batch_offset.has_value());
  EXPECT_FALSE(fault->place.thread.has_value());
  EXPECT_EQ(fault->place.event, EventType::kNone);
  EXPECT_FALSE(fault->place.time.has_value());
}

TEST(FaultTest, OtherStatusesHoldNone) {
  EXPECT_FALSE(FaultOf(absl::OkStatus()).has_value());
  // Another code, another id, no id at the end of the first line.
  EXPECT_TRUE(FaultOf(absl::DataLossError("byte 1: is one [batch-size]")).has_value());
  EXPECT_FALSE(FaultOf(absl::NotFoundError("byte 1: is none [batch-size]")).has_value());
  EXPECT_FALSE(FaultOf(absl::DataLossError("byte 1: is none [batch-sizes]")).has_value());
  EXPECT_FALSE(FaultOf(absl::DataLossError("byte 1: is none [batch-size] at all")).has_value());
  EXPECT_FALSE(FaultOf(absl::DataLossError("byte 1: is none [batch-size)")).has_value());
  EXPECT_FALSE(FaultOf(absl::DataLossError("byte 1: is none\n    [batch-size]")).has_value());
  EXPECT_FALSE(FaultOf(absl::DataLossError("")).has_value());
}

TEST(FaultTest, CodesTellWhatToDoAboutIt) {
  const auto code = [](FaultId id) { return FaultStatus({id, Place(), "", {}}).code(); };
  EXPECT_EQ(code(FaultId::kNotATrace), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(FaultId::kHeaderTruncated), absl::StatusCode::kDataLoss);
  EXPECT_EQ(code(FaultId::kV1Trace), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(code(FaultId::kUnknownVersion), absl::StatusCode::kUnimplemented);
  for (int i = static_cast<int>(FaultId::kCompressedCorrupt); i < kFaultIdEnd; ++i) {
    const FaultId id = static_cast<FaultId>(i);
    // A trace that exceeds a limit need not be damaged.
    EXPECT_EQ(code(id),
              IsLimit(id) ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kDataLoss);
  }
}

}  // namespace fault_test
}  // namespace gotrace::internal
