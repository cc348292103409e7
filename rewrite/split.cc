// Splits a trace into pieces, and joins pieces.
//
// A piece after the first begins as a window does that TrimTrace() cuts out: with a Prologue,
// before the first of its events and not later than the last of the piece before. When pieces are
// joined, all events that are not later than that end are left out, and so are prologues and what
// overlaps. A window in the first generation also ends with the states of goroutines and Ps that
// only later events mention. A piece that overlaps it may have events at the same times, which are
// kept.
#include "gotrace/split.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "gotrace/event.h"
#include "gotrace/event_kind.h"
#include "gotrace/ids.h"
#include "gotrace/reader.h"
#include "gotrace/states.h"
#include "parser/event/event_access.h"
#include "parser/event/trace_clock.h"
#include "rewrite/past_events.h"
#include "rewrite/trace_writer.h"

namespace gotrace {
namespace internal {
namespace {

// Returns whether the event is the last kSync event of a trace, which begins nothing.
bool IsEnd(const Event& event) {
  return event.kind() == EventKind::kSync && EventAccess::Tables(event) == nullptr;
}

void AddTo(WrittenTrace* sum, const WrittenTrace& one) {
  sum->generations += one.generations;
  sum->events += one.events;
  sum->statuses_added += one.statuses_added;
  sum->events_added += one.events_added;
  sum->events_left_out += one.events_left_out;
}

class Splitter {
 public:
  Splitter(const SplitOptions& options, const OpenPiece& open_piece)
      : options_(options), open_piece_(open_piece) {}

  absl::StatusOr<SplitTraceResult> Split(Reader* reader) {
    absl::StatusOr<std::unique_ptr<ByteSink>> first = open_piece_(++result_.pieces);
    if (!first.ok()) return first.status();
    out_ = *std::move(first);
    TraceWriterImpl writer({.version = reader->version(), .lenient = true}, out_.get());
    writer.KeepPast();
    absl::Status written;
    result_.status = reader->ForEach([&](const Event& event) {
      if (IsEnd(event)) return false;
      written = Add(event, &writer);
      return written.ok() && writer.WantsMore();
    });
    if (!written.ok()) return written;
    written = writer.Finish();
    written.Update(out_->Finish());
    if (!written.ok()) return result_.status.ok() ? written : result_.status;
    AddTo(&result_.written, writer.written());
    result_.events_read = reader->event_count();
    result_.losses = reader->losses();
    return std::move(result_);
  }

 private:
  absl::Status Add(const Event& event, TraceWriterImpl* writer) {
    const bool begins = event.kind() == EventKind::kSync;
    if (!next_.has_value()) next_ = EndOf(event.time());
    std::optional<int64_t> cut;
    if (begins && IsFull()) cut = event.time();
    if (Every() > 0 && event.time() >= *next_ && !writer->Continues(event)) {
      // Pieces without events are left out.
      const int64_t late = TraceClock::Subtract(event.time(), *next_) % Every();
      const int64_t begin = TraceClock::Subtract(event.time(), late);
      next_ = EndOf(begin);
      if (has_events_) cut = begin;
    }
    if (cut.has_value()) {
      absl::Status status = Cut(*cut, !is_first_ && !begins, writer);
      if (!status.ok()) return status;
    }
    if (begins) ++generations_, is_first_ = event.arg(0) == 1;
    has_events_ |= !begins;
    writer->Add(absl::MakeConstSpan(&event, 1));
    return absl::OkStatus();
  }

  int64_t Every() const { return absl::ToInt64Nanoseconds(options_.every); }

  // Returns the end of a piece that begins then. A length may be any.
  int64_t EndOf(int64_t begin) const {
    constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
    return begin > kLast - Every() ? kLast : TraceClock::Add(begin, Every());
  }

  bool IsFull() const {
    if (generations_ == 0) return false;
    if (options_.generations > 0 && generations_ >= options_.generations) return true;
    return options_.bytes > 0 && out_->size() >= options_.bytes;
  }

  absl::Status Cut(int64_t time, bool states_again, TraceWriterImpl* writer) {
    absl::StatusOr<std::unique_ptr<ByteSink>> next = open_piece_(++result_.pieces);
    if (!next.ok()) return next.status();
    AddTo(&result_.written, writer->NextTrace(time, states_again, next->get()));
    generations_ = 0;
    has_events_ = false;
    absl::Status status = out_->Finish();
    out_ = *std::move(next);
    return status;
  }

  const SplitOptions& options_;
  const OpenPiece& open_piece_;
  std::unique_ptr<ByteSink> out_;
  bool has_events_ = false;      // Whether the piece has any.
  uint64_t generations_ = 0;     // Of the piece.
  bool is_first_ = false;        // Whether the original's first generation is being read.
  std::optional<int64_t> next_;  // The end of the piece, if pieces have a length.
  SplitTraceResult result_;
};

// Returns whether the event is the first about a goroutine or P, and says its state.
bool IsFirstState(const Event& event) { return IsStatus(event) && event.transition_from() == 0; }

// What the first pass finds about a piece.
struct Piece {
  size_t index = 0;
  Version version = {};
  int64_t begin = 0;
  int64_t end = 0;     // The time of its last event.
  int64_t change = 0;  // That of its last event which is not the first state of something.
};

class Joiner {
 public:
  using Open = std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()>;

  Joiner(absl::Span<const Open> open, const ReaderOptions& options)
      : open_(open), options_(options) {}

  // Reads all pieces, and puts them in order.
  absl::Status Find() {
    for (size_t i = 0; i < open_.size(); ++i) {
      if (absl::Status status = FindOne(i); !status.ok()) return status;
    }
    std::stable_sort(pieces_.begin(), pieces_.end(),
                     [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
    return absl::OkStatus();
  }

  absl::StatusOr<JoinedTrace> Join(ByteSink* out) {
    TraceWriterImpl writer({.version = pieces_.front().version, .lenient = true}, out);
    for (const Piece& piece : pieces_) {
      constexpr int64_t kMinGap = 1'000'000;
      if (end_.has_value() && TraceClock::Subtract(piece.begin, *end_) > kMinGap) {
        result_.gaps.push_back({*end_, piece.begin});
      }
      if (absl::Status status = Add(piece, &writer); !status.ok()) return status;
      end_ = std::max(end_.value_or(piece.end), piece.end);
      change_ = std::max(change_.value_or(piece.change), piece.change);
    }
    if (absl::Status status = writer.Finish(); !status.ok()) return status;
    result_.written = writer.written();
    return std::move(result_);
  }

 private:
  struct Life {
    int64_t first_time = 0;           // Of the first event about it.
    std::optional<int64_t> creation;  // If that is its creation.
  };
  using Resource = std::pair<ResourceKind, int64_t>;
  using Lives = absl::flat_hash_map<GoId, Life>;

  absl::StatusOr<Reader> OpenPiece(size_t index) const {
    absl::StatusOr<std::unique_ptr<ByteSource>> source = open_[index]();
    if (!source.ok()) return source.status();
    return Reader::FromSource(*std::move(source), options_);
  }

  absl::Status FindOne(size_t index) {
    absl::StatusOr<Reader> reader = OpenPiece(index);
    if (!reader.ok()) return reader.status();
    Piece piece = {.index = index, .version = reader->version()};
    Lives lives;
    bool is_first = true;
    const absl::Status status = reader->ForEach([&](const Event& event) {
      if (std::exchange(is_first, false)) piece.begin = piece.change = event.time();
      if (IsEnd(event)) return;
      piece.end = event.time();
      if (!IsFirstState(event)) piece.change = event.time();
      AddLife(event, &lives);
    });
    if (!status.ok()) return status;
    if (!pieces_.empty() && pieces_.front().version != piece.version) {
      return absl::FailedPreconditionError(
          absl::StrCat("pieces ", pieces_.front().index + 1, " and ", index + 1,
                       " are of different versions of the format, so not of the same process"));
    }
    if (absl::Status other = CheckProcess(index, lives); !other.ok()) return other;
    pieces_.push_back(piece);
    return absl::OkStatus();
  }

  // Ids of goroutines that are created are not used again.
  static void AddLife(const Event& event, Lives* lives) {
    const ResourceId resource = event.transition_resource();
    if (resource.kind != ResourceKind::kGoroutine) return;
    const bool is_created =
        event.type() == EventType::kGoCreate || event.type() == EventType::kGoCreateBlocked;
    const auto [it, is_new] = lives->try_emplace(GoId{resource.id});
    if (!is_new) return;
    it->second.first_time = event.time();
    if (is_created) it->second.creation = event.time();
  }

  // A goroutine cannot exist before it is created. A piece may begin a little early, to state it.
  absl::Status CheckProcess(size_t index, const Lives& lives) {
    constexpr int64_t kTolerance = 1'000'000;
    for (const auto& [id, life] : lives) {
      const auto [it, is_new] = lives_.try_emplace(id, life);
      if (is_new) continue;
      Life& known = it->second;
      if (!life.creation.has_value()) {
        known.first_time = std::min(known.first_time, life.first_time);
      } else if (!known.creation.has_value()) {
        known.creation = life.creation;
      }
      const bool is_same =
          !known.creation.has_value() ||
          (known.creation == life.creation.value_or(*known.creation) &&
           *known.creation <= std::min(known.first_time, life.first_time) + kTolerance);
      if (is_same) continue;
      return absl::FailedPreconditionError(
          absl::StrCat("piece ", index + 1, " is of another process than those before: goroutine ",
                       id.value, " was created twice, or existed before it was created"));
    }
    return absl::OkStatus();
  }

  static Resource ResourceOf(const Event& event) {
    const ResourceId resource = event.transition_resource();
    return {resource.kind, resource.id};
  }

  absl::Status Add(const Piece& piece, TraceWriterImpl* writer) {
    absl::StatusOr<Reader> reader = OpenPiece(piece.index);
    if (!reader.ok()) return reader.status();
    // A piece that begins after the last change starts with a prologue, whose times are those of
    // the states at the end of the piece before.
    const std::optional<int64_t> known_until =
        change_.has_value() && piece.begin <= *change_ ? change_ : end_;
    std::optional<uint64_t> left_out;  // The offset of the last event that was left out.
    absl::Status status = reader->ForEach([&](const Event& event) {
      if (IsEnd(event)) return false;
      const bool begins = event.kind() == EventKind::kSync;
      // The parts of an event on the wire stay together.
      const bool continues = !begins && left_out == event.offset();
      const bool is_known = IsFirstState(event) && stated_last_.contains(ResourceOf(event));
      if (known_until.has_value() && (event.time() <= *known_until || continues || is_known)) {
        if (!begins) left_out = event.offset();
        result_.events_twice += begins ? 0 : 1;
        return true;
      }
      if (event.time() > piece.change) stated_last_.insert(ResourceOf(event));
      writer->Add(absl::MakeConstSpan(&event, 1));
      return writer->WantsMore();
    });
    result_.events_read += reader->event_count();
    return status;
  }

  const absl::Span<const Open> open_;
  const ReaderOptions& options_;
  std::vector<Piece> pieces_;
  Lives lives_;                                // Of all pieces so far.
  std::optional<int64_t> end_;                 // The latest Piece::end so far.
  std::optional<int64_t> change_;              // The latest Piece::change so far.
  absl::flat_hash_set<Resource> stated_last_;  // What pieces so far stated after their last change.
  JoinedTrace result_;
};

}  // namespace
}  // namespace internal

absl::StatusOr<SplitTraceResult> SplitTrace(std::unique_ptr<ByteSource> source,
                                            const SplitOptions& options,
                                            const ReaderOptions& reader_options,
                                            const OpenPiece& open_piece) {
  absl::StatusOr<Reader> reader = Reader::FromSource(std::move(source), reader_options);
  if (!reader.ok()) return reader.status();
  return internal::Splitter(options, open_piece).Split(&*reader);
}

absl::StatusOr<JoinedTrace> JoinTraces(
    absl::Span<const std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()>> open,
    const ReaderOptions& options, ByteSink* out) {
  if (open.empty()) return absl::InvalidArgumentError("there is no piece to join");
  internal::Joiner joiner(open, options);
  if (absl::Status status = joiner.Find(); !status.ok()) return status;
  return joiner.Join(out);
}

}  // namespace gotrace
