// The command `locks`: where goroutines wait for each other, for whom, and who suffers.
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
#include "absl/strings/str_format.h"
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
    .summary = "print where goroutines wait for each other, and for whom",
    .description =
        "Prints, for each place in the program that waits for a Mutex, RWMutex, Cond, WaitGroup, "
        "channel or select, how often goroutines waited there and for how long, who kept them "
        "waiting and what these did meanwhile, and in which functions those had started that "
        "waited. A place is the innermost function of the program, with its file and line, and the "
        "function of a library that it called. Goroutines of the runtime are left out.\n\n"
        "Who had a mutex last need not be who kept others waiting: where many wait for one, each "
        "is woken by the one that waited before it. So each wait is followed back from its end, "
        "from one goroutine to the one that it waited for itself, as `path` does. HELD BY has the "
        "outermost and the innermost function of the program in which these goroutines were for "
        "most of the time, and their state or why they waited themselves. In JSON, [unknown] is "
        "the time of waits that no goroutine ended, and of what is too long ago.",
    .examples =
        "  gotrace-dump locks trace.out\n"
        "  gotrace-dump locks --kind=mutex,rwmutex trace.out\n"
        "  gotrace-dump locks --func=main.worker --sort=max trace.out\n"
        "  gotrace-dump locks --format=json trace.out | jq '.locks[].holders'\n",
    .takes_several_files = true,
};

// Waits in one part of a row: those that a function ended, or of goroutines that started in one.
struct Part {
  std::string name = {};
  absl::string_view call = {};  // Wakers: the function of package sync by which they ended them.
  uint64_t count = 0;
  int64_t time = 0;
};

// What goroutines did while others waited for them.
struct Holder {
  absl::string_view function = {};
  absl::string_view state = {};
  absl::string_view reason = {};
  absl::string_view in = {};
  int64_t time = 0;

  auto Key() const { return std::tie(function, state, reason, in); }
};
constexpr absl::string_view kUnknownHolder = "[unknown]";

// All waits in one place for one reason.
struct LockRow {
  WaitObject object = WaitObject::kOther;
  StringId reason = StringId::kEmpty;
  WaitPlace place;
  Histogram durations;
  uint64_t clipped = 0;
  uint64_t open = 0;
  std::vector<Part> wakers;     // By time, most first.
  std::vector<Holder> holders;  // The same. The rest of the time is unknown.
  std::vector<Part> victims;    // The same.
  std::vector<Part> tasks;      // The same, as far as is known.
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

void AddTo(const std::string& name, absl::string_view call, const Histogram& durations,
           std::vector<Part>* parts) {
  if (name.empty()) return;
  auto part = absl::c_find_if(
      *parts, [&](const Part& one) { return one.name == name && one.call == call; });
  if (part == parts->end()) part = parts->insert(part, Part{name, call});
  part->count += durations.count();
  part->time += static_cast<int64_t>(durations.sum());
}

void SortByTime(std::vector<Part>* parts) {
  absl::c_sort(*parts, [](const Part& a, const Part& b) {
    if (a.time != b.time) return a.time > b.time;
    return std::tie(a.name, a.call) < std::tie(b.name, b.call);
  });
}

Holder HolderOf(const WaitHolder& one, const Interner& interner) {
  const absl::string_view function = interner.String(one.holder);
  return {.function = function.empty() ? kUnknownName : function,
          .state = GoStateName(one.state),
          .reason = interner.String(one.doing),
          .in = interner.String(one.function),
          .time = one.time};
}

// Adds those that did the same, and sorts them by time.
void Combine(std::vector<Holder>* holders) {
  absl::c_sort(*holders, [](const Holder& a, const Holder& b) { return a.Key() < b.Key(); });
  std::vector<Holder> sums;
  for (const Holder& holder : *holders) {
    if (sums.empty() || sums.back().Key() != holder.Key()) {
      sums.push_back(holder);
    } else {
      sums.back().time += holder.time;
    }
  }
  absl::c_sort(sums, [](const Holder& a, const Holder& b) {
    return a.time != b.time ? a.time > b.time : a.Key() < b.Key();
  });
  *holders = std::move(sums);
}

// Waits that began before the trace have no reason. Only for channels it tells two kinds of waits
// apart, and such waits for channels are not known to be some.
std::vector<LockRow> LocksOf(absl::Span<const WaitGroup> groups,
                             absl::Span<const WaitHolder> holders, absl::Span<const WaitTask> tasks,
                             const std::array<bool, kWaitObjectEnd>& objects,
                             const Interner& interner) {
  absl::flat_hash_map<std::tuple<WaitObject, StringId, WaitPlace>, LockRow> rows;
  for (const WaitGroup& group : groups) {
    const WaitKey& key = group.key;
    if (key.is_system || !objects[static_cast<size_t>(key.object)]) continue;
    const bool is_channel = key.object == WaitObject::kChannel;
    LockRow& row = rows[{key.object, is_channel ? key.reason : StringId::kEmpty, key.place}];
    row.object = key.object;
    if (key.reason != StringId::kEmpty) row.reason = key.reason;
    row.place = key.place;
    row.durations.Merge(group.durations);
    row.clipped += group.clipped;
    if (key.end == WaitEnd::kOpen) row.open += group.durations.count();
    AddTo(WakerOf(key, interner), interner.String(key.release), group.durations, &row.wakers);
    AddTo(std::string(interner.String(key.start)), "", group.durations, &row.victims);
  }
  for (const WaitHolder& holder : holders) {
    const auto row = rows.find({holder.object, holder.reason, holder.place});
    if (row != rows.end()) row->second.holders.push_back(HolderOf(holder, interner));
  }
  for (const WaitTask& task : tasks) {
    const auto row = rows.find({task.object, task.reason, task.place});
    if (row == rows.end()) continue;
    row->second.tasks.push_back(
        {std::string(interner.String(task.type)), "", task.count, task.time});
  }
  std::vector<LockRow> sorted;
  for (auto& [key, row] : rows) {
    Combine(&row.holders);
    SortByTime(&row.wakers);
    SortByTime(&row.victims);
    SortByTime(&row.tasks);
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

// "main.save;main.load: sleep 97%": the outermost and the innermost function of those who kept
// others waiting for the longest time, what they did, and its share of the waits.
std::string HolderText(const LockRow& row) {
  if (row.holders.empty()) return "";
  const Holder& holder = row.holders[0];
  const bool has_reason = holder.state == GoStateName(GoState::kWaiting) && !holder.reason.empty();
  std::string text(holder.function);
  if (!holder.in.empty() && holder.in != holder.function) absl::StrAppend(&text, ";", holder.in);
  const double share =
      100 * static_cast<double>(holder.time) / static_cast<double>(row.durations.sum());
  return absl::StrFormat("%s: %s %.0f%%", text, has_reason ? holder.reason : holder.state, share);
}

JsonText HoldersJson(const LockRow& row) {
  TextBuffer text;
  JsonWriter json(&text);
  json.BeginArray();
  auto rest = static_cast<int64_t>(row.durations.sum());
  const auto write = [&](const Holder& holder) {
    json.BeginObject();
    json.Member("function", holder.function);
    json.Member("state", holder.state);
    json.Member("reason", holder.reason);
    json.Member("in", holder.in);
    json.Member("time_ns", holder.time);
    json.EndObject();
    rest -= holder.time;
  };
  for (const Holder& holder : row.holders) write(holder);
  if (rest > 0) write({.function = kUnknownHolder, .time = rest});
  json.EndArray();
  return {std::string(text.view())};
}

// Returns the parts as an array of objects. `name` is the name of their name.
JsonText PartsJson(absl::string_view name, bool has_calls, const std::vector<Part>& parts) {
  TextBuffer text;
  JsonWriter json(&text);
  json.BeginArray();
  for (const Part& part : parts) {
    json.BeginObject();
    json.Member(name, absl::string_view(part.name));
    if (has_calls) json.Member("call", part.call);
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
      options.holders = objects_;
      return std::make_unique<WaitStats>(interner, std::move(options));
    });
  }

  Table MakeTable(const Analysis* analysis, const Interner& interner) const override {
    using Row = const LockRow&;
    constexpr Unit kNone = Unit::kNone;
    const absl::Span<const WaitGroup> groups = RowsOf(analysis, &WaitStats::groups);
    const absl::Span<const WaitHolder> holders = RowsOf(analysis, &WaitStats::holders);
    const absl::Span<const WaitTask> tasks = RowsOf(analysis, &WaitStats::tasks);
    return ColumnList<LockRow>(LocksOf(groups, holders, tasks, objects_, interner))
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
        .Add("", "HELD BY", kNone, HolderText)
        .Add("holders", "", kNone, HoldersJson)
        .Add("wakers", "", kNone, [](Row r) { return PartsJson("function", true, r.wakers); })
        .Add("", "VICTIMS", kNone, [](Row r) { return LargestOf(r.victims); })
        .Add("victims", "", kNone, [](Row r) { return PartsJson("start", false, r.victims); })
        .Add("tasks", "", kNone, [](Row r) { return PartsJson("type", false, r.tasks); })
        .Minor({"VICTIMS"})
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
