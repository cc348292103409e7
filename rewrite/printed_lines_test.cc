// Tests sound traces with lines printed into them: salvaging returns the events of the trace
// without the lines, and repairing removes the lines.
//
// By default it tries 100 traces of testdata/. Environment variables change that:
// PRINTED_LINES_TRACES is the number of traces, PRINTED_LINES_SEED the seed of the first,
// PRINTED_LINES_FILES a list of uncompressed traces to use instead, with colons between them, and
// PRINTED_LINES_VERBOSE=1 lists the traces of which events are lost.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader.h"
#include "gotrace/repair.h"
#include "gotrace/version.h"
#include "gtest/gtest.h"
#include "parser/framing/batch_reader.h"
#include "testdata/test_data.h"
#include "testing/salvage_util.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace printed_lines_test {

absl::string_view FromEnvironment(const char* name, absl::string_view otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

int NumberFromEnvironment(const char* name, int otherwise) {
  int number = otherwise;
  return absl::SimpleAtoi(FromEnvironment(name, ""), &number) ? number : otherwise;
}

const int traces_to_try =
    NumberFromEnvironment("PRINTED_LINES_TRACES", static_cast<int>(TestRounds(100)));
const int first_seed = NumberFromEnvironment("PRINTED_LINES_SEED", 1);
const bool is_verbose = NumberFromEnvironment("PRINTED_LINES_VERBOSE", 0) != 0;
const std::vector<std::string> files =
    absl::StrSplit(FromEnvironment("PRINTED_LINES_FILES", ""), ':', absl::SkipEmpty());

using Random = std::mt19937_64;

size_t Below(size_t bound, Random* random) { return (*random)() % bound; }

// What programs print, and what they might. Each gives a text without its end of line.
std::string LogLine(size_t size, Random* random) {
  std::string line = absl::StrCat("2024/05/0", 1 + Below(9, random), " 12:3", Below(10, random),
                                  ":01 main.go:", Below(1000, random), ": request ");
  while (line.size() < size) absl::StrAppend(&line, "done in ", Below(100000, random), "ms; ");
  return line;
}
std::string TestLine(size_t size, Random* random) {
  std::string line = absl::StrCat("=== RUN   TestServer/case", Below(100, random), "/");
  while (line.size() < size) absl::StrAppend(&line, "with_option_", Below(1000, random));
  return line;
}
std::string JsonLine(size_t size, Random* random) {
  std::string line = "{\"level\":\"info\",\"msg\":\"ok\"";
  while (line.size() < size)
    absl::StrAppend(&line, ",\"n", Below(10, random), "\":", Below(1000000, random));
  return line;
}
std::string RandomLine(size_t size, Random* random) {
  std::string line;
  while (line.size() < size) line.push_back(static_cast<char>(' ' + Below(95, random)));
  return line;
}
std::string Utf8Line(size_t size, Random* random) {
  constexpr absl::string_view kWords[] = {"größer ", "日本語 ", "naïve ", "— ",
                                          "ошибка ", "✓ ",      "😀 "};
  std::string line;
  while (line.size() < size) absl::StrAppend(&line, kWords[Below(std::size(kWords), random)]);
  return line;
}

using MakeLine = std::string (*)(size_t, Random*);
constexpr MakeLine kStyles[] = {LogLine, TestLine, JsonLine, RandomLine, Utf8Line};

// A line of `size` bytes, or fewer where it would end inside a character.
std::string Line(MakeLine style, size_t size, Random* random) {
  std::string line = style(size - 1, random).substr(0, size - 1);
  while (!line.empty() && (line.back() & 0x80) != 0) line.pop_back();
  return line + "\n";
}

struct Case {
  std::string bytes;
  std::vector<size_t> places;  // In the sound trace, in order.
};

Case Insert(const std::string& sound, bool only_at_borders, size_t max_lines, Random* random) {
  std::vector<size_t> places;
  std::vector<size_t> borders = {kHeaderSize};
  for (const BatchExtent& batch : ExtentsOf(sound)) borders.push_back(batch.end);
  const size_t count = 1 + Below(max_lines, random);
  for (size_t i = 0; i < count; ++i) {
    places.push_back(only_at_borders ? borders[Below(borders.size(), random)]
                                     : kHeaderSize + Below(sound.size() - kHeaderSize + 1, random));
  }
  std::sort(places.begin(), places.end());
  // Most programs print one kind of lines.
  const MakeLine style = kStyles[Below(std::size(kStyles), random)];
  Case result;
  size_t done = 0;
  for (const size_t place : places) {
    result.bytes.append(sound, done, place - done);
    result.bytes += Line(style, 1 + Below(500, random), random);
    done = place;
  }
  result.bytes.append(sound, done);
  result.places = std::move(places);
  return result;
}

// How often each event comes. Its names are in other places, the tables: so events are counted with
// them and without.
struct Counts {
  std::map<std::string, int> events;  // By type, time, thread, P and goroutine.
  std::map<std::string, int> named;   // By all they say, the names and stacks too.
};

// Counts the events of a trace, but for Syncs; if `places` says where lines will be, those alone
// inside of which no line is.
Counts CountEvents(absl::string_view bytes, ReadMode mode, const std::vector<size_t>& places = {}) {
  ReaderOptions options;
  options.mode = mode;
  Reader reader = *Reader::FromBytes(bytes, options);
  struct Described {
    uint64_t offset;
    std::string event;
    std::string named;
  };
  std::vector<Described> events;
  while (const Event* event = reader.Next()) {
    if (event->kind() == EventKind::kSync) continue;
    const std::string place = absl::StrCat(" at ", event->offset(), " stack ");
    events.push_back({event->offset(),
                      absl::StrCat(static_cast<int>(event->type()), " ", event->time(), " ",
                                   event->thread().value, " ", event->proc().value, " ",
                                   event->goroutine().value),
                      absl::StrReplaceAll(Describe(*event), {{place, " stack "}})});
  }
  EXPECT_TRUE(reader.status().ok()) << reader.status();
  std::sort(events.begin(), events.end(),
            [](const Described& a, const Described& b) { return a.offset < b.offset; });
  Counts counts;
  for (size_t i = 0; i < events.size(); ++i) {
    // An event ends where the next one begins, or the batch does.
    const auto place = std::upper_bound(places.begin(), places.end(), events[i].offset);
    const uint64_t end = i + 1 < events.size() ? events[i + 1].offset : bytes.size();
    if (place != places.end() && *place < end) continue;
    ++counts.events[events[i].event];
    ++counts.named[events[i].named];
  }
  return counts;
}

// How many of the events are also in `others`.
int CountFound(const std::map<std::string, int>& events, const std::map<std::string, int>& others) {
  int found = 0;
  for (const auto& [event, count] : events) {
    const auto it = others.find(event);
    if (it != others.end()) found += std::min(count, it->second);
  }
  return found;
}

int CountAll(const std::map<std::string, int>& events) {
  int count = 0;
  for (const auto& entry : events) count += entry.second;
  return count;
}

// What came of many traces with lines.
struct Tally {
  int traces = 0;
  int bad = 0;  // Traces of which less than 99.9 % came back.
  int64_t all = 0;
  int64_t found = 0;
  int64_t found_named = 0;  // Of those with the right names and stacks.
};

// Returns the name and the bytes of a sound trace.
std::pair<std::string, std::string> PickTrace(Random* random) {
  if (files.empty()) {
    const TestTrace& trace = TestTraces()[Below(TestTraces().size(), random)];
    return {trace.name, ReadTestTrace(trace.name)};
  }
  const std::string& file = files[Below(files.size(), random)];
  std::ifstream in(file, std::ios::binary);
  return {file, std::string(std::istreambuf_iterator<char>(in), {})};
}

Tally Try(bool only_at_borders, size_t max_lines, int traces = traces_to_try) {
  Tally tally;
  for (int i = 0; i < traces; ++i) {
    Random random(first_seed + i);
    const auto [name, sound] = PickTrace(&random);
    const Case lines = Insert(sound, only_at_borders, max_lines, &random);
    SCOPED_TRACE(
        absl::StrCat(name, ", seed ", first_seed + i, ", ", lines.places.size(), " lines"));
    const Counts untouched = CountEvents(sound, ReadMode::kStrict, lines.places);
    const Counts salvaged = CountEvents(lines.bytes, ReadMode::kSalvage);
    const int all = CountAll(untouched.events);
    const int found = CountFound(untouched.events, salvaged.events);
    ++tally.traces;
    tally.all += all;
    tally.found += found;
    tally.found_named += CountFound(untouched.named, salvaged.named);
    const bool is_bad = found < 0.999 * all;
    tally.bad += is_bad;
    if (is_bad && is_verbose) {
      printf("%s, seed %d, %zu lines: %d of %d\n", name.c_str(), first_seed + i,
             lines.places.size(), found, all);
    }
    if (!only_at_borders) continue;
    const auto open = [&] { return SourceFromBytes(lines.bytes); };
    const absl::StatusOr<RepairPlan> plan = PlanRepair(open);
    EXPECT_TRUE(plan.ok()) << plan.status();
    if (!plan.ok()) continue;
    EXPECT_GE(plan->events, 0.99 * all);
    EXPECT_FALSE(plan->pieces.empty());
  }
  printf("%d of %d traces below 99.9 %%; %ld of %ld events, %ld with the right names\n", tally.bad,
         tally.traces, static_cast<long>(tally.found), static_cast<long>(tally.all),
         static_cast<long>(tally.found_named));
  return tally;
}

TEST(PrintedLinesTest, BetweenBatchesCostNoEvents) {
  const Tally tally = Try(/*only_at_borders=*/true, /*max_lines=*/200);
  EXPECT_LE(tally.bad, tally.traces / 50);
  EXPECT_GE(tally.found_named, 0.9999 * tally.all);
}

TEST(PrintedLinesTest, FewAnywhereCostHardlyAnEvent) {
  const Tally tally = Try(/*only_at_borders=*/false, /*max_lines=*/10);
  EXPECT_LE(tally.bad, tally.traces / 100);
  EXPECT_GE(tally.found, 0.9999 * tally.all);
  EXPECT_GE(tally.found_named, 0.999 * tally.all);
}

// The traces have a few kilobytes: there is more text than trace, and a line in nearly each event.
TEST(PrintedLinesTest, ManyAnywhereCostFewEvents) {
  const Tally tally =
      Try(/*only_at_borders=*/false, /*max_lines=*/200, std::max(traces_to_try / 4, 25));
  EXPECT_LE(tally.bad, tally.traces / 5);
  EXPECT_GE(tally.found, 0.99 * tally.all);
  EXPECT_GE(tally.found_named, 0.94 * tally.all);
}

}  // namespace printed_lines_test
}  // namespace gotrace::internal
