// Reconstructs the history of goroutines from the records of an FXT file alone, for tests.
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

// Goroutines have their own ids here, even where the file has others.
struct ReadBack {
  // By thread and GoState: how many nanoseconds the thread was in the state.
  std::map<uint64_t, std::array<uint64_t, 6>> sums;

  // By time and the thread that was woken: the waker, or 0 if there is none.
  std::map<std::pair<int64_t, uint64_t>, uint64_t> wakeups;

  // The last name of each thread.
  std::map<uint64_t, std::string> names;

  // Durations as "THREAD CATEGORY NAME [BEGIN, END)", with "open" as the end of those that did not
  // end, and the id in place of the thread for asynchronous ones. Instants and counters as "THREAD
  // CATEGORY NAME TIME {ARGUMENTS}". Flows as "NAME FROM TIME -> TO TIME". Sorted.
  std::vector<std::string> durations;
  std::vector<std::string> tasks;
  std::vector<std::string> instants;
  std::vector<std::string> flows;

  // All problems that the reader reports, and all contradictions; "" if none.
  std::string problems;

  int64_t end = 0;  // The time of the last record.
};

// Reads the FXT file `bytes`. Its records may come in any order of time.
ReadBack ReadFxtBack(absl::string_view bytes);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_FXT_READ_BACK_H_
