// Tests of the ways in which an FxtWriter buffers records, with consumers of all speeds.
#include "export/fxt/fxt_store.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "export/fxt/fxt_writer.h"
#include "gotrace/byte_sink.h"
#include "gotrace/fxt_reader.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace fxt_store_test {

constexpr uint64_t kSize = 64 << 10;

TEST(ParseFxtBufferTest, Modes) {
  const std::pair<absl::string_view, FxtBuffer> kTexts[] = {
      {"oneshot:16384", {FxtBufferMode::kOneshot, 16384}},
      {"circular:64K", {FxtBufferMode::kCircular, 65536}},
      {"streaming:3M", {FxtBufferMode::kStreaming, 3 << 20}},
      {"oneshot:4G", {FxtBufferMode::kOneshot, uint64_t{4} << 30}}};
  for (const auto& [text, expected] : kTexts) {
    const absl::StatusOr<FxtBuffer> buffer = ParseFxtBuffer(text);
    ASSERT_TRUE(buffer.ok()) << text;
    EXPECT_EQ(buffer->mode, expected.mode);
    EXPECT_EQ(buffer->size, expected.size);
  }
  for (const absl::string_view text :
       {"", "oneshot", "oneshot:", "oneshot:K", "circular:-1", "streaming:1T", "oneshot:16383",
        "oneshot:5G", "oneshot:99999999999G", "none:1M", "oneshot:1.5M"}) {
    EXPECT_FALSE(ParseFxtBuffer(text).ok()) << text;
  }
}

// An output that keeps the bytes. While it is not open, writing waits.
class Consumer final : public ByteSink {
 public:
  void SetOpen(bool is_open) {
    const std::lock_guard lock(mutex_);
    is_open_ = is_open;
    opened_.notify_all();
  }

  uint64_t written() const { return written_; }
  const std::string& bytes() const { return bytes_; }

 protected:
  absl::Status Write(absl::string_view bytes) override {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return is_open_; });
    bytes_.append(bytes.data(), bytes.size());
    written_ = bytes_.size();
    return absl::OkStatus();
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool is_open_ = true;
  std::string bytes_;
  std::atomic<uint64_t> written_ = 0;
};

std::string NameOf(uint64_t i) { return absl::StrCat("name ", i % 1000); }

// Writes `count` instants with the times from `first` on. Returns how many were dropped so far.
uint64_t WriteInstants(FxtWriter* writer, uint64_t count, uint64_t first = 0) {
  for (uint64_t i = first; i < first + count; ++i) {
    const std::string name = NameOf(i);
    FxtRecord record;
    record.type = FxtType::kEvent;
    record.ticks = i;
    record.thread = {1, i % 300};
    record.name = name;
    writer->Write(record);
  }
  return writer->dropped();
}

struct Kept {
  std::vector<uint64_t> times;
  std::vector<size_t> gaps;  // The numbers of instants before each provider event.
};

// Checks that the file is sound and each instant has its name and thread.
Kept Check(const std::string& bytes) {
  Kept kept;
  FxtReader reader(*SourceFromBytes(bytes), [](const FxtProblem& problem) {
    if (problem.check != CheckId::kFxtBufferFull) {
      ADD_FAILURE() << problem.offset << ": " << problem.message;
    }
  });
  while (const FxtRecord* record = reader.Next()) {
    if (record->type == FxtType::kMetadata &&
        record->kind == static_cast<uint8_t>(FxtMetadata::kProviderEvent)) {
      kept.gaps.push_back(kept.times.size());
    }
    if (record->type != FxtType::kEvent) continue;
    EXPECT_EQ(record->name, NameOf(record->ticks));
    EXPECT_EQ(record->thread, (FxtThread{1, record->ticks % 300}));
    kept.times.push_back(record->ticks);
  }
  EXPECT_EQ(reader.end(), FxtEnd::kComplete);
  return kept;
}

// Expects the times `first`, `first` + 1 and so on.
void ExpectRun(const std::vector<uint64_t>& times, uint64_t first) {
  for (size_t i = 0; i < times.size(); ++i) ASSERT_EQ(times[i], first + i);
}

TEST(FxtStoreTest, OneshotKeepsTheBeginning) {
  for (const uint64_t count : {100, 100'000}) {
    Consumer consumer;
    FxtWriter writer(MakeFxtStore({FxtBufferMode::kOneshot, kSize}, &consumer));
    const uint64_t dropped = WriteInstants(&writer, count);
    ASSERT_TRUE(writer.Finish().ok() && consumer.Finish().ok());
    EXPECT_LE(consumer.bytes().size(), kSize);
    const Kept kept = Check(consumer.bytes());
    ExpectRun(kept.times, 0);
    EXPECT_EQ(kept.times.size() + dropped, count);
    if (count == 100) {
      EXPECT_EQ(dropped, 0u);
      EXPECT_TRUE(kept.gaps.empty());
    } else {
      EXPECT_GT(consumer.bytes().size(), kSize - 200);
      EXPECT_EQ(kept.gaps, std::vector<size_t>{kept.times.size()});
    }
  }
}

TEST(FxtStoreTest, CircularKeepsTheEnd) {
  // The smallest buffer has no room for all definitions.
  for (const uint64_t size : {FxtBuffer::kMinSize, 4 * kSize}) {
    for (const uint64_t count : {100, 100'000}) {
      Consumer consumer;
      FxtWriter writer(MakeFxtStore({FxtBufferMode::kCircular, size}, &consumer));
      EXPECT_EQ(WriteInstants(&writer, count), 0u);
      ASSERT_TRUE(writer.Finish().ok() && consumer.Finish().ok());
      EXPECT_LE(consumer.bytes().size(), size);
      const Kept kept = Check(consumer.bytes());
      ASSERT_FALSE(kept.times.empty());
      ExpectRun(kept.times, count - kept.times.size());
      // One half at least is full of them.
      if (count == 100) {
        EXPECT_EQ(kept.times.size(), count);
      } else {
        EXPECT_GT(kept.times.size(), size * 3 / 8 / 64);
      }
    }
  }
}

TEST(FxtStoreTest, CircularRefusesWhatIsLargerThanAHalf) {
  Consumer consumer;
  FxtWriter writer(MakeFxtStore({FxtBufferMode::kCircular, FxtBuffer::kMinSize}, &consumer));
  WriteInstants(&writer, 10);
  const std::string text(10'000, 'x');
  FxtRecord log;
  log.type = FxtType::kLog;
  log.text = text;
  EXPECT_FALSE(writer.Write(log));
  ASSERT_TRUE(writer.Finish().ok() && consumer.Finish().ok());
  EXPECT_EQ(Check(consumer.bytes()).times.size(), 10u);
}

TEST(FxtStoreTest, StreamingToAFastConsumerKeepsEverything) {
  Consumer consumer;
  const std::unique_ptr<FxtStore> store =
      MakeFxtStore({FxtBufferMode::kStreaming, FxtBuffer::kMinSize}, &consumer);
  std::string expected;
  for (uint64_t i = 0; i < 50'000; ++i) {
    // The consumer has written the other half before this one is full.
    while (expected.size() - consumer.written() >= FxtBuffer::kMinSize / 2) {
      std::this_thread::yield();
    }
    const uint64_t words[] = {i, i + 1, i + 2};
    ASSERT_TRUE(store->Append(words));
    for (const uint64_t word : words) {
      expected.append(reinterpret_cast<const char*>(&word), sizeof word);
    }
  }
  ASSERT_TRUE(store->Finish().ok() && consumer.Finish().ok());
  EXPECT_TRUE(consumer.bytes() == expected);
}

TEST(FxtStoreTest, StreamingToASlowConsumerDropsAndSaysSo) {
  Consumer consumer;
  FxtWriter writer(MakeFxtStore({FxtBufferMode::kStreaming, kSize}, &consumer));
  constexpr uint64_t kRounds = 5;
  uint64_t count = 0;
  uint64_t dropped = 0;
  for (uint64_t round = 0; round < kRounds; ++round) {
    // The consumer rests, while more comes than the buffer holds.
    consumer.SetOpen(false);
    const uint64_t before = dropped;
    dropped = WriteInstants(&writer, 30'000, count);
    count += 30'000;
    EXPECT_GT(dropped, before);
    // It works until records are kept again.
    consumer.SetOpen(true);
    for (;;) {
      const uint64_t now = WriteInstants(&writer, 1, count++);
      if (now == std::exchange(dropped, now)) break;
      std::this_thread::yield();
    }
  }
  ASSERT_TRUE(writer.Finish().ok() && consumer.Finish().ok());
  const Kept kept = Check(consumer.bytes());
  EXPECT_EQ(kept.times.size() + dropped, count);
  // A provider event is where records are missing, and nowhere else.
  std::vector<size_t> gaps;
  for (size_t i = 0; i < kept.times.size(); ++i) {
    const uint64_t before = i == 0 ? 0 : kept.times[i - 1] + 1;
    ASSERT_GE(kept.times[i], before);
    if (kept.times[i] > before) gaps.push_back(i);
  }
  EXPECT_EQ(kept.gaps, gaps);
  EXPECT_EQ(gaps.size(), kRounds);
}

TEST(FxtStoreTest, StreamingToAStoppedConsumerDoesNotWait) {
  Consumer consumer;
  consumer.SetOpen(false);
  FxtWriter writer(MakeFxtStore({FxtBufferMode::kStreaming, kSize}, &consumer));
  constexpr uint64_t kCount = 100'000;
  // This returns, though nothing is written.
  const uint64_t dropped = WriteInstants(&writer, kCount);
  EXPECT_EQ(consumer.written(), 0u);
  consumer.SetOpen(true);
  ASSERT_TRUE(writer.Finish().ok() && consumer.Finish().ok());
  EXPECT_LE(consumer.bytes().size(), kSize + 8);
  EXPECT_GT(consumer.bytes().size(), kSize - 400);
  const Kept kept = Check(consumer.bytes());
  ExpectRun(kept.times, 0);
  EXPECT_EQ(kept.times.size() + dropped, kCount);
  EXPECT_EQ(kept.gaps, std::vector<size_t>{kept.times.size()});
}

}  // namespace fxt_store_test
}  // namespace gotrace::internal
