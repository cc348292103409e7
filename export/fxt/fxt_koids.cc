#include "export/fxt/fxt_koids.h"

namespace gotrace::internal {
namespace {

// The usual ids of a kind: those of the numbers from `first` to `last`.
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
    case ResourceKind::kGoroutine:
      break;
  }
  return {0, 1, 0xfeffffff};
}

}  // namespace

uint64_t FxtKoids::Of(ResourceKind kind, int64_t id) {
  const Usual usual = UsualOf(kind);
  const uint64_t number = static_cast<uint64_t>(id);
  const bool has_usual = usual.first <= number && number <= usual.last;
  const bool is_goroutine = kind == ResourceKind::kGoroutine;
  if (has_usual && (!is_goroutine || number < kFirstShared)) return usual.base + number;
  const auto [it, is_new] = koids_.try_emplace({kind, id}, number);
  if (!is_new || (has_usual && taken_.insert(number).second)) return it->second;
  while (!taken_.insert(next_).second) ++next_;
  has_renamed_goroutines_ |= is_goroutine;
  return it->second = next_++;
}

}  // namespace gotrace::internal
