// The pieces of which the output of a repair consists.
#ifndef GOTRACE_REWRITE_REPAIR_PIECES_H_
#define GOTRACE_REWRITE_REPAIR_PIECES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gotrace/byte_source.h"
#include "gotrace/byte_stream.h"
#include "gotrace/fault.h"
#include "gotrace/repair.h"
#include "gotrace/version.h"
#include "parser/framing/batch_reader.h"

namespace gotrace::internal {

// Returns how many bytes of the output the piece is.
inline uint64_t SizeOf(const RepairPiece& piece) {
  return piece.bytes.empty() ? piece.size : piece.bytes.size();
}

// Appends bytes of the input, from `begin` to `end`, or new bytes.
void AddInput(uint64_t begin, uint64_t end, std::vector<RepairPiece>* pieces);
void AddBytes(std::string bytes, std::vector<RepairPiece>* pieces);

// Appends a piece, joining it to the last one if possible.
void AddPiece(RepairPiece piece, std::vector<RepairPiece>* pieces);

// Replaces bytes of the output by as many others. Offsets are those in the output, and increase.
// Returns whether each is in one piece; if not, changes nothing.
struct Replacement {
  uint64_t offset = 0;
  std::string bytes;
};
bool Replace(absl::Span<const Replacement> replacements, std::vector<RepairPiece>* pieces);

// Appends a generation as it is in the input, without the text that was printed into its batches,
// and with the number `number`.
void AddBatches(absl::Span<const Batch> batches, uint64_t number, Version version,
                std::vector<RepairPiece>* pieces);

// Drops the generation of the output that has `fault`, found by reading the output, and all later
// generations. Drops the last one if the fault has no place.
void KeepBefore(const Fault& fault, RepairPlan* plan);

// Returns a stream of the output. `source` has the input, and is watched by a SteadyInput that
// knows its bytes. Reading ends with the error of other bytes, also of those that are not part of
// the output.
std::unique_ptr<ByteStream> ReadPieces(std::vector<RepairPiece> pieces,
                                       std::unique_ptr<ByteSource> source);

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_REPAIR_PIECES_H_
