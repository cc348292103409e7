// The clocks of the generations of a trace, some of which may be lost.
#ifndef GOTRACE_REWRITE_GENERATION_CLOCKS_H_
#define GOTRACE_REWRITE_GENERATION_CLOCKS_H_

#include <cstdint>
#include <optional>

#include "gotrace/event.h"
#include "gotrace/repair.h"
#include "gotrace/version.h"
#include "rewrite/generation_writer.h"

namespace gotrace::internal {

// Gives each generation its clocks, or those of the generation before.
class GenerationClocks {
 public:
  explicit GenerationClocks(Version version) : version_(version) {}

  // Remembers the frequency of a generation, which may not be written.
  void NoteFrequency(uint64_t ticks_per_second) { frequency_ = ticks_per_second; }

  // Sets the frequency and the clock snapshot of `*content`, whose begin must be set: those that
  // are given, or what replaces them. Returns which. Call it for the generations in order.
  RepairedGeneration::Clock Set(std::optional<uint64_t> frequency,
                                const std::optional<ClockSnapshot>& snapshot,
                                GenerationContent* content);

 private:
  const Version version_;
  std::optional<uint64_t> frequency_;  // Of the last generation that has one.
  bool has_snapshot_ = false;          // Whether a generation had a clock snapshot.
  std::optional<ClockSnapshot> last_;  // Of the last generation.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_GENERATION_CLOCKS_H_
