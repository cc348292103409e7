// Reads a trace as the raw events that stand in it, framing and tables too, without order or
// meaning: what `go tool trace -d=wire` shows.
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
  // Which types of events are taken for events of the trace.
  enum class Types {
    kOfVersion,  // All that the trace's version may have.
    kOfGoTool,   // Those that Go's tool knows of it: see GoToolPrints().
  };

  // Reads from `source`, which must stand at the beginning of a trace. Fails as ReadHeader() does.
  static absl::StatusOr<RawReader> FromSource(std::unique_ptr<ByteSource> source, Types types);

  // Reads the next event. Returns nullptr at the end of the trace or at the first failure, which
  // status() then tells. The event is valid until the next call.
  const RawEvent* Next();

  // OK as long as nothing was wrong; then the first failure, for good. Faults: event-truncated,
  // event-type, event-version, event-varint, event-data-size, stack-depth, and those of
  // compression; errors of I/O.
  const absl::Status& status() const { return status_; }

  Version version() const { return version_; }

  // The length in bytes of the last event, as it stands in the trace.
  size_t event_size() const { return event_size_; }

  // Where reading stands, in bytes of the (decompressed) trace.
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
