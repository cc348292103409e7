// The command `locks`: where goroutines wait for each other, who wakes them, and who suffers.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "export/json/json_text.h"
#include "gotrace/wait_stats.h"
#include "tools/cli/registry.h"
#include "tools/commands/stack_columns.h"
#include "tools/commands/table_command.h"
#include "tools/commands/time_columns.h"
#include "util/text_buffer.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "locks",
    .summary = "print where goroutines wait for each other, and who wakes them",
    .description =
        "Prints, for each place in the program that waits for a Mutex, RWMutex, Cond, WaitGroup, "
        "channel or select, how often goroutines waited there and for how long, in which functions "
        "those were that woke them, and in which functions those had started that waited. A place "
        "is the innermost function of the program, with its file and line, and the function of a "
        "library that it called. Goroutines of the runtime are left out.\n\n"
        "Who wakes a goroutine that waits for a mutex is who had it last. Where many wait for one, "
        "each is woken by the one that waited before it; `path` shows who kept all of them "
        "waiting.",
    .examples =
        "  gotrace-dump locks trace.out\n"
        "  gotrace-dump locks --kind=mutex,rwmutex trace.out\n"
        "  gotrace-dump locks --func=main.worker --sort=max trace.out\n"
        "  gotrace-dump locks --format=json trace.out | jq '.locks[].wakers'\n",
    .takes_several_files = true,
};

// Waits in one part of a row: those that a function ended, or of goroutines that started in one.
struct Part {
  std::string name;
  uint64_t count = 0;
  int64_t time = 0;
};

// All waits in one place for one reason.
struct LockRow {
  WaitObject object = WaitObject::kOther;
  StringId reason = StringId::kEmpty;
  WaitPlace place;
  Histogram durations;
  uint64_t clipped = 0;
  uint64_t open = 0;
  std::vector<Part> wakers;   // By time, most first.
  std::vector<Part> victims;  // The same.
};

// Returns what ended a wait: the function in which a goroutine was, or what else it was, or "" if
// nothing did.
std::string WakerOf(const WaitKey& key, const Interner& interner) {
  switch (key.end) {
    case WaitEnd::kOpen:
    case WaitEnd::kUnknown:
      return "";
    case WaitEnd::kTimer:
      return "[timer]";
    case WaitEnd::kDeadline:
      return "[deadline]";
    case WaitEnd::kNetwork:
      return "[network]";
    case WaitEnd::kRuntime:
      return "[runtime]";
    case WaitEnd::kPeer:
    case WaitEnd::kGoroutine:
      break;
  }
  const absl::string_view function = interner.String(key.waker);
  return std::string(function.empty() ? kUnknownName : function);
}

void AddTo(const std::string& name, const Histogram& durations, std::vector<Part>* parts) {
  if (name.empty()) return;
  auto part = absl::c_find_if(*parts, [&](const Part& one) { return one.name == name; });
  if (part == parts->end()) part = parts->insert(part, Part{name});
  part->count += durations.count();
  part->time += static_cast<int64_t>(durations.sum());
}

void SortByTime(std::vector<Part>* parts) {
  absl::c_sort(*parts, [](const Part& a, const Part& b) {
    return a.time != b.time ? a.time > b.time : a.name < b.name;
  });
}

std::vector<LockRow> LocksOf(absl::Span<const WaitGroup> groups,
                             const std::array<bool, kWaitObjectEnd>& objects,
                             const Interner& interner) {
  absl::flat_hash_map<std::tuple<WaitObject, StringId, WaitPlace>, LockRow> rows;
  for (const WaitGroup& group : groups) {
    const WaitKey& key = group.key;
    if (key.is_system || !objects[static_cast<size_t>(key.object)]) continue;
    LockRow& row = rows[{key.object, key.reason, key.place}];
    row.object = key.object;
    row.reason = key.reason;
    row.place = key.place;
    row.durations.Merge(group.durations);
    row.clipped += group.clipped;
    if (key.end == WaitEnd::kOpen) row.open += group.durations.count();
    AddTo(WakerOf(key, interner), group.durations, &row.wakers);
    AddTo(std::string(interner.String(key.start)), group.durations, &row.victims);
  }
  std::vector<LockRow> sorted;
  for (auto& [key, row] : rows) {
    SortByTime(&row.wakers);
    SortByTime(&row.victims);
    sorted.push_back(std::move(row));
  }
  absl::c_sort(sorted, [&](const LockRow& a, const LockRow& b) {
    if (a.durations.sum() != b.durations.sum()) return a.durations.sum() > b.durations.sum();
    const auto rest = [&](const LockRow& row) {
      const auto text = [&](StringId id) { return interner.String(id); };
      return std::tuple(row.object, text(row.reason), text(row.place.function),
                        text(row.place.file), row.place.line, text(row.place.library));
    };
    return rest(a) < rest(b);
  });
  return sorted;
}

// "mutex", "rwmutex RLock", "chan send"
std::string ObjectText(const LockRow& row, const Interner& interner) {
  if (row.object == WaitObject::kChannel) return std::string(interner.String(row.reason));
  std::string text(WaitObjectName(row.object));
  absl::string_view call = interner.String(row.place.library);
  if (absl::ConsumePrefix(&call, "sync.(*RWMutex).")) absl::StrAppend(&text, " ", call);
  return text;
}

// Returns the place without a function of package sync, which ObjectText() has.
std::string PlaceOf(WaitPlace place, const Interner& interner) {
  if (absl::StartsWith(interner.String(place.library), "sync.")) place.library = StringId::kEmpty;
  return PlaceText(place, interner);
}

// "main.save", or "main.save +2" if there are two more.
std::string LargestOf(const std::vector<Part>& parts) {
  if (parts.empty()) return "";
  if (parts.size() == 1) return parts[0].name;
  return absl::StrCat(parts[0].name, " +", parts.size() - 1);
}

// Returns the parts as an array of objects. `name` is the name of their name.
JsonText PartsJson(absl::string_view name, const std::vector<Part>& parts) {
  TextBuffer text;
  JsonWriter json(&text);
  json.BeginArray();
  for (const Part& part : parts) {
    json.BeginObject();
    json.Member(name, absl::string_view(part.name));
    json.Member("count", part.count);
    json.Member("time_ns", part.time);
    json.EndObject();
  }
  json.EndArray();
  return {std::string(text.view())};
}

class LocksCommand final : public TableCommand {
 public:
  LocksCommand() {
    objects_.fill(true);
    objects_[static_cast<size_t>(WaitObject::kOther)] = false;
  }

  const CommandText& text() const override { return kText; }

 protected:
  std::vector<Flag> OwnFlags() override {
    // All but kOther, which is the first.
    std::vector<absl::string_view> names;
    for (size_t object = 1; object < kWaitObjectEnd; ++object) {
      names.push_back(WaitObjectName(static_cast<WaitObject>(object)));
    }
    return {{.name = "kind",
             .value = "KIND,...",
             .help = "Only waits for these: mutex, rwmutex, cond, waitgroup, chan, select.",
             .set = SetChoices(names,
                               [this](absl::Span<const size_t> positions) {
                                 objects_.fill(false);
                                 for (const size_t object : positions) objects_[object + 1] = true;
                               }),
             .selects = true},
            StartFlag("Only goroutines that started", &start_)};
  }

  std::vector<Selection> Selections() const override {
    return {{"g", ""}, {"stack", "Only waits"}};
  }

  AnyAnalysis MakeAnalysis() const override {
    return AnalysisOf([this](Interner* interner, const EventFilter& filter) {
      WaitStats::Options options;
      options.start = start_;
      options.filter = filter;
      return std::make_unique<WaitStats>(interner, std::move(options));
    });
  }

  Table MakeTable(const Analysis* analysis, const Interner& interner) const override {
    using Row = const LockRow&;
    constexpr Unit kNone = Unit::kNone;
    const absl::Span<const WaitGroup> groups = RowsOf(analysis, &WaitStats::groups);
    return ColumnList<LockRow>(LocksOf(groups, objects_, interner))
        .Add("count", "COUNT", kNone, [](Row r) { return r.durations.count(); })
        .Add("clipped", "", kNone, &LockRow::clipped)
        .Add("open", "", kNone, &LockRow::open)
        .Add("total_ns", "TOTAL", Unit::kNanoseconds, [](Row r) { return r.durations.sum(); })
        .Add(QuantileColumns("", /*is_shown=*/false, &LockRow::durations))
        .Add("", "MAX", Unit::kNanoseconds, [](Row r) { return r.durations.max(); })
        .Add("histogram", "", kNone, [](Row r) { return JsonText{HistogramJson(r.durations)}; })
        .Add("object", "", kNone, [](Row r) { return WaitObjectName(r.object); })
        .Add("reason", "", kNone, [&interner](Row r) { return interner.String(r.reason); })
        .Add("", "FOR", kNone, [&interner](Row r) { return ObjectText(r, interner); })
        .Add("function", "", kNone,
             [&interner](Row r) { return interner.String(r.place.function); })
        .Add("file", "", kNone, [&interner](Row r) { return interner.String(r.place.file); })
        .Add("line", "", kNone, [](Row r) { return r.place.line; })
        .Add("library", "", kNone, [&interner](Row r) { return interner.String(r.place.library); })
        .Add("", "IN", kNone, [&interner](Row r) { return PlaceOf(r.place, interner); })
        .Add("", "WOKEN BY", kNone, [](Row r) { return LargestOf(r.wakers); })
        .Add("wakers", "", kNone, [](Row r) { return PartsJson("function", r.wakers); })
        .Add("", "VICTIMS", kNone, [](Row r) { return LargestOf(r.victims); })
        .Add("victims", "", kNone, [](Row r) { return PartsJson("start", r.victims); })
        .ToTable();
  }

  absl::string_view RowsName() const override { return "locks"; }

 private:
  std::array<bool, kWaitObjectEnd> objects_;
  std::string start_;
};

}  // namespace

std::unique_ptr<Command> MakeLocksCommand() { return std::make_unique<LocksCommand>(); }

}  // namespace gotrace::internal
