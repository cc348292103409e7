// Spans that are open: ranges of time that began and have not ended.
#ifndef GOTRACE_UTIL_OPEN_SPANS_H_
#define GOTRACE_UTIL_OPEN_SPANS_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"

namespace gotrace::internal {

// No two spans have the same key. Usually one or two are open, but a broken trace may open a
// million. `Traits` has a type Key, which can be hashed, and
//   static Key KeyOf(const Span&);
//   static bool Has(const Span&, const T& key);
// Find() may be called with any type T for which there is such a function, and from which a Key can
// be made.
template <class Span, class Traits>
class OpenSpans {
 public:
  static constexpr size_t kNone = ~size_t{0};

  bool empty() const { return spans_.empty(); }
  size_t size() const { return spans_.size(); }

  // Returns all spans, in no particular order. Valid until the next Add() or Remove().
  absl::Span<const Span> all() const { return spans_; }

  // Returns the span at `place`. Requires place < size().
  const Span& at(size_t place) const { return spans_[place]; }

  // Returns the place of the span with `key`, or kNone.
  template <class T>
  size_t Find(const T& key) const {
    if (places_ != nullptr) {
      const auto it = places_->find(typename Traits::Key(key));
      return it == places_->end() ? kNone : it->second;
    }
    for (size_t place = 0; place < spans_.size(); ++place) {
      if (Traits::Has(spans_[place], key)) return place;
    }
    return kNone;
  }

  // Adds a span. Requires that no span has the same key.
  void Add(Span span) {
    spans_.push_back(std::move(span));
    if (places_ != nullptr) {
      places_->emplace(Traits::KeyOf(spans_.back()), spans_.size() - 1);
    } else if (spans_.size() > kMaxSearched) {
      places_ = std::make_unique<Places>();
      for (size_t place = 0; place < spans_.size(); ++place) {
        places_->emplace(Traits::KeyOf(spans_[place]), place);
      }
    }
  }

  // Removes the span at `place`, and moves the last span there.
  void Remove(size_t place) {
    if (places_ != nullptr) {
      (*places_)[Traits::KeyOf(spans_.back())] = place;
      places_->erase(Traits::KeyOf(spans_[place]));
    }
    if (place + 1 < spans_.size()) spans_[place] = std::move(spans_.back());
    spans_.pop_back();
  }

 private:
  // The maximum number of spans that are searched one by one.
  static constexpr size_t kMaxSearched = 16;

  using Places = absl::flat_hash_map<typename Traits::Key, size_t>;

  std::vector<Span> spans_;
  std::unique_ptr<Places> places_;  // nullptr as long as there have been few spans.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_OPEN_SPANS_H_
