// The checks of the validator: each fault of include/gotrace/internal/faults.def, each kind of
// include/gotrace/internal/transports.def, and the checks of include/gotrace/internal/checks.def.
#ifndef GOTRACE_CHECK_H_
#define GOTRACE_CHECK_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "gotrace/fault.h"
#include "gotrace/transport.h"

namespace gotrace {

// How serious a finding is.
enum class Severity : uint8_t {
  kNote,     // Worth knowing; found in sound traces too.
  kWarning,  // Something is unusual or missing, but the rest of the trace can be trusted.
  kError,    // The trace is broken.
};

// The id of a check. The faults come first, with the values of their FaultIds; then the kinds of
// damage in transport, in the order of TransportKind; then all other checks.
enum class CheckId : uint8_t {
#define GOTRACE_FAULT(id, name, stage, code, effect, meaning) kFault##id,
#include "gotrace/internal/faults.def"
#define GOTRACE_TRANSPORT(id, name, noun, what, avoid) kTransport##id,
#include "gotrace/internal/transports.def"
#define GOTRACE_CHECK(id, name, severity, effect, meaning, remedy) k##id,
#include "gotrace/internal/checks.def"
  kEnd,  // Not a check: one past the last.
};
inline constexpr int kCheckIdEnd = static_cast<int>(CheckId::kEnd);

// The row of a check. All texts have static lifetime.
struct CheckSpec {
  absl::string_view name;  // "state-mismatch"
  Severity severity;
  FaultEffect effect;
  absl::string_view meaning;  // One sentence.
  absl::string_view remedy;   // One sentence.
  // Whether the remedy says that repairing or salvaging the trace recovers a part of it.
  bool is_recoverable = false;
};

// Returns the row of a check.
const CheckSpec& SpecOf(CheckId id);

// Returns the check for a kind of damage in transport.
constexpr CheckId CheckOf(TransportKind kind) {
  return static_cast<CheckId>(kFaultIdEnd + static_cast<int>(kind));
}

// Returns the check for a fault.
constexpr CheckId CheckOf(FaultId id) { return static_cast<CheckId>(id); }

// Returns whether the check is a fault.
constexpr bool IsFault(CheckId id) { return static_cast<int>(id) < kFaultIdEnd; }

// Returns whether the messages of the check's findings end with the remedy. They do if the remedy
// is for the owner of the file, and not for the author of the program that wrote it.
bool ShowsRemedy(CheckId id);

// Returns the check called `name`, or nullopt.
std::optional<CheckId> FindCheck(absl::string_view name);

// Returns the name of `severity`: "error". Static lifetime.
absl::string_view SeverityName(Severity severity);

// Returns the name of `effect`: "drop the thread". Static lifetime.
absl::string_view EffectName(FaultEffect effect);

}  // namespace gotrace

#endif  // GOTRACE_CHECK_H_
