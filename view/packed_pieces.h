// Keeps pieces of lanes in a quarter of their memory.
#ifndef GOTRACE_VIEW_PACKED_PIECES_H_
#define GOTRACE_VIEW_PACKED_PIECES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "view/lane_pieces.h"
#include "view/lane_state.h"

namespace gotrace::internal {

// A list of pieces. Most take 16 bytes. A piece of many seconds, or in which a P was lost, takes
// that and as much as a LanePiece.
class PackedPieces {
 public:
  void Add(const LanePiece& piece);

  // Frees what only Add() needs. Call it after the last piece.
  void Finish() { indexes_.clear(); }

  size_t size() const { return packed_.size(); }

  // Returns the memory that the pieces take, in bytes.
  size_t bytes() const;

  // Calls `use` with each piece, in the order in which they were added.
  template <class Use>
  void ForEach(const Use& use) const {
    for (const Chunk& chunk : chunks_) ForEachOf(chunk, use);
  }

  // The same for the pieces that overlap the time from `from` to `to`. Takes time in proportion to
  // these, if pieces were added in about the order of time.
  template <class Use>
  void ForEachIn(int64_t from, int64_t to, const Use& use) const {
    for (const Chunk& chunk : chunks_) {
      if (chunk.begin >= to || chunk.end <= from) continue;
      ForEachOf(chunk, [&](const LanePiece& piece) {
        if (piece.begin < to && piece.end > from) use(piece);
      });
    }
  }

 private:
  // What a few thousand different pieces have in common with all others.
  struct Place {
    ProcId proc;
    ThreadId thread;
    StringId reason;
    LaneState state;

    friend bool operator==(const Place&, const Place&) = default;
    template <class H>
    friend H AbslHashValue(H h, const Place& place) {
      return H::combine(std::move(h), place.proc, place.thread, place.reason, place.state);
    }
  };
  struct Packed {
    uint32_t begin = 0;  // Since Chunk::base.
    uint32_t length = 0;
    uint32_t goroutine = 0;   // One more than its id.
    uint32_t place = kWhole;  // An index of places_, or kWhole for the next piece of whole_.
  };
  static constexpr uint32_t kWhole = ~uint32_t{0};

  // Pieces that were added one after another.
  struct Chunk {
    int64_t base = 0;  // What Packed::begin counts from.
    size_t first = 0;  // The indexes of the first of packed_ and of whole_.
    size_t whole = 0;
    int64_t begin = 0;  // The earliest begin, and the latest end.
    int64_t end = 0;
    size_t count = 0;
  };
  static constexpr size_t kChunkSize = 1024;

  // Packs a piece. Returns false if it does not fit.
  bool Pack(const LanePiece& piece, Packed* packed);

  template <class Use>
  void ForEachOf(const Chunk& chunk, const Use& use) const {
    size_t whole = chunk.whole;
    const auto begin = packed_.begin() + static_cast<ptrdiff_t>(chunk.first);
    for (auto it = begin; it != begin + static_cast<ptrdiff_t>(chunk.count); ++it) {
      const Packed& packed = *it;
      if (packed.place == kWhole) {
        use(whole_[whole++]);
        continue;
      }
      const Place& place = places_[packed.place];
      LanePiece piece;
      piece.begin = chunk.base + packed.begin;
      piece.end = piece.proc_until = piece.begin + packed.length;
      piece.goroutine = GoId{int64_t{packed.goroutine} - 1};
      piece.proc = place.proc;
      piece.thread = place.thread;
      piece.reason = place.reason;
      piece.state = place.state;
      use(piece);
    }
  }

  std::deque<Packed> packed_;
  std::vector<Chunk> chunks_;
  std::vector<Place> places_;
  std::deque<LanePiece> whole_;
  absl::flat_hash_map<Place, uint32_t> indexes_;  // Of places_.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VIEW_PACKED_PIECES_H_
