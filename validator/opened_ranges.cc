#include "validator/opened_ranges.h"

#include <algorithm>
#include <tuple>

namespace gotrace::internal {

const Opened& OpenedRanges::First() const {
  return *std::min_element(ranges_.begin(), ranges_.end(), [](const Opened& a, const Opened& b) {
    return std::tie(a.what, a.name) < std::tie(b.what, b.name);
  });
}

size_t OpenedRanges::Find(absl::string_view what, absl::string_view reason) const {
  if (places_ != nullptr) {
    const auto it = places_->find(Key(what, reason));
    return it == places_->end() ? kNone : it->second;
  }
  for (size_t place = 0; place < ranges_.size(); ++place) {
    const Opened& range = ranges_[place];
    // The same text nearly always stands at the same place.
    const bool is_same = range.what.data() == what.data() || range.what == what;
    if (is_same && range.name == reason) return place;
  }
  return kNone;
}

void OpenedRanges::Add(Opened range) {
  ranges_.push_back(std::move(range));
  if (places_ != nullptr) {
    places_->emplace(KeyOf(ranges_.back()), ranges_.size() - 1);
  } else if (ranges_.size() > kFew) {
    places_ = std::make_unique<absl::flat_hash_map<Key, size_t>>();
    for (size_t place = 0; place < ranges_.size(); ++place) {
      places_->emplace(KeyOf(ranges_[place]), place);
    }
  }
}

void OpenedRanges::Remove(size_t place) {
  if (places_ != nullptr) {
    (*places_)[KeyOf(ranges_.back())] = place;
    places_->erase(KeyOf(ranges_[place]));
  }
  if (place + 1 < ranges_.size()) ranges_[place] = std::move(ranges_.back());
  ranges_.pop_back();
}

}  // namespace gotrace::internal
