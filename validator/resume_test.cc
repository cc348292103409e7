// Tests that a damaged generation causes no findings in the sound generations after it.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader.h"
#include "gotrace/validate.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace resume_test {

constexpr absl::string_view kTraces[] = {
    "go1.22-generations.trace", "go1.23-generations.trace", "go1.25-generations.trace",
    "go1.27-generations.trace", "go1.27-flight.trace",
};
constexpr int kSeeds = 300;

struct Extent {
  uint64_t begin, end, number;
};

std::vector<Extent> Generations(absl::string_view bytes) {
  std::vector<Extent> extents;
  Reader reader = *Reader::FromBytes(bytes);
  while (const Event* event = reader.Next()) {
    if (event->kind() != EventKind::kSync) continue;
    const GenerationInfo& info = reader.generation();
    if (!extents.empty() && extents.back().number == info.number) continue;
    extents.push_back({info.begin_offset, info.end_offset, info.number});
  }
  return extents;
}

// Returns the offset of the last GoStart of the last generation.
uint64_t LastStart(absl::string_view bytes) {
  uint64_t offset = 0;
  Reader reader = *Reader::FromBytes(bytes);
  while (const Event* event = reader.Next()) {
    if (event->type() == EventType::kGoStart) offset = event->offset();
  }
  return offset;
}

std::vector<Finding> Errors(absl::string_view bytes) {
  ValidateOptions options;
  options.strictness = Strictness::kGo;
  return ValidateTrace(*SourceFromBytes(bytes), options).findings;
}

// Returns `bytes` with one byte changed in a generation that is not the last, and stores that
// generation in `*damaged`.
std::string Damage(const std::string& bytes, const std::vector<Extent>& generations, int seed,
                   Extent* damaged) {
  std::mt19937 random(static_cast<uint32_t>(seed));
  *damaged = generations[random() % (generations.size() - 1)];
  std::string result = bytes;
  const uint64_t at = damaged->begin + random() % (damaged->end - damaged->begin);
  result[at] = static_cast<char>(static_cast<unsigned char>(result[at]) ^ (1 + random() % 255));
  return result;
}

TEST(ResumeTest, DamageInOneGenerationCausesNoFindingsInTheNext) {
  int found = 0;
  for (const absl::string_view name : kTraces) {
    const std::string bytes = ReadTestTrace(name);
    const std::vector<Extent> generations = Generations(bytes);
    ASSERT_GT(generations.size(), 1u);
    for (int seed = 0; seed < kSeeds; ++seed) {
      SCOPED_TRACE(absl::StrCat(name, ", seed ", seed));
      Extent damaged = {};
      bool is_found = false;
      for (const Finding& error : Errors(Damage(bytes, generations, seed, &damaged))) {
        const bool is_after = error.place.offset.value_or(0) >= damaged.end &&
                              error.place.generation.value_or(damaged.number + 1) > damaged.number;
        // A later finding is acceptable if the damage caused none before: a wrong name or time may
        // first contradict a later event.
        EXPECT_FALSE(is_found && is_after) << FormatFinding(error);
        is_found |= !is_after;
      }
      found += is_found ? 1 : 0;
    }
  }
  EXPECT_GT(found, 300);
}

TEST(ResumeTest, AFaultAfterADamagedGenerationIsFound) {
  for (const absl::string_view name : kTraces) {
    const std::string bytes = ReadTestTrace(name);
    const std::vector<Extent> generations = Generations(bytes);
    const uint64_t planted = LastStart(bytes);
    ASSERT_GT(planted, generations.back().begin);
    for (int seed = 0; seed < kSeeds; ++seed) {
      SCOPED_TRACE(absl::StrCat(name, ", seed ", seed));
      Extent damaged = {};
      std::string faulty = Damage(bytes, generations, seed, &damaged);
      faulty[planted] = '\0';
      bool is_found = false;
      for (const Finding& error : Errors(faulty)) is_found |= error.place.offset == planted;
      EXPECT_TRUE(is_found);
    }
  }
}

}  // namespace resume_test
}  // namespace gotrace::internal
