#include "export/summary/summary_page.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "analysis/intervals/runtime_functions.h"
#include "export/summary/suspicion_command.h"
#include "export/table/table.h"
#include "gotrace/states.h"
#include "gotrace/summary_writer.h"
#include "parser/event/trace_clock.h"

namespace gotrace::internal {
namespace {

using Suspicion = TraceSummary::Suspicion;
using Part = Suspicion::Part;

constexpr size_t kLatencyRows = 9;
constexpr size_t kFunctionRows = 5;
constexpr size_t kPlaceRows = 5;
constexpr size_t kSpanRows = 5;
constexpr size_t kSuspicionRows = 5;
constexpr size_t kVictims = 3;
// The room of so many cycles is worth a word if it is less than this, in percent: with GOGC=100 it
// is 50 to 100%, or less if much is allocated during cycles.
constexpr uint64_t kMinCycles = 5;
constexpr uint64_t kLittleRoom = 30;
constexpr double kNamedShare = 0.01;  // Less than this of a whole is not worth a word.

int64_t Signed(uint64_t number) { return static_cast<int64_t>(number); }

double ShareOf(int64_t part, int64_t whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string Percent(double share) { return absl::StrFormat("%.1f%%", 100 * share); }

// The latencies of a kind, whatever their reasons.
TraceSummary::Latency AllOf(LatencyKind kind, const TraceSummary& summary) {
  TraceSummary::Latency all;
  all.kind = kind;
  for (const TraceSummary::Latency& latency : summary.latencies) {
    if (latency.kind != kind) continue;
    all.durations.Merge(latency.durations);
    if (latency.longest.length > all.longest.length) {
      all.longest = latency.longest;
      all.reason = latency.reason;
    }
  }
  return all;
}

std::string NameOrUnknown(const std::string& function) {
  return function.empty() ? "an unknown function" : function;
}

// Appends the first rows of a table, and how many more there are, or nothing if there are none.
void AppendTable(absl::string_view title, Table table, size_t rows, size_t width, TextBuffer* out) {
  const size_t all = table.rows();
  if (all == 0) return;
  out->Append("\n", title, "\n");
  table.Truncate(rows);
  table.AppendText(width, out);
  if (all > rows) out->Append("and ", all - rows, " more\n");
}

// Returns the waits of goroutines of the program, in the same order.
std::vector<TraceSummary::Latency> OfProgram(const std::vector<TraceSummary::Latency>& latencies) {
  std::vector<TraceSummary::Latency> some;
  for (TraceSummary::Latency latency : latencies) {
    if (latency.of_program.count() == 0) continue;
    latency.durations = std::move(latency.of_program);
    latency.clipped = latency.clipped_of_program;
    some.push_back(std::move(latency));
  }
  absl::c_stable_sort(some, [](const auto& a, const auto& b) {
    return a.kind != b.kind ? a.kind < b.kind : a.durations.sum() > b.durations.sum();
  });
  return some;
}

Table LatencyTable(const std::vector<TraceSummary::Latency>& latencies) {
  using Row = const TraceSummary::Latency&;
  ColumnList<TraceSummary::Latency> columns(latencies);
  const auto quantile = [&](absl::string_view title, double q) {
    columns.Add("", title, Unit::kNanoseconds,
                [=](Row l) { return Signed(l.durations.Quantile(q)); });
  };
  columns.Add("", "COUNT", Unit::kNone, [](Row l) { return Signed(l.durations.count()); })
      .Add("", "CLIPPED", Unit::kNone, [](Row l) { return Signed(l.clipped); })
      .Add("", "TOTAL", Unit::kNanoseconds, [](Row l) { return Signed(l.durations.sum()); });
  quantile("P50", 0.5);
  quantile("P99", 0.99);
  quantile("MAX", 1);
  columns.Add("", "KIND", Unit::kNone, [](Row l) { return LatencyKindName(l.kind); })
      .AddReason(
          "REASON", [](Row l) { return absl::string_view(l.reason); },
          [](Row l) { return l.kind == LatencyKind::kBlocked; });
  return columns.ToTable();
}

Table FunctionTable(const std::vector<TraceSummary::Function>& functions) {
  using Row = const TraceSummary::Function&;
  ColumnList<TraceSummary::Function> columns(functions);
  columns.Add("", "COUNT", Unit::kNone, [](Row f) { return Signed(f.count); })
      .Add("", "RUNNING", Unit::kNanoseconds, [](Row f) { return f.running; })
      .Add("", "RUNNABLE", Unit::kNanoseconds, [](Row f) { return f.runnable; })
      .Add("", "STOPPED", Unit::kNanoseconds, [](Row f) { return f.stopped; })
      .Add("", "SYSCALL", Unit::kNanoseconds, [](Row f) { return f.syscall; })
      .Add("", "BLOCKED", Unit::kNanoseconds, [](Row f) { return f.blocked; })
      .Add("", "STARTED IN", Unit::kNone, [](Row f) { return absl::string_view(f.name); });
  return columns.ToTable();
}

std::vector<TraceSummary::Function> OfProgram(
    const std::vector<TraceSummary::Function>& functions) {
  std::vector<TraceSummary::Function> some;
  for (const TraceSummary::Function& function : functions) {
    if (!IsOfSystem(function.name)) some.push_back(function);
  }
  return some;
}

Table SpanTable(const std::vector<TraceSummary::Span>& spans) {
  using Row = const TraceSummary::Span&;
  ColumnList<TraceSummary::Span> columns(spans);
  columns.Add("", "COUNT", Unit::kNone, [](Row s) { return Signed(s.lengths.count()); });
  const auto quantile = [&](absl::string_view title, double q) {
    columns.Add("", title, Unit::kNanoseconds,
                [=](Row s) { return Signed(s.lengths.Quantile(q)); });
  };
  quantile("P50", 0.5);
  quantile("P99", 0.99);
  quantile("MAX", 1);
  columns.Add("", "KIND", Unit::kNone, [](Row s) { return absl::string_view(s.kind); })
      .Add("", "TYPE", Unit::kNone, [](Row s) { return absl::string_view(s.type); });
  return columns.ToTable();
}

Table PlaceTable(const std::vector<TraceSummary::Place>& places) {
  using Row = const TraceSummary::Place&;
  ColumnList<TraceSummary::Place> columns(places);
  columns.Add("", "COUNT", Unit::kNone, [](Row p) { return Signed(p.count); })
      .Add("", "TOTAL", Unit::kNanoseconds, [](Row p) { return p.time; })
      .Add("", "LONGEST", Unit::kNanoseconds, [](Row p) { return p.longest; })
      .AddReason(
          "FOR",
          [](Row p) {
            return p.kind == LatencyKind::kSyscall ? LatencyKindName(p.kind)
                                                   : absl::string_view(p.reason);
          },
          [](Row) { return true; })
      .Add("", "IN", Unit::kNone, [](Row p) { return absl::string_view(p.function); });
  return columns.ToTable();
}

// "main.(*Cache).Get cache.go:17 -> sync.(*Mutex).Lock"
std::string PlaceText(const Part& place) {
  std::string text = NameOrUnknown(place.function);
  if (!place.file.empty()) {
    absl::string_view file = place.file;
    file.remove_prefix(file.find_last_of("/\\") + 1);
    absl::StrAppend(&text, " ", file, ":", place.line);
  }
  if (!place.library.empty()) absl::StrAppend(&text, " -> ", place.library);
  return text;
}

int64_t TimeOf(const std::vector<Part>& parts) {
  int64_t time = 0;
  for (const Part& part : parts) time = TraceClock::Add(time, part.time);
  return time;
}

uint64_t CountOf(const std::vector<Part>& parts) {
  uint64_t count = 0;
  for (const Part& part : parts) count += part.count;
  return count;
}

// "main.main.func1", or "main.main.func1 92.3%, main.page 7.7%": the largest parts, with their
// shares of all.
std::string LargestText(const std::vector<Part>& parts) {
  if (parts.size() == 1) return NameOrUnknown(parts[0].function);
  std::string text;
  const int64_t all = TimeOf(parts);
  int64_t rest = all;
  size_t named = 0;
  for (; named < std::min(parts.size(), kVictims); ++named) {
    const double share = ShareOf(parts[named].time, all);
    if (named > 0 && share < kNamedShare) break;
    rest = TraceClock::Subtract(rest, parts[named].time);
    absl::StrAppend(&text, named == 0 ? "" : ", ", NameOrUnknown(parts[named].function), " ",
                    Percent(share));
  }
  if (Percent(ShareOf(rest, all)) != Percent(0)) absl::StrAppend(&text, " and others");
  return text;
}

// Returns what took most of the time, in all its lines together, with the one that took most of it.
// Requires parts, most first.
Part MostOf(const std::vector<Part>& parts) {
  std::map<std::tuple<std::string, std::string, std::string>, Part> sums;
  for (const Part& part : parts) {
    const auto [known, is_new] = sums.try_emplace({part.function, part.library, part.reason}, part);
    if (!is_new) known->second.time = TraceClock::Add(known->second.time, part.time);
  }
  const auto most = absl::c_max_element(
      sums, [](const auto& a, const auto& b) { return a.second.time < b.second.time; });
  return most->second;
}

// "sleep in main.load", or "running up to main.load": the stack of a run is that at its end.
std::string DoingText(const Part& part, absl::string_view place) {
  const bool runs = part.reason == GoStateName(GoState::kRunning);
  if (place.empty()) return runs ? "running" : part.reason;
  return absl::StrCat(runs ? "running up to " : absl::StrCat(part.reason, " in "), place);
}

// " Held by main.save (98.1%), mostly sleep in main.load (97.2%).", or nothing if nobody is known.
// `by` is "Held by", and shares are of `whole`.
std::string CulpritsText(absl::string_view by, const Suspicion& suspicion, int64_t whole) {
  std::map<std::string, int64_t> times;
  for (const Part& culprit : suspicion.culprits) {
    int64_t& time = times[culprit.function];
    time = TraceClock::Add(time, culprit.time);
  }
  const auto longest =
      absl::c_max_element(times, [](const auto& a, const auto& b) { return a.second < b.second; });
  if (longest == times.end()) return "";
  const auto share = [&](int64_t time) { return Percent(ShareOf(time, whole)); };
  const Part most = MostOf(suspicion.culprits);
  const std::string place =
      most.library.empty()
          ? ""
          : PlaceText({.function = most.library, .file = most.file, .line = most.line});
  return absl::StrCat(" ", by, " ", NameOrUnknown(longest->first), " (", share(longest->second),
                      "), mostly ", DoingText(most, place), " (", share(most.time), ").");
}

// " Ended by RUnlock: 93.0%, by Unlock: 7.0%.", or nothing if it is no RWMutex.
std::string ReadersText(const Suspicion& suspicion) {
  if (suspicion.own == 0 && suspicion.peers == 0) return "";
  return absl::StrCat(" Ended by RUnlock: ", Percent(ShareOf(suspicion.own, suspicion.Cost())),
                      ", by Unlock: ", Percent(ShareOf(suspicion.peers, suspicion.Cost())), ".");
}

// " Victims: main.main.func1, main.page 12%; in tasks of type request 92.0%.", or nothing if there
// are none.
std::string VictimsText(const Suspicion& suspicion) {
  if (suspicion.victims.empty()) return "";
  std::string text = absl::StrCat(" Victims: ", LargestText(suspicion.victims));
  if (!suspicion.tasks.empty()) {
    const Part& most = suspicion.tasks.front();
    absl::StrAppend(&text, "; in tasks of type ", NameOrUnknown(most.function), " ",
                    Percent(ShareOf(most.time, suspicion.Cost())));
  }
  return absl::StrCat(text, ".");
}

// Returns the words of a text between which a line may end: a number stays with its unit, and a
// share with what it is of.
std::vector<std::string> WordsOf(absl::string_view text) {
  std::vector<std::string> words;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    const absl::string_view unit = word.substr(0, word.find_first_of(".,:;"));
    const bool is_unit = unit == "ns" || unit == "µs" || unit == "ms" || unit == "s";
    if (!words.empty() && (is_unit || absl::EndsWith(words.back(), "%"))) {
      absl::StrAppend(&words.back(), " ", word);
    } else {
      words.emplace_back(word);
    }
  }
  return words;
}

// Appends a text as lines of at most `width` columns, the first of which has `used` of them, and
// the others as much space. Words that are too long have lines of their own.
void AppendWrapped(absl::string_view text, size_t used, size_t width, TextBuffer* out) {
  size_t column = used;
  for (const std::string& word : WordsOf(text)) {
    if (column > used && column + 1 + word.size() > width) {
      out->Append("\n", std::string(used, ' '));
      column = used;
    } else if (column > used) {
      out->Append(" ");
      ++column;
    }
    out->Append(word);
    column += word.size();
  }
  out->Append("\n");
}

// Appends what the tables of goroutines leave out.
void AppendSystem(const std::vector<TraceSummary::Function>& functions, size_t width,
                  TextBuffer* out) {
  uint64_t count = 0;
  int64_t running = 0;
  int64_t runnable = 0;
  int64_t blocked = 0;
  for (const TraceSummary::Function& function : functions) {
    if (!IsOfSystem(function.name)) continue;
    count += function.count;
    running = TraceClock::Add(running, function.running);
    runnable = TraceClock::Add(runnable, function.runnable);
    blocked = TraceClock::Add(blocked, function.blocked);
  }
  if (count == 0) return;
  AppendWrapped(absl::StrCat("Not shown: ", count, " of the runtime and the tracer: ",
                             FormatNanoseconds(running), " running, ", FormatNanoseconds(runnable),
                             " runnable, ", FormatNanoseconds(blocked), " blocked"),
                /*used=*/0, width, out);
}

void AppendSuspicions(const TraceSummary& summary, size_t width, TextBuffer* out) {
  const std::vector<Suspicion> suspicions = summary.Suspicions();
  if (suspicions.empty()) {
    return out->Append(
        "\nNothing suspicious was found. To see who waits for whom: gotrace-dump locks\n");
  }
  out->Append("\nSuspicions (time that goroutines lost; 1.0 is one goroutine, all the time)\n");
  AppendSuspicionRows(absl::MakeSpan(suspicions).first(std::min(suspicions.size(), kSuspicionRows)),
                      summary, width, out);
  if (suspicions.size() > kSuspicionRows) {
    out->Append("   and ", suspicions.size() - kSuspicionRows, " more (--json)\n");
  }
}

// "12.2% of the Ps' time"
std::string ProcShareText(int64_t time, const TraceSummary& summary) {
  return absl::StrCat(Percent(ShareOf(time, summary.procs.Total())), " of the Ps' time");
}

// "tasks of type request"
std::string SlowKindText(const Suspicion& s) {
  if (s.reason == "request") return "HTTP requests";
  return absl::StrCat(s.reason, "s of type ", NameOrUnknown(s.function));
}

// "sleep in main.load main.go:7 98.2%, running up to main.serve main.go:9 1.1%; 40.0% was locks."
std::string SlowTasksText(const Suspicion& s) {
  const auto length = [&](double q) { return FormatNanoseconds(Signed(s.others.Quantile(q))); };
  std::string text = absl::StrCat(s.grown, " of ", s.others.count(), " ", SlowKindText(s),
                                  " took more than four times the median (p50 ", length(0.5),
                                  ", p99 ", length(0.99), ", up to ", length(1), ").");
  const auto share = [&](int64_t time) { return Percent(ShareOf(time, s.peers)); };
  absl::string_view before = " Where their time went: ";
  for (size_t i = 0; i < std::min(s.places.size(), kVictims); ++i) {
    const Part& part = s.places[i];
    if (i > 0 && ShareOf(part.time, s.peers) < kNamedShare) break;
    absl::StrAppend(&text, before, DoingText(part, PlaceText(part)), " ", share(part.time));
    before = ", ";
  }
  for (const Part& part : s.culprits) {
    if (ShareOf(part.time, s.peers) < kNamedShare) break;
    absl::StrAppend(&text, before, part.reason, " ", share(part.time));
    before = ", ";
  }
  return absl::StrCat(text, before == ", " ? "." : "");
}

// What goroutines of one function did while others waited for them, as a stage or as a pool.
std::string StageText(const Suspicion& s) {
  const std::string start = NameOrUnknown(s.start);
  // Goroutines that receive may be workers, or give back what a channel counts.
  std::string text =
      absl::StrCat("Others waited ", FormatNanoseconds(s.own),
                   s.kind == SuspicionKind::kPool
                       ? absl::StrCat(" to send until goroutines of ", start, " received")
                       : absl::StrCat(" to send to goroutines of ", start));
  const int64_t receive = s.Cost() - s.own;
  if (receive > 0) {
    absl::StrAppend(&text, ", and ", FormatNanoseconds(receive), " to receive from them");
  }
  absl::StrAppend(&text, ".");
  if (!s.places.empty()) {
    const Part most = MostOf(s.places);
    absl::StrAppend(&text, " What these did meanwhile: ", DoingText(most, PlaceText(most)), " ",
                    Percent(ShareOf(most.time, s.own)), ".");
  }
  return absl::StrCat(text, VictimsText(s));
}

std::string FewProcsText(const Suspicion& s, const TraceSummary& summary) {
  const double busy = ShareOf(summary.procs.Running(), summary.procs.Total());
  return absl::StrCat("Goroutines waited ", FormatNanoseconds(s.Cost()), " to run while ",
                      summary.gomaxprocs == 1 ? "the P" : "Ps", " ran others of the program (",
                      Percent(busy), " busy, GOMAXPROCS ", summary.gomaxprocs,
                      "). Running meanwhile: ", LargestText(s.culprits), ".", VictimsText(s));
}

// " (G 5)": the goroutine, whose id means something in one trace only.
std::string WhoText(const Suspicion& s, const TraceSummary& summary) {
  return summary.traces == 1 ? absl::StrCat(" (G ", s.goroutine, ")") : "";
}

std::string HogText(const Suspicion& s, const TraceSummary& summary) {
  const std::string who = WhoText(s, summary);
  const Part place = MainPlaceOf(s);
  return absl::StrCat("Goroutines of ", NameOrUnknown(s.start), " kept their P for up to ",
                      FormatNanoseconds(s.longest), who, ", ", CountOf(s.places),
                      " times for 20 ms or more",
                      place.function.empty() ? "" : absl::StrCat(", until ", PlaceText(place)),
                      ". Others waited ", FormatNanoseconds(s.Cost()), " for it.", VictimsText(s));
}

std::string AssistsText(const Suspicion& s) {
  std::string text = absl::StrCat(
      "Goroutines that allocate were in mark assists, helping the collector or waiting for it, "
      "for ",
      FormatNanoseconds(s.own), ", most in ", PlaceText(MainPlaceOf(s)), " (", CountOf(s.places),
      CountOf(s.places) == 1 ? " mark assist" : " mark assists", " in all).");
  const int64_t waited = TimeOf(s.victims);
  if (ShareOf(waited, s.Cost()) < kNamedShare) return text;
  return absl::StrCat(text, " Others waited ", FormatNanoseconds(waited), " for Ps that ran these.",
                      VictimsText(s));
}

std::string GcText(const Suspicion& s, const TraceSummary& summary) {
  std::string text = absl::StrCat(
      summary.gc_cycles, summary.gc_cycles == 1 ? " cycle" : " cycles", "; mark workers took ",
      Percent(ShareOf(s.workers, summary.procs.Running())), " of the time in which Ps were busy.");
  if (s.own > 0) {
    absl::StrAppend(&text, " Goroutines waited ", FormatNanoseconds(s.own),
                    " for cycles to begin or end, most in ", PlaceText(MainPlaceOf(s)), ".");
  } else if (!s.culprits.empty()) {
    absl::StrAppend(&text, " Most began in ", PlaceText(MainPlaceOf(s)), ".");
  }
  const uint64_t room = summary.heap_room.Quantile(0.5);
  if (summary.heap_room.count() >= kMinCycles && room < kLittleRoom) {
    absl::StrAppend(&text, " After a cycle the heap may grow by only ", room,
                    "% until the next one; a higher GOGC or memory limit makes them rarer.");
  }
  return absl::StrCat(text, VictimsText(s));
}

std::string StoppedText(const Suspicion& s, const TraceSummary& summary) {
  const uint64_t count = s.lost.count();
  std::string text = absl::StrCat(
      "The world was stopped for ", FormatNanoseconds(Signed(s.lost.sum())), " of ",
      FormatNanoseconds(summary.duration), ", ", count, count == 1 ? " time" : " times", ", up to ",
      FormatNanoseconds(Signed(s.lost.max())), ", most by ", PlaceText(MainPlaceOf(s)), ".");
  if (s.own > 0 && ShareOf(s.own, s.Cost()) >= kNamedShare) {
    absl::StrAppend(&text, " Others waited ", FormatNanoseconds(s.own),
                    " until they could stop it.");
  }
  if (!s.culprits.empty() && ShareOf(s.culprits[0].time, s.Cost() - s.own) >= kNamedShare) {
    absl::StrAppend(&text, " Last to stop was ", PlaceText(s.culprits[0]), ", after ",
                    FormatNanoseconds(s.culprits[0].time), " in all.");
  }
  return absl::StrCat(text, VictimsText(s));
}

std::string ImbalanceText(const Suspicion& s, const TraceSummary& summary) {
  const uint64_t batches = s.lost.count();
  const std::string who = WhoText(s, summary);
  return absl::StrCat("Of ", s.others.count(), " goroutines of ", NameOrUnknown(s.start),
                      ", created in ", PlaceText(MainPlaceOf(s)), ", one", who, " was busy for ",
                      FormatNanoseconds(s.longest), ", and half of them for at most ",
                      FormatNanoseconds(Signed(s.others.Quantile(0.5))),
                      batches == 1 ? "" : absl::StrCat("; so it was ", batches, " times"),
                      ". Others waited ", FormatNanoseconds(s.Cost()), " for it.",
                      CulpritsText("Busy was", s, TimeOf(s.culprits)), VictimsText(s));
}

std::string StragglerText(const Suspicion& s, const TraceSummary& summary) {
  const uint64_t batches = s.lost.count();
  const std::string who = WhoText(s, summary);
  return absl::StrCat(batches == 1 ? absl::StrCat("One of ", s.others.count())
                                   : absl::StrCat(batches, " times one of several"),
                      " goroutines of ", NameOrUnknown(s.start), ", created in ",
                      PlaceText(MainPlaceOf(s)), ", was late: up to ", FormatNanoseconds(s.longest),
                      who, ", and half of them took at most ",
                      FormatNanoseconds(Signed(s.others.Quantile(0.5))), ". Others waited ",
                      FormatNanoseconds(s.Cost()), " for it.",
                      CulpritsText("Late was", s, TimeOf(s.culprits)), VictimsText(s));
}

}  // namespace

Part MainPlaceOf(const Suspicion& s) {
  for (const std::vector<Part>* const parts : {&s.places, &s.culprits, &s.victims}) {
    // What ran while there were too few Ps is not where time was lost.
    const bool is_elsewhere = parts == &s.culprits && s.kind == SuspicionKind::kFewProcs;
    if (!parts->empty() && !is_elsewhere) return parts->front();
  }
  return {};
}

void AppendSuspicionRows(absl::Span<const Suspicion> suspicions, const TraceSummary& summary,
                         size_t width, TextBuffer* out) {
  for (const Suspicion& suspicion : suspicions) {
    const double cost = ShareOf(suspicion.Cost(), summary.duration);
    const std::string row = absl::StrFormat("%6.2f  %-9s  ", cost, SuspicionId(suspicion.kind));
    out->Append(row);
    AppendWrapped(SuspicionText(suspicion, summary), row.size(), width, out);
    out->Append(std::string(row.size(), ' '), "gotrace-dump ", CommandFor(suspicion), "\n");
  }
}

std::string SuspicionText(const Suspicion& s, const TraceSummary& summary) {
  const uint64_t count = s.lost.count();
  const std::string cost = FormatNanoseconds(s.Cost());
  const std::string p50 = FormatNanoseconds(Signed(s.lost.Quantile(0.5)));
  const std::string max = FormatNanoseconds(Signed(s.lost.max()));
  const std::string place = PlaceText(MainPlaceOf(s));
  switch (s.kind) {
    case SuspicionKind::kLock:
      return absl::StrCat(
          count, count == 1 ? " wait" : " waits", " for a lock in ", place, ": ", cost, ", up to ",
          max, Signed(s.lost.max()) == s.longest ? ", and not over when the trace ended" : "", ".",
          CulpritsText("Held by", s, s.Cost()), ReadersText(s), VictimsText(s));
    case SuspicionKind::kSyscalls:
      return absl::StrCat(count, " calls in ", place, ": ", cost, ", p50 ", p50, ", p99 ",
                          FormatNanoseconds(Signed(s.lost.Quantile(0.99))), ", up to ", max, ".",
                          VictimsText(s));
    case SuspicionKind::kTimeouts:
      return absl::StrCat(count, " of ", count + s.others.count(), " waits (", s.reason, ") in ",
                          place, " were ended by a ",
                          s.deadlines * 2 >= count ? "deadline" : "timer", " after ", p50, ": ",
                          cost, ".", VictimsText(s));
    case SuspicionKind::kPool:
      if (s.function.empty()) return StageText(s);
      return absl::StrCat("Goroutines of ", NameOrUnknown(s.start), " waited ", cost, " (",
                          s.reason, ") in ", place, ", in ", count,
                          " waits, for what others like them had.",
                          CulpritsText("Held by", s, TimeOf(s.culprits)));
    case SuspicionKind::kAnswers:
      return absl::StrCat(count, " waits (", s.reason, ") for the answer of another goroutine in ",
                          place, ": ", cost, ", p50 ", p50, ", up to ", max, ".",
                          CulpritsText("Answered by", s, s.Cost()), VictimsText(s));
    case SuspicionKind::kLeak:
      return absl::StrCat(count, " goroutines of ", NameOrUnknown(s.start), " have been blocked (",
                          s.reason, ") in ", place, " for up to ", max, ", ", s.grown,
                          " of them since the second half began: they may leak.");
    case SuspicionKind::kFewProcs:
      return FewProcsText(s, summary);
    case SuspicionKind::kIdleProcs:
      return absl::StrCat("For ", cost, ", ", ProcShareText(s.Cost(), summary),
                          ", Ps were idle although goroutines waited to run.", VictimsText(s));
    case SuspicionKind::kHog:
      return HogText(s, summary);
    case SuspicionKind::kAssists:
      return AssistsText(s);
    case SuspicionKind::kGc:
      return GcText(s, summary);
    case SuspicionKind::kStopped:
      return StoppedText(s, summary);
    case SuspicionKind::kIo:
      return absl::StrCat(count, count == 1 ? " wait" : " waits", " for the network in ", place,
                          ": ", cost, ", p50 ", p50, ", p99 ",
                          FormatNanoseconds(Signed(s.lost.Quantile(0.99))), ", up to ", max, ".",
                          CulpritsText("Answered in this program by", s, s.peers), VictimsText(s));
    case SuspicionKind::kPolling:
      return absl::StrCat(
          "Goroutines of ", NameOrUnknown(s.start), " sleep ",
          FormatNanoseconds(Signed(2 * s.lost.Quantile(0.5))), " in ", place,
          " again and again, and after ", count, " of ", count + s.others.count(),
          " sleeps there was something to do, which had waited for half of a sleep on average: ",
          cost, " in all.");
    case SuspicionKind::kYields:
      return absl::StrCat("Goroutines of ", NameOrUnknown(s.start), " gave up their P ", count,
                          " times in ", place, ", and were ready again at once: ", cost, ", p50 ",
                          p50, ". In a channel or a Cond they would wait without a P.");
    case SuspicionKind::kImbalance:
      return ImbalanceText(s, summary);
    case SuspicionKind::kStraggler:
      return StragglerText(s, summary);
    case SuspicionKind::kSlowTasks:
      return SlowTasksText(s);
    case SuspicionKind::kStage:
      return StageText(s);
  }
  return "";
}

void AppendSummaryPage(const TraceSummary& summary, size_t width, TextBuffer* out) {
  // There are no data to draw conclusions from.
  if (summary.events == 0) return out->Append("no events\n");
  if (summary.traces != 1) out->Append(summary.traces, " traces: ");
  out->Append(FormatNanoseconds(summary.duration), ", ", summary.events, " events");
  if (summary.gomaxprocs > 0) out->Append(", GOMAXPROCS ", summary.gomaxprocs);
  out->Append("\n\n");

  const ProcTimes& procs = summary.procs;
  const auto share = [&](int64_t time) { return Percent(ShareOf(time, procs.Total())); };
  constexpr absl::string_view kProcs = "Ps: ";
  out->Append(kProcs);
  AppendWrapped(
      absl::StrCat(share(procs.user), " user, ", share(procs.gc), " GC, ", share(procs.assist),
                   " assists, ", share(procs.syscall), " syscalls, ", share(procs.scheduler),
                   " scheduler, ", share(procs.idle), " idle (", share(summary.idle_while_runnable),
                   " while goroutines waited to run), ", share(procs.stopped), " stopped"),
      kProcs.size(), width, out);
  const Histogram pauses = AllOf(LatencyKind::kPause, summary).durations;
  const Histogram assists = AllOf(LatencyKind::kAssist, summary).durations;
  out->Append("GC: ", summary.gc_cycles, summary.gc_cycles == 1 ? " cycle" : " cycles");
  if (summary.max_heap > 0) {
    out->Append(", heap up to ", FormatBytes(static_cast<int64_t>(summary.max_heap)));
  }
  if (assists.count() > 0) {
    out->Append(", ", assists.count(), " assists of ", FormatNanoseconds(Signed(assists.sum())));
  }
  out->Append("\nStops of the world: ", pauses.count());
  if (pauses.count() > 0) {
    const auto stopped = Signed(pauses.sum());
    out->Append(", ", FormatNanoseconds(stopped), " in all (",
                Percent(ShareOf(stopped, summary.duration)), " of the time), p50 ",
                FormatNanoseconds(Signed(pauses.Quantile(0.5))), ", longest ",
                FormatNanoseconds(Signed(pauses.max())));
  }
  out->Append("\n");

  AppendTable("Latencies (latency)", LatencyTable(OfProgram(summary.latencies)), kLatencyRows,
              width, out);
  AppendTable("Goroutines (goroutines)", FunctionTable(OfProgram(summary.functions)), kFunctionRows,
              width, out);
  AppendSystem(summary.functions, width, out);
  AppendTable("Where goroutines waited (profile --type=offcpu)", PlaceTable(summary.places),
              kPlaceRows, width, out);

  AppendTable("Tasks, regions and requests (tasks, regions)", SpanTable(summary.spans), kSpanRows,
              width, out);

  AppendSuspicions(summary, width, out);
}

}  // namespace gotrace::internal

namespace gotrace {

std::string FormatSummary(const TraceSummary& summary, size_t width) {
  internal::TextBuffer text;
  internal::AppendSummaryPage(summary, width, &text);
  return std::string(text.view());
}

}  // namespace gotrace
