#include "export/fxt/fxt_store.h"

#include <algorithm>
#include <bit>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "export/fxt/fxt_format.h"
#include "export/fxt/fxt_writer.h"
#include "util/helper_thread.h"
#include "util/quote.h"

namespace gotrace {

absl::StatusOr<FxtBuffer> ParseFxtBuffer(absl::string_view text) {
  constexpr std::pair<absl::string_view, FxtBufferMode> kModes[] = {
      {"oneshot:", FxtBufferMode::kOneshot},
      {"circular:", FxtBufferMode::kCircular},
      {"streaming:", FxtBufferMode::kStreaming}};
  constexpr std::pair<absl::string_view, int> kUnits[] = {{"K", 10}, {"M", 20}, {"G", 30}};
  for (const auto& [name, mode] : kModes) {
    absl::string_view number = text;
    if (!absl::ConsumePrefix(&number, name)) continue;
    int shift = 0;
    for (const auto& [unit, bits] : kUnits) {
      if (absl::ConsumeSuffix(&number, unit)) {
        shift = bits;
        break;
      }
    }
    uint64_t size = 0;
    if (!absl::SimpleAtoi(number, &size) || size > FxtBuffer::kMaxSize >> shift ||
        size << shift < FxtBuffer::kMinSize) {
      return absl::InvalidArgumentError(absl::StrCat("expected a size from 16K to 4G, found ",
                                                     internal::Quoted(text.substr(name.size()))));
    }
    return FxtBuffer{mode, size << shift};
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "expected oneshot:SIZE, circular:SIZE or streaming:SIZE, found ", internal::Quoted(text)));
}

}  // namespace gotrace

namespace gotrace::internal {
namespace {

constexpr uint64_t kProvider = 1;
constexpr absl::string_view kProviderName = "gotrace";

constexpr uint64_t MetadataWord(FxtMetadata kind, uint64_t words, uint64_t upper = 0) {
  return words << 4 | static_cast<uint64_t>(kind) << 16 | kProvider << 20 | upper << 52;
}

// A block of words of a fixed size.
class Block {
 public:
  explicit Block(size_t words) : words_(new uint64_t[words]), capacity_(words) {}

  bool Append(absl::Span<const uint64_t> words) {
    if (words.size() > capacity_ - size_) return false;
    std::transform(words.begin(), words.end(), words_.get() + size_, LittleEndian);
    size_ += words.size();
    return true;
  }

  void Clear() { size_ = 0; }
  size_t capacity() const { return capacity_; }

  void WriteTo(ByteSink* out) const {
    out->Append(
        absl::string_view(reinterpret_cast<const char*>(words_.get()), size_ * sizeof(uint64_t)));
  }

 private:
  const std::unique_ptr<uint64_t[]> words_;
  const size_t capacity_;
  size_t size_ = 0;
};

class DirectStore final : public FxtStore {
 public:
  explicit DirectStore(ByteSink* out) : out_(*out) {}

  bool Append(absl::Span<const uint64_t> words) override {
    if constexpr (std::endian::native == std::endian::little) {
      out_.Append(absl::string_view(reinterpret_cast<const char*>(words.data()),
                                    words.size() * sizeof(uint64_t)));
    } else {
      for (uint64_t word : words) {
        word = LittleEndian(word);
        out_.Append(absl::string_view(reinterpret_cast<const char*>(&word), sizeof word));
      }
    }
    return true;
  }

  absl::Status Finish() override { return out_.status(); }

 private:
  ByteSink& out_;
};

class OneshotStore final : public FxtStore {
 public:
  OneshotStore(size_t words, ByteSink* out) : block_(words - FxtBufferFull().size()), out_(*out) {}

  bool Append(absl::Span<const uint64_t> words) override {
    // Later records are dropped even if they are small enough, so that the file has no gaps.
    is_full_ = is_full_ || !block_.Append(words);
    return !is_full_;
  }

  absl::Status Finish() override {
    block_.WriteTo(&out_);
    if (is_full_) DirectStore(&out_).Append(FxtBufferFull());
    return out_.status();
  }

 private:
  Block block_;
  bool is_full_ = false;
  ByteSink& out_;
};

class CircularStore final : public FxtStore {
 public:
  CircularStore(size_t words, ByteSink* out)
      : definitions_(words / 4), halves_{Block(words * 3 / 8), Block(words * 3 / 8)}, out_(*out) {}

  bool KeepsDefinitions() const override { return true; }
  bool AppendDefinition(absl::Span<const uint64_t> words) override {
    return definitions_.Append(words);
  }

  // Each call has one record, since definitions are stored separately.
  bool Append(absl::Span<const uint64_t> words) override {
    if (!halves_[current_].Append(words)) {
      if (words.size() > halves_[current_].capacity()) return false;
      current_ = 1 - current_;
      replaced_ += std::exchange(records_[current_], 0);
      halves_[current_].Clear();
      halves_[current_].Append(words);
    }
    ++records_[current_];
    return true;
  }

  uint64_t replaced() const override { return replaced_; }

  absl::Status Finish() override {
    definitions_.WriteTo(&out_);
    halves_[1 - current_].WriteTo(&out_);
    halves_[current_].WriteTo(&out_);
    return out_.status();
  }

 private:
  Block definitions_;
  Block halves_[2];
  uint64_t records_[2] = {};  // In each of the halves.
  uint64_t replaced_ = 0;
  int current_ = 0;
  ByteSink& out_;
};

// The producer appends to one half while a thread, the saver, writes the other.
class StreamingStore final : public FxtStore {
 public:
  StreamingStore(size_t words, ByteSink* out)
      : halves_{Block(words / 2), Block(words / 2)},
        out_(*out),
        saver_(StartHelper("save", [this] { Save(); })) {}

  ~StreamingStore() override { Stop(); }

  bool Append(absl::Span<const uint64_t> words) override {
    if (!has_dropped_ && halves_[current_].Append(words)) return true;
    if (!HandOver(/*may_wait=*/false)) {
      has_dropped_ = true;
      return false;
    }
    if (std::exchange(has_dropped_, false)) halves_[current_].Append(FxtBufferFull());
    return halves_[current_].Append(words);
  }

  absl::Status Finish() override {
    HandOver(/*may_wait=*/true);
    if (std::exchange(has_dropped_, false)) {
      halves_[current_].Append(FxtBufferFull());
      HandOver(/*may_wait=*/true);
    }
    Stop();
    return out_.status();
  }

 private:
  // Passes the current half to the saver, and makes the other half, which is empty, the current
  // one. Returns false if the other half is still being written.
  bool HandOver(bool may_wait) {
    if (!saver_.has_value()) {
      halves_[current_].WriteTo(&out_);
      halves_[current_].Clear();
      return true;
    }
    std::unique_lock lock(mutex_);
    if (may_wait) changed_.wait(lock, [this] { return !is_saving_; });
    if (is_saving_) return false;
    is_saving_ = true;
    current_ = 1 - current_;
    changed_.notify_all();
    return true;
  }

  void Save() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return is_saving_ || is_stopping_; });
      if (!is_saving_) return;
      Block& full = halves_[1 - current_];
      lock.unlock();
      full.WriteTo(&out_);
      out_.Flush();
      full.Clear();
      lock.lock();
      is_saving_ = false;
      changed_.notify_all();
    }
  }

  void Stop() {
    if (!saver_.has_value()) return;
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
      changed_.notify_all();
    }
    saver_->join();
    saver_.reset();
  }

  Block halves_[2];
  int current_ = 0;           // Changed by the producer, while the saver waits.
  bool has_dropped_ = false;  // Since the last half was handed over.
  ByteSink& out_;             // Used by the saver while it runs.
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_saving_ = false;  // The half that is not current belongs to the saver.
  bool is_stopping_ = false;
  std::optional<std::thread> saver_;
};

}  // namespace

absl::Span<const uint64_t> FxtHeader() {
  static const std::vector<uint64_t>& words = *[] {
    auto* const header = new std::vector<uint64_t>{kFxtMagic};
    header->push_back(MetadataWord(FxtMetadata::kProviderInfo, 2, kProviderName.size()));
    AppendFxtText(kProviderName, header);
    header->push_back(MetadataWord(FxtMetadata::kProviderSection, 1));
    return header;
  }();
  return words;
}

absl::Span<const uint64_t> FxtBufferFull() {
  static constexpr uint64_t kWords[] = {MetadataWord(FxtMetadata::kProviderEvent, 1)};
  return kWords;
}

std::unique_ptr<FxtStore> MakeFxtStore(const FxtBuffer& buffer, ByteSink* out) {
  const size_t words = std::max(buffer.size, FxtBuffer::kMinSize) / sizeof(uint64_t);
  switch (buffer.mode) {
    case FxtBufferMode::kNone:
      break;
    case FxtBufferMode::kOneshot:
      return std::make_unique<OneshotStore>(words, out);
    case FxtBufferMode::kCircular:
      return std::make_unique<CircularStore>(words, out);
    case FxtBufferMode::kStreaming:
      return std::make_unique<StreamingStore>(words, out);
  }
  return std::make_unique<DirectStore>(out);
}

}  // namespace gotrace::internal
