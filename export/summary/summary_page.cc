#include "export/summary/summary_page.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "export/table/table.h"
#include "gotrace/summary_writer.h"

namespace gotrace::internal {
namespace {

// The thresholds above which something may be a problem.
constexpr double kBusyShare = 0.9;        // Of the Ps: busy.
constexpr double kWastedShare = 0.05;     // Of the Ps' time: idle while goroutines wait.
constexpr double kCollectorShare = 0.25;  // Of the Ps' busy time: for mark workers.
constexpr double kLockShare = 0.5;        // Of the trace's time: waiting for locks in one place.
constexpr int64_t kSlowScheduling = 10'000'000;  // The 99th percentile, in nanoseconds.
constexpr int64_t kLongRun = 20'000'000;         // Twice the time that the scheduler allows.
constexpr int64_t kSlowStop = 1'000'000;
constexpr uint64_t kManyLeaks = 10;

constexpr size_t kLatencyRows = 9;
constexpr size_t kFunctionRows = 5;
constexpr size_t kPlaceRows = 5;

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

}  // namespace

std::vector<Suspicion> FindSuspicions(const TraceSummary& summary) {
  std::vector<Suspicion> found;
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
  for (const TraceSummary::Place& place : summary.places) {
    const bool is_lock = place.reason == "sync" || absl::StartsWith(place.reason, "sync.");
    if (!is_lock || ShareOf(place.time, summary.duration) < kLockShare) continue;
    found.push_back(
        {absl::StrCat("Goroutines waited for a lock in ", NameOrUnknown(place.function), ": ",
                      FormatNanoseconds(place.time), " in ", place.count, " waits."),
         "profile --type=sync"});
    break;
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
  for (const TraceSummary::Leak& leak : summary.leaks) {
    if (leak.grown < kManyLeaks) continue;
    found.push_back(
        {absl::StrCat(leak.count, " goroutines of ", NameOrUnknown(leak.start),
                      " have been blocked for more than a second in ", NameOrUnknown(leak.function),
                      ", ", leak.grown, " of them since the second half: they may leak."),
         "leaks"});
    break;
  }
  return found;
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

  const std::vector<Suspicion> suspicions = FindSuspicions(summary);
  out->Append("\n", suspicions.empty() ? "Nothing suspicious was found.\n" : "Look at\n");
  for (const Suspicion& suspicion : suspicions) {
    out->Append("- ", suspicion.what, "\n  gotrace-dump ", suspicion.command, "\n");
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
