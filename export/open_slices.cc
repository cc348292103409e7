#include "export/open_slices.h"

#include <iterator>

namespace gotrace::internal {

OpenSlices::Iterator OpenSlices::FindLast(const ViewSlice::Key& key) {
  if (by_key_ != nullptr) {
    const auto found = by_key_->find(key);
    return found == by_key_->end() ? slices_.end() : found->second.back();
  }
  for (Iterator slice = slices_.end(); slice != slices_.begin();) {
    if ((--slice)->key == key) return slice;
  }
  return slices_.end();
}

ViewSlice& OpenSlices::Push(const ViewSlice& slice) {
  if (spare_.empty()) {
    slices_.push_back(slice);
  } else {
    spare_.front() = slice;
    slices_.splice(slices_.end(), spare_, spare_.begin());
  }
  const Iterator last = std::prev(slices_.end());
  if (by_key_ != nullptr) {
    (*by_key_)[last->key].push_back(last);
  } else if (slices_.size() > kMaxSearched) {
    by_key_ = std::make_unique<ByKey>();
    for (Iterator each = slices_.begin(); each != slices_.end(); ++each) {
      (*by_key_)[each->key].push_back(each);
    }
  }
  return *last;
}

void OpenSlices::Remove(Iterator slice) {
  if (by_key_ != nullptr) {
    const auto found = by_key_->find(slice->key);
    found->second.pop_back();
    if (found->second.empty()) by_key_->erase(found);
  }
  if (spare_.empty()) {
    spare_.splice(spare_.end(), slices_, slice);
  } else {
    slices_.erase(slice);
  }
}

void OpenSlices::Show(ViewSlice* slice) {
  slice->depth = shown_.size();
  shown_.push_back(slice);
}

std::vector<ViewSlice*> OpenSlices::Hide(ViewSlice* slice) {
  const auto outermost = shown_.begin() + static_cast<ptrdiff_t>(slice->depth);
  std::vector<ViewSlice*> inside(shown_.rbegin(), std::make_reverse_iterator(outermost + 1));
  for (ViewSlice* const other : inside) other->depth = ViewSlice::kNotShown;
  shown_.erase(outermost, shown_.end());
  slice->depth = ViewSlice::kNotShown;
  return inside;
}

}  // namespace gotrace::internal
