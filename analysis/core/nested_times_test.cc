// Tests NestedTimes against copies of all times at each begin.
#include "analysis/core/nested_times.h"

#include <map>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace gotrace::internal {
namespace nested_times_test {

using Times = std::map<StringId, int64_t>;

struct Plain {
  Times sums;
  std::vector<Times> open;

  Times At(const std::vector<NamedTime>& differences) const {
    Times times = sums;
    for (const NamedTime& one : differences) times[one.name] += one.time;
    return times;
  }
};

Times WithoutZeros(Times times) {
  std::erase_if(times, [](const auto& time) { return time.second == 0; });
  return times;
}

Times Difference(Times times, const Times& before) {
  for (const auto& [name, time] : before) times[name] -= time;
  return WithoutZeros(std::move(times));
}

Times AsMap(const NamedTimes& times) {
  Times map;
  for (const NamedTime& time : times) EXPECT_TRUE(map.emplace(time.name, time.time).second);
  return map;
}

TEST(NestedTimes, AreThoseOfCopies) {
  std::mt19937 random(1);
  const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
  for (int run = 0; run < 100; ++run) {
    const uint32_t names = 1 + below(40);
    const auto some = [&](uint32_t most) {
      std::vector<NamedTime> times(below(most + 1));
      for (NamedTime& one : times) one = {StringId{below(names)}, int64_t{below(20)} - 5};
      return times;
    };
    NestedTimes nested;
    Plain plain;
    // Times and spans that come after those of `before`.
    NestedTimes before;
    Plain plain_before;
    bool is_appended = below(2) == 0;
    for (int step = 0; step < 200; ++step) {
      const std::vector<NamedTime> differences = below(3) == 0 ? some(3) : std::vector<NamedTime>();
      const uint32_t action = below(8);
      if (action < 4) {
        const NamedTime one = {StringId{below(names)}, below(10)};
        nested.Add(one.name, one.time);
        plain.sums[one.name] += one.time;
      } else if (action < 6) {
        nested.Begin(differences);
        plain.open.push_back(plain.At(differences));
      } else if (action < 7 && !plain.open.empty()) {
        EXPECT_EQ(AsMap(nested.End(differences)),
                  Difference(plain.At(differences), plain.open.back()));
        plain.open.pop_back();
      } else {
        EXPECT_EQ(AsMap(nested.All(differences)), WithoutZeros(plain.At(differences)));
      }
      EXPECT_EQ(nested.open(), plain.open.size());
      if (!is_appended && step == 60) {
        std::swap(nested, before);
        std::swap(plain, plain_before);
      }
      if (!is_appended && step == 120) {
        is_appended = true;
        for (const auto& [name, time] : plain.sums) plain_before.sums.try_emplace(name, 0);
        for (Times& begin : plain.open) {
          for (const auto& [name, time] : plain_before.sums) begin[name] += time;
          plain_before.open.push_back(begin);
        }
        for (const auto& [name, time] : plain.sums) plain_before.sums[name] += time;
        before.Append(std::move(nested));
        nested = std::move(before);
        plain = std::move(plain_before);
      }
    }
    while (!plain.open.empty()) {
      EXPECT_EQ(AsMap(nested.End({})), Difference(plain.sums, plain.open.back()));
      plain.open.pop_back();
    }
  }
}

TEST(NestedTimes, AreInTheOrderOfTheirNames) {
  NestedTimes times;
  times.Add(StringId{7}, 1);
  times.Begin({});
  times.Add(StringId{9}, 2);
  times.Add(StringId{3}, 3);
  times.Add(StringId{7}, 4);
  const NamedTimes growth = times.End({});
  EXPECT_EQ(std::vector<NamedTime>(growth.begin(), growth.end()),
            (std::vector<NamedTime>{{StringId{7}, 4}, {StringId{9}, 2}, {StringId{3}, 3}}));
}

}  // namespace nested_times_test
}  // namespace gotrace::internal
