// The thread ids that goroutines, Ps and threads of a program have in an FXT file.
#ifndef GOTRACE_EXPORT_FXT_FXT_KOIDS_H_
#define GOTRACE_EXPORT_FXT_FXT_KOIDS_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "gotrace/states.h"

namespace gotrace::internal {

// Everything that has events is a thread with an id of its own. All ids are less than 2^32, of
// which Perfetto keeps no more. Usual ids follow from what the thread is:
//
//   1 .. 0xfeffffff    the goroutine with this id
//   0xff000000 + N     M number N, less than 0xfe0000
//   0xfffe0000 ...     parts of the runtime
//   0xffff0000 + N     P number N, less than 0x10000
//
// What has a larger number, and a goroutine 0, gets an id from 0x80000000 on that nothing else has.
//
// Memory is in proportion to the number of goroutines whose ids are 0x80000000 or more, or 0.
class FxtKoids {
 public:
  static constexpr uint64_t kRuntime = 0xfffe0000;
  static constexpr uint64_t kNetwork = 0xfffe0001;
  static constexpr uint64_t kTimers = 0xfffe0002;
  static constexpr uint64_t kCollector = 0xfffe0003;

  // Returns the id of a goroutine, a P or a thread, always the same one.
  uint64_t Of(ResourceKind kind, int64_t id);

  // Returns whether some goroutine has another id than its own.
  bool has_renamed_goroutines() const { return has_renamed_goroutines_; }

 private:
  // From here on, ids may be given to something else.
  static constexpr uint64_t kFirstShared = 0x80000000;

  absl::flat_hash_map<std::pair<ResourceKind, int64_t>, uint64_t> koids_;  // Not the usual ones.
  absl::flat_hash_set<uint64_t> taken_;                                    // From kFirstShared on.
  uint64_t next_ = kFirstShared;
  bool has_renamed_goroutines_ = false;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_FXT_FXT_KOIDS_H_
