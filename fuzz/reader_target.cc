// Fuzzes a strict Reader: calls every accessor of every event, and writes each in every form. The
// events must be the same in blocks, on one core or several, and in segments.
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fuzz/event_check.h"
#include "fuzz/target.h"
#include "gotrace/event_sink.h"
#include "gotrace/read_parallel.h"
#include "gotrace/trace_index.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace {

class Collector final : public MergeableSink<Collector> {
 public:
  void Add(absl::Span<const Event> events) override {
    for (const Event& event : events) events_.push_back(Describe(event));
  }
  void Merge(Collector&& next) override {
    std::move(next.events_.begin(), next.events_.end(), std::back_inserter(events_));
  }
  const std::vector<std::string>& events() const { return events_; }

 private:
  std::vector<std::string> events_;
};

void CheckParallel(absl::string_view input, const CheckedReading& reading) {
  ReaderOptions options;
  options.jobs = 2 + input.size() % 3;
  options.tuning.jobs_from_bytes = 0;
  std::unique_ptr<Collector> sink;
  const absl::Status status = ReadParallel(
      *SourceFromBytes(input), options, [] { return std::make_unique<Collector>(); }, &sink);
  FUZZ_CHECK(reading.status == status, status.ToString());
  CheckSameEvents(reading.events, sink->events(), "read in segments");
}

// A Reader that starts in the middle knows nothing about what came before, so this only checks that
// it ends.
void CheckOpenAt(absl::string_view input) {
  const std::unique_ptr<ByteSource> source = *SourceFromBytes(input);
  const absl::StatusOr<TraceIndex> index = TraceIndex::Build(*source);
  if (!index.ok() || index->generations().size() < 2) return;
  const size_t n = 1 + input.size() % (index->generations().size() - 1);
  absl::StatusOr<Reader> reader = Reader::OpenAt(*source, *index, n);
  if (!reader.ok()) return;
  while (const Event* event = reader->Next()) {
    FUZZ_CHECK(!Describe(*event).empty(), "an event without a description");
  }
}

}  // namespace

void RunTarget(absl::string_view input) {
  // The length of a decompressed trace is not known before it is read.
  if (FindCompression(input) != Compression::kNone) return;
  const CheckedReading reading =
      ReadAndCheck(SourceFromBytes(input), ReadMode::kStrict, input.size(), Forms::kAll);
  ReaderOptions options;
  options.jobs = input.size() % 3 == 0 ? 1 : 2;
  options.decodes_ahead = true;
  options.tuning.jobs_from_bytes = 0;
  const Outcome blocks = ReadAllBlocks(Reader::FromBytes(input, options));
  CheckSameEvents(reading.events, blocks.events, "read in blocks");
  FUZZ_CHECK(reading.status == blocks.status, blocks.status.ToString());
  // Starting threads is slow, so only some inputs are read with them.
  if (input.size() % 3 == 0) CheckParallel(input, reading);
  CheckOpenAt(input);
}

}  // namespace gotrace::internal
