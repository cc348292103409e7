// What is known of a trace while it is being read.
#ifndef GOTRACE_VIEW_PREVIEWS_H_
#define GOTRACE_VIEW_PREVIEWS_H_

#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "gotrace/interner.h"
#include "view/overview.h"

namespace gotrace::internal {

// An overview of what was read so far: see Overview::AddSoFar().
struct Preview {
  Interner interner;
  Overview overview{&interner};
};

// Collects what several threads know, each of which reads a part of the trace. May be used by all
// of them, and by others, at once.
class Previews {
 public:
  // Returns what to give to the Overview of a part. It keeps a copy once the first generation is
  // read, and now and then. This object must outlive it.
  Overview::Watch MakeWatch();

  // Returns what is known, which may be nothing. `duration` is that of the trace, as far as it is
  // known. The result does not change any more.
  std::shared_ptr<const Preview> Get(int64_t duration);

  // Forgets everything.
  void Clear();

 private:
  void Update(const Overview& part);

  std::mutex mutex_;
  absl::flat_hash_map<const Overview*, std::shared_ptr<const Preview>> parts_;
  std::shared_ptr<const Preview> all_;  // nullptr if it has to be made of the parts.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VIEW_PREVIEWS_H_
