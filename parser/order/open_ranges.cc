#include "parser/order/open_ranges.h"

#include <algorithm>

namespace gotrace::internal {

size_t OpenRanges::Find(const OpenRange& range) const {
  if (places_ != nullptr) {
    const auto it = places_->find(range);
    return it == places_->end() ? kNone : it->second;
  }
  const auto it = std::find(ranges_.begin(), ranges_.end(), range);
  return it == ranges_.end() ? kNone : it - ranges_.begin();
}

size_t OpenRanges::FindFirst(EventType begin) const {
  // Only these come in more than one kind, and so fill the places from the second on.
  if (begin != EventType::kSTWBegin) return Find({begin, 0});
  for (size_t place = 0; place < ranges_.size(); ++place) {
    if (ranges_[place].begin == begin) return place;
  }
  return kNone;
}

void OpenRanges::Add(const OpenRange& range) {
  ranges_.push_back(range);
  if (places_ != nullptr) {
    places_->emplace(range, ranges_.size() - 1);
  } else if (ranges_.size() > kFew) {
    places_ = std::make_unique<absl::flat_hash_map<OpenRange, size_t>>();
    for (size_t place = 0; place < ranges_.size(); ++place) {
      places_->emplace(ranges_[place], place);
    }
  }
}

void OpenRanges::Remove(size_t place) {
  if (places_ != nullptr) {
    (*places_)[ranges_.back()] = place;
    places_->erase(ranges_[place]);
  }
  ranges_[place] = ranges_.back();
  ranges_.pop_back();
}

}  // namespace gotrace::internal
