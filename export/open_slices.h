// The slices that are open on one track of a viewer: regions, ranges of the runtime, and states.
#ifndef GOTRACE_EXPORT_OPEN_SLICES_H_
#define GOTRACE_EXPORT_OPEN_SLICES_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"

namespace gotrace::internal {

struct ViewSlice {
  enum class Kind : uint8_t { kRange, kRegion, kWait, kSyscall };

  // How the end of a slice finds it. Several slices may have the same key: the end is that of the
  // last one.
  struct Key {
    Kind kind = Kind::kRange;
    StringId name = StringId::kEmpty;
    TaskId task = TaskId::kNone;

    friend bool operator==(const Key&, const Key&) = default;
    template <class H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.kind, key.name, key.task);
    }
  };

  Key key;
  StringId name = StringId::kEmpty;
  TaskId task = kBackgroundTask;          // Of a region,
  StringId task_type = StringId::kEmpty;  // and its type if it is open.
  StackId stack = StackId::kNone;
  int64_t begin = 0;
  bool is_selected = false;  // Whether the filter selects it, whatever the time.

  // Set by OpenSlices: how many slices are shown around this one, if it is shown.
  static constexpr size_t kNotShown = ~size_t{0};
  size_t depth = kNotShown;
};

// The open slices of a track, in the order in which they began. A trace may end them in any order.
// Those that are shown in the output are a stack of their own. Every call takes constant time for
// a million slices, apart from what it returns.
class OpenSlices {
 public:
  using Iterator = std::list<ViewSlice>::iterator;

  bool empty() const { return slices_.empty(); }
  size_t size() const { return slices_.size(); }
  Iterator begin() { return slices_.begin(); }
  Iterator end() { return slices_.end(); }

  // Returns the slice with `key` that began last, or end().
  Iterator FindLast(const ViewSlice::Key& key);

  // Adds a slice that is not shown. The reference is valid until Remove().
  ViewSlice& Push(const ViewSlice& slice);

  // Removes a slice that is not shown, and that is the last one or FindLast() returned.
  void Remove(Iterator slice);

  // Shows a slice inside of all others that are shown.
  void Show(ViewSlice* slice);

  // Hides a slice that is shown, and those that are shown inside of it. Returns these, the
  // innermost first.
  std::vector<ViewSlice*> Hide(ViewSlice* slice);

  // Returns all slices that are shown, the outermost first.
  const std::vector<ViewSlice*>& shown() const { return shown_; }

 private:
  // Up to this many are searched one by one.
  static constexpr size_t kMaxSearched = 16;

  std::list<ViewSlice> slices_;
  std::list<ViewSlice> spare_;  // A removed slice for the next Push(), or none.
  // The slices with each key, in order. nullptr as long as there were few slices.
  using ByKey = absl::flat_hash_map<ViewSlice::Key, std::vector<Iterator>>;
  std::unique_ptr<ByKey> by_key_;
  std::vector<ViewSlice*> shown_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_OPEN_SLICES_H_
