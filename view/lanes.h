// The lanes of a timeline that are asked for, and the pieces that belong to them.
#ifndef GOTRACE_VIEW_LANES_H_
#define GOTRACE_VIEW_LANES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "view/lane_columns.h"
#include "view/lane_pieces.h"
#include "view/overview.h"

namespace gotrace::internal::view {

// The kinds of lanes, by what their ids begin with.
enum class LaneKind : uint8_t { kProc, kThread, kGoroutine, kGroup };
inline constexpr size_t kLaneKinds = 4;

struct LaneId {
  LaneKind kind = LaneKind::kProc;
  int64_t number = 0;

  friend bool operator==(const LaneId&, const LaneId&) = default;
  template <class H>
  friend H AbslHashValue(H h, const LaneId& id) {
    return H::combine(std::move(h), id.kind, id.number);
  }
};

// Reads the id of a lane, "g:12"; nothing if it is none. And the text of an id.
std::optional<LaneId> ReadLaneId(absl::string_view text);
std::string TextOf(const LaneId& id);

// A lane that is asked for.
struct Lane {
  LaneId id;
  LaneColumns columns;
  bool is_skipped = false;
};

// Adds pieces to the lanes that they belong to.
class PieceSorter {
 public:
  PieceSorter(const Overview& overview, absl::Span<Lane* const> lanes) : overview_(overview) {
    for (Lane* const lane : lanes) {
      lanes_[lane->id] = &lane->columns;
      has_kind_[static_cast<size_t>(lane->id.kind)] = true;
    }
  }

  // `reason` is an index of reasons().
  void Add(const LanePiece& piece, uint32_t reason) {
    LaneSpan span;
    span.begin = piece.begin;
    span.end = piece.end;
    span.state = piece.state;
    if (Has(LaneKind::kGoroutine) && piece.goroutine != GoId::kNone) {
      LaneSpan own = span;
      own.name = reason;
      own.subject = piece.proc.value;
      AddTo({LaneKind::kGoroutine, piece.goroutine.value}, own);
    }
    if (Has(LaneKind::kGroup) && piece.goroutine != GoId::kNone) {
      const Overview::Goroutine* const goroutine = overview_.Find(piece.goroutine, piece.begin);
      if (goroutine != nullptr) {
        AddTo({LaneKind::kGroup, static_cast<int64_t>(goroutine->group)}, span);
      }
    }
    span.subject = piece.goroutine.value;
    if (Has(LaneKind::kThread) && piece.thread != ThreadId::kNone) {
      AddTo({LaneKind::kThread, piece.thread.value}, span);
    }
    if (Has(LaneKind::kProc) && piece.proc != ProcId::kNone && piece.begin < piece.proc_until) {
      span.end = piece.proc_until;
      AddTo({LaneKind::kProc, piece.proc.value}, span);
    }
  }

  // Returns the index of a reason, which stays valid as long as this object.
  uint32_t ReasonOf(absl::string_view reason) {
    const auto [known, is_new] =
        places_.try_emplace(std::string(reason), static_cast<uint32_t>(reasons_.size()));
    if (is_new) reasons_.emplace_back(reason);
    return known->second;
  }
  const std::vector<std::string>& reasons() const { return reasons_; }

 private:
  bool Has(LaneKind kind) const { return has_kind_[static_cast<size_t>(kind)]; }
  void AddTo(const LaneId& id, const LaneSpan& span) {
    const auto lane = lanes_.find(id);
    if (lane != lanes_.end()) lane->second->Add(span);
  }

  const Overview& overview_;
  absl::flat_hash_map<LaneId, LaneColumns*> lanes_;
  bool has_kind_[kLaneKinds] = {};
  std::vector<std::string> reasons_;
  absl::flat_hash_map<std::string, uint32_t> places_;
};

}  // namespace gotrace::internal::view

#endif  // GOTRACE_VIEW_LANES_H_
