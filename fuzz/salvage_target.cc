// Fuzzes the modes that continue after faults: they must return the events of strict reading for a
// sound trace, and report a fault for any other.
#include <algorithm>
#include <memory>

#include "fuzz/event_check.h"
#include "fuzz/pieces.h"
#include "fuzz/target.h"

namespace gotrace::internal {
namespace {

// Go's reader does not check whether the stack of a sample is in the table.
bool IsOfSample(const Fault& fault) { return fault.place.event == EventType::kCPUSample; }

void CheckAgainstStrict(const CheckedReading& strict, const CheckedReading& tolerant,
                        absl::string_view mode) {
  // Go's reader also accepts that a generation is missing, but may refuse later events because of
  // that. In collect mode the Validator reports it instead.
  if (strict.has_gap && mode == "collected") return;
  if (strict.status.ok()) {
    // Go's reader accepts a jump of generations and impossible times without a fault.
    if (strict.has_gap) FUZZ_CHECK(!tolerant.faults.empty(), "a generation is missing");
    if (strict.has_gap || tolerant.went_back) return;
    if (std::any_of(tolerant.faults.begin(), tolerant.faults.end(), IsOfSample)) return;
    FUZZ_CHECK(tolerant.status.ok(), tolerant.status.ToString());
    FUZZ_CHECK(tolerant.faults.empty(), FormatFault(tolerant.faults.front()));
    CheckSameEvents(strict.events, tolerant.events, mode);
  } else {
    FUZZ_CHECK(!tolerant.faults.empty() || tolerant.status == strict.status,
               strict.status.ToString());
  }
}

}  // namespace

void RunTarget(absl::string_view input) {
  if (FindCompression(input) != Compression::kNone) return;
  // Small inputs have few threads. Every other one is read as if these were too many to try them
  // all.
  const size_t exact_ties_threads = input.size() % 2 == 0 ? 0 : Tuning().exact_ties_threads;
  const auto read = [&](ReadMode mode) {
    const Forms forms = mode == ReadMode::kSalvage ? Forms::kAll : Forms::kNone;
    return ReadAndCheck(SourceFromBytes(input), mode, input.size(), forms, exact_ties_threads);
  };
  const CheckedReading strict = read(ReadMode::kStrict);
  const CheckedReading salvaged = read(ReadMode::kSalvage);
  CheckAgainstStrict(strict, salvaged, "salvaged");
  CheckAgainstStrict(strict, read(ReadMode::kCollect), "collected");

  const CheckedReading streamed =
      ReadAndCheck(SourceFromStream(std::make_unique<RandomPieces>(input)), ReadMode::kSalvage,
                   input.size(), Forms::kNone, exact_ties_threads, 1 + input.size() / 2 % 2);
  CheckSameEvents(salvaged.events, streamed.events, "salvaged from a stream, by one or two cores");
  FUZZ_CHECK(salvaged.faults.size() == streamed.faults.size(), "");
}

}  // namespace gotrace::internal
