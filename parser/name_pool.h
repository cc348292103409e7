// Names that outlive the generation whose strings they are.
#ifndef GOTRACE_PARSER_NAME_POOL_H_
#define GOTRACE_PARSER_NAME_POOL_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/node_hash_map.h"
#include "absl/strings/string_view.h"

namespace gotrace {

// Keeps each name once, as long as somebody holds it: a million open regions mostly have a few
// names between them. Must outlive all of its names.
class NamePool {
 public:
  // A name in a pool. Movable.
  class Name {
   public:
    Name() = default;
    Name(Name&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), node_(std::exchange(other.node_, nullptr)) {}
    Name& operator=(Name&& other) noexcept {
      std::swap(pool_, other.pool_);
      std::swap(node_, other.node_);
      return *this;
    }
    ~Name() {
      if (pool_ != nullptr) pool_->Release(node_);
    }

    absl::string_view view() const {
      return node_ == nullptr ? "" : absl::string_view(node_->first);
    }

   private:
    friend class NamePool;
    using Node = std::pair<const std::string, uint64_t>;
    Name(NamePool* pool, Node* node) : pool_(pool), node_(node) {}

    NamePool* pool_ = nullptr;
    Node* node_ = nullptr;
  };

  NamePool() = default;
  NamePool(const NamePool&) = delete;
  NamePool& operator=(const NamePool&) = delete;

  Name Get(absl::string_view text) {
    auto& node = *uses_.try_emplace(text, 0).first;
    ++node.second;
    ++held_;
    return Name(this, &node);
  }

  // How many names are held, equal ones too.
  uint64_t held() const { return held_; }

  // How many different names are held.
  size_t size() const { return uses_.size(); }

 private:
  void Release(Name::Node* node) {
    --held_;
    if (--node->second == 0) uses_.erase(node->first);
  }

  absl::node_hash_map<std::string, uint64_t> uses_;
  uint64_t held_ = 0;
};

}  // namespace gotrace

#endif  // GOTRACE_PARSER_NAME_POOL_H_
