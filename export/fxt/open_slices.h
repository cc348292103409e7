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

  // Set by OpenSlices: the number of slices that began before, and of those that are written around
  // this one, if it is written.
  static constexpr size_t kNotWritten = ~size_t{0};
  uint64_t number = 0;
  size_t depth = kNotWritten;
};

// A trace may end regions and ranges in any order, but in a file only the innermost duration can
// end. So this holds those that are written as a stack of its own. Every call but Sorted() takes
// constant time, apart from what it returns.
class OpenSlices {
 public:
  // Adds a slice, which is not written. The pointer is valid until Remove().
  OpenSlice* Add(const OpenSlice& slice);

  // Returns the region, or the range with this name, that began last; nullptr if there is none.
  OpenSlice* LastRegion();
  OpenSlice* LastRange(StringId name);

  // Removes a slice that is not written, and that one of the functions above returned.
  void Remove(OpenSlice* slice);

  // Notes that the slice is written, inside of all others that are.
  void AddWritten(OpenSlice* slice);

  // Notes that the file has nothing of the slice, and of those written inside of it, from now on.
  // Returns these, the innermost first.
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
