#include "parser/reader/split_trace.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "parser/framing/batch_reader.h"
#include "parser/generation/generation.h"
#include "parser/order/thread_decoder.h"
#include "parser/reader/reader_impl.h"

namespace gotrace::internal {
namespace {

// The limits that each half may reach, so that both together keep to `limits`.
ReaderLimits HalfOf(ReaderLimits limits) {
  limits.threads /= 2;
  limits.procs /= 2;
  limits.goroutines /= 2;
  limits.nesting /= 2;
  return limits;
}

// The latest time of the thread's events, or the earliest of all if it has none.
int64_t LastTime(const Generation& generation, const ThreadBatches& thread) {
  ThreadDecoder decoder(generation, thread, /*check_ids=*/false);
  int64_t last = std::numeric_limits<int64_t>::min();
  DecodedEvent events[64];
  while (const size_t count = decoder.Decode(events)) {
    for (const DecodedEvent& event : absl::MakeConstSpan(events, count)) {
      last = std::max(last, event.time);
    }
  }
  return last;
}

// Goes from header to header of a source's batches, and reads hardly anything else.
class HeaderWalk {
 public:
  // Begins at `offset`.
  explicit HeaderWalk(const ByteSource& source, uint64_t offset = 0)
      : source_(source), size_(source.input_size()), offset_(offset) {}

  // That of the trace, whose header must come first. nullopt if there is none that is known.
  std::optional<Version> TakeVersion() {
    const absl::StatusOr<Version> version = ReadHeader(Look().get());
    if (!version.ok()) return std::nullopt;
    offset_ = kHeaderSize;
    return *version;
  }

  // Takes the next batch, of whose payload just the beginning is there, until the next call.
  // Returns false where there is none, or no whole one.
  bool Next(Batch* batch) {
    uint64_t size = 0;
    const std::unique_ptr<ByteSource> header = Look();
    const absl::StatusOr<bool> is_there = ReadBatchHeader(header.get(), batch, &size);
    if (!is_there.ok() || !*is_there) return false;
    // Told from where it was looked, which is where the batch begins.
    batch->payload = header->window().substr(batch->payload_offset).substr(0, size);
    batch->offset = offset_;
    batch->payload_offset += offset_;
    if (size > size_ - std::min(size_, batch->payload_offset)) return false;
    offset_ = batch->payload_offset + size;
    return true;
  }

  // Where the next batch begins.
  uint64_t offset() const { return offset_; }
  bool at_end() const { return offset_ == size_; }

 private:
  // A source of what can be a header here, and more than that.
  std::unique_ptr<ByteSource> Look() {
    const size_t count = source_.ReadAt(offset_, bytes_, sizeof(bytes_));
    return *SourceFromBytes({bytes_, count});
  }

  static_assert(kHeaderSize <= kMaxBatchHeaderSize);

  const ByteSource& source_;
  const uint64_t size_;
  uint64_t offset_;
  char bytes_[kMaxBatchHeaderSize + 1];
};

// The batches that tell when a generation ended.
class LastBatches {
 public:
  LastBatches(const ByteSource& source, Version version, const ReaderLimits& limits)
      : source_(source), version_(version), limits_(limits), generation_(limits) {}

  // Takes the generation from `begin` up to `end`. Returns false if it is not what it seemed, or
  // passes a limit.
  bool Take(uint64_t begin, uint64_t end) {
    if (end - begin > limits_.generation_bytes) return false;
    HeaderWalk walk(source_, begin);
    absl::flat_hash_map<ThreadId, Sized> last_of_thread;
    Batch batch;
    while (walk.offset() < end) {
      if (!walk.Next(&batch)) return false;
      const Sized sized = {batch, walk.offset() - batch.payload_offset};
      if (IsEventBatch(batch, version_)) {
        const auto [last, is_new] = last_of_thread.try_emplace(batch.thread, sized);
        if (!is_new && sized.size > 0) last->second = sized;
        if (last_of_thread.size() > limits_.threads) return false;
      } else if (IsSyncBatch(batch, version_) || batch.kind() == EventType::kCPUSamples) {
        if (!Add(sized)) return false;
      }
    }
    return std::all_of(last_of_thread.begin(), last_of_thread.end(),
                       [this](const auto& entry) { return Add(entry.second); });
  }

  // The generation, as far as it was taken.
  Generation& generation() { return generation_; }

 private:
  struct Sized {
    Batch batch;
    uint64_t size;  // Of its payload, in bytes.
  };

  // Adds the batch with all of its payload.
  bool Add(Sized sized) {
    std::string& payload = payloads_.emplace_back(sized.size, '\0');
    sized.batch.payload = payload;
    return source_.ReadAt(sized.batch.payload_offset, payload.data(), sized.size) == sized.size &&
           generation_.Add(sized.batch, version_).ok();
  }

  const ByteSource& source_;
  const Version version_;
  const ReaderLimits limits_;
  std::deque<std::string> payloads_;
  Generation generation_;  // Views them.
};

}  // namespace

template <class Take>
bool SplitTrace::ForEach(const ByteSource& source, const Take& take) {
  HeaderWalk walk(source);
  const std::optional<Version> version = walk.TakeVersion();
  if (!version.has_value()) return false;
  SplitTrace split;
  split.version_ = *version;
  split.offset_ = walk.offset();
  split.source_ = source.Fork(0);
  if (split.source_ == nullptr) return false;
  const auto end_generation = [&](uint64_t end) {
    split.generation_offset_ = std::exchange(split.offset_, end);
    ++split.generations_;
    // Nothing is behind the last one.
    return end == source.input_size() || take(split);
  };
  std::optional<uint64_t> number;
  Batch batch;
  while (walk.Next(&batch)) {
    if (*version >= Version::kGo126) {
      if (batch.IsEndOfGeneration() && !end_generation(walk.offset())) return true;
      continue;
    }
    const std::optional<uint64_t> before = std::exchange(number, batch.generation);
    if (before.has_value() && before != number && !end_generation(batch.offset)) return true;
  }
  return walk.at_end();
}

std::optional<SplitTrace> SplitTrace::Find(const ByteSource& source, uint64_t fewest) {
  const uint64_t size = source.input_size();
  const auto shorter_half = [&](const SplitTrace& split) {
    return std::min<uint64_t>(split.offset_, size - split.offset_);
  };
  std::optional<SplitTrace> best;
  const bool is_sound = ForEach(source, [&](const SplitTrace& split) {
    if (!best.has_value() || shorter_half(split) > shorter_half(*best)) best = split;
    return split.offset_ < size / 2;
  });
  if (!is_sound || !best.has_value() || shorter_half(*best) < fewest) return std::nullopt;
  return best;
}

std::vector<SplitTrace> SplitTrace::FindAll(const ByteSource& source) {
  std::vector<SplitTrace> all;
  const auto take = [&](const SplitTrace& split) {
    all.push_back(split);
    return true;
  };
  if (!ForEach(source, take)) all.clear();
  return all;
}

void SplitTrace::Stop(Reader* first) const { first->impl_->StopAt(offset_); }

void SplitTrace::End(Reader* first) { first->impl_->LeaveSourceAtEnd(); }

void SplitTrace::GoOn(Reader* first, size_t jobs) {
  first->impl_->StopAt(std::numeric_limits<uint64_t>::max());
  first->impl_->UseCores(jobs);
}

std::optional<int64_t> SplitTrace::TimeBefore(const ReaderLimits& limits) const {
  LastBatches batches(*source_, version_, limits);
  if (!batches.Take(generation_offset_, offset_)) return std::nullopt;
  Generation& generation = batches.generation();
  if (!generation.tables().clock().known()) return std::nullopt;
  generation.tables().SortSamples();
  const absl::Span<const CpuSample> samples = generation.tables().cpu_samples();
  int64_t time = std::numeric_limits<int64_t>::min();
  if (!samples.empty()) time = samples.back().time;
  for (const ThreadBatches& thread : generation.threads()) {
    time = std::max(time, LastTime(generation, thread));
  }
  return time;
}

absl::StatusOr<Reader> SplitTrace::OpenSecond(ReaderOptions options) const {
  const std::optional<int64_t> time = TimeBefore(options.limits);
  if (!time.has_value()) return absl::UnavailableError("the first half's end could not be read");
  std::unique_ptr<ByteSource> source = source_->Fork(offset_);
  if (source == nullptr) return absl::UnavailableError("the input could not be opened again");
  options.limits = HalfOf(options.limits);
  auto impl = std::make_unique<ReaderImpl>(std::move(source), version_, std::move(options));
  impl->BeginInMiddle(generations_, *time);
  return Reader(std::move(impl));
}

bool SplitTrace::Continues(const Reader& second, const Reader& first) {
  return second.impl_->Continues(*first.impl_);
}

}  // namespace gotrace::internal
