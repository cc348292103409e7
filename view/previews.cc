#include "view/previews.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace gotrace::internal {
namespace {

// When the first copy of a part is made, and how often further ones are, at most.
constexpr absl::Duration kFirst = absl::Milliseconds(100);
constexpr absl::Duration kEvery = absl::Milliseconds(400);

// Copies have fewer columns, which take less memory and time.
constexpr int64_t kTimesWider = 8;

}  // namespace

Overview::Watch Previews::MakeWatch() {
  return [this, is_first = true, next = absl::Now() + kFirst](const Overview& part,
                                                              bool ends_generation) mutable {
    const absl::Time now = absl::Now();
    if (now < next && !(is_first && ends_generation)) return;
    Update(part);
    is_first = false;
    // However large it is, nearly all of the time is for reading.
    next = absl::Now() + std::max(kEvery, 30 * (absl::Now() - now));
  };
}

void Previews::Update(const Overview& part) {
  auto copy = std::make_shared<Preview>();
  copy->overview.AddSoFar(part, kTimesWider);
  const std::lock_guard lock(mutex_);
  parts_[&part] = std::move(copy);
  all_ = nullptr;
}

void Previews::Clear() {
  const std::lock_guard lock(mutex_);
  parts_.clear();
  all_ = nullptr;
}

std::shared_ptr<const Preview> Previews::Get(int64_t duration) {
  const std::lock_guard lock(mutex_);
  if (all_ != nullptr) return all_;
  std::vector<const Overview*> parts;
  for (const auto& [part, copy] : parts_) parts.push_back(&copy->overview);
  absl::c_sort(parts, [](const Overview* a, const Overview* b) {
    const auto key = [](const Overview* part) {
      return std::pair(part->syncs().front(), -part->last_time());
    };
    return key(a) < key(b);
  });
  auto all = std::make_shared<Preview>();
  int64_t end = std::numeric_limits<int64_t>::min();
  for (const Overview* const part : parts) {
    // A part that had to be read again is in another one, too.
    if (part->syncs().front() < end) continue;
    end = part->last_time();
    all->overview.AddSoFar(*part, 1);
  }
  all->overview.FinishSoFar(duration);
  all_ = std::move(all);
  return all_;
}

}  // namespace gotrace::internal
