// The command `heap`: the contents of the heap, from the events of the alloc/free experiment.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "gotrace/heap_stats.h"
#include "tools/cli/registry.h"
#include "tools/commands/analysis_command.h"
#include "tools/commands/time_columns.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "heap",
    .summary = "print the contents of the heap, by type, function or time",
    .description =
        "Prints a row for each type of object: how many there were at the start and the end of the "
        "trace, how many were allocated and freed, the peak in bytes, the rate of allocation, and "
        "how many cycles of the garbage collector the objects lived for. --by prints other views: "
        "allocations by the function that the goroutine started in, the growth of the heap over "
        "time, the ages of objects, or how full the spans of each size class are.\n\n"
        "The trace must have been recorded with GODEBUG=traceallocfree=1, which Go supports since "
        "1.23. An object counts as freed when it is swept, some time after the garbage collector "
        "found it dead, and has the size of its slot. Objects without pointers, such as the bytes "
        "of strings, often have no type.",
    .examples =
        "  gotrace-dump heap trace.out\n"
        "  gotrace-dump heap --sort=per_second --top=10 trace.out\n"
        "  gotrace-dump heap --by=func --from=1s --to=2s trace.out\n"
        "  gotrace-dump heap --by=time --format=csv trace.out > heap.csv\n",
    .takes_several_files = true,
};

int64_t Signed(uint64_t number) { return static_cast<int64_t>(number); }

// The rows of `stats`, or none if it is nullptr.
template <class Row>
absl::Span<const Row> RowsOf(const HeapStats* stats,
                             absl::Span<const Row> (HeapStats::*rows)() const) {
  return stats == nullptr ? absl::Span<const Row>() : (stats->*rows)();
}

uint64_t DurationOf(const HeapStats* stats) { return stats == nullptr ? 0 : stats->duration(); }

// Returns the amount per second, rounded down.
int64_t PerSecond(uint64_t amount, uint64_t nanoseconds) {
  if (nanoseconds == 0) return 0;
  const auto rate = static_cast<unsigned __int128>(amount) * 1'000'000'000 / nanoseconds;
  return static_cast<int64_t>(
      std::min<unsigned __int128>(rate, std::numeric_limits<int64_t>::max()));
}

// "objects" and "bytes" of an amount that all rows have, with `name` before.
template <class Row, class Of>
void AddAmount(absl::string_view name, absl::string_view objects_title,
               absl::string_view bytes_title, Of of, ColumnList<Row>* columns) {
  columns->Add(absl::StrCat(name, "_objects"), objects_title, Unit::kNone,
               [=](const Row& row) { return Signed(of(row).objects); });
  columns->Add(absl::StrCat(name, "_bytes"), bytes_title, Unit::kBytes,
               [=](const Row& row) { return Signed(of(row).bytes); });
}

Table TypeTable(const HeapStats* stats, const Interner& interner) {
  using Row = HeapType;
  const absl::Span<const Row> rows = RowsOf(stats, &HeapStats::types);
  const uint64_t duration = DurationOf(stats);
  ColumnList<Row> columns(rows);
  columns.Add("type_address", "", Unit::kNone, [](const Row& t) { return Signed(t.address); });
  AddAmount(
      "live", "OBJECTS", "LIVE", [](const Row& t) { return t.end; }, &columns);
  AddAmount(
      "start", "", "START", [](const Row& t) { return t.start; }, &columns);
  AddAmount(
      "allocated", "", "ALLOCATED", [](const Row& t) { return t.allocated; }, &columns);
  AddAmount(
      "freed", "", "FREED", [](const Row& t) { return t.freed; }, &columns);
  columns.Add("peak_bytes", "PEAK", Unit::kBytes, [](const Row& t) { return Signed(t.peak_bytes); })
      .Add("per_second_bytes", "PER S", Unit::kBytes,
           [=](const Row& t) { return PerSecond(t.allocated.bytes, duration); })
      .Add("per_second_objects", "", Unit::kNone,
           [=](const Row& t) { return PerSecond(t.allocated.objects, duration); });
  AddAmount(
      "survived", "", "SURVIVED", [](const Row& t) { return t.survived; }, &columns);
  columns.Add("age_p50", "AGE", Unit::kNone, [](const Row& t) { return CellOf(t.median_age); })
      .Add("age_max", "", Unit::kNone, [](const Row& t) { return CellOf(t.max_age); })
      .Add("type", "TYPE", Unit::kNone,
           [&interner](const Row& t) { return interner.String(t.name); });
  return Table(rows.size(), columns.Take());
}

Table FunctionTable(const HeapStats* stats, const Interner& interner) {
  using Row = HeapFunction;
  const absl::Span<const Row> rows = RowsOf(stats, &HeapStats::functions);
  const uint64_t duration = DurationOf(stats);
  ColumnList<Row> columns(rows);
  columns.Add("goroutines", "GOROUTINES", Unit::kNone,
              [](const Row& f) { return Signed(f.goroutines); });
  AddAmount(
      "allocated", "OBJECTS", "ALLOCATED", [](const Row& f) { return f.allocated; }, &columns);
  columns
      .Add("per_second_bytes", "PER S", Unit::kBytes,
           [=](const Row& f) { return PerSecond(f.allocated.bytes, duration); })
      .Add("per_second_objects", "", Unit::kNone,
           [=](const Row& f) { return PerSecond(f.allocated.objects, duration); })
      .Add("name", "STARTED IN", Unit::kNone,
           [&interner](const Row& f) { return interner.String(f.name); });
  return Table(rows.size(), columns.Take());
}

Table SliceTable(const HeapStats* stats, const Interner& interner) {
  using Row = HeapSlice;
  const absl::Span<const Row> rows = RowsOf(stats, &HeapStats::slices);
  const uint64_t begin = rows.empty() ? 0 : static_cast<uint64_t>(rows[0].begin);
  ColumnList<Row> columns(rows);
  columns.Add("begin_ns", "", Unit::kNone, [](const Row& s) { return s.begin; })
      .Add("end_ns", "", Unit::kNone, [](const Row& s) { return s.end; })
      .Add("until_ns", "UNTIL", Unit::kNanoseconds,
           [=](const Row& s) { return Signed(static_cast<uint64_t>(s.end) - begin); })
      .Add("cycles", "GCS", Unit::kNone, [](const Row& s) { return Signed(s.cycles); });
  AddAmount(
      "live", "OBJECTS", "LIVE", [](const Row& s) { return s.changes.end; }, &columns);
  columns.Add("peak_bytes", "", Unit::kBytes,
              [](const Row& s) { return Signed(s.changes.peak_bytes); });
  AddAmount(
      "start", "", "", [](const Row& s) { return s.changes.start; }, &columns);
  AddAmount(
      "allocated", "", "ALLOCATED", [](const Row& s) { return s.changes.allocated; }, &columns);
  AddAmount(
      "freed", "", "FREED", [](const Row& s) { return s.changes.freed; }, &columns);
  columns
      .Add("span_bytes", "SPANS", Unit::kBytes, [](const Row& s) { return Signed(s.span_bytes); })
      .Add("heap_metric_bytes", "", Unit::kBytes,
           [](const Row& s) { return CellOf(s.heap_metric); })
      .Add("stacks", "", Unit::kNone, [](const Row& s) { return Signed(s.stacks); })
      .Add("stack_bytes", "STACKS", Unit::kBytes,
           [](const Row& s) { return Signed(s.stack_bytes); })
      .Add("types_bytes", "LARGEST TYPE", Unit::kBytes, [&interner](const Row& s) {
        std::vector<NamedNumber> numbers;
        for (const HeapTypeBytes& type : s.types) {
          const absl::string_view name = interner.String(type.name);
          const auto same = absl::c_find_if(
              numbers, [&](const NamedNumber& number) { return number.name == name; });
          if (same == numbers.end()) {
            numbers.push_back({name, Signed(type.bytes)});
          } else {
            same->number = Signed(static_cast<uint64_t>(same->number) + type.bytes);
          }
        }
        return numbers;
      });
  return Table(rows.size(), columns.Take());
}

Table AgeTable(const HeapStats* stats) {
  using Row = HeapAge;
  const absl::Span<const Row> rows = RowsOf(stats, &HeapStats::ages);
  const Row* const first = rows.data();
  ColumnList<Row> columns(rows);
  columns.Add("age", "AGE", Unit::kNone, [=](const Row& a) { return int64_t{&a - first}; });
  AddAmount(
      "freed", "OBJECTS FREED", "FREED", [](const Row& a) { return a.freed; }, &columns);
  AddAmount(
      "live", "OBJECTS LIVE", "LIVE", [](const Row& a) { return a.end; }, &columns);
  return Table(rows.size(), columns.Take());
}

absl::string_view UseName(HeapSpanUse use) {
  switch (use) {
    case HeapSpanUse::kSmall:
      return "small";
    case HeapSpanUse::kLarge:
      return "large";
    default:
      return "other";
  }
}

Table SpanTable(const HeapStats* stats) {
  using Row = HeapSpanClass;
  const absl::Span<const Row> rows = RowsOf(stats, &HeapStats::span_classes);
  const auto for_objects = [](const Row& s, Cell cell) {
    return s.use == HeapSpanUse::kManual ? Cell() : cell;
  };
  ColumnList<Row> columns(rows);
  columns.Add("use", "USE", Unit::kNone, [](const Row& s) { return UseName(s.use); })
      .Add("pointers", "POINTERS", Unit::kNone,
           [=](const Row& s) {
             return for_objects(s, Cell(absl::string_view(s.has_pointers ? "yes" : "no")));
           })
      .Add("slot_bytes", "SLOT", Unit::kBytes,
           [](const Row& s) {
             return s.use == HeapSpanUse::kSmall ? Cell(Signed(s.slot_bytes)) : Cell();
           })
      .Add("spans", "SPANS", Unit::kNone, [](const Row& s) { return Signed(s.spans); })
      .Add("bytes", "BYTES", Unit::kBytes, [](const Row& s) { return Signed(s.bytes); })
      .Add("slots", "SLOTS", Unit::kNone,
           [=](const Row& s) { return for_objects(s, Cell(Signed(s.slots))); })
      .Add("used", "USED", Unit::kNone, [](const Row& s) { return Signed(s.used.objects); })
      .Add("occupancy", "OCCUPANCY", Unit::kShare,
           [=](const Row& s) {
             return s.slots == 0
                        ? Cell()
                        : Cell(static_cast<double>(s.used.objects) / static_cast<double>(s.slots));
           })
      .Add("used_bytes", "USED BYTES", Unit::kBytes,
           [](const Row& s) { return Signed(s.used.bytes); })
      .Add("unused_bytes", "UNUSED", Unit::kBytes,
           [](const Row& s) { return Signed(s.bytes - s.used.bytes); });
  return Table(rows.size(), columns.Take());
}

class HeapCommand final : public AnalysisCommand {
 public:
  const CommandText& text() const override { return kText; }

 protected:
  std::vector<Flag> OwnFlags() override {
    return {{.name = "by",
             .value = "VIEW",
             .help = "The rows to print:\n"
                     "  type: the objects of a type (default)\n"
                     "  func: the allocations of goroutines that started in a function\n"
                     "  time: equal slices of time, at most 40\n"
                     "  age: the objects that lived for the same number of collections\n"
                     "  span: the spans of a size class at the end, and the stacks",
             .set = SetChoice({"type", "func", "time", "age", "span"}, &view_)}};
  }

  AnyAnalysis MakeAnalysis() const override {
    return AnalysisOf([](Interner* interner, const EventFilter& filter) {
      return std::make_unique<HeapStats>(interner, filter.times);
    });
  }

  bool NeedsBeginning() const override { return true; }
  std::vector<Selection> Selections() const override { return {}; }

  Table MakeTable(const Analysis* analysis, const Interner& interner) const override {
    const auto* const stats = static_cast<const HeapStats*>(analysis);
    switch (view_) {
      case kFunctions:
        return FunctionTable(stats, interner);
      case kSlices:
        return SliceTable(stats, interner);
      case kAges:
        return AgeTable(stats);
      case kSpans:
        return SpanTable(stats);
      default:
        return TypeTable(stats, interner);
    }
  }

  std::vector<std::string> NotesOn(const Analysis& analysis) const override {
    const auto& stats = static_cast<const HeapStats&>(analysis);
    if (!stats.has_events()) {
      return {
          "the trace does not record allocations; run the program with GODEBUG=traceallocfree=1 in "
          "its environment (Go 1.23 and later)"};
    }
    if (stats.objects_without_span() == 0 && stats.unknown_frees() == 0) return {};
    return {absl::StrCat(
        stats.has_start() ? "some events of the heap are missing, or out of order, as events of "
                            "different threads may be: "
                          : "the trace does not list the objects that were on the heap when it "
                            "began, as Go does only when tracing starts: ",
        stats.objects_without_span(), " objects are of unknown size and count as 0 bytes, and ",
        stats.unknown_frees(), " unknown objects were freed")};
  }

  absl::string_view RowsName() const override {
    constexpr absl::string_view kNames[] = {"types", "functions", "slices", "ages", "spans"};
    return kNames[view_];
  }
  absl::string_view DefaultSort() const override {
    return view_ == kTypes ? "live_bytes" : view_ == kFunctions ? "allocated_bytes" : "";
  }

 private:
  enum View : size_t { kTypes, kFunctions, kSlices, kAges, kSpans };

  size_t view_ = kTypes;
};

}  // namespace

std::unique_ptr<Command> MakeHeapCommand() { return std::make_unique<HeapCommand>(); }

}  // namespace gotrace::internal
