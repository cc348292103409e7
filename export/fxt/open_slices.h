// The regions and ranges that are open on one thread of an FXT file.
#ifndef GOTRACE_EXPORT_FXT_OPEN_SLICES_H_
#define GOTRACE_EXPORT_FXT_OPEN_SLICES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"

namespace gotrace::internal {

struct OpenSlice {
  bool is_region = false;
  bool is_selected = false;
  StringId name = StringId::kEmpty;
  TaskId task;
  StackId stack = StackId::kNone;

  // Set by OpenSlices: the number of slices that began earlier, and if this slice is written, the
  // number of written slices around it.
  static constexpr size_t kNotWritten = ~size_t{0};
  uint64_t number = 0;
  size_t depth = kNotWritten;
};

// A trace may end regions and ranges in any order, but in a file only the innermost duration can
// end. So this keeps a separate stack of the slices that are written. Every call but Sorted() takes
// constant time, not counting the size of the result.
class OpenSlices {
 public:
  // Adds a slice, which is not written. The pointer is valid until Remove().
  OpenSlice* Add(const OpenSlice& slice);

  // Returns the region, or the range with this name, that began last; nullptr if there is none.
  OpenSlice* LastRegion();
  OpenSlice* LastRange(StringId name);

  // Removes a slice that is not written. It must come from one of the functions above.
  void Remove(OpenSlice* slice);

  // Records that the slice is written, inside all other written slices.
  void AddWritten(OpenSlice* slice);

  // Records that the slice, and all slices written inside it, are no longer open in the file.
  // Returns them, innermost first.
  std::vector<OpenSlice*> RemoveWritten(OpenSlice* slice);

  // Returns all slices that are written, the outermost first.
  const std::vector<OpenSlice*>& written() const { return written_; }

  // Returns all slices in the order in which they began.
  std::vector<OpenSlice*> Sorted();

  bool empty() const { return regions_.empty() && ranges_.empty(); }

 private:
  // In the order in which they began.
  using Slices = std::vector<std::unique_ptr<OpenSlice>>;

  Slices regions_;
  absl::flat_hash_map<StringId, Slices> ranges_;
  std::vector<OpenSlice*> written_;
  uint64_t count_ = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_FXT_OPEN_SLICES_H_
