// Names that outlive the generation whose string table they come from.
#ifndef GOTRACE_UTIL_NAME_POOL_H_
#define GOTRACE_UTIL_NAME_POOL_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "absl/strings/string_view.h"

namespace gotrace::internal {

// A pool of reference-counted names that stores equal names once: a million open regions usually
// have only a few different names. Must outlive all of its names.
class NamePool {
  struct Uses {
    uint64_t count = 0;
    bool is_listed = false;  // Among unheld_.
  };

 public:
  // A text in the pool. It is valid until the next Sweep(), and as long as a Name refers to it.
  // Equal texts have the same address.
  using Text = std::pair<const std::string, Uses>;

  // A reference to a text in a pool. Movable.
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

    // Returns the text, or nullptr for a default-constructed or moved-from Name.
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

  // Adds `text` to the pool without a reference to it.
  Text* Keep(absl::string_view text) {
    Text* const kept = &*uses_.try_emplace(text).first;
    if (kept->second.count == 0) List(kept);
    return kept;
  }

  // Returns a reference to a text of this pool.
  Name Hold(Text* text) {
    ++text->second.count;
    ++held_;
    return Name(this, text);
  }

  // Adds `text` to the pool and returns a reference to it.
  Name Get(absl::string_view text) { return Hold(&*uses_.try_emplace(text).first); }

  // Removes texts without references. Takes time proportional to the number of texts that lost
  // their last reference since the last Sweep().
  void Sweep() {
    for (Text* const text : unheld_) {
      text->second.is_listed = false;
      if (text->second.count == 0) uses_.erase(text->first);
    }
    unheld_.clear();
  }

  // Returns the number of Names.
  uint64_t held() const { return held_; }

  // Returns the number of different texts.
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
  std::vector<Text*> unheld_;  // All texts without references, and some that have one again.
  uint64_t held_ = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_NAME_POOL_H_
