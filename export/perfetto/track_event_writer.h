// Writes Perfetto's track events: tracks with slices, instants, counters, flows and samples. Each
// name and stack is written once, and events refer to it.
#ifndef GOTRACE_EXPORT_PERFETTO_TRACK_EVENT_WRITER_H_
#define GOTRACE_EXPORT_PERFETTO_TRACK_EVENT_WRITER_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "export/perfetto/fields.h"
#include "export/perfetto/packet_writer.h"
#include "gotrace/event.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/states.h"

namespace gotrace::internal {

// The category of an event, by which users filter in Perfetto.
enum class PerfettoCategory : uint8_t {
  kNone,
  kWait,
  kSyscall,
  kRegion,
  kTask,
  kLog,
  kRange,
  kGoroutine,
  kLabel,
  kThread,
  kAlloc,
};

// The uuid of a track. Small numbers take fewer bytes.
struct PerfettoTrack {
  uint64_t uuid = 0;

  static PerfettoTrack Process() { return {1}; }
  static PerfettoTrack Gc() { return {2}; }
  static PerfettoTrack Tasks() { return {8 | 2}; }
  // Returns the track of a thread with CPU samples that is not a goroutine.
  static PerfettoTrack Sampled(int32_t tid) { return {static_cast<uint64_t>(tid) << 3 | 2}; }
  static PerfettoTrack Counter(uint64_t number) { return {number << 3 | 3}; }
  static PerfettoTrack Of(GoId id) { return {static_cast<uint64_t>(id.value) << 3 | 4}; }
  static PerfettoTrack Of(ProcId id) { return {static_cast<uint64_t>(id.value) << 3 | 5}; }
  static PerfettoTrack Of(ThreadId id) { return {static_cast<uint64_t>(id.value) << 3 | 6}; }
  static PerfettoTrack Of(TaskId id) { return {id.value << 3 | 7}; }
};

// A named value of an event: a text, or a number.
struct PerfettoAnnotation {
  StringId name;
  std::optional<absl::string_view> text = {};
  uint64_t number = 0;
};

// The optional fields of an event.
struct PerfettoDetails {
  StringId name = StringId::kEmpty;
  PerfettoCategory category = PerfettoCategory::kNone;
  StackId stack = StackId::kNone;
  uint64_t flow_out = 0;  // An arrow that begins here; it ends at the event with the same flow_in.
  uint64_t flow_in = 0;
  absl::Span<const PerfettoAnnotation> annotations = {};
};

class TrackEventWriter {
 public:
  // The pointers must outlive this object. Names and stacks are ids of `interner`.
  TrackEventWriter(PacketWriter* packets, const Interner* interner)
      : packets_(*packets), interner_(*interner) {}

  // Must be called first, with the time of the first event.
  void Begin(int64_t time, int32_t pid, absl::string_view process_name);

  // Writes the values of other clocks.
  void AddClockSnapshot(const ClockSnapshot& snapshot);

  // Tracks must be declared before they have events. A goroutine is a thread of the process; `name`
  // is optional, since scheduling events name it too.
  void DeclareGoroutine(GoId id, absl::string_view name) {
    DeclareThread(PerfettoTrack::Of(id), TidOf(id), name);
  }

  // Returns the tid of a goroutine: its id, unless Linux's scheduler, whose events Perfetto reads,
  // cannot have such an id.
  int32_t TidOf(GoId id) {
    const bool fits = id.value > 0 && id.value <= std::numeric_limits<int32_t>::max();
    return fits ? static_cast<int32_t>(id.value) : NewTid(ResourceKind::kGoroutine, id.value).first;
  }
  // Returns whether the tid of some goroutine differs from its id.
  bool has_renamed_goroutines() const { return has_renamed_goroutines_; }
  void DeclareTrack(PerfettoTrack track, absl::string_view name, PerfettoTrack parent);
  void DeclareCounter(PerfettoTrack track, absl::string_view name, perfetto::CounterUnit unit);

  void BeginSlice(int64_t time, PerfettoTrack track, const PerfettoDetails& details) {
    AddEvent(time, track, perfetto::TrackEventType::kSliceBegin, details);
  }
  // Ends the latest slice of the track that is still open.
  void EndSlice(int64_t time, PerfettoTrack track, const PerfettoDetails& details = {}) {
    AddEvent(time, track, perfetto::TrackEventType::kSliceEnd, details);
  }
  void AddInstant(int64_t time, PerfettoTrack track, const PerfettoDetails& details) {
    AddEvent(time, track, perfetto::TrackEventType::kInstant, details);
  }
  void SetCounter(int64_t time, PerfettoTrack track, uint64_t value);
  // Adds a sample of `goroutine`, or of `m` if there is no goroutine.
  void AddCpuSample(int64_t time, ProcId cpu, GoId goroutine, ThreadId m, StackId stack);

  // Makes a packet belong to the same sequence as track events, so that ids of InternKernelSymbol()
  // and AddInterned() are valid in it.
  void AddSequence(protozero::pbf_writer* packet) const;

  // Returns the id of a text as a kernel symbol. AddInterned() must follow, in the same packet.
  uint64_t InternKernelSymbol(StringId text) { return Intern(kKernelSymbols, text); }

  // Adds the data interned since the last call to a packet.
  void AddInterned(protozero::pbf_writer* packet);

 private:
  // The kinds of interned strings. Each has its own numbers in a file.
  enum StringKind {
    kEventNames,
    kAnnotationNames,
    kFunctionNames,
    kSourcePaths,
    kKernelSymbols,
    kStringKinds
  };

  uint64_t UuidOf(PerfettoTrack track) const { return track.uuid ^ salt_; }
  void DeclareThread(PerfettoTrack track, int64_t tid, absl::string_view name);

  uint64_t Intern(StringKind kind, StringId text);
  uint64_t InternStack(StackId stack);
  uint64_t InternFrame(FrameId frame);

  // Returns the tid of a thread (M) that is not a goroutine, which is declared if necessary.
  int32_t TidOf(ThreadId m);

  // Returns an assigned tid for something that has none of its own, and whether it is new.
  std::pair<int32_t, bool> NewTid(ResourceKind kind, int64_t id);

  void AddEvent(int64_t time, PerfettoTrack track, perfetto::TrackEventType type,
                const PerfettoDetails& details);
  void AddTime(int64_t time, protozero::pbf_writer* packet);

  PacketWriter& packets_;
  const Interner& interner_;
  int32_t pid_ = 1;
  uint64_t salt_ = 0;  // Makes ids of tracks and flows different from those of other processes.
  int64_t last_time_ = 0;
  std::string interned_;  // Fields of InternedData that are not written yet.

  // Whether data was already written, by id.
  std::vector<bool> has_string_[kStringKinds];
  std::vector<bool> has_frame_;
  std::vector<bool> has_stack_;
  std::vector<uint64_t> frame_ids_;  // Reused.
  absl::flat_hash_map<std::pair<ResourceKind, int64_t>, int32_t> tids_;
  bool has_renamed_goroutines_ = false;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PERFETTO_TRACK_EVENT_WRITER_H_
