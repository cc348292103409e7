#include "validator/table_checks.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "parser/event/trace_clock.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

// The runtime measures the frequency once for the whole process, more precisely than this.
constexpr double kMaxDeviation = 0.001;

// The runtime writes its own strings for reasons and labels into every generation, whether used or
// not. Up to Go 1.27 there are fewer than this.
constexpr uint64_t kRuntimeStrings = 32;

bool IsSameFrequency(uint64_t a, uint64_t b) {
  return std::abs(static_cast<double>(a) / static_cast<double>(b) - 1) <= kMaxDeviation;
}

}  // namespace

void TableChecks::EndGeneration(uint64_t number, const GenerationTables& tables,
                                const TableUse* use) {
  CheckFrequency(number, tables);
  if (use != nullptr) CheckUse(number, tables, *use);
}

bool TableChecks::Follows(const TableChecks& before) const {
  return !first_frequency_.has_value() || !before.last_frequency_.has_value() ||
         *first_frequency_ == *before.last_frequency_ ||
         IsSameFrequency(*first_frequency_, *before.last_frequency_);
}

void TableChecks::CheckFrequency(uint64_t number, const GenerationTables& tables) {
  if (!tables.frequency().has_value()) return;
  const auto [found, offset] = *tables.frequency();
  if (!IsPlausibleFrequency(found)) {
    Report(
        CheckId::kFrequencyImplausible, number, offset,
        absl::StrCat("expected between 1000 and 100000000000 ticks of the trace clock per second, "
                     "found ",
                     found, ": the generation's times are meaningless"));
  }
  const std::optional<uint64_t> last = std::exchange(last_frequency_, found);
  if (!first_frequency_.has_value()) first_frequency_ = found;
  if (!last.has_value() || found == *last || IsSameFrequency(found, *last)) return;
  Report(CheckId::kFrequencyChanged, number, offset,
         absl::StrCat("expected ", *last, " ticks per second as in the generation before, found ",
                      found));
}

void TableChecks::CheckUse(uint64_t number, const GenerationTables& tables, const TableUse& use) {
  const TableUse::Unused strings = use.UnusedStrings(tables);
  if (strings.count > kRuntimeStrings) {
    Report(CheckId::kStringUnused, number, tables.StringOffset(strings.last_index),
           absl::StrCat("expected every string to be used, found ", strings.count, " of ",
                        strings.all, " unused, the last of which is ",
                        Quoted(tables.StringAt(strings.last_index))));
  }
  const TableUse::Unused stacks = use.UnusedStacks(tables);
  if (stacks.count > 0) {
    Report(CheckId::kStackUnused, number, tables.StackOffset(stacks.last_index),
           absl::StrCat("expected every stack to be used, found ", stacks.count, " of ", stacks.all,
                        " unused, the last of which is here"));
  }
}

void TableChecks::Report(CheckId id, uint64_t number, uint64_t offset, std::string message) {
  Finding finding;
  finding.check = id;
  finding.severity = SpecOf(id).severity;
  finding.place.offset = offset;
  finding.place.generation = number;
  finding.message = std::move(message);
  sink_(std::move(finding));
}

}  // namespace gotrace::internal
