// What an FXT file says about goroutines, worked out from its records alone: for tests.
#ifndef GOTRACE_EXPORT_FXT_READ_BACK_H_
#define GOTRACE_EXPORT_FXT_READ_BACK_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gotrace/states.h"

namespace gotrace::internal {

// Goroutines have their own ids in it, also where the file has other ones.
struct ReadBack {
  // By thread, and by GoState: for how many nanoseconds the thread was in the state.
  std::map<uint64_t, std::array<uint64_t, 6>> sums;

  // By time and the thread that was woken: the waker, or 0 if there is none.
  std::map<std::pair<int64_t, uint64_t>, uint64_t> wakeups;

  // Names of threads; the last one of each.
  std::map<uint64_t, std::string> names;

  // Durations that ended as "THREAD CATEGORY NAME [BEGIN, END)", those that did not with "open" as
  // their end, asynchronous ones with the id in place of the thread. Instants and counters as
  // "THREAD CATEGORY NAME TIME {ARGUMENTS}". Flows as "NAME FROM TIME -> TO TIME". Sorted.
  std::vector<std::string> durations;
  std::vector<std::string> tasks;
  std::vector<std::string> instants;
  std::vector<std::string> flows;

  // Everything that the reader reports, or that does not fit together: "" if nothing.
  std::string problems;

  int64_t end = 0;  // The time of the last record.
};

// Reads the FXT file `bytes`. Its records may come in any order of time.
ReadBack ReadFxtBack(absl::string_view bytes);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_FXT_READ_BACK_H_
