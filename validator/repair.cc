#include "validator/repair.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "parser/reader.h"
#include "parser/tolerant_generation_reader.h"
#include "validator/generation_mender.h"
#include "validator/mended_batch.h"

namespace gotrace {
namespace {

// How many places with stray bytes are kept.
constexpr size_t kStrayKept = 5;

// Reads to the end and keeps how it ended, and how many events there were besides the kSync ones.
absl::Status ReadStrictly(std::unique_ptr<ByteSource> source, const ReaderLimits& limits,
                          uint64_t* events) {
  ReaderOptions options;
  options.limits = limits;
  absl::StatusOr<Reader> reader = Reader::FromSource(std::move(source), options);
  if (!reader.ok()) return reader.status();
  *events = 0;
  while (true) {
    const absl::Span<const Event> block = reader->NextBlock();
    if (block.empty()) return reader->status();
    // A block has no other kSync event than its first.
    *events += block.size() - (block.front().kind() == EventKind::kSync ? 1 : 0);
  }
}

// Opens the input, and undoes what happened to it on its way.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenUndone(const OpenInput& open,
                                                       const ReaderLimits& limits,
                                                       std::vector<TransportNote>* notes) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = open();
  if (!source.ok()) return source.status();
  absl::StatusOr<UndoneInput> input = UndoTransport(*std::move(source), limits);
  if (!input.ok()) return input.status();
  *notes = std::move(input->notes);
  return std::move(input->source);
}

absl::StatusOr<uint64_t> CountBytes(ByteSource* source) {
  while (true) {
    if (absl::Status status = source->Fill(ByteSource::kMaxFill); !status.ok()) return status;
    if (source->window().empty()) return source->offset();
    source->Skip(source->window().size());
    source->Release(source->offset());
  }
}

bool IsFraming(FaultId id) {
  switch (id) {
    case FaultId::kBatchType:
    case FaultId::kBatchHeaderTruncated:
    case FaultId::kBatchHeaderVarint:
    case FaultId::kBatchSize:
    case FaultId::kBatchMisfit:
    case FaultId::kBatchTruncated:
      return true;
    default:
      return false;
  }
}

void GoApart(RepairedGeneration* generation) {
  generation->fate = GenerationFate::kApart;
  generation->events = generation->events_cut = 0;
}

// A run of generations that Go's reader takes one after the other.
struct Run {
  std::vector<size_t> generations;  // Indices in RepairPlan::generations.
  std::vector<RepairPiece> pieces;
  uint64_t events = 0;
  uint64_t last_number = 0;
  std::unique_ptr<Scheduler> scheduler;  // After the last generation.
};

// Puts a plan together, one generation after the other.
class Planner {
 public:
  Planner(const ReaderLimits& limits, RepairPlan* plan) : limits_(limits), plan_(*plan) {}

  absl::Status ReadAll(ByteSource* source) {
    if (absl::Status status = ReadHeaderSomewhere(source); !status.ok()) return status;
    Losses losses;
    TolerantGenerationReader reader(
        source, plan_.version, [this](Fault fault) { Note(std::move(fault)); }, &losses, limits_);
    reader.Observe(
        [this](const Batch& batch, const std::optional<Fault>& fault) { Take(batch, fault); });
    while (std::unique_ptr<Generation> generation = Next(&reader)) {
      RepairedGeneration found;
      found.number = generation->number();
      found.begin_offset = generation->begin_offset();
      found.end_offset = generation->end_offset();
      found.fault = std::exchange(first_fault_, std::nullopt);
      if (passed_limit_.has_value()) return FaultStatus(*passed_limit_);
      generation.reset();
      Judge(reader.is_last(), std::move(found));
    }
    if (passed_limit_.has_value()) return FaultStatus(*passed_limit_);
    EndRun();
    plan_.stray_bytes = losses.skipped_bytes;
    plan_.input_bytes = reader.offset();
    next_trace_ = reader.next_trace();
    // A fault of the compression around it is one of the trace.
    const absl::Status& io_status = reader.io_status();
    return FaultOf(io_status).has_value() ? absl::OkStatus() : io_status;
  }

  // Where another trace begins behind this one.
  std::optional<uint64_t> next_trace() const { return next_trace_; }

  void Choose() {
    Run& run = best_.generations.empty() ? fallback_ : best_;
    for (const size_t index : run.generations) {
      // The fallback was taken for broken until now.
      if (plan_.generations[index].fate == GenerationFate::kBroken) {
        plan_.generations[index] = fallback_generation_;
      }
      plan_.events += plan_.generations[index].events;
    }
    if (run.generations.empty()) return;
    plan_.pieces.push_back({plan_.header_offset, kHeaderSize, ""});
    for (RepairPiece& piece : run.pieces) AddPiece(std::move(piece), &plan_.pieces);
    for (const RepairPiece& piece : plan_.pieces) {
      plan_.output_bytes += piece.bytes.empty() ? piece.size : piece.bytes.size();
    }
  }

 private:
  std::unique_ptr<Generation> Next(TolerantGenerationReader* reader) {
    batches_.clear();
    first_fault_.reset();
    return reader->Next();
  }

  void Take(const Batch& batch, const std::optional<Fault>& fault) {
    if (!fault.has_value()) {
      batches_.push_back(batch);
      return;
    }
    // That an id is taken is told behind its entry.
    const bool is_duplicate =
        fault->id == FaultId::kStringDuplicate || fault->id == FaultId::kStackDuplicate;
    const Batch part = SoundPart(batch, fault->place.offset.value_or(0) - (is_duplicate ? 1 : 0));
    if (part.payload.empty()) return;
    batches_.push_back(part);
  }

  void Note(Fault fault) {
    // What there is no room for cannot be kept, and must not go without asking.
    if (IsLimit(fault.id) && !passed_limit_.has_value()) passed_limit_ = fault;
    // It is of the file and not of a generation.
    if (IsOfCompression(fault.id)) {
      plan_.input_fault = std::move(fault);
      return;
    }
    if (IsFraming(fault.id) && plan_.stray.size() < kStrayKept) plan_.stray.push_back(fault);
    if (!first_fault_.has_value()) first_fault_ = std::move(fault);
  }

  absl::Status ReadHeaderSomewhere(ByteSource* source) {
    // An error shows again when the header is read.
    source->Fill(kMostBeforeHeader).IgnoreError();
    const size_t pos = FindHeader(source->window().substr(0, kMostBeforeHeader));
    if (pos != absl::string_view::npos) source->Skip(pos);
    plan_.header_offset = source->offset();
    const absl::StatusOr<Version> version = ReadHeader(source);
    if (version.ok()) plan_.version = *version;
    return version.status();
  }

  void Judge(bool is_last, RepairedGeneration found) {
    const bool has_events = std::any_of(batches_.begin(), batches_.end(), [&](const Batch& batch) {
      return IsEventBatch(batch, plan_.version);
    });
    if (batches_.empty() || (is_last && !has_events)) {
      found.fate = batches_.empty() ? GenerationFate::kBroken : GenerationFate::kEmpty;
      plan_.generations.push_back(std::move(found));
      return;
    }
    RememberSync();
    // What was never written is missing at each thread's end, and only there.
    const MendMode mode = is_last ? MendMode::kCutShort : MendMode::kWhole;
    if (Follows(found.number) && !Extend(mode, found).has_value()) return;
    EndRun();
    run_.scheduler = std::make_unique<Scheduler>(limits_);
    const std::optional<Fault> fault = Extend(mode, found);
    if (!fault.has_value()) return;
    EndRun();
    found.fault = fault;
    CutShort(std::move(found));
  }

  bool Follows(uint64_t number) const {
    if (run_.generations.empty()) return false;
    // Since 1.26 a gap is none to Go's reader, if no state changed meanwhile.
    return number == run_.last_number + 1 ||
           (plan_.version >= Version::kGo126 && number > run_.last_number);
  }

  // Adds the generation to the run, or returns why it cannot follow there.
  std::optional<Fault> Extend(MendMode mode, const RepairedGeneration& found) {
    MendResult result =
        MendGeneration(plan_.version, batches_, sync_payload_, mode, limits_, run_.scheduler.get());
    if (result.fault.has_value()) return result.fault;
    if (result.events == 0 && !result.mending.cuts.empty()) return result.mending.first_fault;
    run_.generations.push_back(plan_.generations.size());
    run_.events += result.events;
    run_.last_number = found.number;
    AddPieces(result.mending, &run_.pieces);
    plan_.generations.push_back(Describe(found, result));
    return std::nullopt;
  }

  // Keeps the broken generation as the one to fall back on, if it has more events than another.
  void CutShort(RepairedGeneration found) {
    Scheduler scheduler(limits_);
    const MendResult result = MendGeneration(plan_.version, batches_, sync_payload_,
                                             MendMode::kCutShort, limits_, &scheduler);
    if (!result.fault.has_value() && result.events > fallback_.events) {
      fallback_ = Run();
      fallback_.generations.push_back(plan_.generations.size());
      fallback_.events = result.events;
      AddPieces(result.mending, &fallback_.pieces);
      fallback_generation_ = Describe(found, result);
    }
    found.fate = GenerationFate::kBroken;
    plan_.generations.push_back(std::move(found));
  }

  static RepairedGeneration Describe(const RepairedGeneration& found, const MendResult& result) {
    const Mending& mending = result.mending;
    RepairedGeneration described = found;
    described.events = result.events;
    described.events_left_out = mending.left_out.size();
    described.entries_added = mending.strings.size() + mending.stacks.size();
    described.threads_cut = mending.cuts.size();
    described.events_cut = mending.events_cut;
    described.fate = !mending.cuts.empty() ? GenerationFate::kCutShort
                     : mending.nothing()   ? GenerationFate::kKept
                                           : GenerationFate::kMended;
    if (!described.fault.has_value()) described.fault = mending.first_fault;
    return described;
  }

  void EndRun() {
    Run* const loser = run_.events > best_.events ? &best_ : &run_;
    for (const size_t index : loser->generations) {
      GoApart(&plan_.generations[index]);
    }
    if (loser == &best_) best_ = std::move(run_);
    run_ = Run();
  }

  // The runtime tells the frequency anew in each generation, and always the same.
  void RememberSync() {
    for (const Batch& batch : batches_) {
      if (batch.kind() == EventType::kFrequency) sync_payload_ = std::string(batch.payload);
    }
  }

  void AddPieces(const Mending& mending, std::vector<RepairPiece>* pieces) const {
    for (const Batch& batch : batches_) {
      if (ChangesBatch(plan_.version, batch, mending)) {
        AddPiece({0, 0, EncodeMendedBatch(plan_.version, batch, mending)}, pieces);
      } else if (batch.shortened) {
        AddPiece({0, 0, EncodeBatch(batch)}, pieces);
      } else {
        const uint64_t end = batch.payload_offset + batch.payload.size();
        AddPiece({batch.offset, end - batch.offset, ""}, pieces);
      }
    }
    const Batch& beside = batches_.front();
    if (mending.needs_sync) AddPiece({0, 0, EncodeBatchBeside(beside, sync_payload_)}, pieces);
    AddPiece({0, 0, EncodeTables(beside, mending)}, pieces);
    if (plan_.version < Version::kGo126) return;
    AddPiece({0, 0, std::string(1, static_cast<char>(EventType::kEndOfGeneration))}, pieces);
  }

  static void AddPiece(RepairPiece piece, std::vector<RepairPiece>* pieces) {
    if (piece.size == 0 && piece.bytes.empty()) return;
    RepairPiece* const last = pieces->empty() ? nullptr : &pieces->back();
    if (last == nullptr || last->bytes.empty() != piece.bytes.empty() ||
        (piece.bytes.empty() && last->offset + last->size != piece.offset)) {
      pieces->push_back(std::move(piece));
      return;
    }
    last->size += piece.size;
    last->bytes += piece.bytes;
  }

  const ReaderLimits limits_;
  RepairPlan& plan_;
  std::optional<Fault> passed_limit_;
  std::optional<uint64_t> next_trace_;
  Run run_;   // That is being extended; without a scheduler if none is.
  Run best_;  // The one with the most events of those that ended.
  Run fallback_;
  RepairedGeneration fallback_generation_;

  // Of the generation being read.
  std::vector<Batch> batches_;
  std::optional<Fault> first_fault_;
  std::string sync_payload_;  // Of the last sync batch that tells nothing but the frequency.
};

// The output, piece by piece.
class RepairedStream final : public ByteStream {
 public:
  RepairedStream(std::vector<RepairPiece> pieces, std::unique_ptr<ByteSource> source)
      : pieces_(std::move(pieces)), source_(std::move(source)) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    while (next_ < pieces_.size()) {
      const RepairPiece& piece = pieces_[next_];
      if (done_ == (piece.bytes.empty() ? piece.size : piece.bytes.size())) {
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
    return 0;
  }

 private:
  // What comes next of the piece: at least one and at most `size` bytes.
  absl::StatusOr<absl::string_view> Show(const RepairPiece& piece, size_t size) {
    if (!piece.bytes.empty()) return absl::string_view(piece.bytes).substr(done_, size);
    size = std::min({size, static_cast<size_t>(piece.size - done_), ByteSource::kMaxFill});
    absl::Status status = MoveTo(piece.offset + done_);
    // What a cut off input still gave is all that the piece was made of.
    if (status.ok()) status = source_->Fill(size);
    const absl::string_view window = source_->window().substr(0, size);
    if (!window.empty() && source_->offset() == piece.offset + done_) return window;
    return status.ok() ? absl::AbortedError("the input became shorter while it was repaired")
                       : status;
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
  uint64_t done_ = 0;  // Of the next piece.
};

absl::Status Verify(const RepairPlan& plan, const OpenInput& open, const ReaderLimits& limits) {
  absl::StatusOr<std::unique_ptr<ByteStream>> stream = OpenRepaired(plan, open);
  if (!stream.ok()) return stream.status();
  absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromStream(*std::move(stream));
  if (!source.ok()) return source.status();
  uint64_t events = 0;
  return ReadStrictly(*std::move(source), limits, &events);
}

// Takes the other plan's trace in place of this one's if it has more events, and what it tells of
// its own in any case.
void Join(RepairPlan other, RepairPlan* plan) {
  RepairPlan& loser = other.events > plan->events ? *plan : other;
  for (RepairedGeneration& generation : loser.generations) {
    if (generation.events > 0) GoApart(&generation);
  }
  if (&loser == plan) {
    plan->version = other.version;
    plan->header_offset = other.header_offset;
    plan->pieces = std::move(other.pieces);
    plan->events = other.events;
    plan->output_bytes = other.output_bytes;
  }
  plan->generations.insert(plan->generations.end(), other.generations.begin(),
                           other.generations.end());
  plan->stray.insert(plan->stray.end(), other.stray.begin(), other.stray.end());
  plan->stray_bytes += other.stray_bytes;
  if (other.input_fault.has_value()) plan->input_fault = std::move(other.input_fault);
  plan->input_bytes = other.input_bytes;
}

bool PassesLimit(const absl::Status& status) {
  const std::optional<Fault> fault = FaultOf(status);
  return fault.has_value() && IsLimit(fault->id);
}

// Counts what stands behind the last trace among the input's bytes.
absl::Status CountRest(ByteSource* source, RepairPlan* plan) {
  const absl::Status status = CountBytes(source).status();
  plan->input_bytes = source->offset();
  // That the compression around it is damaged does not matter to the traces before.
  plan->input_fault = FaultOf(status);
  return plan->input_fault.has_value() ? absl::OkStatus() : status;
}

// Plans each of the traces that stand one behind the other in the input, and takes the best.
absl::Status PlanTraces(ByteSource* source, const ReaderLimits& limits, RepairPlan* plan) {
  plan->events = 0;
  bool is_first = true;
  for (std::optional<uint64_t> next = 0; next.has_value();) {
    RepairPlan part;
    Planner planner(limits, &part);
    if (absl::Status status = planner.ReadAll(source); !status.ok()) {
      // Behind the first trace there may be what is none. An error of I/O is never told by a plan,
      // nor is a limit, behind which there may be more.
      const bool may_end = FaultOf(status).has_value() && !PassesLimit(status);
      if (is_first || !may_end) return status;
      return CountRest(source, plan);
    }
    planner.Choose();
    next = planner.next_trace();
    if (std::exchange(is_first, false)) {
      *plan = std::move(part);
    } else {
      Join(std::move(part), plan);
    }
  }
  return absl::OkStatus();
}

// Gives up on what was to be kept, since it shows `fault` when read.
void KeepNothing(const Fault& fault, RepairPlan* plan) {
  for (RepairedGeneration& generation : plan->generations) {
    if (generation.events == 0) continue;
    generation.fate = GenerationFate::kBroken;
    generation.events = 0;
    generation.fault = fault;
  }
  plan->pieces.clear();
  plan->events = 0;
  plan->output_bytes = 0;
}

}  // namespace

absl::StatusOr<RepairPlan> PlanRepair(const OpenInput& open, const ReaderLimits& limits) {
  RepairPlan plan;
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenUndone(open, limits, &plan.notes);
  if (!source.ok()) return source.status();
  const absl::Status strict = ReadStrictly(*std::move(source), limits, &plan.events);
  plan.sound = strict.ok();
  if ((!strict.ok() && !FaultOf(strict).has_value()) || PassesLimit(strict)) return strict;
  source = OpenUndone(open, limits, &plan.notes);
  if (!source.ok()) return source.status();
  if (plan.sound) {
    const absl::StatusOr<Version> version = ReadHeader(source->get());
    if (!version.ok()) return version.status();
    const absl::StatusOr<uint64_t> size = CountBytes(source->get());
    if (!size.ok()) return size.status();
    plan.version = *version;
    plan.input_bytes = plan.output_bytes = *size;
    plan.pieces.push_back({0, *size, ""});
    return plan;
  }
  std::vector<TransportNote> notes = std::move(plan.notes);
  if (absl::Status status = PlanTraces(source->get(), limits, &plan); !status.ok()) return status;
  plan.notes = std::move(notes);
  if (plan.pieces.empty()) return plan;
  const absl::Status status = Verify(plan, open, limits);
  if (const std::optional<Fault> fault = FaultOf(status)) {
    KeepNothing(*fault, &plan);
  } else if (!status.ok()) {
    return status;
  }
  return plan;
}

absl::StatusOr<std::unique_ptr<ByteStream>> OpenRepaired(const RepairPlan& plan,
                                                         const OpenInput& open) {
  std::vector<TransportNote> notes;
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenUndone(open, ReaderLimits(), &notes);
  if (!source.ok()) return source.status();
  return std::make_unique<RepairedStream>(plan.pieces, *std::move(source));
}

}  // namespace gotrace
