#include "parser/framing/batch_finder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/internal/limits.h"
#include "gotrace/version.h"
#include "parser/framing/cut_batch.h"
#include "parser/framing/printed_text.h"
#include "tracev2/raw_event.h"
#include "tracev2/varint.h"
#include "tracev2/wire_reader.h"
#include "util/cut_text.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

constexpr size_t kNowhere = absl::string_view::npos;

constexpr absl::string_view kHeaderBegin = "go 1.";

// The number of skipped bytes that a message shows.
constexpr size_t kShown = 60;

// How many batches must follow a place for it to be accepted.
constexpr int kBatchesAfter = 2;

// How many bytes IsSound() may decode in total, for each byte read.
constexpr uint64_t kMaxDecodedPerByte = 16;

// How many bytes may be searched in total for the batch after a text, for each byte read.
constexpr uint64_t kMaxSearchedPerByte = 16;

// How many steps SeparateText() may take in total: for each byte read, and in addition to that.
constexpr uint64_t kSearchStepsPerByte = 16;
constexpr uint64_t kSearchSteps = 4'000'000;

// Returns whether `bytes` begin with a line, or with enough text that it is not there by chance.
bool BeginsWithText(absl::string_view bytes) {
  constexpr size_t kMinText = 8;
  size_t size = 0;
  while (size < kMinText) {
    const size_t character = TextCharacterSize(bytes.substr(size));
    if (character == 0) return false;
    if (bytes[size] == '\n') return true;
    size += character;
  }
  return true;
}

// Returns whether the payload of an ordinary batch may begin with an event of this type.
bool BeginsPayload(EventType type) {
  switch (type) {
    case EventType::kStrings:
    case EventType::kStacks:
    case EventType::kCPUSamples:
    case EventType::kFrequency:
    case EventType::kSync:
      return true;
    default: {
      const EventSpec* const spec = FindEventSpec(type);
      return spec != nullptr && spec->timed();
    }
  }
}

// Returns whether the bytes are only the type of an experimental batch, which Go's reader, and
// therefore ReadBatch(), also treats as the end of the trace.
bool IsLoneType(absl::string_view bytes) {
  return bytes.size() == 1 && bytes[0] == static_cast<char>(EventType::kExperimentalBatch);
}

// Returns false for an experimental batch of an unknown experiment.
bool HasKnownExperiment(const BatchHead& head) {
  return head.type != EventType::kExperimentalBatch ||
         (head.experiment != 0 && head.experiment < kExperimentEnd);
}

// Returns whether these times are plausible for two batches near each other.
bool AreNear(uint64_t a, uint64_t b) {
  constexpr uint64_t kAlwaysNear = 1 << 24;
  const uint64_t less = std::min(a, b);
  const uint64_t more = std::max(a, b);
  // A clock that counts from the start of the machine can double within a second.
  return more - less < kAlwaysNear || more / 4 <= less;
}

}  // namespace

BatchFinder::BatchFinder(ByteSource* source, Version version, Report report)
    : source_(*source), version_(version), report_(std::move(report)) {}

void BatchFinder::Refill() {
  const absl::Status status = source_.Fill(ByteSource::kMaxFill);
  if (!status.ok() && io_status_.ok()) {
    io_status_ = status;
    if (std::optional<Fault> fault = FaultOf(status)) report_(*std::move(fault));
  }
  at_end_ = source_.window().size() < ByteSource::kMaxFill || !status.ok();
}

std::optional<BatchFinder::Header> BatchFinder::Peek(size_t pos) const {
  const absl::string_view window = source_.window();
  Header header;
  if (pos >= window.size() || ParseBatchHead(window.substr(pos), &header) != HeadStatus::kOk) {
    return std::nullopt;
  }
  const bool ends_generation = header.type == EventType::kEndOfGeneration;
  header.payload = ends_generation ? pos : pos + header.size;
  header.end = pos + header.size + header.payload_size;
  return header;
}

// Returns whether a batch of `generation` or the next one, or an end of generation, seems to begin
// at `pos`, or the trace ends there.
bool BatchFinder::Begins(size_t pos, uint64_t generation) const {
  if (pos == source_.window().size()) return at_end_;
  const std::optional<Header> header = Peek(pos);
  if (!header.has_value()) return false;
  if (header->type == EventType::kEndOfGeneration) return version_ >= Version::kGo126;
  return header->generation != 0 && IsNear(header->time) &&
         (generation == 0 || header->generation == generation ||
          header->generation == generation + 1);
}

// Returns whether this batch time is plausible after the last one. Bytes that are not a header
// usually give a very different number.
bool BatchFinder::IsNear(uint64_t time) const {
  return last_time_ == 0 || AreNear(time, last_time_);
}

// Makes IsNear() compare with the batch's time if the next batch confirms it: a damaged time would
// make all sound ones implausible.
void BatchFinder::LearnTime(const Header& header, size_t end) {
  const std::optional<Header> next = Peek(end);
  if (next.has_value() && next->time != 0 && AreNear(next->time, header.time)) {
    last_time_ = header.time;
  }
}

// Returns whether a complete batch is at `pos`, followed by `after` more batches or the end of the
// trace.
bool BatchFinder::IsBatch(size_t pos, uint64_t generation, int after) const {
  if (pos == source_.window().size()) return at_end_;
  if (!Begins(pos, generation)) return false;
  const Header header = *Peek(pos);
  if (header.end > source_.window().size()) return false;
  if (!HasKnownExperiment(header)) return false;
  const bool is_ordinary = header.type == EventType::kEventBatch && header.end > header.payload;
  if (is_ordinary && !BeginsPayload(static_cast<EventType>(source_.window()[header.payload]))) {
    return false;
  }
  if (after == 0) return true;
  // The byte of an end of generation is common elsewhere too.
  if (header.type == EventType::kEndOfGeneration && header.end < source_.window().size()) {
    const std::optional<Header> next = Peek(header.end);
    if (!next.has_value() || next->type == EventType::kEndOfGeneration) return false;
    if (generation != 0 && next->generation != generation + 1) return false;
  }
  // An end has generation 0, and the generation after it may have any number.
  return IsBatch(header.end, header.generation, after - 1);
}

// Returns whether a plausible continuation of a batch of `generation` is at `pos`: a batch, an end
// of generation with a batch after it, or the end of the trace.
bool BatchFinder::BatchFollows(size_t pos, uint64_t generation) const {
  if (IsLoneType(source_.window().substr(pos))) return at_end_;
  if (!Begins(pos, generation)) return false;
  const absl::string_view window = source_.window();
  if (pos == window.size() || window[pos] != static_cast<char>(EventType::kEndOfGeneration)) {
    return true;
  }
  // An end of generation is a single byte, which is also common in text and payloads.
  if (pos + 1 == window.size()) return at_end_;
  const std::optional<Header> next = Peek(pos + 1);
  return next.has_value() && next->type != EventType::kEndOfGeneration && next->generation != 0 &&
         next->generation != generation && IsNear(next->time);
}

// Returns whether the header alone is enough evidence: the runtime writes each size in ten bytes,
// which occur nowhere else.
bool BatchFinder::IsOfRuntime(const Header& header) const {
  constexpr uint64_t kMaxThread = uint64_t{1} << 40;
  constexpr uint64_t kMaxGeneration = uint64_t{1} << 20;
  if (header.type == EventType::kEndOfGeneration || header.payload_size_bytes != kMaxVarintSize)
    return false;
  if (!HasKnownExperiment(header)) return false;
  return header.generation < kMaxGeneration &&
         (header.thread < kMaxThread || header.thread == ~uint64_t{0});
}

// Returns whether the batches here have sizes of ten bytes: as the last batch had or, before the
// first batch, if the window contains the end of such a size.
bool BatchFinder::PadsSizes() {
  static constexpr absl::string_view kPadding("\x80\x80\x80\x80\x80\x80\0", 7);
  if (!pads_sizes_.has_value()) pads_sizes_ = absl::StrContains(source_.window(), kPadding);
  return *pads_sizes_;
}

// Returns whether a batch of Go's runtime begins at `pos`, or an EndOfGeneration with one after it.
bool BatchFinder::IsPaddedBatch(size_t pos, uint64_t generation) const {
  if (!Begins(pos, generation)) return false;
  const size_t size = source_.window().size();
  if (pos == size) return true;
  const Header header = *Peek(pos);
  if (header.type != EventType::kEndOfGeneration) return IsOfRuntime(header);
  if (header.end == size) return at_end_;
  const std::optional<Header> next = Peek(header.end);
  return next.has_value() && IsOfRuntime(*next) &&
         (generation == 0 || next->generation == generation + 1);
}

// Returns whether there is enough evidence that a batch begins at `pos`.
bool BatchFinder::IsSound(size_t pos, uint64_t generation) {
  if (PadsSizes()) return IsPaddedBatch(pos, generation);
  if (IsBatch(pos, generation, kBatchesAfter)) return true;
  const absl::string_view window = source_.window();
  if (pos >= window.size() || !Begins(pos, generation)) return false;
  const Header header = *Peek(pos);
  if (IsOfRuntime(header)) return true;
  if (header.end > window.size() || header.end == header.payload) return false;
  if (header.type != EventType::kEventBatch || generation == 0 || last_time_ == 0) return false;
  const absl::string_view after = window.substr(header.end);
  if (!BatchFollows(header.end, header.generation) && !BeginsWithText(after) &&
      !BeginsWithHeader(after)) {
    return false;
  }
  // Bounds the total time for decoding bytes that turn out not to be a payload.
  const absl::string_view payload = window.substr(header.payload, header.end - header.payload);
  if (decoded_ > kMaxDecodedPerByte * (source_.offset() + ByteSource::kMaxFill)) return false;
  decoded_ += payload.size();
  return SizeOfWholeEvents(payload) == payload.size();
}

size_t BatchFinder::Find(size_t from, size_t to, uint64_t generation) {
  for (size_t pos = from; pos < to; ++pos) {
    if (!IsSound(pos, generation)) continue;
    return HidesOrdinaryBatch(pos) ? pos + 1 : pos;
  }
  return kNowhere;
}

// Returns whether the apparent experimental batch at `pos` is the digit "1" followed by an ordinary
// batch. "1" is the type of an experimental batch, and the number of the only experiment is the
// type of an ordinary batch, so an ordinary batch after text that ends in "1" looks like an
// experimental one. The payload of an ordinary batch consists of events, possibly with text among
// them; few traces have experimental batches at all.
bool BatchFinder::HidesOrdinaryBatch(size_t pos) const {
  constexpr int kEventsDecoded = 4;
  const std::optional<Header> header = Peek(pos + 1);
  if (Peek(pos)->type != EventType::kExperimentalBatch || !header.has_value() ||
      header->type != EventType::kEventBatch) {
    return false;
  }
  absl::string_view payload =
      source_.window().substr(header->payload, header->end - header->payload);
  if (!payload.empty() && !BeginsPayload(static_cast<EventType>(payload[0]))) return false;
  if (!has_experiments_) return true;
  RawEvent event;
  for (int i = 0; i < kEventsDecoded && !payload.empty(); ++i) {
    const WireResult result = DecodeRawEvent(payload, &event);
    if (result.status != WireStatus::kOk) return false;
    payload.remove_prefix(result.size);
  }
  return true;
}

// Returns the position of the header of another trace, or kNowhere.
size_t BatchFinder::FindHeader(size_t from, size_t to) const {
  // The header need only begin before `to`.
  const absl::string_view before = source_.window().substr(0, to + kHeaderBegin.size() - 1);
  for (size_t pos = before.find(kHeaderBegin, from); pos != kNowhere;
       pos = before.find(kHeaderBegin, pos + 1)) {
    if (BeginsWithHeader(source_.window().substr(pos))) return pos;
  }
  return kNowhere;
}

// Returns the position of the next batch, or of the header of another trace if that comes first.
size_t BatchFinder::FindBeforeHeader(size_t from, size_t to, uint64_t generation) {
  const size_t found = Find(from, to, generation);
  // It may begin inside a batch header that was cut off.
  const size_t header = FindHeader(1, found == kNowhere ? to : found);
  return header != kNowhere ? header : found;
}

// Returns whether batches or text that SeparateText() found come next. If neither they nor a sound
// batch come next, searches for text first.
bool BatchFinder::HasTextAhead(uint64_t generation) {
  if (!batches_ahead_.empty() || !text_ahead_.empty()) return true;
  Refill();
  const size_t size = source_.window().size();
  if (size == 0) return false;
  // This trace ends here, so there is nothing to search for in the rest of the window.
  if (BeginsWithHeader(source_.window())) return false;
  const std::optional<Header> header = Peek(0);
  if (header.has_value() && header->end <= size) {
    if (BatchFollows(header->end, header->generation)) return false;
    if (IsOrdinaryAndWhole(*header, generation) && LinesFollow(header->end)) return false;
    // A '4' followed only by text is the end of the trace, not part of a line.
    const bool ends_generation = header->type == EventType::kEndOfGeneration && !after_end_;
    if (ends_generation && !at_end_ && 1 + TextSize(1) == size) return false;
  }
  return FindLinesHere(generation) || SeparateTextHere(generation);
}

// Returns whether the header is that of an event batch whose whole payload decodes.
bool BatchFinder::IsWhole(const Header& header) const {
  if (header.type != EventType::kEventBatch) return false;
  const absl::string_view payload =
      source_.window().substr(header.payload, header.end - header.payload);
  return SizeOfWholeEvents(payload) == payload.size();
}

// Returns whether a batch of whole events of `generation` or the next one is at `pos`, whatever its
// time, and after it another batch or the end of the trace.
bool BatchFinder::WholeBatchFollows(size_t pos, uint64_t generation) const {
  const std::optional<Header> header = Peek(pos);
  const size_t size = source_.window().size();
  if (!header.has_value() || header->end > size || !IsWhole(*header)) return false;
  if (header->generation != generation && header->generation != generation + 1) return false;
  return header->end == size ? at_end_ : Peek(header->end).has_value();
}

// Returns whether the batch that begins here is one of whole events, and plausible.
bool BatchFinder::IsOrdinaryAndWhole(const Header& header, uint64_t generation) const {
  return IsWhole(header) && Begins(0, generation);
}

// Returns how many bytes of text are at `pos`, up to the end of the window. A range that is known
// to be text is not examined again, since small batches may consist of text.
size_t BatchFinder::TextSize(size_t pos) {
  const absl::string_view window = source_.window();
  const uint64_t offset = source_.offset() + pos;
  const bool is_known = known_text_.begin <= offset && offset < known_text_.end &&
                        TextCharacterSize(window.substr(pos, 4)) > 0;
  if (!is_known) known_text_ = {offset, offset};
  size_t end = known_text_.end - source_.offset();
  while (end < window.size()) {
    const size_t size = TextCharacterSize(window.substr(end, 4));
    if (size == 0) break;
    end += size;
  }
  known_text_.end = source_.offset() + end;
  return end - pos;
}

// Returns whether `pos` is followed by complete lines and then a batch, or only by text up to the
// end of the trace. Text inside the last string of a batch would leave part of a line.
bool BatchFinder::LinesFollow(size_t pos) {
  const absl::string_view window = source_.window();
  constexpr char kEnd = static_cast<char>(EventType::kEndOfGeneration);
  // An end of generation, which is a '4', may precede the lines.
  if (pos < window.size() && version_ >= Version::kGo126 && window[pos] == kEnd) ++pos;
  if (pos == window.size() || window[pos] == kEnd) return false;
  const size_t end = pos + TextSize(pos);
  const absl::string_view text = window.substr(pos, end - pos);
  if (end == window.size()) return !text.empty() && (!at_end_ || absl::StrContains(text, '\n'));
  return absl::EndsWith(text, "\n") && Begins(end, 0);
}

// Returns whether a '4' at the beginning of `bytes` may be an EndOfGeneration.
bool BatchFinder::MayEndGeneration(absl::string_view bytes) const {
  return version_ >= Version::kGo126 && !after_end_ && !bytes.empty() &&
         bytes[0] == static_cast<char>(EventType::kEndOfGeneration);
}

// Finds complete lines that begin here and are followed by a sound batch or the end of the window;
// the last line of the trace need not be complete. Returns whether there are any. SeparateText()
// finds all other text.
bool BatchFinder::FindLinesHere(uint64_t generation) {
  const absl::string_view window = source_.window();
  size_t size = TextSize(0);
  const bool fills_window = size == window.size();
  if (size > 0 && fills_window) size = window.rfind('\n') + 1;  // npos becomes 0.
  if (size == 0 || window[size - 1] != '\n') return false;
  if (!fills_window && !IsSound(size, generation)) return false;
  // Unless it is part of the text, a '1' begins an experimental batch and a '4' ends a generation.
  for (size_t line = 0; line < size; line = window.find('\n', line) + 1) {
    const EventType type = static_cast<EventType>(window[line]);
    if (type == EventType::kExperimentalBatch && !PadsSizes()) return false;
    if (MayEndGeneration(window.substr(line))) return false;
  }
  if (fills_window && at_end_ && !MayEndGeneration(window.substr(size))) size = window.size();
  text_ahead_.push_back({source_.offset(), source_.offset() + size});
  last_text_ = std::string(window.substr(0, std::min(size, kShown)));
  return true;
}

// Searches for text from here to the next sound batch or the end of the trace. Returns whether
// anything is ahead now.
bool BatchFinder::SeparateTextHere(uint64_t generation) {
  // A source in memory shows all of its bytes, and the search needs many times as many.
  constexpr size_t kMaxSearched = 2 * ByteSource::kMaxFill;
  const absl::string_view window = source_.window().substr(0, kMaxSearched);
  // If a search finds nothing, its bytes are searched again after the next batch. Once this has
  // used up its share of time, text is no longer removed.
  if (searched_ > kMaxSearchedPerByte * (source_.offset() + ByteSource::kMaxFill)) return false;
  size_t next_batch = Find(1, window.size(), generation);
  searched_ += std::min(next_batch, window.size());
  const size_t next_trace = FindHeader(0, std::min(next_batch, window.size()));
  if (next_trace < next_batch) next_batch = kNowhere;
  TextContext context;
  context.version = version_;
  context.generation = generation;
  context.time = last_time_;
  context.after_strings = after_strings_;
  context.text_before = last_text_;
  size_t end = next_batch;
  if (next_batch != kNowhere) {
    const Header header = *Peek(next_batch);
    context.next_generation = header.generation;
    if (context.time == 0) context.time = header.time;
  } else {
    end = std::min(next_trace, window.size());
    context.end = (at_end_ && window.size() == source_.window().size()) || next_trace != kNowhere
                      ? TextContext::End::kTrace
                      : TextContext::End::kMore;
  }
  // Bounds the total time of all searches by the number of bytes read.
  const uint64_t all_steps = kSearchStepsPerByte * (source_.offset() + end) + kSearchSteps;
  context.max_steps = all_steps - std::min(all_steps, search_steps_);
  if (context.max_steps == 0) return false;
  const std::optional<SeparatedText> found =
      SeparateText(window.substr(0, end), context, &search_steps_);
  if (found.has_value() && !found->text.empty()) {
    const ByteRange& last = found->text.back();
    last_text_ = std::string(window.substr(last.begin, last.size()).substr(0, kShown));
  }
  if (!found.has_value()) return false;
  for (const ByteRange& text : found->text) {
    text_ahead_.push_back({source_.offset() + text.begin, source_.offset() + text.end});
  }
  for (const SeparatedBatch& separated : found->batches) AddSeparated(separated);
  return true;
}

// Adds a batch after those that are already ahead.
void BatchFinder::AddSeparated(const SeparatedBatch& separated) {
  const uint64_t offset = source_.offset();
  const absl::string_view window = source_.window();
  // The batch without its text.
  std::string bytes;
  size_t pos = separated.begin;
  size_t header_size = separated.payload - separated.begin;
  for (const ByteRange& text : separated.text) {
    absl::StrAppend(&bytes, window.substr(pos, text.begin - pos));
    if (text.begin < separated.payload) header_size -= text.size();
    pos = text.end;
  }
  absl::StrAppend(&bytes, window.substr(pos, separated.end - pos));

  Separated ahead;
  ahead.end = offset + separated.end;
  Batch& batch = ahead.batch;
  const std::unique_ptr<ByteSource> source = *SourceFromBytes(bytes);
  uint64_t ignored = 0;
  ReadBatchHeader(source.get(), &batch, &ignored).IgnoreError();
  batch.offset = offset + separated.begin;
  batch.payload_offset = offset + separated.payload;
  if (separated.text.empty()) {
    batch.payload = window.substr(separated.payload, separated.end - separated.payload);
  } else {
    Cleaned& cleaned = cleaned_.emplace_back();
    cleaned.payload_offset = batch.payload_offset;
    cleaned.payload = bytes.substr(header_size);
    for (const ByteRange& text : separated.text) {
      cleaned.text.push_back({offset + text.begin, offset + text.end});
    }
    batch.payload = cleaned.payload;
    batch.text = cleaned.text;
  }
  batches_ahead_.push_back(std::move(ahead));
}

// Takes the next batch from those ahead, or the text if there is none.
void BatchFinder::TakeSeparated(Batch* batch) {
  const bool has_batch = !batches_ahead_.empty();
  uint64_t end = 0;
  if (has_batch) {
    *batch = batches_ahead_.front().batch;
    end = batches_ahead_.front().end;
    batches_ahead_.pop_front();
    generation_ = batch->generation;
    after_strings_ = batch->kind() == EventType::kStrings;
    after_end_ = batch->IsEndOfGeneration();
    if (!after_end_) last_time_ = batch->time;
  }
  while (!text_ahead_.empty() && (!has_batch || text_ahead_.front().begin < end)) {
    const ByteRange text = text_ahead_.front();
    text_ahead_.pop_front();
    RemoveText(text, has_batch && text.begin >= batch->offset ? batch : nullptr);
    if (!has_batch) end = text.end;
  }
  if (end > source_.offset()) source_.Skip(end - source_.offset());
}

// Counts and reports text that is removed from inside `batch` or, if that is nullptr, from before a
// batch. A piece that directly follows the last one belongs to the same report.
void BatchFinder::RemoveText(const ByteRange& text, const Batch* batch) {
  text_bytes_ += text.size();
  const bool continues_last = text_pieces_ > 0 && text_end_ == text.begin;
  text_end_ = text.end;
  if (continues_last) return;
  ++text_pieces_;
  Fault fault = {FaultId::kTextInTrace, Place(), "", {}};
  if (batch != nullptr) fault.place = batch->place();
  fault.place.offset = text.begin;
  const absl::string_view bytes =
      source_.window().substr(text.begin - source_.offset(), text.size());
  fault.message = absl::StrCat("expected ", batch == nullptr ? "a batch" : "more of the batch",
                               ", found ", text.size(), text.size() == 1 ? " byte" : " bytes",
                               " of text, ", QuotedPrefix(bytes, kShown), ", which is removed");
  report_(std::move(fault));
}

void BatchFinder::Release(uint64_t offset) {
  while (!cleaned_.empty() && cleaned_.front().payload_offset < offset) cleaned_.pop_front();
  source_.Release(offset);
}

uint64_t BatchFinder::InputOffset(uint64_t offset) const {
  for (const Cleaned& cleaned : cleaned_) {
    if (offset < cleaned.payload_offset) break;
    if (offset > cleaned.payload_offset + cleaned.payload.size()) continue;
    for (const ByteRange& text : cleaned.text) {
      if (text.begin >= cleaned.payload_offset && text.begin <= offset) offset += text.size();
    }
    break;
  }
  return offset;
}

bool BatchFinder::Next(uint64_t generation, Batch* batch) {
  generation_ = generation;
  while (!next_trace_.has_value()) {
    if (!batches_ahead_.empty()) {
      TakeSeparated(batch);
      return true;
    }
    if (!text_ahead_.empty()) {
      TakeSeparated(nullptr);
      continue;
    }
    if (HasTextAhead(generation)) continue;
    const size_t size = source_.window().size();
    if (size == 0) return false;
    const std::optional<Header> header = Peek(0);
    if (header.has_value() && header->end <= size &&
        (Begins(header->end, header->generation) ||
         IsLoneType(source_.window().substr(header->end)))) {
      Take(*header, header->end, batch);
      return true;
    }
    if (header.has_value() && header->end <= size) {
      // No batch follows with a plausible time. If one begins inside this one, the size of this one
      // is wrong, unless the time alone is strange.
      const size_t from = std::max<size_t>(header->payload, 1);  // An end of a generation has none.
      const size_t found = IsWhole(*header) && WholeBatchFollows(header->end, header->generation)
                               ? header->end
                               : FindBeforeHeader(from, header->end, generation);
      const size_t inside = found == header->end ? kNowhere : found;
      if (inside < header->payload) {
        Fault fault = {FaultId::kBatchHeaderTruncated,
                       Place(),
                       "expected a batch header, found the header of another trace in it",
                       {}};
        fault.place.offset = fault.place.batch_offset = source_.offset();
        ReportSkipped(inside, std::move(fault));
        Skip(inside);
        continue;
      }
      if (inside != kNowhere) {
        Fault fault = {
            FaultId::kBatchMisfit, Place(),
            absl::StrCat("expected ", header->end - header->payload,
                         " bytes of payload, according to the batch header, found the next batch "
                         "after ",
                         inside - header->payload)};
        fault.place.offset = fault.place.batch_offset = source_.offset();
        fault.place.generation = header->generation;
        report_(std::move(fault));
      }
      Take(*header, inside == kNowhere ? header->end : inside, batch);
      return true;
    }
    // ReadBatch() reports what is wrong, and does not move the source.
    Batch ignored;
    const absl::Status status = ReadBatch(&source_, &ignored).status();
    if (source_.window().size() < size) {
      // The input has changed, or reading it was stopped, and the window is gone.
      io_status_.Update(status);
      return false;
    }
    std::optional<Fault> fault = FaultOf(status);
    // An I/O error was already reported when it occurred.
    const bool is_reported = status == io_status_;
    if (header.has_value() &&
        TakeCut(*header, generation, is_reported ? std::nullopt : fault, batch)) {
      return true;
    }
    if (!fault.has_value()) {
      // ReadBatch() treats this as the end of the trace, or the input cannot be read further.
      source_.Skip(source_.window().size());
      return false;
    }
    // Another trace has different clocks and ids, which must not be mixed with those of this one.
    if (BeginsWithHeader(source_.window())) {
      next_trace_ = source_.offset();
      absl::StrAppend(&fault->message, ", which is skipped");
      report_(*std::move(fault));
      return false;
    }
    const size_t found = FindBeforeHeader(1, size, generation);
    // More batches follow, so the size of this one is wrong.
    if (found != kNowhere && fault->cut_off) {
      fault->cut_off = false;
      fault->message.erase(0, fault->message.find(": ") + 2);
    }
    if (found == kNowhere && at_end_) {
      truncated_ |= !io_status_.ok() || fault->id == FaultId::kBatchTruncated ||
                    fault->id == FaultId::kBatchHeaderTruncated;
    }
    // A batch across the end of the window will be complete in the next window.
    const size_t unseen = std::min(size, size_t{2} * kMaxBatchSize);
    const size_t next = found != kNowhere ? found : at_end_ ? size : size - unseen;
    // The following batches may be written in another way.
    if (found == kNowhere) pads_sizes_.reset();
    if (!is_reported) ReportSkipped(next, *std::move(fault));
    Skip(next);
  }
  return false;
}

void BatchFinder::ReportSkipped(size_t size, Fault fault) {
  const absl::string_view skipped = source_.window().substr(0, size);
  absl::StrAppend(&fault.message, "; skipped ", skipped.size(), " bytes, beginning with ",
                  Quoted(skipped.substr(0, kShown)));
  report_(std::move(fault));
}

void BatchFinder::Skip(size_t size) {
  const uint64_t begin = source_.offset();
  source_.Skip(size);
  skipped_bytes_ += size;
  ReleaseSkipped(begin);
}

// Releases skipped bytes, of which no views exist, while batches before them may still be needed.
void BatchFinder::ReleaseSkipped(uint64_t begin) {
  if (begin != run_end_) run_begin_ = begin;
  run_end_ = source_.offset();
  source_.ReleaseSkipped(run_begin_, run_end_);
}

void BatchFinder::Take(const Header& header, size_t end, Batch* batch) {
  *batch = Batch();
  batch->offset = source_.offset();
  batch->payload_offset = source_.offset() + header.payload;
  batch->generation = header.generation;
  batch->thread = ThreadId{static_cast<int64_t>(header.thread)};
  batch->time = header.time;
  LearnTime(header, end);
  after_end_ = batch->IsEndOfGeneration();
  if (!after_end_) pads_sizes_ = header.payload_size_bytes == kMaxVarintSize;
  batch->experiment = header.experiment;
  has_experiments_ |= header.experiment != 0;
  generation_ = header.generation;
  after_strings_ = header.payload < end &&
                   source_.window()[header.payload] == static_cast<char>(EventType::kStrings);
  batch->payload = source_.window().substr(header.payload, end - header.payload);
  batch->shortened = end != header.end;
  source_.Skip(end);
}

// If the trace ends inside the batch that begins here, takes the batch's complete events, reports
// `fault`, if there is one, and returns true. Requires that the batch ends after the window, which
// is larger than any batch.
bool BatchFinder::TakeCut(const Header& header, uint64_t generation,
                          const std::optional<Fault>& fault, Batch* batch) {
  const absl::string_view window = source_.window();
  if (header.type != EventType::kEventBatch || !Begins(0, generation)) return false;
  const size_t size = SizeOfWholeEvents(window.substr(header.payload));
  if (size == 0) return false;
  truncated_ = true;
  const size_t rest = window.size() - header.payload - size;
  if (fault.has_value()) {
    Fault reported = *fault;
    absl::StrAppend(&reported.message,
                    rest == 0 ? "; all of them form complete events"
                              : absl::StrCat("; all but the last ", rest, " form complete events"));
    report_(std::move(reported));
  }
  Take(header, header.payload + size, batch);
  Skip(rest);
  return true;
}

std::optional<uint64_t> BatchFinder::PeekGeneration() {
  HasTextAhead(generation_);
  if (!batches_ahead_.empty()) return batches_ahead_.front().batch.generation;
  const std::optional<Header> header = Peek(0);
  if (!header.has_value()) return std::nullopt;
  return header->generation;
}

bool BatchFinder::AtEnd() {
  HasTextAhead(generation_);
  if (!batches_ahead_.empty()) return false;
  absl::string_view window = source_.window();
  if (!text_ahead_.empty()) window.remove_prefix(text_ahead_.back().end - source_.offset());
  return window.empty() || IsLoneType(window);
}

}  // namespace gotrace::internal
