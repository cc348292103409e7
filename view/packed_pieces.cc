#include "view/packed_pieces.h"

#include <algorithm>
#include <limits>

namespace gotrace::internal {
namespace {

constexpr int64_t kMax32 = std::numeric_limits<uint32_t>::max();

// How long before a piece the base begins that is chosen for it. Pieces come in the order of their
// ends, so that later ones may begin earlier.
constexpr int64_t kBaseBefore = 1'000'000'000;

}  // namespace

void PackedPieces::Add(const LanePiece& piece) {
  const bool fits_base = !chunks_.empty() && piece.begin >= chunks_.back().base &&
                         piece.begin - chunks_.back().base <= kMax32;
  if (chunks_.empty() || chunks_.back().count == kChunkSize || !fits_base) {
    Chunk& chunk = chunks_.emplace_back();
    chunk.base = piece.begin - kBaseBefore;
    chunk.first = packed_.size();
    chunk.whole = whole_.size();
    chunk.begin = piece.begin;
    chunk.end = piece.end;
  }
  Chunk& chunk = chunks_.back();
  chunk.begin = std::min(chunk.begin, piece.begin);
  chunk.end = std::max(chunk.end, piece.end);
  ++chunk.count;
  Packed packed;
  if (!Pack(piece, &packed)) {
    packed = Packed();
    whole_.push_back(piece);
  }
  packed_.push_back(packed);
}

bool PackedPieces::Pack(const LanePiece& piece, Packed* packed) {
  const int64_t length = piece.end - piece.begin;
  const int64_t goroutine = piece.goroutine.value;
  if (length < 0 || length > kMax32 || piece.proc_until != piece.end) return false;
  if (goroutine < -1 || goroutine >= kMax32) return false;
  if (piece.start != StringId::kEmpty || piece.crosses) return false;
  const Place place = {piece.proc, piece.thread, piece.reason, piece.state};
  const auto [known, is_new] = indexes_.try_emplace(place, static_cast<uint32_t>(places_.size()));
  if (is_new) places_.push_back(place);
  *packed = {static_cast<uint32_t>(piece.begin - chunks_.back().base),
             static_cast<uint32_t>(length), static_cast<uint32_t>(goroutine + 1), known->second};
  return true;
}

size_t PackedPieces::bytes() const {
  return packed_.size() * sizeof(Packed) + whole_.size() * sizeof(LanePiece) +
         chunks_.size() * sizeof(Chunk) + places_.size() * sizeof(Place);
}

}  // namespace gotrace::internal
