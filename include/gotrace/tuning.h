// Knobs that only benchmarks and tests need. Unstable: they may change or disappear in any release.
#ifndef GOTRACE_TUNING_H_
#define GOTRACE_TUNING_H_

#include <cstddef>
#include <cstdint>

namespace gotrace {

// A member of ReaderOptions and ValidateOptions.
struct Tuning {
  // Up to this many threads in a generation, events of different threads with the same time are in
  // exactly the order in which Go's reader returns them (FORMAT.md §9). For each event that has to
  // wait, this takes time in proportion to the number of threads. With more threads this order is
  // kept as long as few events have to wait, as in traces that programs write. In other traces, or
  // if this is 0, events with the same time may be in another, equally valid order.
  size_t exact_ties_threads = 64;

  // Generations, or segments, of fewer bytes are read on one core: for those, another core costs
  // more time than it saves.
  uint64_t jobs_from_bytes = 1 << 20;

  // If not nullptr, set with each block of events to the number of times so far that an event was
  // tried against the model of Go's scheduler. Apart from decoding, the cost of reading is in
  // proportion to this number. Includes attempts for later events, and some events twice, depending
  // on ReaderOptions::jobs and decodes_ahead.
  uint64_t* attempts = nullptr;
};

}  // namespace gotrace

#endif  // GOTRACE_TUNING_H_
