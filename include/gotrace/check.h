// The checks that a trace is judged by: those of checks.def, each fault of
// include/gotrace/internal/faults.def, and each kind of include/gotrace/internal/transports.def.
#ifndef GOTRACE_CHECK_H_
#define GOTRACE_CHECK_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "gotrace/fault.h"
#include "gotrace/transport.h"

namespace gotrace {

// How much a finding counts.
enum class Severity : uint8_t {
  kNote,     // Worth knowing; sound traces have such things.
  kWarning,  // Something is odd or missing, but what there is can be trusted.
  kError,    // The trace is broken.
};

// The faults come first, under the numbers of their FaultIds; then what may happen to a trace on
// its way, in the order of TransportKind.
enum class CheckId : uint8_t {
#define GOTRACE_FAULT(id, name, code, effect, meaning) kFault##id,
#include "gotrace/internal/faults.def"
#define GOTRACE_TRANSPORT(id, name, noun, what, avoid) kTransport##id,
#include "gotrace/internal/transports.def"
#define GOTRACE_CHECK(id, name, severity, effect, meaning, remedy) k##id,
#include "gotrace/internal/checks.def"
  kEnd,  // No check: one past the last.
};
inline constexpr int kCheckIdEnd = static_cast<int>(CheckId::kEnd);

// The row of a check. All texts have static lifetime.
struct CheckSpec {
  absl::string_view name;  // "state-mismatch"
  Severity severity;
  FaultEffect effect;
  absl::string_view meaning;  // One sentence.
  absl::string_view remedy;   // One sentence.
};
const CheckSpec& SpecOf(CheckId id);

// The check that stands for what happened to a trace on its way.
constexpr CheckId CheckOf(TransportKind kind) {
  return static_cast<CheckId>(kFaultIdEnd + static_cast<int>(kind));
}

// The check that stands for a fault of reading.
constexpr CheckId CheckOf(FaultId id) { return static_cast<CheckId>(id); }

// Whether the check is a fault of reading.
constexpr bool IsFault(CheckId id) { return static_cast<int>(id) < kFaultIdEnd; }

// Whether a finding of the check ends with what to do: where that is for who has the file, and not
// for who wrote the program that made it.
bool TellsRemedy(CheckId id);

// The check called `name`, or nullopt.
std::optional<CheckId> FindCheck(absl::string_view name);

// As they are printed: "error", "drop the thread". Static lifetime.
absl::string_view SeverityName(Severity severity);
absl::string_view EffectName(FaultEffect effect);

}  // namespace gotrace

#endif  // GOTRACE_CHECK_H_
