// Fuzzes the commands that write a trace of parts of another: whatever the window, the goroutines
// and the pieces, the results must read without a fault.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fuzz/event_check.h"
#include "fuzz/target.h"
#include "gotrace/reader.h"
#include "gotrace/select.h"
#include "gotrace/split.h"
#include "gotrace/trim.h"
#include "parser/event/trace_clock.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace {

void CheckReads(const std::string& bytes, const WrittenTrace& written) {
  if (written.generations == 0) return;
  const CheckedReading reading =
      ReadAndCheck(SourceFromBytes(bytes), ReadMode::kStrict, bytes.size());
  FUZZ_CHECK(reading.status.ok(), reading.status.ToString());
  FUZZ_CHECK(
      reading.events.size() - reading.syncs == written.events,
      absl::StrCat(reading.events.size() - reading.syncs, " events instead of ", written.events));
}

void CheckTrim(absl::string_view input, const WindowOptions& window, const ReaderOptions& options) {
  std::string bytes;
  const std::unique_ptr<ByteSink> out = SinkToString(&bytes);
  const absl::StatusOr<TrimmedTrace> trimmed =
      TrimTrace(*SourceFromBytes(input), window, options, out.get());
  FUZZ_CHECK(out->Finish().ok(), out->status().ToString());
  if (trimmed.ok()) CheckReads(bytes, trimmed->written);
}

void CheckSelect(absl::string_view input, const Selection& selection,
                 const ReaderOptions& options) {
  std::string bytes;
  const std::unique_ptr<ByteSink> out = SinkToString(&bytes);
  const absl::StatusOr<SelectedTrace> selected =
      SelectEvents([&] { return SourceFromBytes(input); }, selection, options, out.get());
  FUZZ_CHECK(out->Finish().ok(), out->status().ToString());
  if (selected.ok()) CheckReads(bytes, selected->written);
}

void CheckSplit(absl::string_view input, const SplitOptions& split, const ReaderOptions& options) {
  std::vector<std::unique_ptr<std::string>> pieces;
  const absl::StatusOr<SplitTraceResult> result =
      SplitTrace(*SourceFromBytes(input), split, options,
                 [&](uint64_t number) -> absl::StatusOr<std::unique_ptr<ByteSink>> {
                   if (number > 20) return absl::ResourceExhaustedError("these are enough");
                   return SinkToString(pieces.emplace_back(new std::string()).get());
                 });
  if (!result.ok()) return;
  for (const std::unique_ptr<std::string>& piece : pieces) {
    const CheckedReading reading =
        ReadAndCheck(SourceFromBytes(*piece), ReadMode::kStrict, piece->size());
    FUZZ_CHECK(reading.status.ok(), reading.status.ToString());
  }
}

}  // namespace

void RunTarget(absl::string_view input) {
  if (FindCompression(input) != Compression::kNone) return;
  for (const ReadMode mode : {ReadMode::kStrict, ReadMode::kSalvage}) {
    ReaderOptions options;
    options.mode = mode;
    absl::StatusOr<Reader> reader = Reader::FromBytes(input, options);
    if (!reader.ok()) return;
    std::vector<int64_t> times;
    std::vector<GoId> goroutines;
    reader
        ->ForEach([&](const Event& event) {
          times.push_back(event.time());
          goroutines.push_back(event.goroutine());
        })
        .IgnoreError();
    if (times.empty()) return;
    // Times and goroutines of the trace, which depend on all of its bytes but not on the process.
    uint32_t hash = 2166136261;
    for (const char c : input) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619;
    WindowOptions window;
    window.filter.times = {times[hash % times.size()], times[hash / 7 % times.size()]};
    if (window.filter.times.from > window.filter.times.to) {
      std::swap(window.filter.times.from, window.filter.times.to);
    }
    CheckTrim(input, window, options);
    Selection selection;
    selection.goroutines = {goroutines[hash / 3 % goroutines.size()],
                            goroutines[hash / 5 % goroutines.size()]};
    selection.with_wakers = hash % 2 == 0;
    selection.drops = hash % 3 == 0;
    CheckSelect(input, selection, options);
    const int64_t length = std::max<int64_t>(
        1, TraceClock::Subtract(window.filter.times.to, window.filter.times.from));
    CheckSplit(input, {.every = absl::Nanoseconds(length)}, options);
    CheckSplit(input, {.generations = 1}, options);
  }
}

}  // namespace gotrace::internal
