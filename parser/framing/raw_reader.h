// Reads the raw events of a trace, including framing and tables, in file order and without their
// meaning, as `go tool trace -d=wire` does.
#ifndef GOTRACE_PARSER_FRAMING_RAW_READER_H_
#define GOTRACE_PARSER_FRAMING_RAW_READER_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gotrace/byte_source.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/version.h"
#include "tracev2/raw_event.h"
#include "tracev2/wire_reader.h"

namespace gotrace::internal {

// Reads the raw events of one trace from front to back. Movable; not thread-safe.
class RawReader {
 public:
  // Which types of events are accepted.
  enum class Types {
    kOfVersion,  // All types of the trace's version.
    kOfGoTool,   // The types that Go's tool accepts in that version: see GoToolPrints().
  };

  // Reads from `source`, which must be positioned at the beginning of a trace. Returns the same
  // errors as ReadHeader().
  static absl::StatusOr<RawReader> FromSource(std::unique_ptr<ByteSource> source, Types types);

  // Returns the next event, or nullptr at the end of the trace or after an error; see status(). The
  // event is valid until the next call.
  const RawEvent* Next();

  // Returns OK until something goes wrong, and then the first error, permanently. Faults:
  // event-truncated, event-type, event-version, event-varint, event-data-size, stack-depth, and
  // those of compression. Other errors are I/O errors.
  const absl::Status& status() const { return status_; }

  Version version() const { return version_; }

  // Returns the size in bytes of the last event in the trace.
  size_t event_size() const { return event_size_; }

  // Returns the current offset in the (decompressed) trace.
  uint64_t offset() const { return source_->offset(); }

  const ByteSource& source() const { return *source_; }

 private:
  RawReader(std::unique_ptr<ByteSource> source, Version version, Types types)
      : source_(std::move(source)), version_(version), types_(types) {}

  WireResult Decode();
  const RawEvent* Fail(const WireResult& result);

  std::unique_ptr<ByteSource> source_;
  Version version_;
  Types types_;
  RawEvent event_;
  size_t event_size_ = 0;
  absl::Status status_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_FRAMING_RAW_READER_H_
