// Each part of a summary is described once, by a function that visits its members: a writer and a
// reader of JSON are its visitors.
#include "export/summary/summary_json.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "export/json/json_text.h"
#include "export/summary/summary_page.h"
#include "export/summary/suspicion_command.h"
#include "gotrace/summary_writer.h"
#include "nlohmann/json.hpp"
#include "util/text_buffer.h"

namespace gotrace::internal {
namespace {

using Json = nlohmann::json;

// Calls `visit(name, member)` for each member. T is the type, or the const type.
template <class T, class Visit>
void VisitTimes(T& times, const Visit& visit) {
  visit("user_ns", times.user);
  visit("gc_ns", times.gc);
  visit("assist_ns", times.assist);
  visit("syscall_ns", times.syscall);
  visit("scheduler_ns", times.scheduler);
  visit("idle_ns", times.idle);
  visit("stopped_ns", times.stopped);
}

template <class T, class Visit>
void VisitReady(T& ready, const Visit& visit) {
  const auto cause = [&](const char* name, ReadyCause one) {
    visit(name, ready.by_cause[static_cast<size_t>(one)]);
  };
  cause("stopped_ns", ReadyCause::kStopped);
  cause("tracer_ns", ReadyCause::kTracer);
  cause("idle_ps_ns", ReadyCause::kIdleProcs);
  cause("program_ns", ReadyCause::kProgram);
  cause("long_runs_ns", ReadyCause::kLongRun);
  cause("assists_ns", ReadyCause::kAssist);
  cause("gc_ns", ReadyCause::kGc);
  cause("other_ns", ReadyCause::kOther);
}

template <class T, class Visit>
void VisitLongest(T& longest, const Visit& visit) {
  visit("length_ns", longest.length);
  visit("clipped", longest.is_clipped);
  visit("file", longest.file);
  visit("begin_ns", longest.begin);
  visit("g", longest.goroutine);
  visit("function", longest.function);
}

template <class T, class Visit>
void VisitLatency(T& latency, const Visit& visit) {
  visit("kind", latency.kind);
  visit("reason", latency.reason);
  visit("clipped", latency.clipped);
  visit("durations", latency.durations);
  visit("longest", latency.longest);
  visit("of_program", latency.of_program);
  visit("clipped_of_program", latency.clipped_of_program);
}

template <class T, class Visit>
void VisitSpan(T& span, const Visit& visit) {
  visit("kind", span.kind);
  visit("type", span.type);
  visit("lengths", span.lengths);
}

template <class T, class Visit>
void VisitFunction(T& function, const Visit& visit) {
  visit("name", function.name);
  visit("count", function.count);
  visit("running_ns", function.running);
  visit("runnable_ns", function.runnable);
  visit("stopped_ns", function.stopped);
  visit("syscall_ns", function.syscall);
  visit("blocked_ns", function.blocked);
}

template <class T, class Visit>
void VisitPlace(T& place, const Visit& visit) {
  visit("kind", place.kind);
  visit("reason", place.reason);
  visit("function", place.function);
  visit("count", place.count);
  visit("time_ns", place.time);
  visit("longest_ns", place.longest);
}

template <class T, class Visit>
void VisitLeak(T& leak, const Visit& visit) {
  visit("start", leak.start);
  visit("reason", leak.reason);
  visit("function", leak.function);
  visit("count", leak.count);
  visit("grown", leak.grown);
  visit("longest_ns", leak.longest);
}

template <class T, class Visit>
void VisitPart(T& part, const Visit& visit) {
  visit("function", part.function);
  visit("library", part.library);
  visit("file", part.file);
  visit("line", part.line);
  visit("count", part.count);
  visit("time_ns", part.time);
  visit("reason", part.reason);
}

template <class T, class Visit>
void VisitCandidate(T& candidate, const Visit& visit) {
  visit("id", candidate.kind);
  visit("reason", candidate.reason);
  visit("start", candidate.start);
  visit("function", candidate.function);
  visit("library", candidate.library);
  visit("line", candidate.line);
  visit("lost", candidate.lost);
  visit("others", candidate.others);
  visit("charged_ns", candidate.charged);
  visit("longest_ns", candidate.longest);
  visit("g", candidate.goroutine);
  visit("deadlines", candidate.deadlines);
  visit("asked", candidate.asked);
  visit("answered", candidate.answered);
  visit("goroutines", candidate.goroutines);
  visit("grown", candidate.grown);
  visit("empty", candidate.empty);
  visit("runs", candidate.runs);
  visit("own_ns", candidate.own);
  visit("peers_ns", candidate.peers);
  visit("workers_ns", candidate.workers);
  visit("places", candidate.places);
  visit("culprits", candidate.culprits);
  visit("victims", candidate.victims);
  visit("tasks", candidate.tasks);
}

template <class T, class Visit>
void VisitGeneration(T& generation, const Visit& visit) {
  visit("begin_ns", generation.begin);
  visit("wall_ns", generation.wall);
}

template <class T, class Visit>
void VisitSummary(T& summary, const Visit& visit) {
  visit("traces", summary.traces);
  visit("events", summary.events);
  visit("duration_ns", summary.duration);
  visit("gomaxprocs", summary.gomaxprocs);
  visit("procs", summary.procs);
  visit("runnable_ns", summary.runnable);
  visit("wasted_ns", summary.idle_while_runnable);
  visit("ready", summary.ready);
  visit("gc_cycles", summary.gc_cycles);
  visit("max_heap_bytes", summary.max_heap);
  visit("heap_room_percent", summary.heap_room);
  visit("latencies", summary.latencies);
  visit("functions", summary.functions);
  visit("places", summary.places);
  visit("leaks", summary.leaks);
  visit("spans", summary.spans);
  visit("longest_run", summary.longest_run);
  visit("generations", summary.generations);
  visit("candidates", summary.candidates);
}

class Writer {
 public:
  explicit Writer(JsonWriter* json) : json_(*json) {}

  // Writes a member.
  template <class T>
  void operator()(absl::string_view name, const T& value) const {
    json_.Key(name);
    Write(value);
  }

 private:
  void Write(bool flag) const { json_.Bool(flag); }
  void Write(uint64_t number) const { json_.Value(number); }
  void Write(int64_t number) const { json_.Value(number); }
  void Write(const std::string& text) const { json_.Value(absl::string_view(text)); }
  void Write(LatencyKind kind) const { json_.Value(LatencyKindName(kind)); }
  void Write(SuspicionKind kind) const { json_.Value(SuspicionId(kind)); }
  void Write(const Histogram& histogram) const {
    json_.BeginObject();
    json_.Member("scale", int64_t{Histogram::kScale});
    json_.Member("sum", histogram.sum());
    json_.Member("min", histogram.min());
    json_.Member("max", histogram.max());
    json_.Member("offset", int64_t{histogram.first_bucket()});
    json_.Key("counts");
    json_.BeginArray();
    for (const uint64_t count : histogram.counts()) json_.Value(count);
    json_.EndArray();
    json_.EndObject();
  }
  template <class T>
  void Write(const std::vector<T>& rows) const {
    json_.BeginArray();
    for (const T& row : rows) Write(row);
    json_.EndArray();
  }

#define GOTRACE_OBJECT(type, visit_members) \
  void Write(const type& object) const {    \
    json_.BeginObject();                    \
    visit_members(object, *this);           \
    json_.EndObject();                      \
  }
  GOTRACE_OBJECT(ProcTimes, VisitTimes)
  GOTRACE_OBJECT(ReadyTimes, VisitReady)
  GOTRACE_OBJECT(TraceSummary::Longest, VisitLongest)
  GOTRACE_OBJECT(TraceSummary::Latency, VisitLatency)
  GOTRACE_OBJECT(TraceSummary::Function, VisitFunction)
  GOTRACE_OBJECT(TraceSummary::Place, VisitPlace)
  GOTRACE_OBJECT(TraceSummary::Leak, VisitLeak)
  GOTRACE_OBJECT(TraceSummary::Span, VisitSpan)
  GOTRACE_OBJECT(TraceSummary::Generation, VisitGeneration)
  GOTRACE_OBJECT(TraceSummary::Suspicion::Part, VisitPart)
  GOTRACE_OBJECT(TraceSummary::Suspicion, VisitCandidate)
#undef GOTRACE_OBJECT

  JsonWriter& json_;
};

// Reads the members of one object. After the first error, `*error` says what is wrong.
class ObjectReader {
 public:
  // `path` is where the object is: "latencies[3]", or "".
  ObjectReader(const Json& object, std::string path, std::string* error)
      : object_(object), path_(std::move(path)), error_(*error) {
    if (!object_.is_object()) Fail(path_, "an object");
  }

  // Reads a member.
  template <class T>
  void operator()(const char* name, T& value) const {
    if (!error_.empty()) return;
    const std::string path = path_.empty() ? name : absl::StrCat(path_, ".", name);
    const auto found = object_.find(name);
    if (found == object_.end()) {
      error_ = absl::StrCat("the member \"", path, "\" is missing");
      return;
    }
    Read(*found, path, value);
  }

 private:
  void Fail(const std::string& path, absl::string_view expected) const {
    error_ = path.empty() ? absl::StrCat("it is not ", expected)
                          : absl::StrCat("\"", path, "\" is not ", expected);
  }

  void Read(const Json& json, const std::string& path, bool& flag) const {
    if (!json.is_boolean()) return Fail(path, "true or false");
    flag = json.get<bool>();
  }
  void Read(const Json& json, const std::string& path, uint64_t& number) const {
    if (!json.is_number_unsigned()) return Fail(path, "a number from 0 on");
    number = json.get<uint64_t>();
  }
  void Read(const Json& json, const std::string& path, int64_t& number) const {
    const bool is_too_large = json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX;
    if (!json.is_number_integer() || is_too_large) return Fail(path, "an integer");
    number = json.get<int64_t>();
  }
  void Read(const Json& json, const std::string& path, std::string& text) const {
    if (!json.is_string()) return Fail(path, "a string");
    text = json.get<std::string>();
  }
  void Read(const Json& json, const std::string& path, LatencyKind& kind) const {
    for (size_t i = 0; i < kLatencyKindEnd; ++i) {
      kind = static_cast<LatencyKind>(i);
      if (json.is_string() && json.get<std::string>() == LatencyKindName(kind)) return;
    }
    Fail(path, "the name of a kind");
  }
  void Read(const Json& json, const std::string& path, SuspicionKind& kind) const {
    for (size_t i = 0; i < kSuspicionKindEnd; ++i) {
      kind = static_cast<SuspicionKind>(i);
      if (json.is_string() && json.get<std::string>() == SuspicionId(kind)) return;
    }
    Fail(path, "the id of a suspicion");
  }
  void Read(const Json& json, const std::string& path, Histogram& histogram) const {
    uint64_t scale = 0;
    uint64_t sum = 0;
    uint64_t min = 0;
    uint64_t max = 0;
    uint64_t offset = 0;
    std::vector<uint64_t> counts;
    const internal::ObjectReader read(json, path, &error_);
    read("scale", scale);
    read("sum", sum);
    read("min", min);
    read("max", max);
    read("offset", offset);
    read("counts", counts);
    if (!error_.empty()) return;
    std::optional<Histogram> known;
    if (scale == Histogram::kScale && offset < Histogram::kBuckets) {
      known = Histogram::FromCounts(static_cast<int>(offset), std::move(counts), sum, min, max);
    }
    if (!known.has_value()) return Fail(path, "a histogram");
    histogram = *std::move(known);
  }
  template <class T>
  void Read(const Json& json, const std::string& path, std::vector<T>& rows) const {
    if (!json.is_array()) return Fail(path, "an array");
    for (size_t i = 0; i < json.size() && error_.empty(); ++i) {
      Read(json[i], absl::StrCat(path, "[", i, "]"), rows.emplace_back());
    }
  }

#define GOTRACE_OBJECT(type, visit_members)                                  \
  void Read(const Json& json, const std::string& path, type& object) const { \
    const internal::ObjectReader read(json, path, &error_);                  \
    if (error_.empty()) visit_members(object, read);                         \
  }
  GOTRACE_OBJECT(ProcTimes, VisitTimes)
  GOTRACE_OBJECT(ReadyTimes, VisitReady)
  GOTRACE_OBJECT(TraceSummary::Longest, VisitLongest)
  GOTRACE_OBJECT(TraceSummary::Latency, VisitLatency)
  GOTRACE_OBJECT(TraceSummary::Function, VisitFunction)
  GOTRACE_OBJECT(TraceSummary::Place, VisitPlace)
  GOTRACE_OBJECT(TraceSummary::Leak, VisitLeak)
  GOTRACE_OBJECT(TraceSummary::Span, VisitSpan)
  GOTRACE_OBJECT(TraceSummary::Generation, VisitGeneration)
  GOTRACE_OBJECT(TraceSummary::Suspicion::Part, VisitPart)
  GOTRACE_OBJECT(TraceSummary::Suspicion, VisitCandidate)
#undef GOTRACE_OBJECT

  const Json& object_;
  const std::string path_;
  std::string& error_;
};

// Writes a candidate that is suspected as readers want it. It is not read again, since it follows
// from the candidates.
void AppendSuspicion(const TraceSummary::Suspicion& suspicion, const TraceSummary& summary,
                     JsonWriter* json) {
  const Writer write(json);
  json->BeginObject();
  json->Member("id", SuspicionId(suspicion.kind));
  json->Member("cost_ns", suspicion.Cost());
  const bool is_of_tasks = suspicion.kind == SuspicionKind::kSlowTasks;
  const Histogram& lengths = is_of_tasks ? suspicion.others : suspicion.lost;
  uint64_t count = 0;
  for (const TraceSummary::Suspicion::Part& part : suspicion.places) count += part.count;
  if (is_of_tasks) count = suspicion.grown;
  json->Member("count", count);
  json->Member("p50_ns", lengths.Quantile(0.5));
  json->Member("p99_ns", lengths.Quantile(0.99));
  json->Member("max_ns", lengths.max());
  json->Key("place");
  json->BeginObject();
  const TraceSummary::Suspicion::Part place = MainPlaceOf(suspicion);
  write("function", place.function);
  write("file", place.file);
  write("line", place.line);
  write("library", place.library);
  json->EndObject();
  write("culprits", suspicion.culprits);
  write("victims", suspicion.victims);
  write("tasks", suspicion.tasks);
  json->Member("text", absl::string_view(SuspicionText(suspicion, summary)));
  json->Member("command", absl::string_view(CommandFor(suspicion)));
  json->EndObject();
}

}  // namespace

void AppendSummaryMembers(const TraceSummary& summary, JsonWriter* json) {
  VisitSummary(summary, Writer(json));
  json->Key("suspicions");
  AppendSuspicions(summary.Suspicions(), summary, json);
}

void AppendSuspicions(absl::Span<const TraceSummary::Suspicion> suspicions,
                      const TraceSummary& summary, JsonWriter* json) {
  json->BeginArray();
  for (const TraceSummary::Suspicion& suspicion : suspicions) {
    AppendSuspicion(suspicion, summary, json);
  }
  json->EndArray();
}

}  // namespace gotrace::internal

namespace gotrace {

std::string FormatSummaryJson(const TraceSummary& summary) {
  internal::TextBuffer text;
  internal::JsonWriter json(&text);
  json.BeginObject();
  internal::AppendSummaryMembers(summary, &json);
  json.EndObject();
  text.Append('\n');
  return std::string(text.view());
}

absl::StatusOr<TraceSummary> ParseSummary(absl::string_view text) {
  using internal::Json;
  const Json json =
      Json::parse(text.begin(), text.end(), /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return absl::InvalidArgumentError("it is not JSON");
  if (json.is_object() && json.contains("error") && !json.contains("traces")) {
    return absl::NotFoundError("it is of a trace that could not be read");
  }
  TraceSummary summary;
  std::string error;
  const internal::ObjectReader read(json, "", &error);
  if (error.empty()) internal::VisitSummary(summary, read);
  if (!error.empty()) return absl::InvalidArgumentError(error);
  return summary;
}

}  // namespace gotrace
