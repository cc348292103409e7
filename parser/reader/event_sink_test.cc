#include "gotrace/event_sink.h"

#include <string>
#include <vector>

#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace event_sink_test {

// Records the calls of its functions.
class Recorder : public EventSink {
 public:
  explicit Recorder(absl::Status result = absl::OkStatus()) : result_(result) {}

  void Add(absl::Span<const Event> events) override {
    EXPECT_FALSE(events.empty());
    for (const Event& event : events) offsets_.push_back(event.offset());
  }
  absl::Status Finish() override {
    ++finished_;
    return result_;
  }

  const std::vector<uint64_t>& offsets() const { return offsets_; }
  int finished() const { return finished_; }

 private:
  const absl::Status result_;
  std::vector<uint64_t> offsets_;
  int finished_ = 0;
};

std::vector<uint64_t> OffsetsOf(Reader reader) {
  std::vector<uint64_t> offsets;
  while (const Event* event = reader.Next()) offsets.push_back(event->offset());
  return offsets;
}

TEST(ReadIntoTest, PassesAllEventsToEverySinkAndFinishesIt) {
  const std::string trace = ReadTestTrace("go1.25-annotations.trace");
  Recorder first;
  Recorder second;
  Reader reader = *Reader::FromBytes(trace);
  EXPECT_TRUE(ReadInto(reader, {&first, &second}).ok());
  EXPECT_EQ(first.offsets(), OffsetsOf(*Reader::FromBytes(trace)));
  EXPECT_EQ(second.offsets(), first.offsets());
  EXPECT_EQ(first.finished(), 1);
  EXPECT_EQ(second.finished(), 1);
}

TEST(ReadIntoTest, PrefersTheReadersStatusToThatOfASink) {
  const std::string trace = ReadTestTrace("go1.25-annotations.trace");
  const absl::string_view cut = absl::string_view(trace).substr(0, trace.size() - 1);
  Recorder failing(absl::DataLossError("no room"));
  Recorder sound;
  Reader reader = *Reader::FromBytes(cut);
  const absl::Status status = ReadInto(reader, {&failing, &sound});
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status, reader.status());
  EXPECT_EQ(sound.finished(), 1);
}

TEST(ReadIntoTest, ReturnsTheFirstErrorOfASink) {
  const std::string trace = ReadTestTrace("go1.25-annotations.trace");
  Recorder sound;
  Recorder failing(absl::DataLossError("no room"));
  Recorder failing_too(absl::InternalError("later"));
  Reader reader = *Reader::FromBytes(trace);
  EXPECT_EQ(ReadInto(reader, {&sound, &failing, &failing_too}), absl::DataLossError("no room"));
  EXPECT_EQ(failing_too.finished(), 1);
}

// Wants no more after some blocks of events.
class Sated : public Recorder {
 public:
  explicit Sated(int blocks) : blocks_(blocks) {}

  void Add(absl::Span<const Event> events) override {
    EXPECT_GT(blocks_--, 0);
    Recorder::Add(events);
  }
  bool WantsMore() const override { return blocks_ > 0; }

 private:
  int blocks_;
};

TEST(ReadIntoTest, StopsWhenNoSinkWantsMore) {
  const std::string trace = ReadTestTrace("go1.25-annotations.trace");
  Sated one(1);
  Sated two(2);
  Reader reader = *Reader::FromBytes(trace);
  EXPECT_TRUE(ReadInto(reader, {&one, &two}).ok());
  EXPECT_GT(two.offsets().size(), one.offsets().size());
  EXPECT_EQ(reader.event_count(), two.offsets().size());
  EXPECT_LT(reader.event_count(), OffsetsOf(*Reader::FromBytes(trace)).size());
  EXPECT_EQ(one.finished(), 1);
  EXPECT_EQ(two.finished(), 1);

  Sated none(0);
  Recorder all;
  reader = *Reader::FromBytes(trace);
  EXPECT_TRUE(ReadInto(reader, {&none, &all}).ok());
  EXPECT_EQ(all.offsets(), OffsetsOf(*Reader::FromBytes(trace)));
}

}  // namespace event_sink_test
}  // namespace gotrace::internal
