// The ids that goroutines, Ps and threads of a program have in an FXT file.
#ifndef GOTRACE_EXPORT_FXT_FXT_KOIDS_H_
#define GOTRACE_EXPORT_FXT_FXT_KOIDS_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "export/process_bits.h"
#include "gotrace/states.h"

namespace gotrace::internal {

// Everything that has events is a thread with an id of its own. All ids are less than 2^32, since
// Perfetto keeps only 32 bits. In the file of process 1, ids are usually as follows:
//
//   1 .. 0xfeffffff    the goroutine with this id
//   0xff000000 + N     M number N, less than 0xfe0000
//   0xfffe0000 ...     parts of the runtime
//   0xffff0000 + N     P number N, less than 0x10000
//
// Goroutine 0, and anything with a larger number, gets an unused id from 0x80000000 on. In the
// files of other processes all ids are combined with ProcessBits().
//
// Memory is in proportion to the number of goroutines whose ids are 0x80000000 or more, or 0.
class FxtKoids {
 public:
  // Parts of the runtime.
  enum class Part : int64_t { kProgram, kNetwork, kTimers, kCollector };

  explicit FxtKoids(uint64_t pid = 1) : bits_(ProcessBits(pid, 32)) {}

  // Returns the id of a goroutine, a P or a thread, which is the same at each call.
  uint64_t Of(ResourceKind kind, int64_t id);

  // Returns the id of a part of the runtime.
  uint64_t Of(Part part) { return Of(ResourceKind::kNone, static_cast<int64_t>(part)); }

  // Returns whether the id of some goroutine is not the usual one.
  bool has_renamed_goroutines() const { return has_renamed_goroutines_; }

 private:
  // The lowest id that may be given to something else than its usual owner.
  static constexpr uint64_t kFirstShared = 0x80000000;

  const uint64_t bits_;
  absl::flat_hash_map<std::pair<ResourceKind, int64_t>, uint64_t> koids_;  // Unusual ids.
  absl::flat_hash_set<uint64_t> taken_;  // From kFirstShared on, before they are combined.
  // The next id to assign. All high bits are set, unlike in the usual ids of other processes.
  uint64_t next_ = 0xfeffffff;
  bool has_renamed_goroutines_ = false;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_FXT_FXT_KOIDS_H_
