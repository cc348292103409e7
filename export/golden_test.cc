// Reads every case of testdata/cases and compares the result with what the case expects. After an
// intended change, `bazel run //testing:rebase_goldens` rewrites them all.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gotrace/byte_stream.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/reader_limits.h"
#include "gtest/gtest.h"
#include "testing/golden_case.h"
#include "tracev2/text_form.h"

namespace gotrace::internal {
namespace golden_test {

// Tests run in the root of their runfiles.
constexpr char kDirectory[] = "testdata/cases";

struct LoadedCase {
  GoldenCase golden;
  std::string text;   // The contents of the file.
  std::string input;  // The bytes of its trace.
};

absl::StatusOr<LoadedCase> Load(const std::string& path) {
  absl::StatusOr<std::string> text = ReadTextFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<GoldenCase> golden = ParseGoldenCase(*text);
  if (!golden.ok()) return golden.status();
  absl::StatusOr<std::string> input = GoldenInput(*golden);
  if (!input.ok()) return input.status();
  return LoadedCase{*std::move(golden), *std::move(text), *std::move(input)};
}

// Returns one byte at a time, so that the window grows in the smallest steps.
class SlowStream final : public ByteStream {
 public:
  explicit SlowStream(absl::string_view bytes) : stream_(bytes) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    return stream_.Read(buffer, std::min<size_t>(size, 1));
  }

 private:
  MemoryStream stream_;
};

class GoldenTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    absl::StatusOr<LoadedCase> loaded = Load(GetParam());
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    case_ = *std::move(loaded);
  }

  // Expects the outcome of the case.
  void ExpectSame(const Reading& reading) const {
    EXPECT_EQ(FormatOutcome(reading.status), case_.golden.outcome);
    EXPECT_EQ(reading.events, case_.golden.events);
  }

  LoadedCase case_;
};

// If many threads wait, a waiting thread is set aside until an event ends the wait. Only the order
// of events with equal times may differ.
TEST_P(GoldenTest, ReadsTheSameWhereThreadsAreSetAside) {
  const auto lines_of = [](const std::string& text) {
    std::vector<std::string> lines = absl::StrSplit(text, '\n');
    std::sort(lines.begin(), lines.end());
    return lines;
  };
  ReaderOptions options;
  options.tuning.exact_ties_threads = 0;
  const Reading reading = ReadTrace(SourceFromBytes(case_.input), ReadBy::kEvent, options);
  EXPECT_EQ(FormatOutcome(reading.status), case_.golden.outcome);
  EXPECT_EQ(lines_of(reading.events), lines_of(case_.golden.events));
}

TEST_P(GoldenTest, ReadsAsExpected) {
  EXPECT_FALSE(case_.golden.comment.empty()) << "expected a comment that states the rule";
  GoldenCase rebased = case_.golden;
  RebaseGoldenCase(case_.input, &rebased);
  EXPECT_EQ(FormatGoldenCase(rebased), case_.text) << GetParam();
}

TEST_P(GoldenTest, ReadsTheSameInBlocks) {
  ExpectSame(ReadTrace(SourceFromBytes(case_.input), ReadBy::kBlock));
}

TEST_P(GoldenTest, ReadsTheSameFromSlowStream) {
  ExpectSame(
      ReadTrace(SourceFromStream(std::make_unique<SlowStream>(case_.input)), ReadBy::kEvent));
}

// A trace that is cut off anywhere is read like any other: to an end or to a fault.
TEST_P(GoldenTest, CutAnywhereEndsOrFaults) {
  constexpr size_t kMaxCuts = 2000;  // Keeps the few large inputs fast.
  const size_t step = case_.input.size() / kMaxCuts + 1;
  for (size_t size = 0; size < case_.input.size(); size += step) {
    // An exact copy, so that a sanitizer sees reads past the end.
    const std::vector<char> cut(case_.input.begin(), case_.input.begin() + size);
    const Reading reading =
        ReadTrace(SourceFromBytes(absl::string_view(cut.data(), cut.size())), ReadBy::kEvent);
    EXPECT_TRUE(reading.status.ok() || FaultOf(reading.status).has_value())
        << "cut at " << size << ": " << reading.status;
  }
}

std::string CaseName(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(info.param.rfind('/') + 1);
  name.resize(name.size() - sizeof(".case") + 1);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !absl::ascii_isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenTest, testing::ValuesIn(ListGoldenCases(kDirectory)),
                         CaseName);

// Properties of all cases together. ---------------------------------------------------------------

class CoverageTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::string& path : ListGoldenCases(kDirectory)) {
      const absl::StatusOr<LoadedCase> loaded = Load(path);
      ASSERT_TRUE(loaded.ok()) << path << ": " << loaded.status();
      Add(*loaded);
    }
    ASSERT_FALSE(faults_.empty()) << "found no cases in " << kDirectory;
  }

  void Add(const LoadedCase& loaded) {
    const Reading reading = ReadTrace(SourceFromBytes(loaded.input), ReadBy::kEvent);
    if (const std::optional<Fault> fault = FaultOf(reading.status)) {
      faults_.insert(fault->id);
      refused_.insert(fault->place.event);
    } else if (reading.status.ok()) {
      AddAccepted(loaded.golden.trace);
    }
  }

  // Adds the types of events in the text form `trace`.
  void AddAccepted(absl::string_view trace) {
    TextParser parser;
    for (const absl::string_view line : absl::StrSplit(trace, '\n')) {
      const auto add = [this](const RawEvent& event) { accepted_.insert(event.type); };
      ASSERT_TRUE(parser.ParseLine(line, add).ok()) << line;
    }
  }

  std::set<EventType> accepted_;  // The types in inputs that are sound throughout.
  std::set<EventType> refused_;   // The types that some fault is about.
  std::set<FaultId> faults_;
};

TEST_F(CoverageTest, EveryEventTypeIsAccepted) {
  for (const EventSpec& spec : AllEventSpecs()) {
    EXPECT_TRUE(accepted_.count(spec.type)) << "no sound case has a " << spec.name;
  }
}

TEST_F(CoverageTest, EveryEventTypeIsRefused) {
  for (const EventSpec& spec : AllEventSpecs()) {
    EXPECT_TRUE(refused_.count(spec.type)) << "no case has a fault at a " << spec.name;
  }
}

// Returns whether strict reading never reports the fault. The first three are faults of the flat
// view of FORMAT.md §12.3, and the fourth of the modes that continue after faults. A Reader does
// not undo damage in transport, and therefore does not report the next two. No case reaches the
// default limits.
bool IsNeverMet(FaultId id) {
  return id == FaultId::kEventTruncated || id == FaultId::kEventVersion ||
         id == FaultId::kEventDataSize || id == FaultId::kBatchMisfit ||
         id == FaultId::kTransportCorrupt || id == FaultId::kBytesReplaced ||
         id == FaultId::kTextInTrace || IsLimit(id);
}

TEST_F(CoverageTest, EveryFaultIsMet) {
  for (int i = 0; i < kFaultIdEnd; ++i) {
    const FaultId id = static_cast<FaultId>(i);
    EXPECT_NE(faults_.count(id) > 0, IsNeverMet(id)) << FaultName(id);
  }
}

}  // namespace golden_test
}  // namespace gotrace::internal
