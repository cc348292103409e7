// Nested open spans.
#ifndef GOTRACE_UTIL_OPEN_STACK_H_
#define GOTRACE_UTIL_OPEN_STACK_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace gotrace::internal {

// A stack of spans, the outermost first. Several may have the same key. Usually one or two are
// open, but a broken trace may open a million. `Traits` has a type Key, which can be hashed, and
//   static Key KeyOf(const Span&);
//   static bool Has(const Span&, const Key& key);
template <class Span, class Traits>
class OpenStack {
 public:
  using Key = typename Traits::Key;
  static constexpr size_t kNone = ~size_t{0};

  bool empty() const { return spans_.empty(); }
  size_t size() const { return spans_.size(); }
  auto begin() { return spans_.begin(); }
  auto end() { return spans_.end(); }
  auto begin() const { return spans_.begin(); }
  auto end() const { return spans_.end(); }
  Span& back() { return spans_.back(); }

  // Returns the place of the innermost span with `key`, or kNone. Takes time in proportion to the
  // number of spans inside it; constant time if there is no such span.
  size_t FindLast(const Key& key) const {
    if (counts_ != nullptr && !counts_->contains(key)) return kNone;
    for (size_t place = spans_.size(); place-- > 0;) {
      if (Traits::Has(spans_[place], key)) return place;
    }
    return kNone;
  }

  // Adds a span inside all others, and returns it.
  Span& Push(Span span) {
    spans_.push_back(std::move(span));
    if (counts_ != nullptr) {
      ++(*counts_)[Traits::KeyOf(spans_.back())];
    } else if (spans_.size() > kMaxSearched) {
      counts_ = std::make_unique<Counts>();
      for (const Span& open : spans_) ++(*counts_)[Traits::KeyOf(open)];
    }
    return spans_.back();
  }

  // Removes the innermost span.
  void Pop() {
    if (counts_ != nullptr) {
      const auto it = counts_->find(Traits::KeyOf(spans_.back()));
      if (--it->second == 0) counts_->erase(it);
    }
    spans_.pop_back();
  }

 private:
  // The maximum number of spans that are searched one by one.
  static constexpr size_t kMaxSearched = 16;

  using Counts = absl::flat_hash_map<Key, size_t>;

  std::vector<Span> spans_;
  std::unique_ptr<Counts> counts_;  // Spans by key. nullptr as long as there were few.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_OPEN_STACK_H_
