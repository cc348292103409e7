#include "gotrace/repair.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gotrace/reader.h"
#include "parser/framing/batch_reader.h"
#include "parser/generation/generation_tables.h"
#include "parser/source/borrowed_source.h"
#include "parser/source/steady_input.h"
#include "parser/source/stoppable_source.h"
#include "rewrite/generation_writer.h"
#include "rewrite/keep_before.h"
#include "rewrite/region_rewriter.h"
#include "tracev2/batch_encoder.h"

namespace gotrace::internal {
namespace {

// The maximum number of framing faults kept in the plan.
constexpr size_t kStrayKept = 5;

// The number of bytes that Repair() passes on at once.
constexpr size_t kCopyBlock = 1 << 16;

// Reads a trace to its end. Returns its version, and stores the number of its events with and
// without kSync events.
absl::StatusOr<Version> ReadStrictly(ByteSource* source, const ReaderLimits& limits,
                                     RepairPlan* plan) {
  ReaderOptions options;
  options.limits = limits;
  absl::StatusOr<Reader> reader =
      Reader::FromSource(std::make_unique<BorrowedSource>(source), options);
  if (!reader.ok()) return reader.status();
  plan->events = 0;
  plan->events_with_syncs = 0;
  while (true) {
    const absl::Span<const Event> block = reader->NextBlock();
    if (block.empty()) break;
    // Only the first event of a block can be a kSync event.
    plan->events_with_syncs += block.size();
    plan->events += block.size() - (block.front().kind() == EventKind::kSync ? 1 : 0);
  }
  if (!reader->status().ok()) return reader->status();
  return reader->version();
}

// Opens the input, and undoes its damage in transport. Each reading has the same bytes, or fails.
class UndoneInputs {
 public:
  // `open` must outlive this object, and may own the bytes of the sources.
  UndoneInputs(const OpenInput& open, const ReaderLimits& limits) : open_(open), limits_(limits) {}

  // Opens the input of a plan.
  UndoneInputs(const OpenInput& open, const RepairPlan& plan)
      : open_(open), steady_({plan.input_bytes, plan.input_hash}) {}

  absl::StatusOr<std::unique_ptr<ByteSource>> Open() {
    absl::StatusOr<std::unique_ptr<ByteSource>> source = open_();
    if (!source.ok()) return source.status();
    absl::StatusOr<UndoneInput> input = UndoTransport(*std::move(source), limits_);
    if (!input.ok()) return input.status();
    notes_ = std::move(input->notes);
    return steady_.Watch(std::move(input->source));
  }

  // Return the findings of the sources so far.
  const std::vector<TransportNote>& notes() const { return notes_; }
  std::optional<InputBytes> bytes() const { return steady_.bytes(); }

 private:
  const OpenInput& open_;
  const ReaderLimits limits_;
  const SteadyInput steady_;
  std::vector<TransportNote> notes_;
};

bool IsFraming(FaultId id) {
  return StageOf(id) == FaultStage::kFraming && id != FaultId::kTextInTrace;
}

void LeaveApart(RepairedGeneration* generation) {
  generation->fate = GenerationFate::kApart;
  generation->events = generation->output_end = 0;
  generation->regions = RegionChanges();
}

// Returns whether the batches that were found can be sound despite the fault, because it is only
// about bytes between them or about missing parts.
bool LeavesBatchesSound(FaultId id) {
  switch (id) {
    case FaultId::kGenerationZero:
    case FaultId::kGenerationOrder:
    case FaultId::kGenerationMixed:
    case FaultId::kGenerationIncomplete:
    case FaultId::kEndOfGenerationEvent:
      return true;
    default:
      return IsFraming(id) || StageOf(id) == FaultStage::kTransport;
  }
}

// A generation of the output.
struct OutputGeneration {
  size_t index = 0;  // The index in RepairPlan::generations.
  std::vector<RepairPiece> pieces;
};

// A run of generations that follow each other.
struct Run {
  explicit Run(Version version) : writer(std::make_unique<GenerationWriter>(version)) {}

  std::unique_ptr<GenerationWriter> writer;
  std::vector<OutputGeneration> generations;
  uint64_t events = 0;
  uint64_t last_number = 0;      // The number of its last generation in the input.
  uint64_t last_new_number = 0;  // The number of its last generation in the output.
};

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

// Builds a plan, one generation after the other. If `regions` is not nullptr, it collects the
// regions or, once they are planned, changes them.
class Planner {
 public:
  Planner(const ReaderLimits& limits, RegionRewriter* regions, RepairPlan* plan)
      : limits_(limits), regions_(regions), plan_(*plan) {}

  absl::Status ReadAll(ByteSource* source) {
    GoToHeader(source);
    ReaderOptions options;
    options.mode = ReadMode::kSalvage;
    options.limits = limits_;
    options.on_fault = [this](const Fault& fault) { Note(fault); };
    options.on_batch = [this](const Batch& batch, const std::optional<Fault>& fault) {
      sound_batches_ &= !fault.has_value() && !batch.shortened;
      batches_.push_back(batch);
    };
    options.on_generation_end = [this](const GenerationTables& tables, const TableUse&) {
      EndGeneration(tables);
    };
    absl::StatusOr<Reader> reader =
        Reader::FromSource(std::make_unique<BorrowedSource>(source), std::move(options));
    if (!reader.ok()) return reader.status();
    reader_ = &*reader;
    plan_.version = reader->version();
    run_.emplace(plan_.version);
    best_.emplace(plan_.version);
    while (!passed_limit_.has_value()) {
      const absl::Span<const Event> block = reader->NextBlock();
      if (block.empty()) break;
      for (const Event& event : block) {
        collector_.Add(event);
        regions_nest_ &= event.fault() != FaultId::kRegionNesting;
      }
    }
    if (passed_limit_.has_value()) return FaultStatus(*passed_limit_);
    EndRun();
    plan_.stray_bytes = reader->losses().skipped_bytes;
    plan_.damaged_batches = reader->losses().dropped_batches;
    plan_.unreadable_bytes = reader->losses().dropped_bytes;
    plan_.text_pieces = reader->losses().text_pieces;
    plan_.text_bytes = reader->losses().text_bytes;
    next_trace_ = reader->next_trace();
    return reader->status();
  }

  // Returns whether no region ends while another region is open inside it.
  bool regions_nest() const { return regions_nest_; }

  // Returns the offset of another trace after this one, if any.
  std::optional<uint64_t> next_trace() const { return next_trace_; }

  void Choose() {
    if (best_->generations.empty()) return;
    plan_.pieces.push_back({plan_.header_offset, kHeaderSize, ""});
    plan_.output_bytes = kHeaderSize;
    for (OutputGeneration& generation : best_->generations) {
      plan_.events += plan_.generations[generation.index].events;
      for (RepairPiece& piece : generation.pieces) {
        plan_.output_bytes += SizeOf(piece);
        AddPiece(std::move(piece), &plan_.pieces);
      }
      plan_.generations[generation.index].output_end = plan_.output_bytes;
    }
  }

 private:
  void Note(const Fault& fault) {
    // Data that exceeds a limit cannot be kept, and must not be dropped without the caller's
    // consent.
    if (IsLimit(fault.id) && !passed_limit_.has_value()) passed_limit_ = fault;
    // The fault is about the file and not about a generation.
    if (StageOf(fault.id) == FaultStage::kTransport) {
      plan_.input_fault = fault;
      return;
    }
    // Only the text is removed.
    if (fault.id == FaultId::kTextInTrace) {
      if (!plan_.first_text.has_value()) plan_.first_text = fault;
      return;
    }
    lost_ |= fault.id != FaultId::kRegionNesting;
    if (fault.cut_off && !plan_.cut_off.has_value()) plan_.cut_off = fault;
    if (IsFraming(fault.id) && plan_.stray.size() < kStrayKept) plan_.stray.push_back(fault);
    if (!LeavesBatchesSound(fault.id)) sound_events_ = false;
    if (!first_fault_.has_value()) first_fault_ = fault;
  }

  void GoToHeader(ByteSource* source) {
    // An error occurs again when the header is read.
    source->Fill(kMostBeforeHeader).IgnoreError();
    const size_t pos = FindHeader(source->window().substr(0, kMostBeforeHeader));
    if (pos != absl::string_view::npos) source->Skip(pos);
    plan_.header_offset = source->offset();
  }

  // Plans a generation after all of its events and batches were read.
  void EndGeneration(const GenerationTables& tables) {
    const GenerationInfo& info = reader_->generation();
    RepairedGeneration found;
    found.number = info.number;
    found.begin_offset = info.begin_offset;
    found.end_offset = info.end_offset;
    found.fault = first_fault_;
    if (!passed_limit_.has_value()) PlanGeneration(tables, &found);
    plan_.generations.push_back(std::move(found));
    batches_.clear();
    first_fault_.reset();
    sound_batches_ = true;
    sound_events_ = true;
    collector_.Take();
    losses_before_ = reader_->losses();
    if (tables.frequency().has_value()) frequency_ = tables.frequency()->ticks_per_second;
  }

  void PlanGeneration(const GenerationTables& tables, RepairedGeneration* found) {
    const GenerationInfo& info = reader_->generation();
    if (info.ends_with_trace && !info.has_event_batches) {
      found->fate = GenerationFate::kEmpty;
      return;
    }
    if (!run_->generations.empty() && found->number == run_->last_number) {
      // A generation that appears twice is kept once.
      LeaveApart(found);
      return;
    }
    if (found->number < run_->last_number) EndRun();
    const uint64_t given = collector_.given();
    GenerationContent content = MakeContent(tables, found);
    const bool has_new_regions = ChangeRegions(&content, found);
    const bool takes_any_number = run_->generations.empty() || plan_.version >= Version::kGo126;
    content.number = takes_any_number ? found->number : run_->last_new_number + 1;
    OutputGeneration output;
    output.index = plan_.generations.size();
    std::string bytes;
    const WrittenGeneration written = run_->writer->Write(content, &bytes);
    const Losses& losses = reader_->losses();
    // As long as nothing is wrong, Go's reader accepts everything that the Reader accepts.
    const bool was_sound = losses.faults == 0 && !changed_regions_;
    const bool is_sound =
        was_sound || (!has_new_regions && IsSound(tables, losses) && !written.changed);
    if (content.number != found->number) found->new_number = content.number;
    if (is_sound) {
      found->fate = GenerationFate::kKept;
      // After a fault, the Reader may not know a P that a goroutine loses as it ends.
      found->events = losses.faults == 0 ? given : written.events - written.statuses_added;
      found->clock = RepairedGeneration::Clock::kOwn;
      KeepBatches(content.number, &output.pieces);
    } else {
      found->fate = GenerationFate::kRewritten;
      found->events = written.events;
      found->events_left_out =
          written.events_left_out + (losses.dropped_events - losses_before_.dropped_events);
      found->events_added = written.events_added;
      found->statuses_added = written.statuses_added;
      found->entries_added =
          written.strings_added + (losses.unresolved - losses_before_.unresolved);
      AddPiece({0, 0, std::move(bytes)}, &output.pieces);
    }
    run_->events += found->events;
    run_->last_number = found->number;
    run_->last_new_number = content.number;
    run_->generations.push_back(std::move(output));
  }

  // Returns whether it changed anything.
  bool ChangeRegions(GenerationContent* content, RepairedGeneration* found) {
    if (regions_ == nullptr) return false;
    if (!regions_->planned()) {
      regions_->Collect(content, lost_);
      return false;
    }
    const std::optional<RegionChanges> changes = regions_->Apply(content);
    if (!changes.has_value()) return false;
    found->regions = *changes;
    return changed_regions_ = true;
  }

  // Returns whether Go's reader accepts the batches of the generation, apart from anything that
  // depends on previous generations.
  bool IsSound(const GenerationTables& tables, const Losses& losses) const {
    return sound_batches_ && sound_events_ && tables.frequency().has_value() &&
           (plan_.version < Version::kGo125 || tables.clock_snapshot().has_value()) &&
           losses.marked_events == losses_before_.marked_events &&
           losses.dropped_events == losses_before_.dropped_events &&
           losses.unresolved == losses_before_.unresolved;
  }

  GenerationContent MakeContent(const GenerationTables& tables, RepairedGeneration* found) {
    using Clock = RepairedGeneration::Clock;
    GenerationContent content;
    content.tables = &tables;
    // Any changes to a generation's events belong here.
    content.events = collector_.Take();
    for (size_t i = 1; i < content.events.size() && !content.order_by_time; ++i) {
      content.order_by_time = content.events[i].time < content.events[i - 1].time;
    }
    uint64_t begin = 0;
    for (const Batch& batch : batches_) {
      if (begin == 0 || batch.time < begin) begin = batch.time;
    }
    content.begin = tables.clock().ToNs(begin);
    content.frequency = 1'000'000'000;
    if (tables.frequency().has_value()) {
      content.frequency = tables.frequency()->ticks_per_second;
    } else if (frequency_.has_value()) {
      content.frequency = *frequency_;
      found->clock = Clock::kBorrowed;
    } else {
      found->clock = Clock::kAssumed;
    }
    if (plan_.version < Version::kGo125) return content;
    if (tables.clock_snapshot().has_value()) {
      content.clock_snapshot = *tables.clock_snapshot();
      snapshot_ = content.clock_snapshot;
      return content;
    }
    found->clock = snapshot_.has_value() ? Clock::kBorrowed : Clock::kAssumed;
    ClockSnapshot& snapshot = content.clock_snapshot;
    snapshot.trace_time = content.begin;
    snapshot.mono = static_cast<uint64_t>(content.begin);
    snapshot.wall = absl::UnixEpoch();
    if (snapshot_.has_value()) {
      const int64_t since = TraceClock::Subtract(content.begin, snapshot_->trace_time);
      snapshot.mono = snapshot_->mono + static_cast<uint64_t>(since);
      snapshot.wall = snapshot_->wall + absl::Nanoseconds(since);
    }
    return content;
  }

  // Adds the bytes of the batch from `begin` on, without any text that was printed into it.
  static void AddInput(const Batch& batch, uint64_t begin, std::vector<RepairPiece>* pieces) {
    for (const ByteRange& text : batch.text) {
      if (text.begin > begin) AddPiece({begin, text.begin - begin, ""}, pieces);
      begin = std::max(begin, text.end);
    }
    AddPiece({begin, batch.end_offset() - begin, ""}, pieces);
  }

  void KeepBatches(uint64_t number, std::vector<RepairPiece>* pieces) const {
    for (const Batch& batch : batches_) {
      if (batch.generation == number) {
        AddInput(batch, batch.offset, pieces);
        continue;
      }
      std::string header;
      AppendBatchHeader(
          {number, static_cast<uint64_t>(batch.thread.value), batch.time, batch.experiment},
          batch.payload.size(), BatchSizeForm::kShortest, &header);
      AddPiece({0, 0, std::move(header)}, pieces);
      AddInput(batch, batch.payload_offset, pieces);
    }
    if (plan_.version < Version::kGo126) return;
    AddPiece({0, 0, std::string(1, static_cast<char>(EventType::kEndOfGeneration))}, pieces);
  }

  // Keeps the run with the most events.
  void EndRun() {
    Run* const loser = run_->events > best_->events ? &*best_ : &*run_;
    for (const OutputGeneration& generation : loser->generations) {
      LeaveApart(&plan_.generations[generation.index]);
    }
    if (loser == &*best_) best_ = std::move(run_);
    if (regions_ != nullptr) regions_->BeginRun();
    run_.emplace(plan_.version);
  }

  const ReaderLimits limits_;
  RegionRewriter* const regions_;
  RepairPlan& plan_;
  bool regions_nest_ = true;
  bool lost_ = false;  // Whether lost data, and not the program, may be the cause of problems.
  bool changed_regions_ = false;  // Whether the regions of any generation were changed.
  const Reader* reader_ = nullptr;
  std::optional<Fault> passed_limit_;
  std::optional<uint64_t> next_trace_;
  std::optional<Run> run_;   // The current run.
  std::optional<Run> best_;  // The earlier run with the most events.

  // The generation being read.
  std::vector<Batch> batches_;
  WriterEventCollector collector_;
  std::optional<Fault> first_fault_;
  bool sound_batches_ = true;  // Whether all batches are complete, and their tables sound.
  bool sound_events_ = true;   // Whether no fault is about its events.

  // The losses of previous generations.
  Losses losses_before_;
  std::optional<uint64_t> frequency_;
  std::optional<ClockSnapshot> snapshot_;
};

// Reads the output, piece by piece.
class RepairedStream final : public ByteStream {
 public:
  // `source` must be watched by a SteadyInput that knows its bytes. Reading ends with an error if
  // any bytes differ, including bytes that are not part of the output.
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

// Reads the output as Go's reader would, and counts its events.
absl::Status Verify(UndoneInputs* inputs, const ReaderLimits& limits, RepairPlan* plan) {
  absl::StatusOr<std::unique_ptr<ByteSource>> input = inputs->Open();
  if (!input.ok()) return input.status();
  absl::StatusOr<std::unique_ptr<ByteSource>> source =
      SourceFromStream(std::make_unique<RepairedStream>(plan->pieces, *std::move(input)));
  if (!source.ok()) return source.status();
  RepairPlan read;
  const absl::Status status = ReadStrictly(source->get(), limits, &read).status();
  plan->events_with_syncs = read.events_with_syncs;
  // After a fault, the rest shows whether the input has changed.
  absl::Status rest = ReadToEnd(source->get());
  return rest.ok() ? status : rest;
}

// Replaces the trace of this plan with that of the other plan if that has more events. In either
// case, adds the other plan's generations and faults.
void Join(RepairPlan other, RepairPlan* plan) {
  RepairPlan& loser = other.events > plan->events ? *plan : other;
  for (RepairedGeneration& generation : loser.generations) {
    if (generation.events > 0) LeaveApart(&generation);
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
  if (other.cut_off.has_value()) plan->cut_off = std::move(other.cut_off);
  plan->stray.insert(plan->stray.end(), other.stray.begin(), other.stray.end());
  plan->stray_bytes += other.stray_bytes;
  plan->damaged_batches += other.damaged_batches;
  plan->unreadable_bytes += other.unreadable_bytes;
  if (!plan->first_text.has_value()) plan->first_text = std::move(other.first_text);
  plan->text_pieces += other.text_pieces;
  plan->text_bytes += other.text_bytes;
  if (other.input_fault.has_value()) plan->input_fault = std::move(other.input_fault);
}

bool PassesLimit(const absl::Status& status) {
  const std::optional<Fault> fault = FaultOf(status);
  return fault.has_value() && IsLimit(fault->id);
}

// Reads everything after the last trace.
absl::Status ReadRest(ByteSource* source, RepairPlan* plan) {
  const absl::Status status = ReadToEnd(source);
  const std::optional<Fault> fault = FaultOf(status);
  if (!fault.has_value()) return status;
  // Damaged compression there does not affect the traces before it.
  plan->input_fault = fault;
  return absl::OkStatus();
}

// The regions of each trace in the input.
using Regions = std::vector<std::unique_ptr<RegionRewriter>>;

// Plans each of the consecutive traces in the input, and keeps the best plan. `regions` is nullptr,
// or empty and will be filled, or was filled by an earlier call. Clears `*regions_nest` if the
// regions of any trace do not nest.
absl::Status PlanTraces(ByteSource* source, const ReaderLimits& limits, Regions* regions,
                        RepairPlan* plan, bool* regions_nest) {
  plan->events = 0;
  bool is_first = true;
  size_t index = 0;
  for (std::optional<uint64_t> next = 0; next.has_value(); ++index) {
    RepairPlan part;
    if (regions != nullptr && index == regions->size()) {
      regions->push_back(std::make_unique<RegionRewriter>());
    }
    Planner planner(limits, regions == nullptr ? nullptr : (*regions)[index].get(), &part);
    if (absl::Status status = planner.ReadAll(source); !status.ok()) {
      // The first trace may be followed by data that is not a trace. I/O errors and exceeded limits
      // are returned: there may be more of the trace after them.
      const bool may_end = FaultOf(status).has_value() && !PassesLimit(status);
      if (is_first || !may_end) return status;
      break;
    }
    planner.Choose();
    *regions_nest &= planner.regions_nest();
    next = planner.next_trace();
    if (std::exchange(is_first, false)) {
      *plan = std::move(part);
    } else {
      Join(std::move(part), plan);
    }
  }
  return ReadRest(source, plan);
}

// Plans the traces of the input. If regions do not nest, this needs a second pass, because where a
// region is written depends on all events after its begin.
absl::Status PlanInput(UndoneInputs* inputs, const ReaderLimits& limits, bool regions_nest,
                       RepairPlan* plan) {
  Regions regions;
  const auto plan_traces = [&](Regions* regions) {
    *plan = RepairPlan();
    const absl::StatusOr<std::unique_ptr<ByteSource>> source = inputs->Open();
    return source.ok() ? PlanTraces(source->get(), limits, regions, plan, &regions_nest)
                       : source.status();
  };
  if (regions_nest) {
    absl::Status status = plan_traces(nullptr);
    if (!status.ok() || regions_nest) return status;
  }
  if (absl::Status status = plan_traces(&regions); !status.ok()) return status;
  bool has_changes = false;
  for (const std::unique_ptr<RegionRewriter>& trace : regions) {
    trace->Plan();
    has_changes |= trace->has_changes();
  }
  return has_changes ? plan_traces(&regions) : absl::OkStatus();
}

// Returns a function that opens the same input, which can be stopped. Both arguments must outlive
// it.
OpenInput Stoppable(const OpenInput& open, const std::function<bool()>& keep_going) {
  return [&open, &keep_going]() -> absl::StatusOr<std::unique_ptr<ByteSource>> {
    absl::StatusOr<std::unique_ptr<ByteSource>> source = open();
    if (!source.ok()) return source;
    return StoppableSource::Wrap(*std::move(source), keep_going);
  };
}

}  // namespace
}  // namespace gotrace::internal

namespace gotrace {

RegionChanges& RegionChanges::operator+=(const RegionChanges& other) {
  ends_delayed += other.ends_delayed;
  max_delay_ns = std::max(max_delay_ns, other.max_delay_ns);
  regions_moved += other.regions_moved;
  goroutines_added += other.goroutines_added;
  ends_dropped += other.ends_dropped;
  return *this;
}

absl::StatusOr<RepairPlan> PlanRepair(const OpenInput& open_input, const RepairOptions& options) {
  const ReaderLimits& limits = options.limits;
  const OpenInput open = internal::Stoppable(open_input, options.keep_going);
  RepairPlan plan;
  internal::UndoneInputs inputs(open, limits);
  absl::StatusOr<std::unique_ptr<ByteSource>> source = inputs.Open();
  if (!source.ok()) return source.status();
  const absl::StatusOr<Version> version = internal::ReadStrictly(source->get(), limits, &plan);
  if ((!version.ok() && !FaultOf(version.status()).has_value()) ||
      internal::PassesLimit(version.status())) {
    return version.status();
  }
  plan.trace_is_sound = version.ok();
  if (plan.trace_is_sound) {
    if (absl::Status status = internal::ReadToEnd(source->get()); !status.ok()) return status;
    plan.version = *version;
    plan.output_bytes = inputs.bytes()->size;
    plan.pieces.push_back({0, plan.output_bytes, ""});
  } else {
    const bool regions_nest = FaultOf(version.status())->id != FaultId::kRegionNesting;
    if (absl::Status status = internal::PlanInput(&inputs, limits, regions_nest, &plan);
        !status.ok()) {
      return status;
    }
  }
  while (!plan.trace_is_sound && !plan.pieces.empty()) {
    const absl::Status status = internal::Verify(&inputs, limits, &plan);
    if (status.ok()) break;
    const std::optional<Fault> fault = FaultOf(status);
    if (!fault.has_value()) return status;
    internal::KeepBefore(*fault, &plan);
  }
  plan.notes = inputs.notes();
  plan.input_bytes = inputs.bytes()->size;
  plan.input_hash = inputs.bytes()->hash;
  for (const RepairedGeneration& generation : plan.generations) plan.regions += generation.regions;
  return plan;
}

absl::StatusOr<std::unique_ptr<ByteStream>> OpenRepaired(const RepairPlan& plan,
                                                         const OpenInput& open) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = internal::UndoneInputs(open, plan).Open();
  if (!source.ok()) return source.status();
  return std::make_unique<internal::RepairedStream>(plan.pieces, *std::move(source));
}

absl::Status Repair(const OpenInput& open, RepairSink sink, RepairPlan* plan,
                    const RepairOptions& options) {
  RepairPlan own_plan;
  if (plan == nullptr) plan = &own_plan;
  absl::StatusOr<RepairPlan> planned = PlanRepair(open, options);
  if (!planned.ok()) return planned.status();
  *plan = *std::move(planned);
  if (plan->pieces.empty()) {
    return absl::DataLossError("no generation of the trace can be saved");
  }
  const OpenInput stoppable = internal::Stoppable(open, options.keep_going);
  absl::StatusOr<std::unique_ptr<ByteStream>> stream = OpenRepaired(*plan, stoppable);
  if (!stream.ok()) return stream.status();
  std::string block(internal::kCopyBlock, '\0');
  while (true) {
    const absl::StatusOr<size_t> size = (*stream)->Read(block.data(), block.size());
    if (!size.ok()) return size.status();
    if (*size == 0) return absl::OkStatus();
    if (absl::Status status = sink(absl::string_view(block).substr(0, *size)); !status.ok()) {
      return status;
    }
  }
}

}  // namespace gotrace
