#include "view/decoded_generations.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "gotrace/event_kind.h"
#include "gotrace/fault.h"
#include "gotrace/reader.h"
#include "parser/event/trace_clock.h"
#include "view/overview.h"

namespace gotrace::internal {
namespace {

// Collects the pieces of one generation that do not cross into another one.
class GenerationPieces final : public Analysis {
 public:
  GenerationPieces(Interner* interner, int64_t begin) : interner_(*interner), begin_(begin) {}

  void AddEvents(absl::Span<const Event> events) override { pieces_.AddEvents(events); }
  void AddGoroutine(const GoInterval& interval) override {
    pieces_.AddGoroutine(interval, StringId::kEmpty);
  }
  void AddThread(const ThreadInterval& interval) override { pieces_.AddThread(interval); }
  void Finish(int64_t /*end*/) override {
    pieces_.Finish();
    result_->pieces.Finish();
  }

  std::shared_ptr<const DecodedGeneration> Take() { return std::move(result_); }

 private:
  int64_t SinceBegin(int64_t time) const {
    return std::clamp<int64_t>(TraceClock::Subtract(time, begin_), 0, kMaxViewTime);
  }

  void AddPiece(const LanePiece& piece) {
    if (piece.crosses) return;
    LanePiece added = piece;
    added.begin = SinceBegin(piece.begin);
    added.end = SinceBegin(piece.end);
    added.proc_until = SinceBegin(piece.proc_until);
    const auto [known, is_new] =
        reasons_.try_emplace(piece.reason, static_cast<StringId>(result_->reasons.size()));
    if (is_new) result_->reasons.emplace_back(interner_.String(piece.reason));
    added.reason = known->second;
    result_->pieces.Add(added);
  }

  Interner& interner_;
  const int64_t begin_;
  std::shared_ptr<DecodedGeneration> result_ = std::make_shared<DecodedGeneration>();
  absl::flat_hash_map<StringId, StringId> reasons_;
  LanePieces pieces_{&interner_, [this](const LanePiece& piece) { AddPiece(piece); }};
};

}  // namespace

absl::Status ReadGeneration(const ByteSource& source, const TraceIndex& index, size_t n,
                            const ReaderOptions& options, AnalysisSink* sink) {
  absl::StatusOr<Reader> reader = Reader::OpenAt(source, index, n, options);
  if (!reader.ok()) return reader.status();
  bool has_begun = false;
  while (true) {
    const absl::Span<const Event> events = reader->NextBlock();
    if (events.empty()) break;
    const bool is_sync = events.front().kind() == EventKind::kSync;
    if (is_sync && has_begun) {
      sink->Add(events.first(1));
      break;
    }
    has_begun = true;
    sink->Add(events);
  }
  absl::Status status = reader->status();
  if (has_begun) status.Update(sink->Finish());
  return status;
}

size_t DecodedGeneration::size() const {
  size_t bytes = sizeof(*this) + pieces.bytes();
  for (const std::string& reason : reasons) bytes += sizeof(reason) + reason.size();
  return bytes;
}

absl::StatusOr<std::shared_ptr<const DecodedGeneration>> DecodedGenerations::Get(size_t n) {
  const std::lock_guard lock(mutex_);
  const auto known = absl::c_find_if(kept_, [&](const Kept& kept) { return kept.n == n; });
  if (known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
    return known->generation;
  }
  GenerationPieces* pieces = nullptr;
  AnalysisSink sink(
      [&](Interner* interner) {
        auto analysis = std::make_unique<GenerationPieces>(interner, begin_);
        pieces = analysis.get();
        return analysis;
      },
      {});
  const absl::Status status = ReadGeneration(source_, index_, n, options_, &sink);
  if (!status.ok() && !FaultOf(status).has_value()) return status;
  kept_.push_front({n, pieces->Take()});
  bytes_ += kept_.front().generation->size();
  while (bytes_ > max_bytes_ && kept_.size() > 1) {
    bytes_ -= kept_.back().generation->size();
    kept_.pop_back();
  }
  return kept_.front().generation;
}

}  // namespace gotrace::internal
