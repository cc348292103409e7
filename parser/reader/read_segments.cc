#include "parser/reader/read_segments.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "gotrace/read_parallel.h"
#include "util/cores.h"
#include "util/helper_thread.h"

namespace gotrace::internal {
namespace {

bool HasFault(const Reader& reader) { return !reader.status().ok() || reader.losses().faults > 0; }

// The segments after the first one. Each of them is read by whichever thread is free.
class LaterSegments {
 public:
  LaterSegments(const SegmentPlan& plan, absl::FunctionRef<std::unique_ptr<SegmentConsumer>()> make)
      : plan_(plan), make_(make), parts_(plan.segments.size()), end_(parts_.size()) {
    const size_t threads = std::min({plan.jobs, parts_.size(), AvailableCores()});
    for (size_t i = 1; i < threads; ++i) {
      std::optional<std::thread> thread = StartHelper("segment", [this] { ReadAll(); });
      if (!thread.has_value()) break;
      threads_.push_back(*std::move(thread));
    }
  }
  LaterSegments(const LaterSegments&) = delete;
  LaterSegments& operator=(const LaterSegments&) = delete;
  ~LaterSegments() {
    DropFrom(0);
    Join();
  }

  // Gives up the segments from `index` on.
  void DropFrom(size_t index) {
    size_t end = end_.load();
    while (index < end && !end_.compare_exchange_weak(end, index)) continue;
  }

  // Reads segments until none is left, and waits for the other threads.
  void Finish() {
    ReadAll();
    Join();
  }

  // The result of reading a segment.
  struct Part {
    std::unique_ptr<SegmentConsumer> consumer;
    std::optional<Reader> reader;
    bool is_read = false;  // Whether it was read to its end, without a fault.
  };

  // Returns the result of reading a segment, which is empty if it was given up. Requires Finish().
  Part Take(size_t index) { return parts_[index] == nullptr ? Part() : std::move(*parts_[index]); }

 private:
  void Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  void ReadAll() {
    for (size_t index; (index = next_++) < end_.load();) {
      // Allocated by the thread that writes to it, so that threads do not share cache lines.
      auto part = std::make_unique<Part>();
      try {
        part->is_read = Read(index, part.get());
      } catch (...) {
        // After std::bad_alloc, there may be enough memory to read fewer segments at a time.
      }
      if (!part->is_read) DropFrom(index);
      parts_[index] = std::move(part);
    }
  }

  bool Read(size_t index, Part* part) {
    const size_t generation = plan_.segments[index].first;
    std::unique_ptr<ByteSource> source =
        plan_.source->Fork(plan_.index.generations()[generation].offset);
    if (source == nullptr) return false;
    part->consumer = make_();
    absl::StatusOr<Reader> reader = SegmentReader::Open(
        part->consumer->Wrap(std::move(source)), *plan_.source, plan_.index,
        {.generation = generation, .finds_tasks = plan_.finds_tasks, .has_half_of_limits = true},
        part->consumer->MakeOptions(), part->consumer->MakeHooks());
    if (!reader.ok()) return false;
    part->reader = *std::move(reader);
    SegmentReader::ReadTo(&*part->reader, plan_.segments[index].end, /*jobs=*/1);
    part->consumer->Read(*part->reader, [&] {
      return end_.load(std::memory_order_relaxed) <= index || HasFault(*part->reader);
    });
    // If a part of this segment is enough for the consumer, an earlier part may be enough after the
    // previous segments, so the segment has to be read again after them.
    return !HasFault(*part->reader) && part->consumer->WantsMore();
  }

  const SegmentPlan& plan_;
  const absl::FunctionRef<std::unique_ptr<SegmentConsumer>()> make_;
  std::vector<std::unique_ptr<Part>> parts_;  // Indexed by segment.
  std::atomic<size_t> next_ = 1;              // The next segment to read.
  std::atomic<size_t> end_;                   // Segments from here on are not needed.
  std::vector<std::thread> threads_;  // The last member, because the threads use the others.
};

}  // namespace

SegmentPlan PlanSegments(const ByteSource& source, size_t jobs, uint64_t min_bytes,
                         const std::function<bool()>& keep_going) {
  SegmentPlan plan;
  plan.jobs = CoresFor(jobs);
  if (plan.jobs == 1) return plan;
  absl::StatusOr<TraceIndex> index = TraceIndex::Build(source, keep_going);
  if (!index.ok() || !index->status().ok()) return plan;
  plan.source = source.Fork(0);
  plan.index = *std::move(index);
  plan.segments = CutIntoSegments(plan.index, plan.jobs, min_bytes);
  return plan;
}

void ReadSegments(const SegmentPlan& plan,
                  absl::FunctionRef<std::unique_ptr<SegmentConsumer>()> make, Reader* reader,
                  SegmentConsumer* first) {
  const auto read_to = [&](uint64_t end, size_t jobs) {
    SegmentReader::ReadTo(reader, end, jobs);
    first->Read(*reader, [] { return false; });
  };
  LaterSegments later(plan, make);
  // Each of several segments has one core.
  read_to(plan.segments.front().end, plan.segments.size() > 1 ? 1 : plan.jobs);
  // After a fault, no later segment can continue the first one.
  if (HasFault(*reader) || !first->WantsMore()) later.DropFrom(0);
  later.Finish();
  for (size_t i = 1; i < plan.segments.size() && first->WantsMore(); ++i) {
    LaterSegments::Part part = later.Take(i);
    const bool fits = part.is_read && SegmentReader::Follows(*part.reader, *reader) &&
                      first->Append(*part.consumer) &&
                      SegmentReader::Append(reader, *std::move(part.reader));
    if (!fits) read_to(plan.segments[i].end, plan.jobs);
  }
}

namespace {

// What was read of a trace, on all threads, and who wants to know.
class Watch {
 public:
  Watch(const ByteSource& source, const std::function<void(const ReadProgress&)>& on_progress)
      : on_progress_(on_progress) {
    // Offsets of events are places in the file only if that is not compressed.
    if (on_progress != nullptr && source.Fork(0) != nullptr) total_ = source.input_size();
  }

  // What was read of one segment.
  struct Part {
    uint64_t offset = 0;  // Of the latest event.
    uint64_t bytes = 0;
    uint64_t events = 0;
  };

  void Count(absl::Span<const Event> events, Part* part) {
    if (on_progress_ == nullptr) return;
    // Only the first event of a generation may be before the last one.
    const uint64_t latest = std::max(part->offset, events.back().offset());
    if (part->offset == 0) part->offset = events.front().offset();
    const uint64_t bytes = latest - std::exchange(part->offset, latest);
    part->bytes += bytes;
    part->events += events.size();
    bytes_ += bytes;
    events_ += events.size();
    if (std::this_thread::get_id() == called_by_) Show();
  }

  // A segment was read in vain.
  void Forget(const Part& part) {
    bytes_ -= part.bytes;
    events_ -= part.events;
  }

  void Show() const {
    if (on_progress_ != nullptr) on_progress_({bytes_, total_, events_});
  }

 private:
  const std::function<void(const ReadProgress&)>& on_progress_;
  const std::thread::id called_by_ = std::this_thread::get_id();
  uint64_t total_ = 0;
  std::atomic<uint64_t> bytes_ = 0;
  std::atomic<uint64_t> events_ = 0;
};

// Passes the events of a segment to a sink.
class SinkConsumer final : public SegmentConsumer {
 public:
  SinkConsumer(const ReaderOptions& options, std::unique_ptr<AnyMergeableSink> sink, Watch* watch)
      : options_(options), sink_(std::move(sink)), watch_(*watch) {}
  ~SinkConsumer() override { watch_.Forget(read_); }

  ReaderOptions MakeOptions() override {
    ReaderOptions options = options_;
    options.on_fault = nullptr;
    options.tuning.attempts = nullptr;
    return options;
  }

  void Read(Reader& reader, absl::FunctionRef<bool()> stops) override {
    while (!stops() && WantsMore()) {
      const absl::Span<const Event> block = reader.NextBlock();
      if (block.empty()) break;
      sink_->sink().Add(block);
      watch_.Count(block, &read_);
    }
  }

  bool WantsMore() const override { return sink_->sink().WantsMore(); }

  bool Append(SegmentConsumer& next) override {
    SinkConsumer& part = static_cast<SinkConsumer&>(next);
    sink_->Merge(*part.sink_);
    const Watch::Part read = std::exchange(part.read_, {});
    read_ = {read.offset, read_.bytes + read.bytes, read_.events + read.events};
    return true;
  }

  std::unique_ptr<AnyMergeableSink> TakeSink() { return std::move(sink_); }

 private:
  const ReaderOptions& options_;
  std::unique_ptr<AnyMergeableSink> sink_;
  Watch& watch_;
  Watch::Part read_;
};

}  // namespace

}  // namespace gotrace::internal

namespace gotrace {

absl::Status ReadAnyParallel(std::unique_ptr<ByteSource> source, const ReaderOptions& options,
                             absl::FunctionRef<std::unique_ptr<AnyMergeableSink>()> make_sink,
                             std::unique_ptr<AnyMergeableSink>* result,
                             const std::function<void(const ReadProgress&)>& on_progress) {
  internal::Watch watch(*source, on_progress);
  internal::SegmentPlan plan =
      internal::PlanSegments(*source, options.on_time_back ? 1 : options.jobs,
                             options.tuning.jobs_from_bytes, options.keep_going);
  plan.jobs = internal::CoresFor(options.jobs);
  absl::StatusOr<Reader> reader = Reader::FromSource(std::move(source), options);
  internal::SinkConsumer first(options, make_sink(), &watch);
  absl::Status status = reader.status();
  if (reader.ok()) {
    const auto make_later = [&] {
      std::unique_ptr<AnyMergeableSink> sink = make_sink();
      sink->StartInMiddle(plan.index.start_time());
      return std::make_unique<internal::SinkConsumer>(options, std::move(sink), &watch);
    };
    ReadSegments(plan, make_later, &*reader, &first);
    status = reader->status();
  }
  watch.Show();
  *result = first.TakeSink();
  status.Update((*result)->sink().Finish());
  return status;
}

}  // namespace gotrace
