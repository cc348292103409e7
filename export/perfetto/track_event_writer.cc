#include "export/perfetto/track_event_writer.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "export/process_bits.h"

namespace gotrace::internal {
namespace {

using perfetto::TracePacket;
using perfetto::TrackDescriptor;
using perfetto::TrackEvent;
using perfetto::TrackEventType;
using protozero::pbf_writer;

constexpr absl::string_view kCategoryNames[] = {"",      "wait",   "syscall", "region",
                                                "task",  "log",    "range",   "goroutine",
                                                "label", "thread", "alloc"};

void AddString(uint32_t field, absl::string_view text, pbf_writer* message) {
  message->add_string(field, text.data(), text.size());
}

void AddInternedString(uint32_t field, uint64_t iid, absl::string_view text, pbf_writer* message) {
  pbf_writer entry(*message, field);
  entry.add_uint64(perfetto::InternedString::kIid, iid);
  AddString(perfetto::InternedString::kStr, text, &entry);
}

void AddClock(uint32_t id, uint64_t time, bool is_incremental, pbf_writer* snapshot) {
  pbf_writer clock(*snapshot, perfetto::ClockSnapshot::kClocks);
  clock.add_uint32(perfetto::Clock::kClockId, id);
  clock.add_uint64(perfetto::Clock::kTimestamp, time);
  if (is_incremental) clock.add_bool(perfetto::Clock::kIsIncremental, true);
}

// Marks `index` in `*set`. Returns whether it was marked before.
bool TestAndSet(size_t index, std::vector<bool>* set) {
  if (index >= set->size()) set->resize(2 * index + 1);
  const bool was_set = (*set)[index];
  (*set)[index] = true;
  return was_set;
}

}  // namespace

void TrackEventWriter::Begin(int64_t time, int32_t pid, absl::string_view process_name) {
  pid_ = pid;
  salt_ = ProcessBits(static_cast<uint64_t>(pid), 64);
  last_time_ = time;
  packets_.Add([&](pbf_writer& packet) {
    AddSequence(&packet);
    packet.add_uint32(TracePacket::kSequenceFlags,
                      perfetto::kIncrementalStateCleared | perfetto::kNeedsIncrementalState);
    {
      // The times of track events are differences from the previous event.
      pbf_writer defaults(packet, TracePacket::kTracePacketDefaults);
      defaults.add_uint32(perfetto::TracePacketDefaults::kTimestampClockId,
                          perfetto::kClockIncremental);
    }
    {
      pbf_writer snapshot(packet, TracePacket::kClockSnapshot);
      AddClock(perfetto::kClockBoottime, time, /*is_incremental=*/false, &snapshot);
      AddClock(perfetto::kClockIncremental, time, /*is_incremental=*/true, &snapshot);
      snapshot.add_uint32(perfetto::ClockSnapshot::kPrimaryTraceClock, perfetto::kClockBoottime);
    }
    pbf_writer interned(packet, TracePacket::kInternedData);
    for (size_t i = 1; i < std::size(kCategoryNames); ++i) {
      AddInternedString(perfetto::InternedData::kEventCategories, i, kCategoryNames[i], &interned);
    }
  });
  packets_.Add([&](pbf_writer& packet) {
    AddSequence(&packet);
    pbf_writer track(packet, TracePacket::kTrackDescriptor);
    track.add_uint64(TrackDescriptor::kUuid, UuidOf(PerfettoTrack::Process()));
    pbf_writer process(track, TrackDescriptor::kProcess);
    process.add_int32(perfetto::ProcessDescriptor::kPid, pid);
    AddString(perfetto::ProcessDescriptor::kProcessName, process_name, &process);
  });
}

void TrackEventWriter::AddClockSnapshot(const ClockSnapshot& snapshot) {
  packets_.Add([&](pbf_writer& packet) {
    pbf_writer clocks(packet, TracePacket::kClockSnapshot);
    AddClock(perfetto::kClockBoottime, snapshot.trace_time, /*is_incremental=*/false, &clocks);
    AddClock(perfetto::kClockMonotonic, snapshot.mono, /*is_incremental=*/false, &clocks);
    AddClock(perfetto::kClockRealtime, absl::ToUnixNanos(snapshot.wall),
             /*is_incremental=*/false, &clocks);
    clocks.add_uint32(perfetto::ClockSnapshot::kPrimaryTraceClock, perfetto::kClockBoottime);
  });
}

void TrackEventWriter::DeclareThread(PerfettoTrack track, int64_t tid, absl::string_view name) {
  packets_.Add([&](pbf_writer& packet) {
    AddSequence(&packet);
    pbf_writer descriptor(packet, TracePacket::kTrackDescriptor);
    descriptor.add_uint64(TrackDescriptor::kUuid, UuidOf(track));
    pbf_writer thread(descriptor, TrackDescriptor::kThread);
    thread.add_int32(perfetto::ThreadDescriptor::kPid, pid_);
    thread.add_int64(perfetto::ThreadDescriptor::kTid, tid);
    if (!name.empty()) AddString(perfetto::ThreadDescriptor::kThreadName, name, &thread);
  });
}

void TrackEventWriter::DeclareTrack(PerfettoTrack track, absl::string_view name,
                                    PerfettoTrack parent) {
  packets_.Add([&](pbf_writer& packet) {
    AddSequence(&packet);
    pbf_writer descriptor(packet, TracePacket::kTrackDescriptor);
    descriptor.add_uint64(TrackDescriptor::kUuid, UuidOf(track));
    descriptor.add_uint64(TrackDescriptor::kParentUuid, UuidOf(parent));
    AddString(TrackDescriptor::kName, name, &descriptor);
    descriptor.add_enum(TrackDescriptor::kSiblingMergeBehavior, perfetto::kMergeNone);
  });
}

void TrackEventWriter::DeclareCounter(PerfettoTrack track, absl::string_view name,
                                      perfetto::CounterUnit unit) {
  packets_.Add([&](pbf_writer& packet) {
    AddSequence(&packet);
    pbf_writer descriptor(packet, TracePacket::kTrackDescriptor);
    descriptor.add_uint64(TrackDescriptor::kUuid, UuidOf(track));
    descriptor.add_uint64(TrackDescriptor::kParentUuid, UuidOf(PerfettoTrack::Process()));
    AddString(TrackDescriptor::kName, name, &descriptor);
    pbf_writer counter(descriptor, TrackDescriptor::kCounter);
    counter.add_enum(perfetto::CounterDescriptor::kUnit, static_cast<int32_t>(unit));
  });
}

void TrackEventWriter::SetCounter(int64_t time, PerfettoTrack track, uint64_t value) {
  packets_.Add([&](pbf_writer& packet) {
    AddTime(time, &packet);
    AddSequence(&packet);
    pbf_writer event(packet, TracePacket::kTrackEvent);
    event.add_enum(TrackEvent::kType, static_cast<int32_t>(TrackEventType::kCounter));
    event.add_uint64(TrackEvent::kTrackUuid, UuidOf(track));
    if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      event.add_int64(TrackEvent::kCounterValue, static_cast<int64_t>(value));
    } else {
      event.add_double(TrackEvent::kDoubleCounterValue, static_cast<double>(value));
    }
  });
}

std::pair<int32_t, bool> TrackEventWriter::NewTid(ResourceKind kind, int64_t id) {
  // Goroutines have small ids.
  const int32_t next = std::numeric_limits<int32_t>::max() - static_cast<int32_t>(tids_.size());
  const auto [it, is_new] = tids_.try_emplace({kind, id}, next);
  has_renamed_goroutines_ |= kind == ResourceKind::kGoroutine;
  return {it->second, is_new};
}

int32_t TrackEventWriter::TidOf(ThreadId m) {
  const auto [tid, is_new] = NewTid(ResourceKind::kThread, static_cast<int64_t>(m.value));
  if (is_new) {
    DeclareThread(PerfettoTrack::Sampled(tid), tid,
                  m == ThreadId::kNone ? "no goroutine" : absl::StrCat("M", m.value));
  }
  return tid;
}

void TrackEventWriter::AddCpuSample(int64_t time, ProcId cpu, GoId goroutine, ThreadId m,
                                    StackId stack) {
  // Without a thread, Perfetto would assume a sample of the idle thread.
  const int32_t tid = goroutine.value > 0 ? TidOf(goroutine) : TidOf(m);
  packets_.Add([&](pbf_writer& packet) {
    AddTime(time, &packet);
    AddSequence(&packet);
    {
      pbf_writer sample(packet, TracePacket::kPerfSample);
      if (cpu.value >= 0 && cpu.value < perfetto::kMaxFtraceCpus) {
        sample.add_uint32(perfetto::PerfSample::kCpu, static_cast<uint32_t>(cpu.value));
      }
      sample.add_uint32(perfetto::PerfSample::kPid, pid_);
      sample.add_uint32(perfetto::PerfSample::kTid, static_cast<uint32_t>(tid));
      if (stack != StackId::kNone) {
        sample.add_uint64(perfetto::PerfSample::kCallstackIid, InternStack(stack));
      }
    }
    AddInterned(&packet);
  });
}

void TrackEventWriter::AddEvent(int64_t time, PerfettoTrack track, TrackEventType type,
                                const PerfettoDetails& details) {
  packets_.Add([&](pbf_writer& packet) {
    AddTime(time, &packet);
    AddSequence(&packet);
    {
      pbf_writer event(packet, TracePacket::kTrackEvent);
      event.add_enum(TrackEvent::kType, static_cast<int32_t>(type));
      event.add_uint64(TrackEvent::kTrackUuid, UuidOf(track));
      if (details.name != StringId::kEmpty) {
        event.add_uint64(TrackEvent::kNameIid, Intern(kEventNames, details.name));
      }
      if (details.category != PerfettoCategory::kNone) {
        event.add_uint64(TrackEvent::kCategoryIids, static_cast<uint64_t>(details.category));
      }
      if (details.stack != StackId::kNone) {
        event.add_uint64(TrackEvent::kCallstackIid, InternStack(details.stack));
      }
      if (details.flow_out != 0) event.add_fixed64(TrackEvent::kFlowIds, details.flow_out ^ salt_);
      if (details.flow_in != 0)
        event.add_fixed64(TrackEvent::kTerminatingFlowIds, details.flow_in ^ salt_);
      for (const PerfettoAnnotation& annotation : details.annotations) {
        pbf_writer message(event, TrackEvent::kDebugAnnotations);
        message.add_uint64(perfetto::DebugAnnotation::kNameIid,
                           Intern(kAnnotationNames, annotation.name));
        if (annotation.text.has_value()) {
          AddString(perfetto::DebugAnnotation::kStringValue, *annotation.text, &message);
        } else {
          message.add_uint64(perfetto::DebugAnnotation::kUintValue, annotation.number);
        }
      }
    }
    AddInterned(&packet);
  });
}

void TrackEventWriter::AddTime(int64_t time, pbf_writer* packet) {
  if (time >= last_time_) {
    packet->add_uint64(TracePacket::kTimestamp,
                       static_cast<uint64_t>(time) - static_cast<uint64_t>(last_time_));
    last_time_ = time;
    return;
  }
  packet->add_uint64(TracePacket::kTimestamp, static_cast<uint64_t>(time));
  packet->add_uint32(TracePacket::kTimestampClockId, perfetto::kClockBoottime);
}

void TrackEventWriter::AddSequence(pbf_writer* packet) const {
  // All packets with interned data of a process belong to one sequence.
  packet->add_uint32(TracePacket::kTrustedPacketSequenceId, static_cast<uint32_t>(pid_));
}

void TrackEventWriter::AddInterned(pbf_writer* packet) {
  if (interned_.empty()) return;
  packet->add_message(TracePacket::kInternedData, interned_);
  interned_.clear();
}

uint64_t TrackEventWriter::Intern(StringKind kind, StringId text) {
  constexpr uint32_t kFields[kStringKinds] = {
      perfetto::InternedData::kEventNames, perfetto::InternedData::kDebugAnnotationNames,
      perfetto::InternedData::kFunctionNames, perfetto::InternedData::kSourcePaths,
      perfetto::InternedData::kKernelSymbols};
  const uint64_t iid = static_cast<uint64_t>(text) + 1;  // 0 is not allowed.
  if (!TestAndSet(static_cast<size_t>(text), &has_string_[kind])) {
    pbf_writer interned(interned_);
    AddInternedString(kFields[kind], iid, interner_.String(text), &interned);
  }
  return iid;
}

uint64_t TrackEventWriter::InternFrame(FrameId frame) {
  const uint64_t iid = static_cast<uint64_t>(frame) + 1;
  if (TestAndSet(static_cast<size_t>(frame), &has_frame_)) return iid;
  const InternedFrame content = interner_.FrameWithIds(frame);
  const uint64_t function = Intern(kFunctionNames, content.func);
  const uint64_t file = Intern(kSourcePaths, content.file);
  pbf_writer interned(interned_);
  pbf_writer message(interned, perfetto::InternedData::kFrames);
  message.add_uint64(perfetto::Frame::kIid, iid);
  message.add_uint64(perfetto::Frame::kFunctionNameId, function);
  message.add_uint64(perfetto::Frame::kSourcePathIid, file);
  message.add_uint64(perfetto::Frame::kLineNumber, content.line);
  return iid;
}

uint64_t TrackEventWriter::InternStack(StackId stack) {
  const uint64_t iid = static_cast<uint64_t>(stack);
  if (TestAndSet(static_cast<size_t>(stack), &has_stack_)) return iid;
  const absl::Span<const FrameId> frames = interner_.Frames(stack);
  frame_ids_.clear();
  // Perfetto expects the outermost frame first.
  for (size_t i = frames.size(); i-- > 0;) frame_ids_.push_back(InternFrame(frames[i]));
  pbf_writer interned(interned_);
  pbf_writer message(interned, perfetto::InternedData::kCallstacks);
  message.add_uint64(perfetto::Callstack::kIid, iid);
  for (const uint64_t frame : frame_ids_) {
    message.add_uint64(perfetto::Callstack::kFrameIds, frame);
  }
  return iid;
}

}  // namespace gotrace::internal
