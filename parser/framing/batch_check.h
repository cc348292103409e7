// Distinguishes batches of a trace from other bytes, for code that has to choose among readings of
// an input whose bytes were changed.
#ifndef GOTRACE_PARSER_FRAMING_BATCH_CHECK_H_
#define GOTRACE_PARSER_FRAMING_BATCH_CHECK_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "gotrace/event_type.h"
#include "gotrace/version.h"
#include "parser/framing/batch_head.h"
#include "tracev2/raw_event.h"

namespace gotrace::internal {

// As ParseBatchHead(), for one that belongs to a generation of a trace of this version.
HeadStatus ReadBatchHead(absl::string_view bytes, Version version, BatchHead* head);

// Follows the events of one batch's payload, and finds what cannot be one of them. It is stricter
// than reading, which does not care what numbers mean: what Go's runtime would never write counts
// as wrong.
class PayloadCheck {
 public:
  explicit PayloadCheck(Version version) : version_(version) {}

  // Whether `event` may come next.
  bool Take(const RawEvent& event);

  // What matters of the events before for those to come: equal for equal prospects.
  uint8_t state() const;

 private:
  // Whether the thread has a goroutine, or a P.
  enum class Has : uint8_t { kUnknown, kYes, kNo };

  bool TakeTimed(const RawEvent& event);

  // Takes that the thread has what `has` tells of, or not. Returns false if that cannot be.
  static bool Expect(Has expected, Has* has);

  Version version_;
  EventType kind_ = EventType::kNone;  // Of the first event.
  Has goroutine_ = Has::kUnknown;
  Has proc_ = Has::kUnknown;
};

// How far bytes that begin with a trace's header can be read as one.
struct Walk {
  size_t batches = 0;   // That are whole, and whose events can all be decoded.
  bool failed = false;  // Whether anything but the end of the input follows them.
};

// Reads the batches of `bytes`, of which there are more if they are not the `whole` input.
Walk WalkBatches(absl::string_view bytes, bool whole);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_FRAMING_BATCH_CHECK_H_
