// Distinguishes batches of a trace from other bytes, for code that has to choose among several
// interpretations of an input whose bytes were changed.
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

// Like ParseBatchHead(), for a batch that can belong to a generation of a trace of this version.
HeadStatus ReadBatchHead(absl::string_view bytes, Version version, BatchHead* head);

// Follows the events of a batch's payload, and rejects impossible ones. It is stricter than
// reading, which ignores the meaning of numbers: anything that Go's runtime would never write is
// rejected.
class PayloadCheck {
 public:
  explicit PayloadCheck(Version version) : version_(version) {}

  // Returns whether `event` may come next.
  bool Take(const RawEvent& event);

  // Returns the state that determines which events may follow.
  uint8_t state() const;

 private:
  // Whether the thread has a goroutine, or a P.
  enum class Has : uint8_t { kUnknown, kYes, kNo };

  bool TakeTimed(const RawEvent& event);

  // Sets `*has` to `expected`. Returns false if it is known to have the opposite value.
  static bool Expect(Has expected, Has* has);

  Version version_;
  EventType kind_ = EventType::kNone;  // The type of the first event.
  Has goroutine_ = Has::kUnknown;
  Has proc_ = Has::kUnknown;
};

// The result of WalkBatches().
struct Walk {
  size_t batches = 0;   // The number of complete batches whose events all decode.
  bool failed = false;  // Whether anything except the end of the input follows them.
};

// Reads the batches of `bytes`, which begin with a trace header. `whole` says whether they are the
// whole input.
Walk WalkBatches(absl::string_view bytes, bool whole);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_FRAMING_BATCH_CHECK_H_
