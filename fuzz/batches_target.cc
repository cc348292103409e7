// Fuzzes framing: batches must cover the trace without gaps, however its bytes arrive, and
// BatchFinder must find the sound ones.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fuzz/event_check.h"
#include "fuzz/pieces.h"
#include "fuzz/target.h"
#include "gotrace/internal/limits.h"
#include "gotrace/version.h"
#include "parser/framing/batch_finder.h"
#include "parser/framing/batch_reader.h"

namespace gotrace::internal {
namespace {

// A batch that owns its payload.
struct Found {
  Batch batch;
  std::string payload;
};

std::string Describe(const Batch& batch) {
  return absl::StrCat("batch at ", batch.offset, " with payload at ", batch.payload_offset, ", ",
                      batch.payload.size(), " bytes, generation ", batch.generation, ", thread ",
                      batch.thread.value, ", time ", batch.time, ", experiment ", batch.experiment);
}

// Returns the part of the input that is the batch's payload, without text that was printed into it.
std::string PayloadIn(absl::string_view input, const Batch& batch) {
  std::string payload;
  uint64_t begin = batch.payload_offset;
  for (const ByteRange& text : batch.text) {
    if (text.begin < begin) continue;
    payload.append(input.data() + begin, text.begin - begin);
    begin = text.end;
  }
  FUZZ_CHECK(begin <= batch.end_offset(), Describe(batch));
  payload.append(input.data() + begin, batch.end_offset() - begin);
  return payload;
}

void CheckBatch(absl::string_view input, uint64_t offset, const Batch& batch) {
  FUZZ_CHECK(batch.offset == offset, Describe(batch));
  FUZZ_CHECK(batch.payload_offset >= offset, Describe(batch));
  FUZZ_CHECK(batch.end_offset() <= input.size(), Describe(batch));
  FUZZ_CHECK(batch.payload.size() <= kMaxBatchSize, Describe(batch));
  FUZZ_CHECK(batch.payload == PayloadIn(input, batch), Describe(batch));
}

// Reads all batches up to the end or the first fault, and returns the status.
absl::Status ReadBatches(absl::string_view input, ByteSource* source, std::vector<Found>* batches) {
  const absl::StatusOr<Version> version = ReadHeader(source);
  CheckStatus(version.status(), input.size());
  if (!version.ok()) return version.status();
  while (true) {
    const uint64_t offset = source->offset();
    Batch batch;
    const absl::StatusOr<bool> more = ReadBatch(source, &batch);
    CheckStatus(more.status(), input.size());
    if (!more.ok() || !*more) return more.status();
    CheckBatch(input, offset, batch);
    FUZZ_CHECK(source->offset() == batch.payload_offset + batch.payload.size(), Describe(batch));
    batches->push_back({batch, std::string(batch.payload)});
    source->Release(source->offset());
  }
}

void CheckSameBatches(const std::vector<Found>& expected, const std::vector<Found>& found) {
  FUZZ_CHECK(expected.size() == found.size(),
             absl::StrCat(expected.size(), " and ", found.size(), " batches"));
  for (size_t i = 0; i < found.size(); ++i) {
    Batch batch = found[i].batch;
    batch.payload = found[i].payload;
    Batch expected_batch = expected[i].batch;
    expected_batch.payload = expected[i].payload;
    FUZZ_CHECK(Describe(batch) == Describe(expected_batch), Describe(batch));
    FUZZ_CHECK(batch.payload == expected_batch.payload, Describe(batch));
  }
}

// Checks that BatchFinder returns batches in order, and skips whatever is between them.
void CheckFinder(absl::string_view input, ByteSource* source) {
  const absl::StatusOr<Version> version = ReadHeader(source);
  if (!version.ok()) return;
  uint64_t faults = 0;
  BatchFinder finder(source, *version, [&](Fault fault) {
    CheckFault(fault, input.size());
    ++faults;
  });
  Batch batch;
  uint64_t end = kHeaderSize;
  uint64_t generation = 0;
  while (finder.Next(generation, &batch)) {
    FUZZ_CHECK(batch.offset >= end, Describe(batch));
    FUZZ_CHECK(batch.offset == end || faults > 0, Describe(batch));
    CheckBatch(input, batch.offset, batch);
    end = batch.end_offset();
    generation = batch.generation;
    finder.PeekGeneration();
  }
  FUZZ_CHECK(finder.skipped_bytes() <= input.size() - kHeaderSize, "");
  FUZZ_CHECK(finder.skipped_bytes() == 0 || faults > 0, "");
  FUZZ_CHECK(!finder.truncated() || faults > 0, "");
}

}  // namespace

void RunTarget(absl::string_view input) {
  if (FindCompression(input) != Compression::kNone) return;
  std::vector<Found> batches, streamed;
  absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromBytes(input);
  absl::StatusOr<std::unique_ptr<ByteSource>> stream =
      SourceFromStream(std::make_unique<RandomPieces>(input));
  FUZZ_CHECK(source.ok() && stream.ok(), "");
  const absl::Status status = ReadBatches(input, source->get(), &batches);
  FUZZ_CHECK(ReadBatches(input, stream->get(), &streamed) == status, status.ToString());
  CheckSameBatches(batches, streamed);
  CheckFinder(input, SourceFromBytes(input)->get());
}

}  // namespace gotrace::internal
