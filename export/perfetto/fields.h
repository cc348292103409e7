// The field numbers of the Perfetto protobuf messages that we write, and the values of their enums,
// from protos/perfetto/trace/ in Perfetto v55. Numbers of protobuf fields never change.
#ifndef GOTRACE_EXPORT_PERFETTO_FIELDS_H_
#define GOTRACE_EXPORT_PERFETTO_FIELDS_H_

#include <cstdint>

namespace gotrace::internal::perfetto {

// One struct for each message.
struct Trace {
  enum : uint32_t { kPacket = 1 };
};
struct TracePacket {
  enum : uint32_t {
    kFtraceEvents = 1,
    kClockSnapshot = 6,
    kTimestamp = 8,
    kTrustedPacketSequenceId = 10,
    kTrackEvent = 11,
    kInternedData = 12,
    kSequenceFlags = 13,
    kCompressedPackets = 50,
    kTimestampClockId = 58,
    kTracePacketDefaults = 59,
    kTrackDescriptor = 60,
    kPerfSample = 66,
    kMachineId = 98,
    kGenericKernelTaskStateEvent = 117,
  };
};
struct TracePacketDefaults {
  enum : uint32_t { kTimestampClockId = 58 };
};
struct ClockSnapshot {
  enum : uint32_t { kClocks = 1, kPrimaryTraceClock = 2 };
};
struct Clock {
  enum : uint32_t { kClockId = 1, kTimestamp = 2, kIsIncremental = 3 };
};
struct InternedData {
  enum : uint32_t {
    kEventCategories = 1,
    kEventNames = 2,
    kDebugAnnotationNames = 3,
    kFunctionNames = 5,
    kFrames = 6,
    kCallstacks = 7,
    kSourcePaths = 18,
    kKernelSymbols = 26,
  };
};
struct InternedString {
  enum : uint32_t { kIid = 1, kStr = 2 };
};
struct Frame {
  enum : uint32_t { kIid = 1, kFunctionNameId = 2, kSourcePathIid = 5, kLineNumber = 6 };
};
struct Callstack {
  enum : uint32_t { kIid = 1, kFrameIds = 2 };
};
struct TrackDescriptor {
  enum : uint32_t {
    kUuid = 1,
    kName = 2,
    kProcess = 3,
    kThread = 4,
    kParentUuid = 5,
    kCounter = 8,
    kSiblingMergeBehavior = 15,
  };
};
struct ProcessDescriptor {
  enum : uint32_t { kPid = 1, kProcessName = 6 };
};
struct ThreadDescriptor {
  enum : uint32_t { kPid = 1, kTid = 2, kThreadName = 5 };
};
struct CounterDescriptor {
  enum : uint32_t { kUnit = 3 };
};
struct TrackEvent {
  enum : uint32_t {
    kCategoryIids = 3,
    kDebugAnnotations = 4,
    kType = 9,
    kNameIid = 10,
    kTrackUuid = 11,
    kCounterValue = 30,
    kDoubleCounterValue = 44,
    kFlowIds = 47,
    kTerminatingFlowIds = 48,
    kCallstackIid = 56,
  };
};
struct DebugAnnotation {
  enum : uint32_t { kNameIid = 1, kUintValue = 3, kStringValue = 6 };
};
struct FtraceEventBundle {
  enum : uint32_t { kCpu = 1, kEvent = 2, kCompactSched = 4 };
};
struct CompactSched {
  enum : uint32_t {
    kSwitchTimestamp = 1,
    kSwitchPrevState = 2,
    kSwitchNextPid = 3,
    kSwitchNextPrio = 4,
    kInternTable = 5,
    kSwitchNextCommIndex = 6,
    kWakingTimestamp = 7,
    kWakingPid = 8,
    kWakingTargetCpu = 9,
    kWakingPrio = 10,
    kWakingCommIndex = 11,
    kWakingCommonFlags = 12,
  };
};
struct FtraceEvent {
  enum : uint32_t {
    kTimestamp = 1,
    kPid = 2,
    kSchedSwitch = 4,
    kSchedBlockedReason = 18,
    kSchedWaking = 20,
  };
};
struct SchedSwitch {
  enum : uint32_t { kPrevPid = 2, kPrevState = 4, kNextComm = 5, kNextPid = 6 };
};
struct SchedWaking {
  enum : uint32_t { kComm = 1, kPid = 2, kTargetCpu = 5 };
};
struct SchedBlockedReason {
  enum : uint32_t { kPid = 1, kCaller = 2, kIoWait = 3 };
};
struct GenericKernelTaskState {
  enum : uint32_t { kCpu = 1, kComm = 2, kTid = 3, kState = 4 };
};
struct PerfSample {
  enum : uint32_t { kCpu = 1, kPid = 2, kTid = 3, kCallstackIid = 4 };
};

// Perfetto refuses scheduling events of other CPUs, and generic kernel events beyond the second.
inline constexpr int64_t kMaxFtraceCpus = 1024;
inline constexpr int32_t kMaxGenericCpu = 4095;

// TracePacket.sequence_flags.
inline constexpr uint32_t kIncrementalStateCleared = 1;
inline constexpr uint32_t kNeedsIncrementalState = 2;

// Clock ids. Ids from 64 on belong to one sequence of packets.
inline constexpr uint32_t kClockRealtime = 1;
inline constexpr uint32_t kClockMonotonic = 3;
inline constexpr uint32_t kClockBoottime = 6;
inline constexpr uint32_t kClockIncremental = 64;

// TrackEvent.type.
enum class TrackEventType : int32_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4 };

// CounterDescriptor.unit.
enum class CounterUnit : int32_t { kNone = 0, kCount = 2, kBytes = 3 };

// TrackDescriptor.sibling_merge_behavior: a track of its own, whatever its name.
inline constexpr int32_t kMergeNone = 2;

// The state in which a thread leaves a CPU, as in Linux's sched_switch.
inline constexpr uint64_t kTaskRunnable = 0;
inline constexpr uint64_t kTaskInterruptible = 1;
inline constexpr uint64_t kTaskUninterruptible = 2;
inline constexpr uint64_t kTaskDead = 16;

// GenericKernelTaskState.state.
enum class GenericTaskState : int32_t {
  kRunnable = 2,
  kRunning = 3,
  kInterruptibleSleep = 4,
  kUninterruptibleSleep = 5,
  kDestroyed = 8,
};

}  // namespace gotrace::internal::perfetto

#endif  // GOTRACE_EXPORT_PERFETTO_FIELDS_H_
