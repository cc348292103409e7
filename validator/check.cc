#include "validator/check.h"

namespace gotrace {
namespace {

// What helps depends for a fault on how much is lost.
constexpr absl::string_view RemedyOf(FaultEffect effect) {
  switch (effect) {
    case FaultEffect::kGoOn:
      return "Correct what wrote the trace; the rest of it can be read in salvage mode.";
    case FaultEffect::kDropThread:
      return "Look for damage at this place; the other threads and generations can be read in "
             "salvage mode.";
    case FaultEffect::kDropGeneration:
      return "Look for an event that is missing before this place: the message names the "
             "likeliest, "
             "and the lines below it tell what each thread waits for. The other generations can be "
             "read in salvage mode.";
    case FaultEffect::kStop:
      return "Make or fetch the trace again; what stands before this place can be read in salvage "
             "mode.";
  }
  return "";
}

constexpr CheckSpec kSpecs[] = {
#define GOTRACE_FAULT(id, name, code, effect, meaning) \
  {name, Severity::kError, FaultEffect::k##effect, meaning, RemedyOf(FaultEffect::k##effect)},
#include "parser/faults.def"
#define GOTRACE_CHECK(id, name, severity, effect, meaning, remedy) \
  {name, Severity::k##severity, FaultEffect::k##effect, meaning, remedy},
#include "validator/checks.def"
};
static_assert(sizeof(kSpecs) / sizeof(kSpecs[0]) == kCheckIdEnd);

}  // namespace

const CheckSpec& SpecOf(CheckId id) { return kSpecs[static_cast<int>(id)]; }

std::optional<CheckId> FindCheck(absl::string_view name) {
  for (int i = 0; i < kCheckIdEnd; ++i) {
    if (kSpecs[i].name == name) return static_cast<CheckId>(i);
  }
  return std::nullopt;
}

absl::string_view SeverityName(Severity severity) {
  constexpr absl::string_view kNames[] = {"note", "warning", "error"};
  return kNames[static_cast<int>(severity)];
}

absl::string_view EffectName(FaultEffect effect) {
  constexpr absl::string_view kNames[] = {"go on", "drop the thread", "drop the generation",
                                          "stop"};
  return kNames[static_cast<int>(effect)];
}

}  // namespace gotrace
