#include "tools/info.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_format.h"
#include "export/json/json.h"
#include "export/json/json_text.h"
#include "export/report/report_text.h"
#include "parser/event/trace_clock.h"
#include "tools/open_trace.h"
#include "tools/salvage.h"

namespace gotrace::internal {
namespace {

bool IsNewGoroutine(const Event& event, const StateTransition& transition, TraceInfo* info) {
  const bool begins =
      transition.go_from == GoState::kNotExist || transition.go_from == GoState::kUndetermined;
  // The goroutines that C's calls of Go run on come and go under the same ids. All others come
  // once, and are too many to be remembered.
  const bool may_return =
      event.type() != EventType::kGoCreate && event.type() != EventType::kGoCreateBlocked;
  return begins &&
         (!may_return || info->returning_goroutines.insert(transition.resource.id).second);
}

void CountTransition(const Event& event, TraceInfo* info) {
  const StateTransition transition = event.state_transition();
  if (transition.resource.kind == ResourceKind::kGoroutine) {
    info->goroutines += IsNewGoroutine(event, transition, info);
  } else {
    info->procs.insert(transition.resource.id);
  }
}

void BeginGeneration(const Reader& reader, const Event& event, TraceInfo* info) {
  const Sync sync = event.sync();
  if (sync.clock_snapshot.has_value() && !info->wall_begin.has_value()) {
    info->wall_begin =
        sync.clock_snapshot->wall -
        absl::Nanoseconds(TraceClock::Subtract(sync.clock_snapshot->trace_time, info->begin));
  }
  info->bytes = event.offset();
  const GenerationInfo& current = reader.generation();
  const bool is_new = info->generations.empty() ||
                      info->generations.back().info.begin_offset != current.begin_offset;
  // The last kSync event begins no generation.
  if (!is_new || current.batches == 0) return;
  info->generations.push_back({current, event.time(), event.time(), 0});
}

void Count(const Reader& reader, const Event& event, TraceInfo* info) {
  if (info->events++ == 0) info->begin = info->end = event.time();
  // With what waited for lost events, times go back.
  info->end = std::max(info->end, event.time());
  ++info->by_kind[static_cast<size_t>(event.kind())];
  if (event.kind() == EventKind::kStateTransition) CountTransition(event, info);
  if (event.thread() != ThreadId::kNone) info->threads.insert(event.thread());
  const size_t before = info->generations.size();
  if (event.kind() == EventKind::kSync) BeginGeneration(reader, event, info);
  const bool ends_trace = event.kind() == EventKind::kSync && info->generations.size() == before;
  if (info->generations.empty() || ends_trace) return;
  TraceInfo::Generation& generation = info->generations.back();
  generation.end = std::max(generation.end, event.time());
  ++generation.events;
}

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

const TraceInfo::Generation* TraceInfo::TimelessGeneration() const {
  const auto found = std::find_if(generations.begin(), generations.end(), [](const Generation& g) {
    return g.info.frequency.has_value() && !IsPlausibleFrequency(*g.info.frequency);
  });
  return found == generations.end() ? nullptr : &*found;
}

absl::Status CollectInfo(Reader* reader, Progress* progress, TraceInfo* info) {
  info->version = reader->version();
  while (const Event* event = reader->Next()) {
    Count(*reader, *event, info);
    if (progress->Due()) {
      progress->Show({reader->input_read(), reader->input_size(), info->events});
    }
  }
  // After a fault what was read is more than the last event tells.
  info->bytes = std::max(info->bytes, reader->generation().end_offset);
  info->losses = reader->losses();
  return info->status = reader->status();
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
  out->Append(absl::StrFormat("Ps           %d\n", info.procs.size()));
  out->Append(absl::StrFormat("threads      %d\n", info.threads.size()));

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
  JsonWriter json(out);
  json.BeginObject();
  AppendFileMembers(file, &json);
  json.Member("version",
              absl::string_view(absl::StrFormat("1.%d", static_cast<uint32_t>(info.version))));
  AppendCompleteness(info.status, info.losses, &json);
  if (info.wall_begin.has_value() && info.has_times()) {
    json.Member("wall_begin", absl::string_view(FormatUtc(*info.wall_begin)));
  }
  if (info.has_times()) {
    json.Member("begin", info.begin);
    json.Member("end", info.end);
    json.Member("duration", TraceClock::Subtract(info.end, info.begin));
  }
  json.Member("bytes", info.bytes);
  AppendTracesJson(info.traces, &json);
  json.Member("events", info.events);
  json.Member("goroutines", info.goroutines);
  json.Member("procs", uint64_t{info.procs.size()});
  json.Member("threads", uint64_t{info.threads.size()});
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
    if (info.has_times()) {
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
