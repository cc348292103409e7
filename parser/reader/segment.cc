#include "parser/reader/segment.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "parser/generation/generation.h"
#include "parser/order/preconditions.h"
#include "parser/order/thread_decoder.h"
#include "parser/reader/reader_impl.h"
#include "parser/source/stoppable_source.h"

namespace gotrace::internal {
namespace {

// A generation and the bytes that it views.
struct LoadedGeneration {
  std::unique_ptr<ByteSource> source;
  std::unique_ptr<Generation> generation;
};

absl::StatusOr<LoadedGeneration> Load(const ByteSource& whole, const TraceIndex& index, size_t n,
                                      const ReaderLimits& limits) {
  LoadedGeneration loaded;
  loaded.source = whole.Fork(index.generations()[n].offset);
  if (loaded.source == nullptr) return absl::UnavailableError("the trace cannot be opened again");
  absl::StatusOr<std::unique_ptr<Generation>> generation =
      GenerationReader(loaded.source.get(), index.version(), limits).Next();
  if (!generation.ok()) return generation.status();
  if (*generation == nullptr) return absl::DataLossError("the trace became shorter");
  loaded.generation = *std::move(generation);
  return loaded;
}

// Calls `take` with each event of the thread that can be decoded.
template <class Take>
void ForEachEvent(const Generation& generation, const ThreadBatches& thread, const Take& take) {
  ThreadDecoder decoder(generation, thread, /*check_ids=*/false);
  DecodedEvent events[64];
  while (const size_t count = decoder.Decode(events)) {
    for (const DecodedEvent& event : absl::MakeConstSpan(events, count)) take(event);
  }
}

// Returns the thread with only its last batch that has events.
ThreadBatches LastBatchOf(const ThreadBatches& thread) {
  return {thread.thread, thread.last, thread.last};
}

// Returns the time of the last event of the generation, provided that no event had to be made later
// than its thread's clock.
int64_t LastTime(const Generation& generation) {
  const absl::Span<const CpuSample> samples = generation.tables().cpu_samples();
  int64_t last = std::numeric_limits<int64_t>::min();
  if (!samples.empty()) last = samples.back().time;
  for (const ThreadBatches& thread : generation.threads()) {
    ForEachEvent(generation, LastBatchOf(thread),
                 [&](const DecodedEvent& event) { last = std::max(last, event.time); });
  }
  return last;
}

// Finds tasks in the generations before a segment, from the last one to the first. The results are
// valid for the lifetime of the TaskFinder.
class TaskFinder {
 public:
  TaskFinder(std::unique_ptr<ByteSource> whole, TraceIndex index, size_t end, ReaderLimits limits)
      : whole_(std::move(whole)), index_(std::move(index)), unread_(end), limits_(limits) {}

  std::optional<EarlierTask> Find(TaskId id) {
    for (size_t i = 0;; ++i) {
      if (i == read_.size() && !ReadAnother()) return std::nullopt;
      const auto found = read_[i].find(id);
      if (found == read_[i].end()) continue;
      const LastEvent& last = found->second;
      if (!last.begins) return std::nullopt;
      return EarlierTask{last.parent, last.type};
    }
  }

 private:
  // The last event about a task in a generation.
  struct LastEvent {
    int64_t time = std::numeric_limits<int64_t>::min();
    bool begins = false;
    TaskId parent;
    std::string type;
  };
  using Tasks = absl::flat_hash_map<TaskId, LastEvent>;

  // Reads one more generation. Returns false if there is none or it cannot be read.
  bool ReadAnother() {
    if (unread_ == 0) return false;
    const absl::StatusOr<LoadedGeneration> loaded = Load(*whole_, index_, --unread_, limits_);
    if (!loaded.ok()) {
      unread_ = 0;
      return false;
    }
    const Generation& generation = *loaded->generation;
    Tasks& tasks = read_.emplace_back();
    for (const ThreadBatches& thread : generation.threads()) {
      ForEachEvent(generation, thread, [&](const DecodedEvent& event) {
        if (event.type != EventType::kUserTaskBegin && event.type != EventType::kUserTaskEnd) {
          return;
        }
        LastEvent& last = tasks[TaskId{event.args[0]}];
        if (event.time < last.time) return;
        last.time = event.time;
        last.begins = event.type == EventType::kUserTaskBegin;
        if (!last.begins) return;
        last.parent = event.args[1] == 0 ? TaskId::kNone : TaskId{event.args[1]};
        const absl::string_view* const type = generation.tables().FindString(event.args[2]);
        last.type = type == nullptr ? "" : std::string(*type);
      });
    }
    return true;
  }

  const std::unique_ptr<ByteSource> whole_;  // Only Fork() is called.
  const TraceIndex index_;
  size_t unread_;  // The number of first generations that were not read yet.
  const ReaderLimits limits_;
  std::deque<Tasks> read_;  // One for each generation read, from the last one backwards.
};

}  // namespace

std::vector<Segment> CutIntoSegments(const TraceIndex& index, size_t count, uint64_t min_bytes) {
  const absl::Span<const TraceIndex::Generation> generations = index.generations();
  std::vector<Segment> segments(1);
  if (generations.empty()) return segments;
  uint64_t begin = generations.front().offset;  // The beginning of the current segment.
  const uint64_t end = generations.back().offset + generations.back().size;
  const uint64_t size = end - begin;
  const uint64_t start = begin;
  size_t next = 1;
  for (size_t cut = 1; cut < count; ++cut) {
    const uint64_t wanted = start + static_cast<uint64_t>(static_cast<double>(size) * cut / count);
    const auto distance = [&](size_t n) {
      const uint64_t offset = generations[n].offset;
      return offset < wanted ? wanted - offset : offset - wanted;
    };
    while (next + 1 < generations.size() && distance(next + 1) <= distance(next)) ++next;
    if (next >= generations.size()) break;
    const uint64_t offset = generations[next].offset;
    if (offset <= begin || offset - begin < min_bytes || end - offset < min_bytes) continue;
    segments.back().end = begin = offset;
    segments.push_back({next});
  }
  return segments;
}

absl::StatusOr<Reader> SegmentReader::Open(std::unique_ptr<ByteSource> source,
                                           const ByteSource& whole, const TraceIndex& index,
                                           const Start& start, ReaderOptions options,
                                           ReaderHooks hooks) {
  const absl::StatusOr<LoadedGeneration> before =
      Load(whole, index, start.generation - 1, options.limits);
  if (!before.ok()) return before.status();
  SegmentStart segment;
  segment.earlier_generations = start.generation;
  segment.has_half_of_limits = start.has_half_of_limits;
  if (start.finds_tasks) {
    auto finder =
        std::make_shared<TaskFinder>(whole.Fork(0), index, start.generation, options.limits);
    segment.find_task = [finder](TaskId id) { return finder->Find(id); };
  }
  source = StoppableSource::Wrap(std::move(source), options.keep_going);
  auto impl = std::make_unique<ReaderImpl>(std::move(source), index.version(), std::move(options),
                                           std::move(hooks));
  impl->StartInMiddle(std::move(segment), LastTime(*before->generation));
  return Reader(std::move(impl));
}

void SegmentReader::ReadTo(Reader* reader, uint64_t end, size_t jobs) {
  reader->impl_->StopAt(end);
  reader->impl_->UseCores(jobs);
}

bool SegmentReader::Follows(const Reader& next, const Reader& before) {
  return next.impl_->Follows(*before.impl_);
}

bool SegmentReader::Append(Reader* before, Reader next) {
  if (!next.impl_->ContinueFrom(*before->impl_)) return false;
  *before = std::move(next);
  return true;
}

}  // namespace gotrace::internal

namespace gotrace {

absl::StatusOr<Reader> Reader::OpenAt(const ByteSource& source, const TraceIndex& index, size_t n,
                                      ReaderOptions options) {
  if (n >= index.generations().size() && n != 0) {
    return absl::InvalidArgumentError("the trace has no such generation");
  }
  std::unique_ptr<ByteSource> fork = source.Fork(n == 0 ? 0 : index.generations()[n].offset);
  if (fork == nullptr) return absl::UnavailableError("the trace can be read only once");
  if (n == 0) return FromSource(std::move(fork), std::move(options));
  return internal::SegmentReader::Open(std::move(fork), source, index, {.generation = n},
                                       std::move(options));
}

}  // namespace gotrace
