// Reads a trace as Go's reader would: every accessor of every event, and each in every form. In
// blocks, with one or two cores, and in halves, it gives the same.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fuzz/event_check.h"
#include "fuzz/target.h"
#include "gotrace/read_halves.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace {

// The second half may tell less of some events: see SplitTrace.
void CheckHalves(absl::string_view input, const CheckedReading& reading) {
  std::vector<std::string> first;
  std::vector<std::string> second;
  const auto take_first = [&](absl::Span<const Event> events) {
    for (const Event& event : events) first.push_back(Describe(event));
  };
  const auto take_second = [&](absl::Span<const Event> events) {
    for (const Event& event : events) second.push_back(DescribeInHalf(event));
  };
  ReaderOptions options;
  options.jobs = 2;
  options.jobs_from_bytes = 0;
  const absl::Status status = ReadHalves(*SourceFromBytes(input), options, take_first, take_second,
                                         [&] { second.clear(); });
  FUZZ_CHECK(reading.status == status, status.ToString());
  FUZZ_CHECK(first.size() <= reading.events.size(), absl::StrCat(first.size(), " events"));
  const auto middle = reading.events.begin() + first.size();
  CheckSameEvents({reading.events.begin(), middle}, first, "read in halves, the first");
  if (second.empty()) {
    FUZZ_CHECK(middle == reading.events.end(), absl::StrCat("only ", first.size(), " events"));
    return;
  }
  absl::StatusOr<Reader> whole = Reader::FromBytes(input);
  std::vector<std::string> expected;
  for (size_t i = 0; const Event* event = whole->Next(); ++i) {
    if (i >= first.size()) expected.push_back(DescribeInHalf(*event));
  }
  CheckSameEvents(expected, second, "read in halves, the second");
}

}  // namespace

void RunTarget(absl::string_view input) {
  // How long a decompressed trace is, is not known before.
  if (FindCompression(input) != Compression::kNone) return;
  const CheckedReading reading =
      ReadAndCheck(SourceFromBytes(input), ReadMode::kStrict, input.size(), Forms::kAll);
  ReaderOptions options;
  options.jobs = input.size() % 3 == 0 ? 1 : 2;
  options.jobs_from_bytes = 0;
  const Outcome blocks = ReadAllBlocks(Reader::FromBytes(input, options));
  CheckSameEvents(reading.events, blocks.events, "read in blocks");
  FUZZ_CHECK(reading.status == blocks.status, blocks.status.ToString());
  // Threads are slow to begin: not every input gets another one.
  if (input.size() % 3 == 0) CheckHalves(input, reading);
}

}  // namespace gotrace::internal
