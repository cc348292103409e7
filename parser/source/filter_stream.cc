#include "parser/source/filter_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gotrace/fault.h"
#include "gotrace/reader_limits.h"

namespace gotrace::internal {
namespace {

// How much a filter sees at once, unless it asks for more.
constexpr size_t kStepSize = 64 << 10;

// How much a filter may ask to see at once. None needs more.
constexpr size_t kMaxSeen = 512 << 10;

class FilterStream final : public ByteStream {
 public:
  FilterStream(std::unique_ptr<Filter> filter, std::string name, std::unique_ptr<ByteStream> input,
               uint64_t most)
      : filter_(std::move(filter)),
        name_(std::move(name)),
        stream_(std::move(input)),
        most_(most) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    while (output_begin_ == output_.size()) {
      if (is_over_ && !status_.ok()) return status_;
      if (is_over_) return 0;
      output_.clear();
      output_begin_ = 0;
      Step();
    }
    size = std::min(size, output_.size() - output_begin_);
    std::memcpy(buffer, output_.data() + output_begin_, size);
    output_begin_ += size;
    return size;
  }

 private:
  void Stop(absl::Status status) {
    is_over_ = true;
    status_ = std::move(status);
  }

  void Step() {
    if (input_begin_ == input_.size() && !input_over_) Refill();
    const absl::string_view seen = absl::string_view(input_).substr(input_begin_);
    const size_t taken = filter_->Step(seen, input_over_, &output_);
    input_begin_ += taken;
    taken_ += taken;
    CheckLimit();
    if (is_over_) return;
    if (!filter_->error().empty()) {
      return Fail(absl::StrCat(filter_->error(), " at its byte ", taken_));
    }
    if (filter_->done()) return Stop(absl::OkStatus());
    if (taken > 0 || !output_.empty()) return;
    if (input_over_) return Stop(input_status_);
    if (seen.size() >= kMaxSeen) return Fail("no part of it ends");
    Refill();
  }

  void Fail(std::string message) {
    Stop(FaultStatus({FaultId::kTransportCorrupt, Place(),
                      absl::StrCat("the ", name_, " around the trace is damaged: ", message)}));
  }

  // Adds bytes to those that the filter sees.
  void Refill() {
    input_.erase(0, input_begin_);
    input_begin_ = 0;
    const absl::StatusOr<size_t> count = stream_->Read(buffer_.data(), buffer_.size());
    if (count.ok()) input_.append(buffer_, 0, *count);
    if (count.ok() && *count > 0) return;
    input_over_ = true;
    input_status_ = count.status();
  }

  void CheckLimit() {
    const uint64_t left = most_ - given_;
    given_ += std::min<uint64_t>(output_.size(), left);
    if (output_.size() <= left) return;
    output_.resize(left);
    Stop(FaultStatus({FaultId::kLimitDecompressedBytes,
                      Place(),
                      LimitMessage(FaultId::kLimitDecompressedBytes, most_, most_),
                      {}}));
  }

  const std::unique_ptr<Filter> filter_;
  const std::string name_;
  const std::unique_ptr<ByteStream> stream_;
  const uint64_t most_;  // Bytes of output.
  uint64_t given_ = 0;
  std::string buffer_ = std::string(kStepSize, '\0');
  std::string input_;  // What was read and not taken, from input_begin_ on.
  size_t input_begin_ = 0;
  uint64_t taken_ = 0;  // Of all of the input.
  bool input_over_ = false;
  absl::Status input_status_;
  std::string output_;  // What was made and not read, from output_begin_ on.
  size_t output_begin_ = 0;
  bool is_over_ = false;
  absl::Status status_;
};

class SkippingStream final : public ByteStream {
 public:
  SkippingStream(uint64_t size, std::unique_ptr<ByteStream> input)
      : left_(size), input_(std::move(input)) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    while (left_ > 0) {
      const absl::StatusOr<size_t> count =
          input_->Read(buffer, static_cast<size_t>(std::min<uint64_t>(size, left_)));
      if (!count.ok() || *count == 0) return count;
      left_ -= *count;
    }
    return input_->Read(buffer, size);
  }

 private:
  uint64_t left_;
  const std::unique_ptr<ByteStream> input_;
};

}  // namespace

std::unique_ptr<ByteStream> MakeFilterStream(std::unique_ptr<Filter> filter, std::string name,
                                             std::unique_ptr<ByteStream> input, uint64_t most) {
  return std::make_unique<FilterStream>(std::move(filter), std::move(name), std::move(input), most);
}

std::unique_ptr<ByteStream> SkipBytes(uint64_t size, std::unique_ptr<ByteStream> input) {
  if (size == 0) return input;
  return std::make_unique<SkippingStream>(size, std::move(input));
}

}  // namespace gotrace::internal
