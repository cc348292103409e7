#include "parser/framing/batch_check.h"

#include "gotrace/internal/event_rules.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/internal/limits.h"
#include "tracev2/wire_reader.h"

namespace gotrace::internal {
namespace {

// Returns whether the runtime could write `value` for an argument of `type`. The limits are
// generous.
bool IsPlausible(ArgType type, uint64_t value) {
  switch (type) {
    case ArgType::kTimeDelta:
    case ArgType::kGoroutine:
      return value < uint64_t{1} << 44;
    case ArgType::kProcStatus:
    case ArgType::kGoroutineStatus:
      return value >= 1 && value <= 4;
    case ArgType::kProc:
      return value < uint64_t{1} << 20;
    case ArgType::kString:
    case ArgType::kStack:
      return value < uint64_t{1} << 26;
    case ArgType::kRaw:
    case ArgType::kSequenceNumber:
    case ArgType::kThread:
    case ArgType::kValue:
    case ArgType::kTask:
      break;
  }
  return true;
}

}  // namespace

HeadStatus ReadBatchHead(absl::string_view bytes, Version version, BatchHead* head) {
  const HeadStatus status = ParseBatchHead(bytes, head);
  if (status != HeadStatus::kOk) return status;
  const bool is_plausible = head->type == EventType::kEndOfGeneration ? version >= Version::kGo126
                                                                      : head->generation != 0;
  return is_plausible ? HeadStatus::kOk : HeadStatus::kBad;
}

uint8_t PayloadCheck::state() const {
  const int has = static_cast<int>(goroutine_) * 3 + static_cast<int>(proc_);
  return static_cast<uint8_t>(has * 16 + static_cast<int>(kind_) % 16);
}

bool PayloadCheck::Expect(Has expected, Has* has) {
  if (*has != expected && *has != Has::kUnknown) return false;
  *has = expected;
  return true;
}

bool PayloadCheck::TakeTimed(const RawEvent& event) {
  const EventRule& rule = RuleOf(event.type);
  if (rule.subject_becomes == Becomes::kStated) {
    goroutine_ = Has::kUnknown;
    proc_ = Has::kUnknown;
    return true;
  }
  if (!rule.ChangesThread()) return true;
  bool fits = true;
  if (rule.NeedsGoroutine()) fits = Expect(Has::kYes, &goroutine_);
  if (rule.goroutine == GoNeed::kNone) fits = Expect(Has::kNo, &goroutine_);
  if (rule.NeedsProc()) fits = fits && Expect(Has::kYes, &proc_);
  if (rule.proc == ProcNeed::kNone) fits = fits && Expect(Has::kNo, &proc_);

  if (rule.GoroutineLeaves()) goroutine_ = Has::kNo;
  if (rule.ProcLeaves()) proc_ = Has::kNo;
  if (rule.SubjectEnters()) {
    (rule.subject_kind() == ResourceKind::kProc ? proc_ : goroutine_) = Has::kYes;
  }
  // Another thread may take the P from the syscall, or may have taken it.
  const bool after_syscall =
      rule.proc == ProcNeed::kNotSyscall || rule.proc == ProcNeed::kSyscallIfAny;
  if (after_syscall || rule.proc_becomes == Becomes::kSyscall) proc_ = Has::kUnknown;
  return fits;
}

bool PayloadCheck::Take(const RawEvent& event) {
  const EventSpec& spec = *FindEventSpec(event.type);
  if (!VersionHas(version_, spec)) return false;
  for (int i = 0; spec.timed() && i < spec.arg_count; ++i) {
    if (!IsPlausible(spec.arg_types[i], event.args[i])) return false;
  }
  if (kind_ == EventType::kNone) {
    kind_ = spec.timed() && event.type != EventType::kClockSnapshot ? EventType::kProcStart
                                                                    : event.type;
    switch (event.type) {
      case EventType::kStrings:
      case EventType::kStacks:
      case EventType::kCPUSamples:
      case EventType::kFrequency:
      case EventType::kSync:
        return true;
      default:
        return spec.timed() && TakeTimed(event);
    }
  }
  switch (kind_) {
    case EventType::kStrings:
      return event.type == EventType::kString && event.data.size() <= kMaxStringSize;
    case EventType::kStacks:
      return event.type == EventType::kStack;
    case EventType::kCPUSamples:
      return event.type == EventType::kCPUSample;
    case EventType::kFrequency:
    case EventType::kSync:
      return event.type == EventType::kFrequency || event.type == EventType::kClockSnapshot;
    default:
      return spec.timed() && TakeTimed(event);
  }
}

Walk WalkBatches(absl::string_view bytes, bool whole) {
  Walk walk;
  const Header header = ParseHeader(bytes);
  if (header.status != HeaderStatus::kOk) return walk;
  bytes.remove_prefix(kHeaderSize);
  uint64_t generation = 0;
  RawEvent event;
  while (!bytes.empty()) {
    BatchHead head;
    const HeadStatus status = ReadBatchHead(bytes, header.version, &head);
    const bool follows = generation == 0 || head.generation == generation ||
                         head.generation == generation + 1 || head.generation == 0;
    walk.failed = status == HeadStatus::kBad || (status == HeadStatus::kOk && !follows);
    if (status != HeadStatus::kOk || walk.failed) return walk;
    if (head.generation != 0) generation = head.generation;
    bytes.remove_prefix(head.size);
    const bool is_cut = bytes.size() < head.payload_size;
    absl::string_view payload = bytes.substr(0, head.payload_size);
    bytes.remove_prefix(payload.size());
    PayloadCheck check(header.version);
    while (!payload.empty() && head.type == EventType::kEventBatch) {
      const WireResult result = DecodeRawEvent(payload, &event);
      if (is_cut && result.status == WireStatus::kTruncated) break;
      walk.failed = result.status != WireStatus::kOk || !check.Take(event);
      if (walk.failed) return walk;
      payload.remove_prefix(result.size);
    }
    if (is_cut) {
      // If the input ends inside a batch, it may be cut off, or the batch's size may be wrong.
      walk.failed = whole;
      return walk;
    }
    ++walk.batches;
  }
  return walk;
}

}  // namespace gotrace::internal
