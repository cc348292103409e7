// What a Perfetto file says about goroutines, worked out from its packets alone: for tests.
#ifndef GOTRACE_EXPORT_PERFETTO_READ_BACK_H_
#define GOTRACE_EXPORT_PERFETTO_READ_BACK_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "gotrace/states.h"

namespace gotrace::internal {

struct PerfettoReadBack {
  // By goroutine, and by GoState: for how many nanoseconds the goroutine was in the state.
  std::map<int64_t, std::array<uint64_t, 6>> sums;

  // What makes the file invalid, a line for each problem: packets that cannot be read or that refer
  // to something that the file does not have, and tracks that are used before they are declared.
  std::string problems;

  // The same for what depends on the order of time, and so may be wrong in the file of a damaged
  // trace: switches of a CPU that go back in time, unless to what it did first, and slices that end
  // before they begin.
  std::string disorder;
};

// Reads the Perfetto file `bytes`, up to the time `end`.
PerfettoReadBack ReadPerfettoBack(absl::string_view bytes, int64_t end);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PERFETTO_READ_BACK_H_
