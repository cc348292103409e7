#include "gotrace/check.h"

namespace gotrace {
namespace {

struct Remedy {
  absl::string_view text;       // As CheckSpec::remedy.
  bool is_shown = false;        // As ShowsRemedy().
  bool is_recoverable = false;  // As CheckSpec::is_recoverable.
};

// Many faults share a remedy.
constexpr Remedy RemedyOf(FaultId id) {
  switch (id) {
    case FaultId::kNotATrace:
      return {
          "Use the file that trace.Start or the flight recorder wrote, complete and unchanged."};
    case FaultId::kV1Trace:
      return {
          "Open it with `go tool trace` of the Go release that the message names, or build the "
          "program with Go 1.22 or later."};
    case FaultId::kUnknownVersion:
      return {"Use a newer gotrace, or check whether the header was altered."};
    case FaultId::kTransportCorrupt:
      return {
          .text =
              "Fetch or copy the file again; repairing or salvaging recovers everything before the "
              "damage.",
          .is_recoverable = true};
    case FaultId::kBytesReplaced:
      return {"Record or copy the trace again, in binary mode and never as a string."};
    case FaultId::kCompressedCorrupt:
      return {"Fetch or copy the file again, in binary mode."};
    case FaultId::kHeaderTruncated:
      return {.text =
                  "Nothing can be recovered: make sure the program calls trace.Stop and closes the "
                  "file before it exits, and copy the file only then.",
              .is_shown = true};
    case FaultId::kCompressedTruncated:
    case FaultId::kBatchHeaderTruncated:
    case FaultId::kBatchTruncated:
    case FaultId::kGenerationIncomplete:
    case FaultId::kEventTruncated:
      return {.text =
                  "Make sure the program calls trace.Stop and closes the file before it exits, and "
                  "copy the file only then; repairing or salvaging recovers what is there.",
              .is_shown = id != FaultId::kEventTruncated,
              .is_recoverable = true};
    case FaultId::kTextInTrace:
      return {
          .text = "Write the trace to a file that nothing else writes to, not to standard output.",
          .is_shown = true};
    case FaultId::kBatchType:
    case FaultId::kBatchHeaderVarint:
    case FaultId::kBatchSize:
    case FaultId::kBatchMisfit:
      return {.text =
                  "Find out what changed the file: a copy in text mode, another writer, a damaged "
                  "disk; repairing or salvaging recovers the intact batches.",
              .is_recoverable = true};
    case FaultId::kGenerationZero:
    case FaultId::kGenerationOrder:
    case FaultId::kGenerationMixed:
    case FaultId::kEndOfGenerationEvent:
      return {
          .text =
              "Check whether parts of the file are missing, duplicated, swapped or from another "
              "trace; repairing or salvaging recovers the generations that can be distinguished.",
          .is_shown = id == FaultId::kGenerationOrder || id == FaultId::kGenerationMixed,
          .is_recoverable = true};
    case FaultId::kNoFrequency:
    case FaultId::kNoClockSnapshot:
    case FaultId::kFrequencyDuplicate:
    case FaultId::kClockSnapshotDuplicate:
    case FaultId::kSyncBatchEvent:
    case FaultId::kSyncVarint:
      return {
          "Look for damage in the sync batch, or find out what dropped it; do not rely on the "
          "generation's times."};
    case FaultId::kStringBatchEvent:
    case FaultId::kStringVarint:
    case FaultId::kStringSize:
    case FaultId::kStringTruncated:
    case FaultId::kStringDuplicate:
    case FaultId::kStackBatchEvent:
    case FaultId::kStackVarint:
    case FaultId::kStackDepth:
    case FaultId::kStackDuplicate:
    case FaultId::kStackString:
    case FaultId::kSampleBatchEvent:
    case FaultId::kSampleVarint:
      return {
          "Look for damage in this batch; salvaging returns the events, with names such as "
          "`?string#12` for whatever is lost."};
    case FaultId::kEventStringId:
    case FaultId::kEventStackId:
      return {
          "Check whether a batch of the generation's tables is missing or damaged; salvaging "
          "returns the event with a name such as `?string#12`."};
    case FaultId::kEventType:
    case FaultId::kEventNotTimed:
    case FaultId::kEventVarint:
    case FaultId::kEventVersion:
    case FaultId::kEventDataSize:
      return {
          "Look for damage at this place; salvaging returns the contents of the other batches."};
    case FaultId::kLimitGenerationBytes:
    case FaultId::kLimitThreads:
    case FaultId::kLimitProcs:
    case FaultId::kLimitGoroutines:
    case FaultId::kLimitNesting:
    case FaultId::kLimitDecompressedBytes:
      return {
          "Treat the file as malicious unless you know where it comes from; if you trust it, "
          "raise the limit that the message names."};
    case FaultId::kNoAdvance:
      return {
          "Look for a missing event before this place, usually part of a missing batch: the "
          "message names the most likely one, and the lines below it say what each thread is "
          "waiting for. Salvaging returns the events anyway."};
    default:
      return {
          "Look for a missing or damaged event before this place; if the trace comes unchanged "
          "from the Go runtime, report a bug."};
  }
}

constexpr CheckSpec kSpecs[] = {
#define GOTRACE_FAULT(id, name, stage, code, effect, meaning) \
  {name,                                                      \
   Severity::kError,                                          \
   FaultEffect::k##effect,                                    \
   meaning,                                                   \
   RemedyOf(FaultId::k##id).text,                             \
   RemedyOf(FaultId::k##id).is_recoverable},
#include "gotrace/internal/faults.def"
#define GOTRACE_TRANSPORT(id, name, noun, what, avoid) \
  {name, Severity::kError, FaultEffect::kContinue, what, avoid},
#include "gotrace/internal/transports.def"
#define GOTRACE_CHECK(id, name, severity, effect, meaning, remedy) \
  {name, Severity::k##severity, FaultEffect::k##effect, meaning, remedy},
#include "gotrace/internal/checks.def"
};
static_assert(sizeof(kSpecs) / sizeof(kSpecs[0]) == kCheckIdEnd);

}  // namespace

const CheckSpec& SpecOf(CheckId id) { return kSpecs[static_cast<int>(id)]; }

bool ShowsRemedy(CheckId id) {
  if (IsFault(id)) return RemedyOf(static_cast<FaultId>(id)).is_shown;
  switch (id) {
    case CheckId::kGenerationBack:
    case CheckId::kGenerationMissing:
    case CheckId::kNoGeneration:
    case CheckId::kNotStopped:
      return true;
    default:
      return id >= CheckId::kTransportTextBefore && id <= CheckId::kSecondTrace;
  }
}

std::optional<CheckId> FindCheck(absl::string_view name) {
  for (int i = 0; i < kCheckIdEnd; ++i) {
    if (kSpecs[i].name == name) return static_cast<CheckId>(i);
  }
  return std::nullopt;
}

absl::string_view SeverityName(Severity severity) {
  constexpr absl::string_view kNames[] = {"note", "warning", "error"};
  return kNames[static_cast<int>(severity)];
}

absl::string_view EffectName(FaultEffect effect) {
  constexpr absl::string_view kNames[] = {"go on", "drop the thread", "drop the generation",
                                          "stop"};
  return kNames[static_cast<int>(effect)];
}

}  // namespace gotrace
