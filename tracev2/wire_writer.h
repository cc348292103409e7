// Raw events to the bytes of a trace: the inverse of DecodeRawEvent().
#ifndef GOTRACE_TRACEV2_WIRE_WRITER_H_
#define GOTRACE_TRACEV2_WIRE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "gotrace/version.h"
#include "tracev2/batch_encoder.h"
#include "tracev2/raw_event.h"

namespace gotrace::internal {

// Whether an event of `type` ends the batch before it: it begins another one, or ends a generation.
bool EndsBatch(EventType type);

// Appends events to a string. Numbers take their shortest form. No check is made whether the events
// form a sound trace, so that broken ones can be written too.
class WireWriter {
 public:
  // Writes the header of a trace of `version` to `*out`, which must outlive the writer.
  WireWriter(Version version, BatchSizeForm form, std::string* out);

  // Writes one event. Requires that `event.args` has as many arguments as its row in events.def,
  // with four more for each frame of a stack.
  void Write(const RawEvent& event);

  // Fills in the size of a last batch whose size is to be computed. Call it after the last event.
  void Finish();

  // How many bytes at the beginning of `*out` are final. The caller may take them away, and must
  // then call Taken().
  size_t final_size() const;

  // Tells that the first `size` bytes of `*out`, at most final_size(), were taken away.
  void Taken(size_t size);

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  void WriteBatchSize(const RawEvent& event);

  std::string& out_;
  const BatchSizeForm form_;
  size_t open_batch_ = kNone;  // Where in out_ the size of the open batch is to be inserted.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TRACEV2_WIRE_WRITER_H_
