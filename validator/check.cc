#include "gotrace/check.h"

namespace gotrace {
namespace {

// What helps against a fault is the same for many.
constexpr absl::string_view RemedyOf(FaultId id) {
  switch (id) {
    case FaultId::kNotATrace:
      return "Give gotrace the file that trace.Start or the flight recorder wrote, whole and "
             "unchanged.";
    case FaultId::kV1Trace:
      return "Open it with `go tool trace` of the Go release that the message names, or build the "
             "program with Go 1.22 or later.";
    case FaultId::kUnknownVersion:
      return "Take a newer gotrace, or see whether the header was altered.";
    case FaultId::kTransportCorrupt:
      return "Fetch or copy the file again; `gotrace-dump repair` or `--salvage` gives what comes "
             "before the damage.";
    case FaultId::kBytesReplaced:
      return "Record or copy the trace again, in binary mode and never as a string.";
    case FaultId::kCompressedCorrupt:
      return "Fetch or copy the file again, in binary mode.";
    case FaultId::kHeaderTruncated:
      return "Nothing can be had from it: let the program call trace.Stop and close the file "
             "before "
             "it ends, and copy the file only then.";
    case FaultId::kCompressedTruncated:
    case FaultId::kBatchHeaderTruncated:
    case FaultId::kBatchTruncated:
    case FaultId::kGenerationIncomplete:
    case FaultId::kEventTruncated:
      return "Let the program call trace.Stop and close the file before it ends, and copy the file "
             "only then; `gotrace-dump repair` or `--salvage` gives what there is.";
    case FaultId::kTextInTrace:
      return "Let the program write its trace to a file that nothing else writes to, as the "
             "standard output is not.";
    case FaultId::kBatchType:
    case FaultId::kBatchHeaderVarint:
    case FaultId::kBatchSize:
    case FaultId::kBatchMisfit:
      return "Look for what changed the file: a copy in text mode, something else that writes to "
             "it, a damaged disk; `gotrace-dump repair` or `--salvage` gives the batches that are "
             "whole.";
    case FaultId::kGenerationZero:
    case FaultId::kGenerationOrder:
    case FaultId::kGenerationMixed:
    case FaultId::kEndOfGenerationEvent:
      return "Look whether parts of the file are missing, doubled, swapped or of another trace; "
             "`gotrace-dump repair` or `--salvage` gives the generations that can be told apart.";
    case FaultId::kNoFrequency:
    case FaultId::kNoClockSnapshot:
    case FaultId::kFrequencyDuplicate:
    case FaultId::kClockSnapshotDuplicate:
    case FaultId::kSyncBatchEvent:
    case FaultId::kSyncVarint:
      return "Look for damage in the sync batch, or for what dropped it; trust no times of the "
             "generation.";
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
      return "Look for damage in this batch; `--salvage` gives the events, with names such as "
             "`?string#12` for what is lost.";
    case FaultId::kEventStringId:
    case FaultId::kEventStackId:
      return "Look whether a batch of the generation's table is missing or damaged; `--salvage` "
             "gives the event with a name such as `?string#12`.";
    case FaultId::kEventType:
    case FaultId::kEventNotTimed:
    case FaultId::kEventVarint:
    case FaultId::kEventVersion:
    case FaultId::kEventDataSize:
      return "Look for damage at this place; `--salvage` gives what the other batches hold.";
    case FaultId::kLimitGenerationBytes:
    case FaultId::kLimitThreads:
    case FaultId::kLimitProcs:
    case FaultId::kLimitGoroutines:
    case FaultId::kLimitNesting:
    case FaultId::kLimitDecompressedBytes:
      return "Take the file for one made to do harm, unless you know where it comes from; then "
             "raise the limit that the message names, by `--limits` or in `ReaderLimits`.";
    case FaultId::kNoAdvance:
      return "Look for an event that is missing before this place, mostly with a batch that is: "
             "the message names the likeliest, and the lines below it tell what each thread waits "
             "for. `--salvage` gives the events all the same.";
    default:
      return "Look for an event that is missing or damaged before this place; in a trace of Go's "
             "own runtime that nothing changed it is a bug to report.";
  }
}

constexpr CheckSpec kSpecs[] = {
#define GOTRACE_FAULT(id, name, code, effect, meaning) \
  {name, Severity::kError, FaultEffect::k##effect, meaning, RemedyOf(FaultId::k##id)},
#include "gotrace/internal/faults.def"
#define GOTRACE_TRANSPORT(id, name, noun, what, avoid) \
  {name, Severity::kError, FaultEffect::kGoOn, what, avoid},
#include "gotrace/internal/transports.def"
#define GOTRACE_CHECK(id, name, severity, effect, meaning, remedy) \
  {name, Severity::k##severity, FaultEffect::k##effect, meaning, remedy},
#include "gotrace/internal/checks.def"
};
static_assert(sizeof(kSpecs) / sizeof(kSpecs[0]) == kCheckIdEnd);

}  // namespace

const CheckSpec& SpecOf(CheckId id) { return kSpecs[static_cast<int>(id)]; }

bool TellsRemedy(CheckId id) {
  switch (id) {
    case CheckId::kFaultBatchHeaderTruncated:
    case CheckId::kFaultBatchTruncated:
    case CheckId::kFaultCompressedTruncated:
    case CheckId::kFaultGenerationIncomplete:
    case CheckId::kFaultGenerationMixed:
    case CheckId::kFaultGenerationOrder:
    case CheckId::kFaultHeaderTruncated:
    case CheckId::kFaultTextInTrace:
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
