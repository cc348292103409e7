#include "export/summary/summary_page.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "export/table/table.h"
#include "gotrace/summary_writer.h"

namespace gotrace::internal {
namespace {

using Suspicion = TraceSummary::Suspicion;

// The thresholds above which something may be a problem.
constexpr double kBusyShare = 0.9;               // Of the Ps: busy.
constexpr double kWastedShare = 0.05;            // Of the Ps' time: idle while goroutines wait.
constexpr double kCollectorShare = 0.25;         // Of the Ps' busy time: for mark workers.
constexpr int64_t kSlowScheduling = 10'000'000;  // The 99th percentile, in nanoseconds.
constexpr int64_t kLongRun = 20'000'000;         // Twice the time that the scheduler allows.
constexpr int64_t kSlowStop = 1'000'000;

constexpr size_t kLatencyRows = 9;
constexpr size_t kFunctionRows = 5;
constexpr size_t kPlaceRows = 5;
constexpr size_t kSuspicionRows = 5;
constexpr size_t kVictims = 3;

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

// " in requests.trace at 2084150140672"
std::string PlaceOf(const TraceSummary::Longest& longest) {
  return absl::StrCat(longest.file.empty() ? "" : absl::StrCat(" in ", longest.file), " at ",
                      longest.begin);
}

// "24.1 ms", or "at least 24.1 ms"
std::string LengthOf(const TraceSummary::Longest& longest) {
  return absl::StrCat(longest.is_clipped ? "at least " : "", FormatNanoseconds(longest.length));
}

std::string NameOrUnknown(const std::string& function) {
  return function.empty() ? "an unknown function" : function;
}

// Appends a table, indented by two columns, and without its title if it has no rows.
void AppendTable(absl::string_view title, const Table& table, size_t width, TextBuffer* out) {
  if (table.rows() == 0) return;
  out->Append("\n", title, "\n");
  table.AppendText(width, out);
}

template <class Row>
Table FirstRows(size_t rows, ColumnList<Row> columns) {
  Table table = columns.ToTable();
  table.Truncate(rows);
  return table;
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
  return FirstRows(kLatencyRows, std::move(columns));
}

Table FunctionTable(const std::vector<TraceSummary::Function>& functions) {
  using Row = const TraceSummary::Function&;
  ColumnList<TraceSummary::Function> columns(functions);
  columns.Add("", "COUNT", Unit::kNone, [](Row f) { return Signed(f.count); })
      .Add("", "RUNNING", Unit::kNanoseconds, [](Row f) { return f.running; })
      .Add("", "RUNNABLE", Unit::kNanoseconds, [](Row f) { return f.runnable; })
      .Add("", "SYSCALL", Unit::kNanoseconds, [](Row f) { return f.syscall; })
      .Add("", "BLOCKED", Unit::kNanoseconds, [](Row f) { return f.blocked; })
      .Add("", "STARTED IN", Unit::kNone, [](Row f) { return absl::string_view(f.name); });
  return FirstRows(kFunctionRows, std::move(columns));
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
  return FirstRows(kPlaceRows, std::move(columns));
}

// "main.(*Cache).Get cache.go:17 -> sync.(*Mutex).Lock"
std::string PlaceText(const Suspicion& suspicion) {
  std::string text = NameOrUnknown(suspicion.function);
  if (!suspicion.lines.empty() && !suspicion.lines[0].name.empty()) {
    absl::string_view file = suspicion.lines[0].name;
    file.remove_prefix(file.find_last_of("/\\") + 1);
    absl::StrAppend(&text, " ", file, ":", suspicion.lines[0].line);
  }
  if (!suspicion.library.empty()) absl::StrAppend(&text, " -> ", suspicion.library);
  return text;
}

// "Victims: main.main.func1, main.page 12%."
std::string VictimsText(const Suspicion& suspicion) {
  std::string text;
  for (size_t i = 0; i < std::min(suspicion.victims.size(), kVictims); ++i) {
    const Suspicion::Part& victim = suspicion.victims[i];
    absl::StrAppend(&text, i == 0 ? "Victims: " : ", ", NameOrUnknown(victim.name));
    if (suspicion.victims.size() == 1) break;
    absl::StrAppend(&text, " ", Percent(ShareOf(victim.time, suspicion.Cost())));
  }
  if (suspicion.victims.size() > kVictims) absl::StrAppend(&text, " and others");
  return absl::StrCat(text, ".");
}

// Returns the words of a text between which a line may end: a number stays with its unit.
std::vector<std::string> WordsOf(absl::string_view text) {
  std::vector<std::string> words;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    const absl::string_view unit = word.substr(0, word.find_first_of(".,:"));
    const bool is_unit = unit == "ns" || unit == "µs" || unit == "ms" || unit == "s";
    if (is_unit && !words.empty()) {
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

void AppendSuspicions(absl::Span<const Suspicion> suspicions, int64_t duration, size_t width,
                      TextBuffer* out) {
  if (suspicions.empty()) return;
  out->Append("\nSuspicions (time that goroutines lost; 1.0 is one goroutine, all the time)\n");
  for (const Suspicion& suspicion : suspicions.first(std::min(suspicions.size(), kSuspicionRows))) {
    const std::string row = absl::StrFormat("%6.2f  %-9s  ", ShareOf(suspicion.Cost(), duration),
                                            SuspicionId(suspicion.kind));
    out->Append(row);
    AppendWrapped(SuspicionText(suspicion), row.size(), width, out);
    out->Append(std::string(row.size(), ' '), "gotrace-dump ", SuspicionCommand(suspicion.kind),
                "\n");
  }
  if (suspicions.size() > kSuspicionRows) {
    out->Append("   and ", suspicions.size() - kSuspicionRows, " more (--json)\n");
  }
}

}  // namespace

std::vector<Hint> FindHints(const TraceSummary& summary) {
  std::vector<Hint> found;
  const ProcTimes& procs = summary.procs;
  const TraceSummary::Latency scheduling = AllOf(LatencyKind::kScheduling, summary);
  const int64_t p99 = Signed(scheduling.durations.Quantile(0.99));
  if (p99 >= kSlowScheduling) {
    const bool is_busy = ShareOf(procs.Busy(), procs.Total()) >= kBusyShare;
    found.push_back(
        {absl::StrCat("A goroutine in a hundred waits at least ", FormatNanoseconds(p99),
                      " for a P", is_busy ? ": there are too few of them." : "."),
         "latency --kind=scheduling --by=func"});
  }
  if (ShareOf(summary.idle_while_runnable, procs.Total()) >= kWastedShare) {
    found.push_back(
        {absl::StrCat("For ", Percent(ShareOf(summary.idle_while_runnable, procs.Total())),
                      " of their time, Ps were idle although goroutines waited to run."),
         "procs --slices=20"});
  }
  if (summary.longest_run.length >= kLongRun) {
    found.push_back({absl::StrCat("A goroutine of ", NameOrUnknown(summary.longest_run.function),
                                  " kept its P for ", LengthOf(summary.longest_run),
                                  PlaceOf(summary.longest_run), "."),
                     "profile --type=oncpu"});
  }
  const TraceSummary::Latency pauses = AllOf(LatencyKind::kPause, summary);
  if (pauses.longest.length >= kSlowStop) {
    found.push_back({absl::StrCat("The world was stopped for ", LengthOf(pauses.longest), " (",
                                  pauses.reason, ")", PlaceOf(pauses.longest), "."),
                     "gc --pauses --sort=length"});
  }
  if (ShareOf(procs.gc, procs.Busy()) >= kCollectorShare) {
    found.push_back({absl::StrCat("Mark workers of the garbage collector took ",
                                  Percent(ShareOf(procs.gc, procs.Busy())),
                                  " of the time in which Ps were busy."),
                     "gc"});
  }
  return found;
}

std::string SuspicionText(const Suspicion& s) {
  const uint64_t count = s.lost.count();
  const std::string cost = FormatNanoseconds(s.Cost());
  const std::string p50 = FormatNanoseconds(Signed(s.lost.Quantile(0.5)));
  const std::string max = FormatNanoseconds(Signed(s.lost.max()));
  const std::string place = PlaceText(s);
  switch (s.kind) {
    case SuspicionKind::kLock:
      return absl::StrCat(
          count, count == 1 ? " wait" : " waits", " for a lock in ", place, ": ", cost, ", up to ",
          max, Signed(s.lost.max()) == s.longest_open ? ", and not over when the trace ended" : "",
          ". ", VictimsText(s));
    case SuspicionKind::kSyscalls:
      return absl::StrCat(count, " calls in ", place, ": ", cost, ", p50 ", p50, ", p99 ",
                          FormatNanoseconds(Signed(s.lost.Quantile(0.99))), ", up to ", max, ". ",
                          VictimsText(s));
    case SuspicionKind::kTimeouts:
      return absl::StrCat(count, " of ", count + s.others.count(), " waits (", s.reason, ") in ",
                          place, " were ended by a ",
                          s.deadlines * 2 >= count ? "deadline" : "timer", " after ", p50, ": ",
                          cost, ". ", VictimsText(s));
    case SuspicionKind::kPool:
      return absl::StrCat("Goroutines of ", NameOrUnknown(s.start), " waited ", cost, " (",
                          s.reason, ") in ", place, ", in ", count,
                          " waits, for other goroutines of the same function.");
    case SuspicionKind::kLeak:
      return absl::StrCat(count, " goroutines of ", NameOrUnknown(s.start), " have been blocked (",
                          s.reason, ") in ", place, " for up to ", max, ", ", s.grown,
                          " of them since the second half began: they may leak.");
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
  out->Append("Ps: ", share(procs.user), " user, ", share(procs.gc), " GC, ", share(procs.assist),
              " assists, ", share(procs.syscall), " syscalls, ", share(procs.scheduler),
              " scheduler, ", share(procs.idle), " idle (", share(summary.idle_while_runnable),
              " while goroutines waited to run), ", share(procs.stopped), " stopped\n");
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
    out->Append(", p50 ", FormatNanoseconds(Signed(pauses.Quantile(0.5))), ", longest ",
                FormatNanoseconds(Signed(pauses.max())));
  }
  out->Append("\n");

  AppendTable("Latencies (latency)", LatencyTable(summary.latencies), width, out);
  AppendTable("Goroutines (goroutines)", FunctionTable(summary.functions), width, out);
  AppendTable("Where goroutines waited (profile --type=offcpu)", PlaceTable(summary.places), width,
              out);

  const std::vector<Suspicion> suspicions = summary.Suspicions();
  const std::vector<Hint> hints = FindHints(summary);
  if (suspicions.empty() && hints.empty()) out->Append("\nNothing suspicious was found.\n");
  AppendSuspicions(suspicions, summary.duration, width, out);
  if (!hints.empty()) out->Append("\nLook at\n");
  for (const Hint& hint : hints) {
    out->Append("- ", hint.what, "\n  gotrace-dump ", hint.command, "\n");
  }
}

}  // namespace gotrace::internal

namespace gotrace {

std::string FormatSummary(const TraceSummary& summary, size_t width) {
  internal::TextBuffer text;
  internal::AppendSummaryPage(summary, width, &text);
  return std::string(text.view());
}

}  // namespace gotrace
