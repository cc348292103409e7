#include "tools/commands/info.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_format.h"
#include "export/json/json.h"
#include "export/json/json_text.h"
#include "export/report/report_text.h"
#include "parser/event/trace_clock.h"
#include "tools/input/open_trace.h"
#include "tools/input/salvage.h"

namespace gotrace::internal {
namespace {

std::string FormatWallBegin(const TraceInfo& info) {
  if (info.TimelessGeneration() != nullptr) return "unknown";
  if (info.wall_begin.has_value()) return FormatUtc(*info.wall_begin);
  return info.version < Version::kGo125 ? "not in the trace (since Go 1.25)" : "unknown";
}

// The time from `begin` to `end`, both in nanoseconds, in seconds.
double Seconds(int64_t begin, int64_t end) {
  return static_cast<double>(TraceClock::Subtract(end, begin)) / 1e9;
}

}  // namespace

absl::Status CollectInfo(Reader* reader, Progress* progress, TraceInfo* info) {
  TraceInfoCollector collector(reader);
  while (const Event* event = reader->Next()) {
    collector.Add({event, 1});
    if (progress->Due()) {
      progress->Show({reader->input_read(), reader->input_size(), collector.info().events});
    }
  }
  const absl::Status status = collector.Finish();
  *info = collector.info();
  return status.ok() ? info->status : status;
}

void AppendInfo(const TraceInfo& info, TextBuffer* out) {
  out->Append(absl::StrFormat("version      1.%d (%s)\n", static_cast<uint32_t>(info.version),
                              WrittenBy(info.version)));
  if (const absl::string_view why = WhyIncomplete(info.status, info.losses); !why.empty()) {
    out->Append("complete     no, ", why, '\n');
  }
  const size_t listed = std::min(info.traces.size(), kMaxListedTraces);
  for (size_t i = 0; i < listed; ++i) {
    out->Append(absl::StrFormat("%-12s %s\n", i == 0 ? "in the file" : "",
                                DescribeTrace(info.traces[i], i + 1)));
  }
  if (const size_t more = info.traces.size() - listed; more > 0) {
    out->Append(
        absl::StrFormat("%-12s and %d more %s\n", "", more, more == 1 ? "trace" : "traces"));
  }
  out->Append(absl::StrFormat("wall clock   %s\n", FormatWallBegin(info)));
  const TraceInfo::Generation* const timeless = info.TimelessGeneration();
  if (timeless != nullptr) {
    out->Append(absl::StrFormat(
        "duration     unknown: generation %d states %d ticks of the trace clock per second\n",
        timeless->info.number, *timeless->info.frequency));
  } else {
    out->Append(info.has_times()
                    ? absl::StrFormat("duration     %.6f s\n", Seconds(info.begin, info.end))
                    : "duration     unknown\n");
  }
  out->Append(absl::StrFormat("bytes        %d\n", info.bytes));
  out->Append(absl::StrFormat("events       %d\n", info.events));
  out->Append(absl::StrFormat("goroutines   %d\n", info.goroutines));
  out->Append(absl::StrFormat("Ps           %d\n", info.procs));
  out->Append(absl::StrFormat("threads      %d\n", info.threads));

  out->Append("\nEvents by kind:\n");
  for (int kind = 0; kind < kEventKindEnd; ++kind) {
    if (info.by_kind[kind] == 0) continue;
    out->Append(absl::StrFormat("  %-16s %12d\n", EventKindName(static_cast<EventKind>(kind)),
                                info.by_kind[kind]));
  }

  if (info.generations.empty()) return;
  out->Append(absl::StrFormat("\nGenerations:\n  %10s %12s %12s %12s %12s %8s %8s %8s %8s\n",
                              "number", "from s", "to s", "bytes", "events", "batches", "threads",
                              "strings", "stacks"));
  const auto seconds = [&](int64_t time) {
    return timeless == nullptr ? absl::StrFormat("%12.6f", Seconds(info.begin, time)) : "unknown";
  };
  for (const TraceInfo::Generation& g : info.generations) {
    out->Append(absl::StrFormat("  %10d %12s %12s %12d %12d %8d %8d %8d %8d\n", g.info.number,
                                seconds(g.begin), seconds(g.end),
                                g.info.end_offset - g.info.begin_offset, g.events, g.info.batches,
                                g.info.threads, g.info.strings, g.info.stacks));
  }
}

void AppendInfoJson(absl::string_view file, const TraceInfo& info, TextBuffer* out) {
  const bool has_times = info.has_times();  // It looks at all generations.
  JsonWriter json(out);
  json.BeginObject();
  AppendFileMembers(file, &json);
  json.Member("version",
              absl::string_view(absl::StrFormat("1.%d", static_cast<uint32_t>(info.version))));
  AppendCompleteness(info.status, info.losses, &json);
  if (info.wall_begin.has_value() && has_times) {
    json.Member("wall_begin", absl::string_view(FormatUtc(*info.wall_begin)));
  }
  if (has_times) {
    json.Member("begin", info.begin);
    json.Member("end", info.end);
    json.Member("duration", TraceClock::Subtract(info.end, info.begin));
  }
  json.Member("bytes", info.bytes);
  AppendTracesJson(info.traces, &json);
  json.Member("events", info.events);
  json.Member("goroutines", info.goroutines);
  json.Member("procs", info.procs);
  json.Member("threads", info.threads);
  json.Key("events_by_kind");
  json.BeginObject();
  for (int kind = 0; kind < kEventKindEnd; ++kind) {
    if (info.by_kind[kind] == 0) continue;
    json.Member(EventKindName(static_cast<EventKind>(kind)), info.by_kind[kind]);
  }
  json.EndObject();
  json.Key("generations");
  json.BeginArray();
  for (const TraceInfo::Generation& g : info.generations) {
    json.BeginObject();
    json.Member("number", g.info.number);
    if (has_times) {
      json.Member("begin", g.begin);
      json.Member("end", g.end);
    }
    json.Member("offset", g.info.begin_offset);
    json.Member("bytes", g.info.end_offset - g.info.begin_offset);
    json.Member("events", g.events);
    json.Member("batches", g.info.batches);
    json.Member("threads", g.info.threads);
    json.Member("strings", g.info.strings);
    json.Member("stacks", g.info.stacks);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  out->Append('\n');
}

}  // namespace gotrace::internal
