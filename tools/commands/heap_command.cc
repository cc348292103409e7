// The command `heap`: the contents of the heap, from the events of the alloc/free experiment.
#include <algorithm>
#include <cstdint>
#include <functional>
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
#include "tools/commands/table_command.h"

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

// Returns the amount per second, rounded down.
int64_t PerSecond(uint64_t amount, uint64_t nanoseconds) {
  if (nanoseconds == 0) return 0;
  const auto rate = static_cast<unsigned __int128>(amount) * 1'000'000'000 / nanoseconds;
  return static_cast<int64_t>(
      std::min<unsigned __int128>(rate, std::numeric_limits<int64_t>::max()));
}

// Returns the columns "objects" and "bytes" of an amount, with `name` before, for
// ColumnList::Add(). `amount` is the member of a row, or a function of it.
template <class Amount>
auto AmountColumns(absl::string_view name, absl::string_view objects_title,
                   absl::string_view bytes_title, Amount amount) {
  return [=](auto* columns) {
    columns
        ->Add(absl::StrCat(name, "_objects"), objects_title, Unit::kNone,
              [=](const auto& row) { return std::invoke(amount, row).objects; })
        .Add(absl::StrCat(name, "_bytes"), bytes_title, Unit::kBytes,
             [=](const auto& row) { return std::invoke(amount, row).bytes; });
  };
}

Table TypeTable(absl::Span<const HeapType> types, uint64_t duration, const Interner& interner) {
  using Row = const HeapType&;
  constexpr Unit kNone = Unit::kNone;
  constexpr Unit kSize = Unit::kBytes;
  return ColumnList<HeapType>(types)
      .Add("type_address", "", kNone, &HeapType::address)
      .Add(AmountColumns("live", "OBJECTS", "LIVE", &HeapType::end))
      .Add(AmountColumns("start", "", "START", &HeapType::start))
      .Add(AmountColumns("allocated", "", "ALLOCATED", &HeapType::allocated))
      .Add(AmountColumns("freed", "", "FREED", &HeapType::freed))
      .Add("peak_bytes", "PEAK", kSize, &HeapType::peak_bytes)
      .Add("per_second_bytes", "PER S", kSize,
           [=](Row t) { return PerSecond(t.allocated.bytes, duration); })
      .Add("per_second_objects", "", kNone,
           [=](Row t) { return PerSecond(t.allocated.objects, duration); })
      .Add(AmountColumns("survived", "", "SURVIVED", &HeapType::survived))
      .Add("age_p50", "AGE", kNone, &HeapType::median_age)
      .Add("age_max", "", kNone, &HeapType::max_age)
      .Add("type", "TYPE", kNone, [&interner](Row t) { return interner.String(t.name); })
      .ToTable();
}

Table FunctionTable(absl::Span<const HeapFunction> functions, uint64_t duration,
                    const Interner& interner) {
  using Row = const HeapFunction&;
  constexpr Unit kNone = Unit::kNone;
  return ColumnList<HeapFunction>(functions)
      .Add("goroutines", "GOROUTINES", kNone, &HeapFunction::goroutines)
      .Add(AmountColumns("allocated", "OBJECTS", "ALLOCATED", &HeapFunction::allocated))
      .Add("per_second_bytes", "PER S", Unit::kBytes,
           [=](Row f) { return PerSecond(f.allocated.bytes, duration); })
      .Add("per_second_objects", "", kNone,
           [=](Row f) { return PerSecond(f.allocated.objects, duration); })
      .Add("name", "STARTED IN", kNone, [&interner](Row f) { return interner.String(f.name); })
      .ToTable();
}

// Returns the bytes of the types of a slice, by name.
std::vector<NamedNumber> BytesByType(const HeapSlice& slice, const Interner& interner) {
  std::vector<NamedNumber> numbers;
  for (const HeapTypeBytes& type : slice.types) {
    const absl::string_view name = interner.String(type.name);
    const auto same =
        absl::c_find_if(numbers, [&](const NamedNumber& number) { return number.name == name; });
    if (same == numbers.end()) {
      numbers.push_back({name, static_cast<int64_t>(type.bytes)});
    } else {
      same->number = static_cast<int64_t>(static_cast<uint64_t>(same->number) + type.bytes);
    }
  }
  return numbers;
}

Table SliceTable(absl::Span<const HeapSlice> slices, const Interner& interner) {
  using Row = const HeapSlice&;
  constexpr Unit kNone = Unit::kNone;
  constexpr Unit kSize = Unit::kBytes;
  const uint64_t begin = slices.empty() ? 0 : static_cast<uint64_t>(slices[0].begin);
  return ColumnList<HeapSlice>(slices)
      .Add("begin_ns", "", kNone, &HeapSlice::begin)
      .Add("end_ns", "", kNone, &HeapSlice::end)
      .Add("until_ns", "UNTIL", Unit::kNanoseconds,
           [=](Row s) { return static_cast<uint64_t>(s.end) - begin; })
      .Add("cycles", "GCS", kNone, &HeapSlice::cycles)
      .Add(AmountColumns("live", "OBJECTS", "LIVE", [](Row s) { return s.changes.end; }))
      .Add("peak_bytes", "", kSize, [](Row s) { return s.changes.peak_bytes; })
      .Add(AmountColumns("start", "", "", [](Row s) { return s.changes.start; }))
      .Add(AmountColumns("allocated", "", "ALLOCATED", [](Row s) { return s.changes.allocated; }))
      .Add(AmountColumns("freed", "", "FREED", [](Row s) { return s.changes.freed; }))
      .Add("span_bytes", "SPANS", kSize, &HeapSlice::span_bytes)
      .Add("heap_metric_bytes", "", kSize, &HeapSlice::heap_metric)
      .Add("stacks", "", kNone, &HeapSlice::stacks)
      .Add("stack_bytes", "STACKS", kSize, &HeapSlice::stack_bytes)
      .Add("types_bytes", "LARGEST TYPE", kSize,
           [&interner](Row s) { return BytesByType(s, interner); })
      .ToTable();
}

Table AgeTable(absl::Span<const HeapAge> ages) {
  const HeapAge* const first = ages.data();
  return ColumnList<HeapAge>(ages)
      .Add("age", "AGE", Unit::kNone, [=](const HeapAge& a) { return &a - first; })
      .Add(AmountColumns("freed", "OBJECTS FREED", "FREED", &HeapAge::freed))
      .Add(AmountColumns("live", "OBJECTS LIVE", "LIVE", &HeapAge::end))
      .ToTable();
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

Table SpanTable(absl::Span<const HeapSpanClass> classes) {
  using Row = const HeapSpanClass&;
  constexpr Unit kNone = Unit::kNone;
  constexpr Unit kSize = Unit::kBytes;
  const auto for_objects = [](Row s, Cell cell) {
    return s.use == HeapSpanUse::kManual ? Cell() : cell;
  };
  return ColumnList<HeapSpanClass>(classes)
      .Add("use", "USE", kNone, [](Row s) { return UseName(s.use); })
      .Add("pointers", "POINTERS", kNone,
           [=](Row s) {
             return for_objects(s, Cell(absl::string_view(s.has_pointers ? "yes" : "no")));
           })
      .Add("slot_bytes", "SLOT", kSize,
           [](Row s) { return s.use == HeapSpanUse::kSmall ? CellOf(s.slot_bytes) : Cell(); })
      .Add("spans", "SPANS", kNone, &HeapSpanClass::spans)
      .Add("bytes", "BYTES", kSize, &HeapSpanClass::bytes)
      .Add("slots", "SLOTS", kNone, [=](Row s) { return for_objects(s, CellOf(s.slots)); })
      .Add("used", "USED", kNone, [](Row s) { return s.used.objects; })
      .Add("occupancy", "OCCUPANCY", Unit::kShare,
           [](Row s) {
             return s.slots == 0
                        ? Cell()
                        : Cell(static_cast<double>(s.used.objects) / static_cast<double>(s.slots));
           })
      .Add("used_bytes", "USED BYTES", kSize, [](Row s) { return s.used.bytes; })
      .Add("unused_bytes", "UNUSED", kSize, [](Row s) { return s.bytes - s.used.bytes; })
      .ToTable();
}

class HeapCommand final : public TableCommand {
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
    const uint64_t duration =
        analysis == nullptr ? 0 : static_cast<const HeapStats&>(*analysis).duration();
    switch (view_) {
      case kFunctions:
        return FunctionTable(RowsOf(analysis, &HeapStats::functions), duration, interner);
      case kSlices:
        return SliceTable(RowsOf(analysis, &HeapStats::slices), interner);
      case kAges:
        return AgeTable(RowsOf(analysis, &HeapStats::ages));
      case kSpans:
        return SpanTable(RowsOf(analysis, &HeapStats::span_classes));
      default:
        return TypeTable(RowsOf(analysis, &HeapStats::types), duration, interner);
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
