// What the library's own code can do with a Reader, in addition to its public functions.
#ifndef GOTRACE_PARSER_READER_READER_ACCESS_H_
#define GOTRACE_PARSER_READER_READER_ACCESS_H_

#include <functional>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "gotrace/byte_source.h"
#include "gotrace/fault.h"
#include "gotrace/reader.h"
#include "gotrace/reader_options.h"
#include "parser/framing/batch_reader.h"
#include "parser/generation/generation_tables.h"
#include "parser/generation/table_use.h"
#include "parser/order/waiting_goroutines.h"

namespace gotrace::internal {

// Functions that a Reader calls with its own data. Each may be empty.
struct ReaderHooks {
  // In the modes that continue after faults, called for each batch of a generation, in the order of
  // the trace, before the generation's kSync event is returned. The second argument is the fault in
  // the batch if it is a table with a fault. Not called for batches that belong to no generation,
  // or for ends of generations. The batch's bytes are valid until the next generation begins.
  std::function<void(const Batch&, const std::optional<Fault>&)> on_batch;

  // Called for each generation after its last event was returned, with its tables, which are then
  // destroyed, and a record of which entries its events and samples referred to. The record is
  // incomplete if there were faults. Not called for a generation in which strict reading stops.
  std::function<void(const GenerationTables&, const TableUse&)> on_generation_end;
};

class ReaderAccess {
 public:
  // Like Reader::FromSource().
  static absl::StatusOr<Reader> FromSource(std::unique_ptr<ByteSource> source,
                                           ReaderOptions options, ReaderHooks hooks);

  // Returns how many goroutines are waiting after the last event of the trace, by the id of the
  // reason's string in the last generation: see ReaderHooks::on_generation_end. Meaningless before
  // Next() has returned nullptr.
  static WaitingGoroutines CountWaiting(const Reader& reader);
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_READER_READER_ACCESS_H_
