#include "gotrace/trace_index.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "parser/framing/batch_reader.h"
#include "parser/generation/generation.h"
#include "parser/generation/generation_tables.h"
#include "parser/source/stoppable_source.h"

namespace gotrace {
namespace internal {
namespace {

// Moves from the header of one batch to the next without reading the payloads between them. Begins
// after the header of the trace.
class HeaderWalk {
 public:
  explicit HeaderWalk(const ByteSource& source) : source_(source), size_(source.input_size()) {}

  // Moves past the next batch. `batch->payload` holds only the beginning of its payload, and is
  // valid until the next call. Returns false if no whole batch is left.
  bool Next(Batch* batch) {
    uint64_t size = 0;
    const std::unique_ptr<ByteSource> header = SourceHere();
    const absl::StatusOr<bool> found = ReadBatchHeader(header.get(), batch, &size);
    if (!found.ok() || !*found) return false;
    // Offsets in `header` are relative to this batch.
    batch->payload = header->window().substr(batch->payload_offset).substr(0, size);
    batch->offset = offset_;
    batch->payload_offset += offset_;
    if (size > size_ - std::min(size_, batch->payload_offset)) return false;
    offset_ = batch->payload_offset + size;
    return true;
  }

  // The offset of the next batch.
  uint64_t offset() const { return offset_; }
  bool at_end() const { return offset_ == size_; }

 private:
  static_assert(kHeaderSize <= kMaxBatchHeaderSize);

  // Returns a source of at least as many bytes as a header has, starting at offset_.
  std::unique_ptr<ByteSource> SourceHere() {
    const size_t count = source_.ReadAt(offset_, bytes_, sizeof(bytes_));
    return *SourceFromBytes({bytes_, count});
  }

  const ByteSource& source_;
  const uint64_t size_;
  uint64_t offset_ = kHeaderSize;
  char bytes_[kMaxBatchHeaderSize + 1];
};

// A generation whose batches are being counted.
struct OpenGeneration {
  TraceIndex::Generation entry;
  uint64_t min_ticks = 0;
  GenerationTables tables;  // Only its clock is used.
};

// Reads the rest of a batch that states the clock.
absl::Status AddSync(const ByteSource& source, Batch batch, uint64_t end, Version version,
                     GenerationTables* tables) {
  std::string payload(end - batch.payload_offset, '\0');
  if (source.ReadAt(batch.payload_offset, payload.data(), payload.size()) != payload.size()) {
    return absl::DataLossError("the trace became shorter");
  }
  batch.payload = payload;
  return tables->AddSync(batch, version);
}

// Returns OK, the fault with which reading the generation at `offset` ends, or kCancelled once
// `keep_going` returns false.
absl::Status ReadGenerationAt(const ByteSource& source, uint64_t offset, Version version,
                              const std::function<bool()>& keep_going) {
  const std::unique_ptr<ByteSource> fork = StoppableSource::Wrap(source.Fork(offset), keep_going);
  GenerationReader reader(fork.get(), version);
  const absl::StatusOr<std::unique_ptr<Generation>> generation = reader.Next();
  if (!generation.ok() || *generation == nullptr) return generation.status();
  // Up to Go 1.25, the status of the bytes after a generation may be returned with it or by the
  // next call.
  const absl::Status& cut = (*generation)->integrity().cut;
  return cut.ok() && version < Version::kGo126 ? reader.Next().status() : cut;
}

}  // namespace
}  // namespace internal

absl::StatusOr<TraceIndex> TraceIndex::Build(const ByteSource& source,
                                             const std::function<bool()>& keep_going) {
  if (source.Fork(0) == nullptr) return absl::UnavailableError("the trace can be read only once");
  // A fork would read a whole block.
  char bytes[kHeaderSize];
  const std::unique_ptr<ByteSource> header =
      SourceFromBytes({bytes, source.ReadAt(0, bytes, kHeaderSize)}).value();
  const absl::StatusOr<Version> version = internal::ReadHeader(header.get());
  if (!version.ok()) return version.status();
  internal::HeaderWalk walk(source);
  TraceIndex index;
  index.version_ = *version;
  std::optional<internal::OpenGeneration> open;
  uint64_t end = kHeaderSize;  // Of the generations in the index.
  const auto close = [&](uint64_t its_end) {
    if (!open->tables.clock().known()) {
      return absl::DataLossError(
          absl::StrCat("generation ", open->entry.number, " does not state its clock"));
    }
    open->entry.size = its_end - open->entry.offset;
    open->entry.first_time = open->tables.clock().ToNs(open->min_ticks);
    open->entry.clock_snapshot = open->tables.clock_snapshot();
    if (!index.generations_.empty()) {
      const Generation& before = index.generations_.back();
      if (before.number + 1 != open->entry.number || before.first_time > open->entry.first_time) {
        return absl::InvalidArgumentError(absl::StrCat(
            "generation ", open->entry.number, " does not follow generation ", before.number));
      }
    }
    index.generations_.push_back(open->entry);
    open.reset();
    end = its_end;
    return absl::OkStatus();
  };
  const auto add = [&](const internal::Batch& batch) -> absl::Status {
    if (batch.IsEndOfGeneration()) {
      if (*version < Version::kGo126 || !open.has_value()) {
        return absl::DataLossError("the end of a generation where none can be");
      }
      return close(walk.offset());
    }
    if (open.has_value() && open->entry.number != batch.generation) {
      if (*version >= Version::kGo126) return absl::DataLossError("a generation without an end");
      if (absl::Status status = close(batch.offset); !status.ok()) return status;
    }
    if (!open.has_value()) {
      open.emplace();
      open->entry.number = batch.generation;
      open->entry.offset = batch.offset;
    }
    ++open->entry.batches;
    // As in Generation::min_ticks(), 0 means that there is no time.
    if (open->min_ticks == 0 || batch.time < open->min_ticks) open->min_ticks = batch.time;
    if (!internal::IsSyncBatch(batch, *version)) return absl::OkStatus();
    return internal::AddSync(source, batch, walk.offset(), *version, &open->tables);
  };
  internal::Batch batch;
  while (index.status_.ok() && walk.Next(&batch)) {
    if (keep_going != nullptr && !keep_going()) return internal::StoppableSource::Stopped();
    index.status_ = add(batch);
  }
  if (index.status_.ok() && !walk.at_end()) {
    index.status_ = absl::DataLossError(absl::StrCat("byte ", walk.offset(), ": expected a batch"));
  }
  if (index.status_.ok() && open.has_value()) {
    index.status_ = *version >= Version::kGo126 ? absl::DataLossError("a generation without an end")
                                                : close(walk.offset());
  }
  if (!index.status_.ok()) {
    const absl::Status fault = internal::ReadGenerationAt(source, end, *version, keep_going);
    if (absl::IsCancelled(fault)) return fault;
    if (!fault.ok()) index.status_ = fault;
  }
  return index;
}

size_t TraceIndex::FindTime(int64_t time) const {
  const auto after = std::partition_point(
      generations_.begin(), generations_.end(),
      [&](const Generation& generation) { return generation.first_time <= time; });
  const size_t begun = after - generations_.begin();
  return begun < 2 ? 0 : begun - 2;
}

}  // namespace gotrace
