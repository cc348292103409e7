#include "view/decoded_generations.h"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "absl/algorithm/container.h"
#include "gotrace/event_kind.h"
#include "gotrace/fault.h"
#include "gotrace/reader.h"
#include "parser/event/trace_clock.h"
#include "util/cores.h"
#include "util/helper_thread.h"
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
                            ReaderOptions options, AnalysisSink* sink) {
  options.jobs = 1;
  options.mode = ReadMode::kCollect;
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

absl::StatusOr<DecodedGenerations::Generation> DecodedGenerations::Get(size_t n) {
  const auto generations = GetSome(n, n + 1);
  if (!generations.ok()) return generations.status();
  return generations->front();
}

absl::StatusOr<std::vector<DecodedGenerations::Generation>> DecodedGenerations::GetSome(
    size_t first, size_t last) {
  const size_t count = std::min(last - first, CoresFor(options_.jobs));
  const std::lock_guard lock(mutex_);
  std::vector<absl::StatusOr<Generation>> results(count);
  std::vector<size_t> missing;
  for (size_t i = 0; i < count; ++i) {
    results[i] = FindKept(first + i);
    if (*results[i] == nullptr) missing.push_back(i);
  }
  const auto decode = [&](size_t i) { results[i] = Decode(first + i); };
  std::vector<std::thread> helpers;
  for (size_t k = 1; k < missing.size(); ++k) {
    std::optional<std::thread> helper = StartHelper("decode", [&, i = missing[k]] { decode(i); });
    helper.has_value() ? helpers.push_back(std::move(*helper)) : decode(missing[k]);
  }
  if (!missing.empty()) decode(missing.front());
  for (std::thread& helper : helpers) helper.join();
  std::vector<Generation> generations;
  for (absl::StatusOr<Generation>& result : results) {
    if (!result.ok()) return result.status();
    generations.push_back(*std::move(result));
  }
  for (const size_t i : missing) Keep(first + i, generations[i]);
  return generations;
}

DecodedGenerations::Generation DecodedGenerations::FindKept(size_t n) {
  const auto known = absl::c_find_if(kept_, [&](const Kept& kept) { return kept.n == n; });
  if (known == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, known);
  return known->generation;
}

absl::StatusOr<DecodedGenerations::Generation> DecodedGenerations::Decode(size_t n) const {
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
  return pieces->Take();
}

void DecodedGenerations::Keep(size_t n, const Generation& generation) {
  kept_.push_front({n, generation});
  bytes_ += generation->size();
  while (bytes_ > max_bytes_ && kept_.size() > 1) {
    bytes_ -= kept_.back().generation->size();
    kept_.pop_back();
  }
}

}  // namespace gotrace::internal
