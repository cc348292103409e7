// The names of goroutines: the functions that they started in.
#ifndef GOTRACE_GOROUTINE_NAMES_H_
#define GOTRACE_GOROUTINE_NAMES_H_

#include <cstddef>
#include <string>

#include "absl/base/attributes.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/event.h"
#include "gotrace/event_sink.h"
#include "gotrace/ids.h"

namespace gotrace {

// Collects the name of each goroutine, which is the function that it started in: "main.worker". The
// event that creates a goroutine states it. For a goroutine that is older than the trace, the name
// is the outermost function of its first stack in the trace, and unknown until there is one.
//
// Memory is in proportion to the number of goroutines in the trace. Not thread-safe.
class GoroutineNames final : public MergeableSink<GoroutineNames> {
 public:
  // Collects the names of goroutines in `events`.
  void Add(absl::Span<const Event> events) override;

  // Adds the names that `next` collected, which must be a GoroutineNames.
  void Merge(GoroutineNames&& next) override;

  // Returns the name of the goroutine, or "" if it is not known. Valid as long as this object.
  absl::string_view NameOf(GoId id) const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the number of goroutines whose name is known.
  size_t size() const { return names_.size(); }

 private:
  void Learn(GoId id, const Stack& stack);
  void Keep(GoId id, absl::string_view name);

  absl::node_hash_set<std::string> texts_;  // Many goroutines start in the same function.
  absl::flat_hash_map<GoId, const std::string*> names_;
};

}  // namespace gotrace

#endif  // GOTRACE_GOROUTINE_NAMES_H_
