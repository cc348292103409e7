#include "export/json/json.h"

#include <optional>
#include <string>

#include "absl/strings/escaping.h"
#include "gotrace/internal/event_spec.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

void AppendResource(absl::string_view key, const ResourceId& resource, JsonWriter* json) {
  json->Members('"', key, "\":{\"kind\":\"", ResourceKindName(resource.kind),
                "\",\"id\":", resource.id, '}');
}

// Appends a task's id as a number, -1 for none, like other ids.
void AppendTaskId(absl::string_view key, TaskId id, JsonWriter* json) {
  json->Key(key);
  if (id == TaskId::kNone) {
    json->Value(int64_t{-1});
  } else {
    json->Value(id.value);
  }
}

void AppendMetric(const Metric& metric, JsonWriter* json) {
  json->Member("name", metric.name);
  json->Member("value", metric.value);
}

void AppendLabel(const Label& label, JsonWriter* json) {
  json->Member("label", label.label);
  AppendResource("resource", label.resource, json);
}

void AppendRange(const Event& event, JsonWriter* json) {
  const Range range = event.range();
  json->Member("name", absl::string_view(range.name));
  AppendResource("scope", range.scope, json);
  if (event.kind() != EventKind::kRangeEnd) return;
  json->Key("attributes");
  json->BeginObject();
  for (const RangeAttribute& attribute : event.range_attributes()) {
    json->Member(attribute.name, attribute.value);
  }
  json->EndObject();
}

void AppendTask(const Task& task, JsonWriter* json) {
  AppendTaskId("id", task.id, json);
  AppendTaskId("parent", task.parent, json);
  json->Member("type", task.type);
}

void AppendRegion(const Region& region, JsonWriter* json) {
  AppendTaskId("task", region.task, json);
  json->Member("type", region.type);
}

void AppendLog(const Log& log, JsonWriter* json) {
  AppendTaskId("task", log.task, json);
  json->Member("category", log.category);
  json->Member("message", log.message);
  // JSON cannot hold the bytes of other messages, such as ids as a tracing library writes them.
  if (!IsUtf8(log.message)) {
    json->Member("message_hex", absl::string_view(absl::BytesToHexString(log.message)));
  }
}

void AppendExperimental(const ExperimentalEvent& experimental, JsonWriter* json) {
  json->Member("name", experimental.name);
  json->Member("experiment", experimental.experiment);
  json->Key("args");
  json->BeginObject();
  for (const ExperimentalArg& arg : experimental.args) json->Member(arg.name, arg.value);
  json->EndObject();
}

void AppendClockSnapshot(const ClockSnapshot& snapshot, JsonWriter* json) {
  json->Key("clock_snapshot");
  json->BeginObject();
  json->Member("trace_time", snapshot.trace_time);
  json->Member("mono", snapshot.mono);
  json->Member("wall", absl::string_view(FormatUtc(snapshot.wall)));
  json->EndObject();
}

void AppendSync(const Sync& sync, JsonWriter* json) {
  json->Member("n", sync.n);
  if (sync.clock_snapshot.has_value()) AppendClockSnapshot(*sync.clock_snapshot, json);
  if (sync.experimental_batches.empty()) return;
  json->Key("experimental_batches");
  json->BeginArray();
  for (const ExperimentalData& data : sync.experimental_batches) {
    for (const ExperimentalBatch& batch : data.batches) {
      json->BeginObject();
      json->Member("experiment", data.experiment);
      json->Member("name", ExperimentName(data.experiment));
      json->Member("m", batch.thread.value);
      json->Member("data", absl::string_view(absl::Base64Escape(batch.data)));
      json->EndObject();
    }
  }
  json->EndArray();
}

void AppendFrames(const Stack& stack, TextBuffer* out) {
  JsonWriter json(out);
  json.BeginArray();
  const size_t size = stack.size();
  for (size_t i = 0; i < size; ++i) {
    const StackFrame frame = stack.frame(i);
    json.BeginObject();
    json.Member("func", frame.func);
    json.Member("file", frame.file);
    json.Member("line", frame.line);
    json.Member("pc", frame.pc);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string FormatUtc(absl::Time time) {
  return absl::FormatTime("%E4Y-%m-%d%ET%H:%M:%E*SZ", time, absl::UTCTimeZone());
}

std::string FormatUtcNanoseconds(absl::Time time) {
  return absl::FormatTime("%E4Y-%m-%d%ET%H:%M:%E9SZ", time, absl::UTCTimeZone());
}

JsonFormatter::JsonFormatter(bool stacks, const EventTimes* times, absl::string_view file)
    : stacks_(stacks), times_(times), stack_texts_(AppendFrames) {
  if (file.empty()) return;
  TextBuffer members;
  JsonWriter json(&members);
  AppendFileMembers(file, &json);
  file_members_ = std::string(members.view());
}

void JsonFormatter::Append(const Event& event, TextBuffer* out) {
  JsonWriter json(out);
  json.BeginObject();
  if (!file_members_.empty()) [[unlikely]] {
    json.Members(absl::string_view(file_members_));
  }
  json.Members("\"time\":", event.time(), ",\"kind\":\"", EventKindName(event.kind()), '"');
  if (event.type() != EventType::kNone) {
    json.Members("\"type\":\"", EventTypeName(event.type()), '"');
  }
  json.Members("\"m\":", event.thread().value, ",\"p\":", event.proc().value,
               ",\"g\":", event.goroutine().value, ",\"offset\":", event.offset());
  const std::optional<absl::Time> wall =
      times_ == nullptr ? std::nullopt : times_->WallTime(event.time());
  if (wall.has_value()) json.Member("wall", absl::string_view(FormatUtcNanoseconds(*wall)));
  if (event.fault().has_value()) json.Member("fault", FaultName(*event.fault()));
  AppendDetails(event, &json);
  const Stack stack = event.stack();
  if (stacks_ && !stack.none()) AppendStack(stack, &json);
  json.EndObject();
  out->Append('\n');
}

void JsonFormatter::AppendDetails(const Event& event, JsonWriter* json) {
  const auto details = [&](absl::string_view key, auto append, const auto& what) {
    json->Key(key);
    json->BeginObject();
    append(what, json);
    json->EndObject();
  };
  switch (event.kind()) {
    case EventKind::kSync:
      return details("sync", AppendSync, event.sync());
    case EventKind::kMetric:
      return details("metric", AppendMetric, event.metric());
    case EventKind::kLabel:
      return details("label", AppendLabel, event.label());
    case EventKind::kRangeBegin:
    case EventKind::kRangeActive:
    case EventKind::kRangeEnd:
      return details("range", AppendRange, event);
    case EventKind::kTaskBegin:
    case EventKind::kTaskEnd:
      return details("task", AppendTask, event.task());
    case EventKind::kRegionBegin:
    case EventKind::kRegionEnd:
      return details("region", AppendRegion, event.region());
    case EventKind::kLog:
      return details("log", AppendLog, event.log());
    case EventKind::kStateTransition:
      json->Key("state_transition");
      return AppendTransition(event.state_transition(), json);
    case EventKind::kExperimental:
      return details("experimental", AppendExperimental, event.experimental());
    case EventKind::kStackSample:
    case EventKind::kNone:
      return;
  }
}

void JsonFormatter::AppendTransition(const StateTransition& transition, JsonWriter* json) {
  const bool is_proc = transition.resource.kind == ResourceKind::kProc;
  json->BeginObject();
  AppendResource("resource", transition.resource, json);
  json->Members("\"from\":\"",
                is_proc ? ProcStateName(transition.proc_from) : GoStateName(transition.go_from),
                "\",\"to\":\"",
                is_proc ? ProcStateName(transition.proc_to) : GoStateName(transition.go_to), '"');
  json->Member("reason", transition.reason);
  if (stacks_ && !transition.stack.none()) AppendStack(transition.stack, json);
  json->EndObject();
}

void JsonFormatter::AppendStack(const Stack& stack, JsonWriter* json) {
  const absl::string_view text = stack_texts_.Find(stack);
  json->Members("\"stack\":", text);
  if (text.empty()) AppendFrames(stack, &json->out());
}

}  // namespace gotrace::internal
