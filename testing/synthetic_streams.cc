#include "testing/synthetic_streams.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "gotrace/event_type.h"
#include "gotrace/internal/limits.h"
#include "gotrace/version.h"
#include "tracev2/batch_encoder.h"

namespace gotrace::internal {
namespace {

class MadeStream final : public ByteStream {
 public:
  MadeStream(LargeTraceWriter* maker, MakeStep step) : maker_(*maker), step_(std::move(step)) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    std::string& out = maker_.out();
    while (out.size() - taken_ < size && !done_) {
      out.erase(0, std::exchange(taken_, 0));
      done_ = !step_(&maker_, n_++);
    }
    size = std::min(size, out.size() - taken_);
    std::memcpy(buffer, out.data() + taken_, size);
    taken_ += size;
    return size;
  }

 private:
  LargeTraceWriter& maker_;
  const MakeStep step_;
  uint64_t n_ = 0;
  size_t taken_ = 0;
  bool done_ = false;
};

class RepeatedStream final : public ByteStream {
 public:
  RepeatedStream(std::string first, std::string again, uint64_t times)
      : first_(std::move(first)), again_(std::move(again)), left_(times), rest_(first_) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    if (rest_.empty() && left_ > 0) {
      --left_;
      rest_ = again_;
    }
    size = std::min(size, rest_.size());
    std::memcpy(buffer, rest_.data(), size);
    rest_.remove_prefix(size);
    return size;
  }

 private:
  const std::string first_;
  const std::string again_;
  uint64_t left_;
  absl::string_view rest_;
};

}  // namespace

LargeTraceWriter::LargeTraceWriter() : out_(MakeHeader(Version::kGo126)) {}

void LargeTraceWriter::Begin(uint64_t generation) {
  generation_ = generation;
  size_ = 0;
  std::string sync;
  AppendEvent(EventType::kSync, {}, &sync);
  AppendEvent(EventType::kFrequency, {1'000'000'000}, &sync);
  AppendEvent(EventType::kClockSnapshot, {1, 1, 1, 1}, &sync);
  Batch(~uint64_t{0}, sync);
}

void LargeTraceWriter::Batch(uint64_t thread, absl::string_view payload) {
  const size_t before = out_.size();
  AppendBatch({generation_, thread, /*time=*/1}, payload, BatchSizeForm::kShortest, &out_);
  Add(out_.size() - before);
}

void LargeTraceWriter::Entry(uint64_t thread, EventType kind, absl::string_view entry) {
  if (thread != entries_thread_ || entries_.size() + entry.size() > kMaxBatchSize) Flush();
  if (entries_.empty() && kind != EventType::kNone) entries_.push_back(static_cast<char>(kind));
  entries_thread_ = thread;
  absl::StrAppend(&entries_, entry);
}

void LargeTraceWriter::Flush() {
  if (!entries_.empty()) Batch(entries_thread_, entries_);
  entries_.clear();
}

void LargeTraceWriter::End() {
  Flush();
  out_.push_back(static_cast<char>(EventType::kEndOfGeneration));
}

void LargeTraceWriter::Add(size_t size) {
  size_ += size;
  largest_ = std::max(largest_, size_);
}

std::unique_ptr<ByteStream> MakeTrace(LargeTraceWriter* maker, MakeStep step) {
  return std::make_unique<MadeStream>(maker, std::move(step));
}

std::unique_ptr<ByteStream> Repeat(std::string first, std::string again, uint64_t times) {
  return std::make_unique<RepeatedStream>(std::move(first), std::move(again), times);
}

}  // namespace gotrace::internal
