#include "parser/source/steady_input.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gotrace/fault.h"
#include "parser/source/source_wrapper.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

namespace gotrace::internal {

class SteadyInput::WatchedSource final : public SourceWrapper {
 public:
  WatchedSource(std::unique_ptr<ByteSource> source, std::shared_ptr<End> end)
      : SourceWrapper(std::move(source)), end_(std::move(end)), hashed_(offset_) {
    XXH3_64bits_reset(&hash_);
    Cut();
    Hash();
  }

  absl::Status Fill(size_t size) override {
    absl::Status status = SourceWrapper::Fill(size);
    // The end of a source that was stopped proves nothing, even where another reading reached the
    // end.
    if (absl::IsCancelled(status)) return status;
    const bool at_end = window_.size() < size || !status.ok();
    Cut();
    Hash();
    if (!is_checked_ && (at_end || (end_->bytes.has_value() && hashed_ == end_->bytes->size))) {
      status_ = Check(status);
      is_checked_ = true;
    }
    return is_checked_ ? status_ : status;
  }

 private:
  // Hides data that was appended since another reading reached the end.
  void Cut() {
    if (end_->bytes.has_value()) {
      window_ = window_.substr(0, end_->bytes->size - std::min(end_->bytes->size, offset_));
    }
  }

  void Hash() {
    const uint64_t end = offset_ + window_.size();
    if (end <= hashed_) return;
    const absl::string_view added = window_.substr(hashed_ - offset_);
    XXH3_64bits_update(&hash_, added.data(), added.size());
    hashed_ = end;
  }

  // Returns the status at the end of the input, where reading returned `status`.
  absl::Status Check(const absl::Status& status) {
    if (!status.ok() && !FaultOf(status).has_value()) return status;
    const InputBytes found = {hashed_, XXH3_64bits_digest(&hash_)};
    if (!end_->bytes.has_value()) {
      end_->bytes = found;
      end_->status = status;
    }
    if (found == *end_->bytes) return end_->status;
    return absl::AbortedError(
        found.size < end_->bytes->size
            ? absl::StrCat("the input changed while it was being read: it had ", end_->bytes->size,
                           " bytes before, and now ends after ", found.size)
            : "the input changed while it was being read: it has other bytes than before");
  }

  const std::shared_ptr<End> end_;
  XXH3_state_t hash_;
  uint64_t hashed_;  // The offset after the last byte that was hashed.
  bool is_checked_ = false;
  absl::Status status_;  // The status at the end, once it was checked.
};

std::unique_ptr<ByteSource> SteadyInput::Watch(std::unique_ptr<ByteSource> source) const {
  return std::make_unique<WatchedSource>(std::move(source), end_);
}

absl::Status ReadToEnd(ByteSource* source) {
  while (true) {
    const absl::Status status = source->Fill(ByteSource::kMaxFill);
    if (source->window().empty()) return status;
    source->Skip(source->window().size());
    source->Release(source->offset());
    if (!status.ok()) return status;
  }
}

}  // namespace gotrace::internal
