// Reconstructs the states of goroutines from the packets of a Perfetto file alone, for tests.
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
  // By goroutine and GoState: how many nanoseconds the goroutine was in the state.
  std::map<int64_t, std::array<uint64_t, 6>> sums;

  // Problems that make the file invalid, one per line: packets that cannot be read or refer to
  // something missing from the file, and tracks that are used before they are declared.
  std::string problems;

  // Problems of the order of time, one per line, which the file of a damaged trace may have:
  // switches of a CPU that go backwards in time, except to its first one, and slices that end
  // before they begin.
  std::string disorder;
};

// Reads the Perfetto file `bytes`, up to the time `end`.
PerfettoReadBack ReadPerfettoBack(absl::string_view bytes, int64_t end);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PERFETTO_READ_BACK_H_
