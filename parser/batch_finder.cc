#include "parser/batch_finder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "parser/cut_batch.h"
#include "tracev2/event_spec.h"
#include "tracev2/limits.h"
#include "tracev2/quote.h"
#include "tracev2/raw_event.h"
#include "tracev2/varint.h"
#include "tracev2/version.h"
#include "tracev2/wire_reader.h"

namespace gotrace {
namespace {

constexpr size_t kNowhere = absl::string_view::npos;

constexpr absl::string_view kHeaderBegin = "go 1.";

// How much of what was skipped a message shows.
constexpr size_t kShown = 60;

// How many batches must follow a place for it to be believed.
constexpr int kBatchesBehind = 2;

// Whether the payload of an ordinary batch may begin with a byte of this type.
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

// Whether two batches that stand near each other may well have these times.
bool AreNear(uint64_t a, uint64_t b) {
  constexpr uint64_t kAlwaysNear = 1 << 24;
  const uint64_t less = std::min(a, b);
  const uint64_t more = std::max(a, b);
  // A clock that counts from the start of the machine may double within a second.
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
  if (pos >= window.size()) return std::nullopt;
  Header header;
  header.type = static_cast<EventType>(window[pos]);
  header.payload = pos;
  header.end = pos + 1;
  header.thread = static_cast<uint64_t>(ThreadId::kNone.value);
  if (header.type == EventType::kEndOfGeneration) return header;
  const bool experimental = header.type == EventType::kExperimentalBatch;
  if (!experimental && header.type != EventType::kEventBatch) return std::nullopt;
  const char* const end = window.data() + window.size();
  const char* at = window.data() + pos + 1;
  if (experimental) {
    if (at == end) return std::nullopt;
    header.experiment = static_cast<uint8_t>(*at++);
  }
  uint64_t size = 0;
  for (uint64_t* number : {&header.generation, &header.thread, &header.time, &size}) {
    at = ReadVarint(at, end, number);
    if (at == nullptr) return std::nullopt;
  }
  if (size > kMaxBatchSize) return std::nullopt;
  header.payload = at - window.data();
  header.end = header.payload + size;
  return header;
}

// Whether a batch of `generation` or the next one, or an end of generation, seems to begin at
// `pos`, or the trace ends there.
bool BatchFinder::Begins(size_t pos, uint64_t generation) const {
  if (pos == source_.window().size()) return at_end_;
  const std::optional<Header> header = Peek(pos);
  if (!header.has_value()) return false;
  if (header->type == EventType::kEndOfGeneration) return version_ >= Version::kGo126;
  return header->generation != 0 && IsNear(header->time) &&
         (generation == 0 || header->generation == generation ||
          header->generation == generation + 1);
}

// Whether a batch may well have this time, judged by the last one's. Bytes that are no header
// mostly make a number far from it.
bool BatchFinder::IsNear(uint64_t time) const {
  return last_time_ == 0 || AreNear(time, last_time_);
}

// Takes the batch's time for what IsNear() compares with, if the next batch confirms it: a damaged
// one would make all sound ones look wrong.
void BatchFinder::LearnTime(const Header& header, size_t end) {
  const std::optional<Header> next = Peek(end);
  if (next.has_value() && next->time != 0 && AreNear(next->time, header.time)) {
    last_time_ = header.time;
  }
}

// Whether a whole batch stands at `pos`, and `behind` more behind it unless the trace ends before.
bool BatchFinder::IsBatch(size_t pos, uint64_t generation, int behind) const {
  if (pos == source_.window().size()) return at_end_;
  if (!Begins(pos, generation)) return false;
  const Header header = *Peek(pos);
  if (header.end > source_.window().size()) return false;
  const bool is_ordinary = header.type == EventType::kEventBatch && header.end > header.payload;
  if (is_ordinary && !BeginsPayload(static_cast<EventType>(source_.window()[header.payload]))) {
    return false;
  }
  if (behind == 0) return true;
  // An end has generation 0, and behind it another generation begins, with any number.
  return IsBatch(header.end, header.generation, behind - 1);
}

size_t BatchFinder::Find(size_t from, size_t to, uint64_t generation) const {
  for (size_t pos = from; pos < to; ++pos) {
    if (!IsBatch(pos, generation, kBatchesBehind)) continue;
    return HidesOrdinaryBatch(pos) ? pos + 1 : pos;
  }
  return kNowhere;
}

// The type of an experimental batch is the text "1", and its experiment's number is the type of an
// ordinary batch. So where a damaged text ends in "1", an ordinary batch behind it looks like an
// experimental one. Its payload tells: it is made of events.
bool BatchFinder::HidesOrdinaryBatch(size_t pos) const {
  constexpr int kEventsDecoded = 4;
  const std::optional<Header> header = Peek(pos + 1);
  if (Peek(pos)->type != EventType::kExperimentalBatch || !header.has_value() ||
      header->type != EventType::kEventBatch) {
    return false;
  }
  absl::string_view payload =
      source_.window().substr(header->payload, header->end - header->payload);
  RawEvent event;
  for (int i = 0; i < kEventsDecoded && !payload.empty(); ++i) {
    const WireResult result = DecodeRawEvent(payload, &event);
    if (result.status != WireStatus::kOk) return false;
    payload.remove_prefix(result.size);
  }
  return true;
}

// The next batch, or the header of another trace if that comes first.
size_t BatchFinder::FindBeforeHeader(size_t from, size_t to, uint64_t generation) const {
  const size_t found = Find(from, to, generation);
  const size_t end = found == kNowhere ? to : found;
  // It need only begin before that.
  const absl::string_view before = source_.window().substr(0, end + kHeaderBegin.size() - 1);
  // It may begin inside of a batch's header that was cut off.
  for (size_t pos = before.find(kHeaderBegin, 1); pos != kNowhere;
       pos = before.find(kHeaderBegin, pos + 1)) {
    if (BeginsWithHeader(source_.window().substr(pos))) return pos;
  }
  return found;
}

bool BatchFinder::Next(uint64_t generation, Batch* batch) {
  while (!next_trace_.has_value()) {
    Refill();
    const size_t size = source_.window().size();
    if (size == 0) return false;
    const std::optional<Header> header = Peek(0);
    if (header.has_value() && header->end <= size && Begins(header->end, header->generation)) {
      Take(*header, header->end, batch);
      return true;
    }
    if (header.has_value() && header->end <= size) {
      // What follows is no batch. If one begins inside of this, this one's size is wrong.
      const size_t found = FindBeforeHeader(header->payload, header->end, generation);
      const size_t inside = found == header->end ? kNowhere : found;
      if (inside < header->payload) {
        Fault fault = {FaultId::kBatchHeaderTruncated,
                       Place(),
                       "expected a batch's header, found the header of another trace in it",
                       {}};
        fault.place.offset = fault.place.batch_offset = source_.offset();
        TellSkipped(inside, std::move(fault));
        Skip(inside);
        continue;
      }
      if (inside != kNowhere) {
        Fault fault = {
            FaultId::kBatchMisfit, Place(),
            absl::StrCat("expected a batch behind this one's ", header->end - header->payload,
                         " bytes, found one after ", inside - header->payload)};
        fault.place.offset = fault.place.batch_offset = source_.offset();
        fault.place.generation = header->generation;
        report_(std::move(fault));
      }
      Take(*header, inside == kNowhere ? header->end : inside, batch);
      return true;
    }
    // ReadBatch() knows best what is wrong, and leaves the source where it is.
    Batch ignored;
    const absl::Status status = ReadBatch(&source_, &ignored).status();
    std::optional<Fault> fault = FaultOf(status);
    // That the input could be read no further was told when it was met.
    const bool is_told = status == io_status_;
    if (header.has_value() && TakeCut(*header, generation, is_told ? std::nullopt : fault, batch)) {
      return true;
    }
    if (!fault.has_value()) {
      // The trace ends in a way that ReadBatch() takes for its end, or cannot be read further.
      source_.Skip(source_.window().size());
      return false;
    }
    // Another trace has other clocks and ids, which must not be taken for this one's.
    if (BeginsWithHeader(source_.window())) {
      next_trace_ = source_.offset();
      absl::StrAppend(&fault->message, ", which is left out");
      report_(*std::move(fault));
      return false;
    }
    const size_t found = FindBeforeHeader(1, size, generation);
    // More batches follow: it is the size of this one that is wrong.
    if (found != kNowhere && fault->cut_off) {
      fault->cut_off = false;
      fault->message.erase(0, fault->message.find(": ") + 2);
    }
    if (found == kNowhere && at_end_) {
      truncated_ |= !io_status_.ok() || fault->id == FaultId::kBatchTruncated ||
                    fault->id == FaultId::kBatchHeaderTruncated;
    }
    // A batch that straddles the window's end will be seen whole with the next window.
    const size_t unseen = std::min(size, size_t{2} * kMaxBatchSize);
    const size_t next = found != kNowhere ? found : at_end_ ? size : size - unseen;
    if (!is_told) TellSkipped(next, *std::move(fault));
    Skip(next);
  }
  return false;
}

void BatchFinder::TellSkipped(size_t size, Fault fault) {
  const absl::string_view skipped = source_.window().substr(0, size);
  absl::StrAppend(&fault.message, "; ", skipped.size(), " bytes are left out, which begin with ",
                  Quoted(skipped.substr(0, kShown)));
  report_(std::move(fault));
}

void BatchFinder::Skip(size_t size) {
  const uint64_t begin = source_.offset();
  source_.Skip(size);
  skipped_bytes_ += size;
  ReleaseSkipped(begin);
}

// Nobody views what was skipped, while batches before it may still be needed.
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
  batch->experiment = header.experiment;
  batch->payload = source_.window().substr(header.payload, end - header.payload);
  batch->shortened = end != header.end;
  source_.Skip(end);
}

// Takes the whole events of the batch that begins here and in which the trace ends, if it is one,
// and tells `fault`, if there is one, with what becomes of the batch. Returns whether it did.
// Requires that the batch ends behind the window, which is larger than any batch.
bool BatchFinder::TakeCut(const Header& header, uint64_t generation,
                          const std::optional<Fault>& fault, Batch* batch) {
  const absl::string_view window = source_.window();
  if (header.type != EventType::kEventBatch || !Begins(0, generation)) return false;
  const size_t size = SizeOfWholeEvents(window.substr(header.payload));
  if (size == 0) return false;
  truncated_ = true;
  const size_t rest = window.size() - header.payload - size;
  if (fault.has_value()) {
    Fault told = *fault;
    absl::StrAppend(&told.message,
                    rest == 0 ? "; all of them are whole events"
                              : absl::StrCat("; all but the last ", rest, " are whole events"));
    report_(std::move(told));
  }
  Take(header, header.payload + size, batch);
  Skip(rest);
  return true;
}

std::optional<uint64_t> BatchFinder::PeekGeneration() {
  Refill();
  const std::optional<Header> header = Peek(0);
  if (!header.has_value()) return std::nullopt;
  return header->generation;
}

bool BatchFinder::AtEnd() {
  Refill();
  const absl::string_view window = source_.window();
  // ReadBatch() takes the type of an experimental batch alone for the end too.
  return window.empty() ||
         (window.size() == 1 && window[0] == static_cast<char>(EventType::kExperimentalBatch));
}

}  // namespace gotrace
