#include "export/fxt/fxt_koids.h"

#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace gotrace::internal {
namespace fxt_koids_test {

TEST(FxtKoidsTest, UsualIds) {
  FxtKoids koids;
  EXPECT_EQ(koids.Of(ResourceKind::kGoroutine, 1), 1u);
  EXPECT_EQ(koids.Of(ResourceKind::kGoroutine, 0xfeffffff), 0xfeffffffu);
  EXPECT_EQ(koids.Of(ResourceKind::kThread, 0), 0xff000000u);
  EXPECT_EQ(koids.Of(ResourceKind::kThread, 0xfdffff), 0xfffdffffu);
  EXPECT_EQ(koids.Of(ResourceKind::kProc, 0), 0xffff0000u);
  EXPECT_EQ(koids.Of(ResourceKind::kProc, 0xffff), 0xffffffffu);
  EXPECT_EQ(koids.Of(FxtKoids::Part::kProgram), 0xfffe0000u);
  EXPECT_FALSE(koids.has_renamed_goroutines());
}

TEST(FxtKoidsTest, NoTwoAreTheSame) {
  // Goroutines whose ids are those of Ps, threads, the runtime or the idle thread, that have the
  // same lower 32 bits, or whose id was given away before they were seen.
  constexpr int64_t kFirstShared = 0x80000000;
  std::vector<std::pair<ResourceKind, int64_t>> all;
  for (const int64_t id :
       {int64_t{5}, kFirstShared + 1, int64_t{0}, int64_t{0xff000000}, int64_t{0xfffe0000},
        int64_t{0xffff0000}, int64_t{0x100000005}, kFirstShared, kFirstShared + 2, kFirstShared + 6,
        int64_t{-2}, std::numeric_limits<int64_t>::min()}) {
    all.emplace_back(ResourceKind::kGoroutine, id);
  }
  for (const int64_t id : {0, 0xffff, 0x10000, 0x20000}) all.emplace_back(ResourceKind::kProc, id);
  for (const int64_t id : {0, 0xfe0000}) all.emplace_back(ResourceKind::kThread, id);
  FxtKoids koids;
  std::set<uint64_t> seen = {0};
  for (const auto part : {FxtKoids::Part::kProgram, FxtKoids::Part::kNetwork,
                          FxtKoids::Part::kTimers, FxtKoids::Part::kCollector}) {
    seen.insert(koids.Of(part));
  }
  const size_t reserved = seen.size();
  std::vector<uint64_t> given;
  for (const auto& [kind, id] : all) given.push_back(koids.Of(kind, id));
  seen.insert(given.begin(), given.end());
  EXPECT_EQ(seen.size(), reserved + all.size());
  EXPECT_LE(*seen.rbegin(), 0xffffffffu);
  EXPECT_TRUE(koids.has_renamed_goroutines());
  // They stay the same.
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(koids.Of(all[i].first, all[i].second), given[i]);
  }
  // The goroutine that came before its id was needed keeps it.
  EXPECT_EQ(given[1], static_cast<uint64_t>(kFirstShared + 1));
}

TEST(FxtKoidsTest, ProcessesHaveIdsOfTheirOwn) {
  std::set<uint64_t> seen = {0};
  size_t count = 1;
  for (uint64_t pid = 1; pid <= 64; ++pid) {
    FxtKoids koids(pid);
    for (const int64_t id : {1, 2, 1'000'000, (1 << 26) - 1}) {
      seen.insert(koids.Of(ResourceKind::kGoroutine, id));
      seen.insert(koids.Of(ResourceKind::kGoroutine, id << 32));
      seen.insert(koids.Of(ResourceKind::kProc, id & 63));
      count += 3;
    }
    EXPECT_EQ(koids.Of(ResourceKind::kGoroutine, 2), koids.Of(ResourceKind::kGoroutine, 2));
    seen.insert(koids.Of(FxtKoids::Part::kNetwork));
    ++count;
  }
  // P 63 is there twice: 1'000'000 & 63 is 0, and the largest & 63 is 63.
  EXPECT_EQ(seen.size(), count);
  EXPECT_LE(*seen.rbegin(), 0xffffffffu);
}

// Whatever the ids of a process are combined with, none is that of the idle thread.
TEST(FxtKoidsTest, NoIdIsZero) {
  for (const uint64_t pid : {2, 3, 256, 32768, 65536, 131072}) {
    FxtKoids koids(pid);
    std::set<uint64_t> seen = {0};
    const int64_t bits = static_cast<int64_t>(ProcessBits(pid, 32));
    seen.insert(koids.Of(ResourceKind::kGoroutine, bits));
    seen.insert(koids.Of(ResourceKind::kThread, 0));
    for (const int64_t id : {0, 0x8000}) seen.insert(koids.Of(ResourceKind::kProc, id));
    seen.insert(koids.Of(FxtKoids::Part::kProgram));
    EXPECT_EQ(seen.size(), 6u) << pid;
  }
}

TEST(FxtKoidsTest, ProcsDoNotRenameGoroutines) {
  FxtKoids koids;
  koids.Of(ResourceKind::kProc, 0x10000);
  EXPECT_FALSE(koids.has_renamed_goroutines());
}

}  // namespace fxt_koids_test
}  // namespace gotrace::internal
