// Stacks of a generation that somebody looks out for.
#ifndef GOTRACE_VALIDATOR_STACK_WATCH_H_
#define GOTRACE_VALIDATOR_STACK_WATCH_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"

namespace gotrace::internal {

// A set of stack ids. Most generations have none, or one that is soon met.
class StackWatch {
 public:
  // Watches for all ids above `last`, and for `ids`, none of which is above it. Takes memory in
  // proportion to `last`, if there are any.
  void Begin(uint64_t last, absl::Span<const uint64_t> ids) {
    last_ = last;
    words_.clear();
    if (!ids.empty()) words_.resize(last / 64 + 1);
    for (const uint64_t id : ids) words_[id / 64] |= uint64_t{1} << (id % 64);
    Advance(0);
  }

  // Forgets an id, unless it is above `last`.
  void Forget(uint64_t id) {
    if (id > last_ || words_.empty()) return;
    words_[id / 64] &= ~(uint64_t{1} << (id % 64));
    if (id == first_) Advance(id);
  }

  // Whether `id` is watched for.
  bool Has(uint64_t id) const { return id >= first_ && HasFar(id); }

 private:
  [[gnu::noinline]] bool HasFar(uint64_t id) const {
    return id > last_ || (id / 64 < words_.size() && (words_[id / 64] >> (id % 64) & 1) != 0);
  }

  // Sets first_, which is `from` or more.
  void Advance(uint64_t from) {
    for (size_t word = from / 64; word < words_.size(); ++word) {
      if (words_[word] == 0) continue;
      first_ = 64 * word + static_cast<uint64_t>(__builtin_ctzll(words_[word]));
      return;
    }
    words_.clear();
    first_ = last_ == std::numeric_limits<uint64_t>::max() ? last_ : last_ + 1;
  }

  uint64_t last_ = std::numeric_limits<uint64_t>::max();
  uint64_t first_ = std::numeric_limits<uint64_t>::max();  // No id below is watched for.
  std::vector<uint64_t> words_;                            // A bit for each id up to last_.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_STACK_WATCH_H_
