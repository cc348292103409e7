#include "rewrite/repair_pieces.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "gotrace/event_type.h"
#include "parser/source/steady_input.h"
#include "tracev2/batch_encoder.h"

namespace gotrace::internal {
namespace {

// Adds a part of a piece.
void AddPart(const RepairPiece& piece, uint64_t begin, uint64_t end,
             std::vector<RepairPiece>* pieces) {
  if (piece.bytes.empty()) return AddInput(piece.offset + begin, piece.offset + end, pieces);
  AddBytes(piece.bytes.substr(begin, end - begin), pieces);
}

// Adds the bytes of the batch from `begin` on, without any text that was printed into it.
void AddBatch(const Batch& batch, uint64_t begin, std::vector<RepairPiece>* pieces) {
  for (const ByteRange& text : batch.text) {
    if (text.begin > begin) AddInput(begin, text.begin, pieces);
    begin = std::max(begin, text.end);
  }
  AddInput(begin, batch.end_offset(), pieces);
}

class PieceReader final : public ByteStream {
 public:
  PieceReader(std::vector<RepairPiece> pieces, std::unique_ptr<ByteSource> source)
      : pieces_(std::move(pieces)), source_(std::move(source)) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    while (next_ < pieces_.size()) {
      const RepairPiece& piece = pieces_[next_];
      if (done_ == SizeOf(piece)) {
        ++next_;
        done_ = 0;
        continue;
      }
      const absl::StatusOr<absl::string_view> bytes = Show(piece, size);
      if (!bytes.ok()) return bytes.status();
      std::memcpy(buffer, bytes->data(), bytes->size());
      done_ += bytes->size();
      return bytes->size();
    }
    // Damaged compression ends the input, and is part of the plan.
    if (absl::Status status = ReadToEnd(source_.get());
        !status.ok() && !FaultOf(status).has_value()) {
      return status;
    }
    return 0;
  }

 private:
  // Returns the next bytes of the piece: at least one and at most `size`.
  absl::StatusOr<absl::string_view> Show(const RepairPiece& piece, size_t size) {
    if (!piece.bytes.empty()) return absl::string_view(piece.bytes).substr(done_, size);
    size = std::min({size, static_cast<size_t>(piece.size - done_), ByteSource::kMaxFill});
    absl::Status status = MoveTo(piece.offset + done_);
    // If the input is cut off, the piece consists only of bytes before the cut.
    if (status.ok()) status = source_->Fill(size);
    const absl::string_view window = source_->window().substr(0, size);
    if (!window.empty() && source_->offset() == piece.offset + done_) return window;
    return status.ok() ? absl::InternalError("a piece of the output is not in the input") : status;
  }

  absl::Status MoveTo(uint64_t offset) {
    while (source_->offset() < offset) {
      if (source_->window().empty()) {
        if (absl::Status status = source_->Fill(1); !status.ok()) return status;
        if (source_->window().empty()) break;
      }
      source_->Skip(std::min<uint64_t>(offset - source_->offset(), source_->window().size()));
      source_->Release(source_->offset());
    }
    return absl::OkStatus();
  }

  const std::vector<RepairPiece> pieces_;
  const std::unique_ptr<ByteSource> source_;
  size_t next_ = 0;
  uint64_t done_ = 0;  // The number of bytes already returned of the next piece.
};

}  // namespace

void AddInput(uint64_t begin, uint64_t end, std::vector<RepairPiece>* pieces) {
  AddPiece({begin, end - begin, ""}, pieces);
}

void AddBytes(std::string bytes, std::vector<RepairPiece>* pieces) {
  AddPiece({0, 0, std::move(bytes)}, pieces);
}

void AddPiece(RepairPiece piece, std::vector<RepairPiece>* pieces) {
  if (SizeOf(piece) == 0) return;
  RepairPiece* const last = pieces->empty() ? nullptr : &pieces->back();
  if (last == nullptr || last->bytes.empty() != piece.bytes.empty() ||
      (piece.bytes.empty() && last->offset + last->size != piece.offset)) {
    pieces->push_back(std::move(piece));
    return;
  }
  last->size += piece.size;
  last->bytes += piece.bytes;
}

bool Replace(absl::Span<const Replacement> replacements, std::vector<RepairPiece>* pieces) {
  std::vector<RepairPiece> replaced;
  auto next = replacements.begin();
  uint64_t begin = 0;  // The offset of the piece in the output.
  for (const RepairPiece& piece : *pieces) {
    const uint64_t size = SizeOf(piece);
    uint64_t done = 0;
    for (; next != replacements.end() && next->offset - begin < size; ++next) {
      const uint64_t at = next->offset - begin;
      if (next->bytes.size() > size - at) return false;
      AddPart(piece, done, at, &replaced);
      AddBytes(next->bytes, &replaced);
      done = at + next->bytes.size();
    }
    AddPart(piece, done, size, &replaced);
    begin += size;
  }
  if (next != replacements.end()) return false;
  *pieces = std::move(replaced);
  return true;
}

void AddBatches(absl::Span<const Batch> batches, uint64_t number, Version version,
                std::vector<RepairPiece>* pieces) {
  for (const Batch& batch : batches) {
    if (batch.generation == number) {
      AddBatch(batch, batch.offset, pieces);
      continue;
    }
    std::string header;
    AppendBatchHeader(
        {number, static_cast<uint64_t>(batch.thread.value), batch.time, batch.experiment},
        batch.payload.size(), BatchSizeForm::kShortest, &header);
    AddBytes(std::move(header), pieces);
    AddBatch(batch, batch.payload_offset, pieces);
  }
  if (version < Version::kGo126) return;
  AddBytes(std::string(1, static_cast<char>(EventType::kEndOfGeneration)), pieces);
}

void KeepBefore(const Fault& fault, RepairPlan* plan) {
  const uint64_t place = fault.place.offset.value_or(plan->output_bytes);
  uint64_t end = 0;  // Of the part that is kept, which is never everything.
  for (const RepairedGeneration& generation : plan->generations) {
    const uint64_t its_end = generation.output_end;
    if (its_end <= place && its_end < plan->output_bytes) end = std::max(end, its_end);
  }
  plan->events = 0;
  for (RepairedGeneration& generation : plan->generations) {
    if (generation.output_end > end) {
      generation.fate = GenerationFate::kBroken;
      generation.events = generation.output_end = 0;
      generation.regions = RegionChanges();
    }
    plan->events += generation.events;
  }
  uint64_t size = 0;
  for (size_t i = 0; i < plan->pieces.size(); ++i) {
    RepairPiece& piece = plan->pieces[i];
    const uint64_t room = end - size;
    size += std::min(SizeOf(piece), room);
    if (SizeOf(piece) < room) continue;
    piece.bytes.resize(std::min<uint64_t>(piece.bytes.size(), room));
    piece.size = piece.bytes.empty() ? room : 0;
    plan->pieces.resize(room == 0 ? i : i + 1);
    break;
  }
  plan->output_bytes = size;
}

std::unique_ptr<ByteStream> ReadPieces(std::vector<RepairPiece> pieces,
                                       std::unique_ptr<ByteSource> source) {
  return std::make_unique<PieceReader>(std::move(pieces), std::move(source));
}

}  // namespace gotrace::internal
