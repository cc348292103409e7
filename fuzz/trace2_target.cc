// Fuzzes the conversion of traces to the formats of Git's Trace2: each event is one line, and what
// reads the event format finds nothing wrong.
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "fuzz/target.h"
#include "gotrace/reader.h"
#include "gotrace/trace2_exporter.h"
#include "testing/trace2_checker.h"

namespace gotrace::internal {
namespace {

// The times of the first and the last event.
struct Extent {
  int64_t first = std::numeric_limits<int64_t>::max();
  int64_t last = std::numeric_limits<int64_t>::min();
};

Extent ReadExtent(absl::string_view input) {
  ReaderOptions options;
  options.mode = ReadMode::kSalvage;
  Extent extent;
  absl::StatusOr<Reader> reader = Reader::FromBytes(input, options);
  if (!reader.ok()) return extent;
  while (const Event* const event = reader->Next()) {
    extent.first = std::min(extent.first, event->time());
    extent.last = std::max(extent.last, event->time());
  }
  return extent;
}

std::string Convert(absl::string_view input, const Trace2Options& options) {
  ReaderOptions reader_options;
  reader_options.mode = ReadMode::kSalvage;
  absl::StatusOr<Reader> reader = Reader::FromBytes(input, reader_options);
  if (!reader.ok()) return "";
  std::string out;
  const std::unique_ptr<ByteSink> sink = SinkToString(&out);
  Trace2Exporter exporter(sink.get(), options);
  for (absl::Span<const Event> block; !(block = reader->NextBlock()).empty();) exporter.Add(block);
  FUZZ_CHECK(exporter.Finish().ok() && sink->Finish().ok(), "");
  return out;
}

// Checks that there are only whole lines, and that those of the perf form have the columns of git.
void CheckText(absl::string_view out, Trace2Form form) {
  FUZZ_CHECK(absl::ConsumeSuffix(&out, "\n"), out);
  for (const absl::string_view line : absl::StrSplit(out, '\n')) {
    FUZZ_CHECK(std::none_of(line.begin(), line.end(),
                            [](unsigned char c) { return absl::ascii_iscntrl(c); }),
               line);
    if (form != Trace2Form::kPerf) continue;
    const std::vector<absl::string_view> columns = absl::StrSplit(line, absl::MaxSplits(" | ", 8));
    FUZZ_CHECK(columns.size() == 9, line);
    constexpr size_t kWidths[] = {44, 2, 24, 12, 3};
    for (size_t i = 0; i < std::size(kWidths); ++i) {
      FUZZ_CHECK(columns[i].size() == kWidths[i], line);
    }
    FUZZ_CHECK(columns[5].size() >= 9 && columns[6].size() >= 9 && columns[7].size() == 12, line);
  }
}

}  // namespace

void RunTarget(absl::string_view input) {
  const Extent extent = ReadExtent(input);
  if (extent.first > extent.last) return;
  const int64_t middle = extent.first + static_cast<int64_t>((static_cast<uint64_t>(extent.last) -
                                                              static_cast<uint64_t>(extent.first)) /
                                                             2);
  for (const Trace2Form form : {Trace2Form::kNormal, Trace2Form::kPerf, Trace2Form::kEvent}) {
    Trace2Options options;
    options.form = form;
    options.epoch = absl::FromUnixSeconds(1'700'000'000);
    options.zone = absl::UTCTimeZone();
    const EventFilter::Times all = options.filter.times;
    for (const EventFilter::Times& times :
         {all, EventFilter::Times{all.from, middle}, EventFilter::Times{middle, all.to},
          EventFilter::Times{middle, middle}}) {
      options.filter.times = times;
      const std::string out = Convert(input, options);
      if (form != Trace2Form::kEvent) {
        CheckText(out, form);
        continue;
      }
      const absl::Status status = CheckTrace2Events(out);
      FUZZ_CHECK(status.ok(), status.message());
    }
  }
}

}  // namespace gotrace::internal
