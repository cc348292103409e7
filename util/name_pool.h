// Names that outlive the generation whose strings they are.
#ifndef GOTRACE_UTIL_NAME_POOL_H_
#define GOTRACE_UTIL_NAME_POOL_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "absl/strings/string_view.h"

namespace gotrace::internal {

// Keeps each name once, as long as somebody holds it: a million open regions mostly have a few
// names between them. Must outlive all of its names.
class NamePool {
  struct Uses {
    uint64_t count = 0;
    bool is_listed = false;  // Among unheld_.
  };

 public:
  // A text that is kept: until the next Sweep(), and as long as a Name holds it. Equal texts are
  // the same one.
  using Text = std::pair<const std::string, Uses>;

  // A name in a pool. Movable.
  class Name {
   public:
    Name() = default;
    Name(Name&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), text_(std::exchange(other.text_, nullptr)) {}
    Name& operator=(Name&& other) noexcept {
      std::swap(pool_, other.pool_);
      std::swap(text_, other.text_);
      return *this;
    }
    ~Name() {
      if (pool_ != nullptr) pool_->Release(text_);
    }

    absl::string_view view() const {
      return text_ == nullptr ? "" : absl::string_view(text_->first);
    }

    // nullptr if it was made without a pool.
    const Text* text() const { return text_; }

   private:
    friend class NamePool;
    Name(NamePool* pool, Text* text) : pool_(pool), text_(text) {}

    NamePool* pool_ = nullptr;
    Text* text_ = nullptr;
  };

  NamePool() = default;
  NamePool(const NamePool&) = delete;
  NamePool& operator=(const NamePool&) = delete;

  // Keeps `text`, which nobody need hold.
  Text* Keep(absl::string_view text) {
    Text* const kept = &*uses_.try_emplace(text).first;
    if (kept->second.count == 0) List(kept);
    return kept;
  }

  // Holds a text of this pool.
  Name Hold(Text* text) {
    ++text->second.count;
    ++held_;
    return Name(this, text);
  }

  Name Get(absl::string_view text) { return Hold(&*uses_.try_emplace(text).first); }

  // Lets go of what nobody holds. Costs time in proportion to what came to be held by nobody since
  // the last time.
  void Sweep() {
    for (Text* const text : unheld_) {
      text->second.is_listed = false;
      if (text->second.count == 0) uses_.erase(text->first);
    }
    unheld_.clear();
  }

  // How many names are held, equal ones too.
  uint64_t held() const { return held_; }

  // How many different names are kept.
  size_t size() const { return uses_.size(); }

 private:
  void Release(Text* text) {
    --held_;
    if (--text->second.count == 0) List(text);
  }

  void List(Text* text) {
    if (!std::exchange(text->second.is_listed, true)) unheld_.push_back(text);
  }

  absl::node_hash_map<std::string, Uses> uses_;
  std::vector<Text*> unheld_;  // All that nobody holds, and some that somebody does again.
  uint64_t held_ = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_NAME_POOL_H_
