#include "export/fxt/fxt_koids.h"

namespace gotrace::internal {
namespace {

// The usual ids of a kind, for the numbers from `first` to `last`.
struct Usual {
  uint64_t base;
  uint64_t first;
  uint64_t last;
};

Usual UsualOf(ResourceKind kind) {
  switch (kind) {
    case ResourceKind::kProc:
      return {0xffff0000, 0, 0xffff};
    case ResourceKind::kThread:
      return {0xff000000, 0, 0xfdffff};
    case ResourceKind::kNone:
      return {0xfffe0000, 0, 0xffff};
    case ResourceKind::kGoroutine:
      break;
  }
  return {0, 1, 0xfeffffff};
}

}  // namespace

uint64_t FxtKoids::Of(ResourceKind kind, int64_t id) {
  const Usual usual = UsualOf(kind);
  const uint64_t number = static_cast<uint64_t>(id);
  const uint64_t koid = usual.base + number;
  // 0 is the idle thread.
  const bool has_usual = usual.first <= number && number <= usual.last && koid != bits_;
  const bool is_goroutine = kind == ResourceKind::kGoroutine;
  if (has_usual && (!is_goroutine || number < kFirstShared)) return koid ^ bits_;
  const auto [it, is_new] = koids_.try_emplace({kind, id}, koid ^ bits_);
  if (!is_new || (has_usual && taken_.insert(number).second)) return it->second;
  while (next_ == bits_ || !taken_.insert(next_).second) --next_;
  has_renamed_goroutines_ |= is_goroutine;
  return it->second = next_-- ^ bits_;
}

}  // namespace gotrace::internal
