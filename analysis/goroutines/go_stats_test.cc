// Compares GoCompatibleStats with what Go's own internal/trace computes, line by line.
#include "gotrace/go_stats.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "analysis/core/stats_text.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace go_stats_test {

TEST(GoCompatibleStats, AreThoseOfGoForEveryTrace) {
  // What testdata/make_go_numbers.sh stored, by the names of traces.
  std::map<std::string, std::string> stored;
  const std::string table = ReadTestTrace("goroutine_stats.tsv");
  for (const absl::string_view line : absl::StrSplit(table, '\n', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits('\t', 1));
    absl::StrAppend(&stored[std::string(parts.first)], parts.second, "\n");
  }
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    Interner interner;
    GoCompatibleStats stats(&interner);
    ASSERT_TRUE(ReadInto(*reader, {&stats}).ok());
    std::string text;
    auto region = stats.regions().begin();
    for (const GoroutineSpan& span : stats.goroutines()) {
      absl::StrAppend(&text, TextOf(interner, span));
      for (; region != stats.regions().end() && region->goroutine == span.goroutine; ++region) {
        absl::StrAppend(&text, TextOf(interner, *region));
      }
    }
    EXPECT_EQ(region, stats.regions().end());
    for (const TaskSpan& task : stats.tasks()) absl::StrAppend(&text, TextOf(interner, task));
    EXPECT_EQ(text, stored[test.name]);
  }
}

}  // namespace go_stats_test
}  // namespace gotrace::internal
