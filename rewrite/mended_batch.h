// Encodes the batches of a mended generation.
#ifndef GOTRACE_REWRITE_MENDED_BATCH_H_
#define GOTRACE_REWRITE_MENDED_BATCH_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "parser/batch_reader.h"
#include "tracev2/version.h"
#include "rewrite/generation_mender.h"

namespace gotrace {

// Whether events of `batch`, one of a trace of `version`, go.
bool ChangesBatch(Version version, const Batch& batch, const Mending& mending);

// The batch without the events that go, encoded; "" if none is left. Each event keeps its time.
// Requires that ChangesBatch() tells of it.
std::string EncodeMendedBatch(Version version, const Batch& batch, const Mending& mending);

// The batch of strings or stacks with the entries that end before the fault at `fault_offset`; with
// no payload if there are none, or it is another batch.
Batch SoundPart(const Batch& batch, uint64_t fault_offset);

// The batch as it is, encoded.
std::string EncodeBatch(const Batch& batch);

// A batch of no thread, in the generation and at the time of `beside`. Requires that the payload is
// no longer than kMaxBatchSize.
std::string EncodeBatchBeside(const Batch& beside, absl::string_view payload);

// The batches with the table entries that must be added, encoded; "" if there are none. They belong
// to the generation of `beside`.
std::string EncodeTables(const Batch& beside, const Mending& mending);

}  // namespace gotrace

#endif  // GOTRACE_REWRITE_MENDED_BATCH_H_
