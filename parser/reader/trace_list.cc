// Finds the traces in an input that holds several. ListTraces() and SkipToTrace() use BatchFinder
// to find where the next trace begins: it also works if the framing is damaged, but consumes
// batches from its source. OneTrace() must leave the batches to the reader of the trace, so it only
// follows the batch headers in the source's window.
#include "gotrace/trace_list.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "gotrace/event_type.h"
#include "gotrace/reader.h"
#include "parser/framing/batch_finder.h"
#include "parser/framing/batch_head.h"
#include "parser/framing/batch_reader.h"
#include "parser/framing/printed_text.h"
#include "parser/source/borrowed_source.h"

namespace gotrace::internal {
namespace {

// Moves the source from the header of a trace to the next trace or the end. Returns whether there
// is a next trace.
absl::StatusOr<bool> SkipTrace(ByteSource* source, Version* version) {
  const absl::StatusOr<Version> header = ReadHeader(source);
  if (!header.ok()) return header.status();
  *version = *header;
  BatchFinder finder(source, *version, [](Fault) {});
  Batch batch;
  while (finder.Next(batch.generation, &batch)) source->Release(source->offset());
  // A fault of compression ends the input.
  if (!finder.io_status().ok() && !FaultOf(finder.io_status()).has_value()) {
    return finder.io_status();
  }
  source->Release(source->offset());
  return finder.next_trace().has_value();
}

// Moves the source forward to `offset`. Returns false if it ends before that.
absl::StatusOr<bool> MoveTo(uint64_t offset, ByteSource* source) {
  while (source->offset() < offset) {
    if (source->window().empty()) {
      if (absl::Status status = source->Fill(1); !status.ok()) return status;
      if (source->window().empty()) return false;
    }
    source->Skip(std::min<uint64_t>(offset - source->offset(), source->window().size()));
    source->Release(source->offset());
  }
  return true;
}

// Moves the source forward to the header of the trace.
absl::Status MoveToTrace(const TraceSpan& span, ByteSource* source) {
  const absl::StatusOr<bool> is_there = MoveTo(span.offset, source);
  if (!is_there.ok()) return is_there.status();
  return *is_there ? absl::OkStatus()
                   : absl::AbortedError("the input became shorter while it was read");
}

class OneTraceSource final : public ByteSource {
 public:
  OneTraceSource(std::unique_ptr<ByteSource> source, TraceEnd* end)
      : source_(std::move(source)), base_(source_->offset()), end_reported_(end) {
    Show();
  }

  // For a trace whose end is known.
  OneTraceSource(std::unique_ptr<ByteSource> source, uint64_t size)
      : source_(std::move(source)), base_(source_->offset()), is_walking_(false), end_(size) {
    Show();
  }

  absl::Status Fill(size_t size) override {
    if (window_.size() >= size) return absl::OkStatus();
    if (end_.has_value() && offset_ + window_.size() >= *end_) return absl::OkStatus();
    source_->Skip(base_ + offset_ - source_->offset());
    absl::Status status = source_->Fill(size);
    Show();
    // Whether the next batch is a header is known only after its last byte.
    while (wants_header_) {
      const size_t wanted = next_ - offset_ + kHeaderSize;
      if (status.ok()) status = source_->Fill(std::min(wanted, kMaxFill));
      is_walking_ = source_->window().size() >= wanted;
      Show();
    }
    return status;
  }
  void Release(uint64_t offset) override { source_->Release(base_ + offset); }
  void ReleaseSkipped(uint64_t begin, uint64_t end) override {
    source_->ReleaseSkipped(base_ + begin, base_ + end);
  }
  uint64_t input_size() const override { return source_->input_size(); }
  uint64_t input_read() const override { return source_->input_read(); }
  void LeaveAtEnd() override { source_->LeaveAtEnd(); }

  // The bytes of the whole input, if the trace is the first one in it. A TraceIndex is not built if
  // another trace follows.
  std::unique_ptr<ByteSource> Fork(uint64_t offset) const override {
    return IsWholeInput() ? source_->Fork(offset) : nullptr;
  }
  size_t ReadAt(uint64_t offset, char* buffer, size_t size) const override {
    return IsWholeInput() ? source_->ReadAt(offset, buffer, size) : 0;
  }

 private:
  bool IsWholeInput() const { return base_ == 0 && is_walking_; }

  void Show() {
    window_ = source_->window();
    Walk();
    // Hides a possible header of another trace until all of it is in the window.
    if (wants_header_) window_ = window_.substr(0, next_ - offset_);
    if (end_.has_value()) {
      window_ = window_.substr(0, *end_ > offset_ ? *end_ - offset_ : 0);
    }
  }

  // Follows the batches up to the end of the window.
  void Walk() {
    wants_header_ = false;
    while (is_walking_) {
      // A caller that skips to a place inside a batch has given up on the framing.
      if (next_ < offset_) {
        is_walking_ = false;
        return;
      }
      if (next_ - offset_ >= window_.size()) return;
      if (offset_ == 0 && next_ == kHeaderSize && !BeginsWithHeader(window_)) {
        is_walking_ = false;
        return;
      }
      const absl::string_view rest = window_.substr(next_ - offset_);
      if (rest[0] == 'g' && StopsAtHeader(rest)) return;
      // Printed text may come between the batches, or before another trace.
      const EventType type = static_cast<EventType>(rest[0]);
      // The types of other batches are valid characters too.
      const bool begins_batch = type == EventType::kEventBatch ||
                                (!is_in_text_ && (type == EventType::kExperimentalBatch ||
                                                  type == EventType::kEndOfGeneration));
      constexpr size_t kMaxCharacter = 4;
      if (!begins_batch) {
        if (rest.size() < kMaxCharacter && static_cast<uint8_t>(rest[0]) >= 0x80) return;
        const size_t character = TextCharacterSize(rest.substr(0, kMaxCharacter));
        is_in_text_ = character > 0;
        next_ += character;
        if (is_in_text_) continue;
      }
      is_in_text_ = false;
      const std::optional<uint64_t> size = BatchSize(rest);
      if (!size.has_value()) return;
      next_ += *size;
    }
  }

  // Returns whether to stop following batches for now, because a header is here or may be here.
  bool StopsAtHeader(absl::string_view rest) {
    if (rest.size() < kHeaderSize) {
      constexpr absl::string_view kBegin = "go 1.";
      wants_header_ = absl::StartsWith(kBegin, rest.substr(0, kBegin.size()));
      return wants_header_;
    }
    if (!BeginsWithHeader(rest)) return false;
    is_walking_ = false;
    end_ = next_;
    if (end_reported_ != nullptr) end_reported_->next_trace = base_ + next_;
    return true;
  }

  // Returns the size of the batch at the beginning of `rest`. Returns nullopt, and stops following
  // batches, if its header is incomplete or invalid.
  std::optional<uint64_t> BatchSize(absl::string_view rest) {
    BatchHead head;
    const HeadStatus status = ParseBatchHead(rest, &head);
    is_walking_ = status != HeadStatus::kBad;
    if (status != HeadStatus::kOk) return std::nullopt;
    return head.size + head.payload_size;
  }

  const std::unique_ptr<ByteSource> source_;
  const uint64_t base_;  // The offset of the trace in source_.
  TraceEnd* const end_reported_ = nullptr;
  uint64_t next_ = kHeaderSize;  // The offset where the next batch or header should be.
  bool is_walking_ = true;
  bool is_in_text_ = false;      // Whether printed text comes before next_.
  bool wants_header_ = false;    // Whether next_ may be at a header that is not all in the window.
  std::optional<uint64_t> end_;  // The end of the trace, once it is known.
};

bool IsSound(std::unique_ptr<ByteSource> source, const ReaderLimits& limits) {
  ReaderOptions options;
  options.limits = limits;
  absl::StatusOr<Reader> reader = Reader::FromSource(std::move(source), options);
  if (!reader.ok()) return false;
  while (!reader->NextBlock().empty()) {
  }
  return reader->status().ok();
}

}  // namespace
}  // namespace gotrace::internal

namespace gotrace {

absl::StatusOr<std::vector<TraceSpan>> ListTraces(ByteSource* source) {
  std::vector<TraceSpan> spans;
  bool has_next = true;
  while (has_next) {
    TraceSpan span;
    span.offset = source->offset();
    const absl::StatusOr<bool> next = internal::SkipTrace(source, &span.version);
    if (!next.ok()) {
      // For a trace of an unknown version, only the beginning is known.
      if (spans.empty() || !FaultOf(next.status()).has_value()) return next.status();
      const absl::StatusOr<bool> rest =
          internal::MoveTo(std::numeric_limits<uint64_t>::max(), source);
      if (!rest.ok()) return rest.status();
    }
    has_next = next.ok() && *next;
    span.size = source->offset() - span.offset;
    spans.push_back(span);
  }
  return spans;
}

absl::StatusOr<std::vector<TraceSpan>> CheckTraces(const OpenTraces& open,
                                                   const ReaderLimits& limits) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = open();
  if (!source.ok()) return source.status();
  absl::StatusOr<std::vector<TraceSpan>> spans = ListTraces(source->get());
  if (!spans.ok()) return spans;
  // Checks all traces in a second pass over the input, one after the other.
  source = open();
  if (!source.ok()) return source.status();
  for (TraceSpan& span : *spans) {
    if (absl::Status status = internal::MoveToTrace(span, source->get()); !status.ok()) {
      return status;
    }
    span.sound =
        internal::IsSound(std::make_unique<internal::OneTraceSource>(
                              std::make_unique<internal::BorrowedSource>(source->get()), span.size),
                          limits);
  }
  return spans;
}

std::unique_ptr<ByteSource> OneTrace(std::unique_ptr<ByteSource> source, TraceEnd* end) {
  return std::make_unique<internal::OneTraceSource>(std::move(source), end);
}

absl::StatusOr<std::unique_ptr<ByteSource>> OneTrace(std::unique_ptr<ByteSource> source,
                                                     const TraceSpan& span) {
  if (absl::Status status = internal::MoveToTrace(span, source.get()); !status.ok()) return status;
  return std::make_unique<internal::OneTraceSource>(std::move(source), span.size);
}

absl::StatusOr<uint64_t> SkipToTrace(ByteSource* source, uint64_t n) {
  Version version;
  for (uint64_t number = 1; number < n; ++number) {
    const absl::StatusOr<bool> has_next = internal::SkipTrace(source, &version);
    if (!has_next.ok()) return has_next.status();
    if (!*has_next) return number;
  }
  return n;
}

}  // namespace gotrace
