#include "rewrite/event_encoder.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gotrace/byte_source.h"
#include "gtest/gtest.h"
#include "parser/framing/batch_reader.h"
#include "parser/order/batch_decoder.h"

namespace gotrace::internal {
namespace event_encoder_test {

struct Added {
  int64_t thread;
  int64_t time;
};

// Returns the times at which a reader returns the events, in the order in which they were added.
std::vector<int64_t> Encode(uint64_t frequency, const std::vector<Added>& events) {
  std::string bytes;
  EventEncoder encoder(1, frequency, &bytes);
  for (size_t i = 0; i < events.size(); ++i) {
    encoder.Add(ThreadId{events[i].thread}, EventType::kHeapAlloc, {i}, events[i].time);
  }
  encoder.Finish();
  const TraceClock clock(frequency);
  std::vector<int64_t> times(events.size());
  const std::unique_ptr<ByteSource> source = *SourceFromBytes(bytes);
  Batch batch;
  while (*ReadBatch(source.get(), &batch)) {
    int64_t time = clock.ToNs(batch.time);
    const char* pos = batch.payload.data();
    const char* const end = pos + batch.payload.size();
    while (pos != end) {
      TimedEvent event;
      pos = DecodeTimedEvent(pos, end, &event);
      time += clock.ToNs(event.ticks);
      times[event.args[0]] = time;
    }
  }
  return times;
}

TEST(EventEncoder, KeepsTimesThatAreTicks) {
  EXPECT_EQ(Encode(15'625'000, {{1, 64}, {1, 128}, {2, 192}, {1, 6400}}),
            (std::vector<int64_t>{64, 128, 192, 6400}));
  EXPECT_EQ(Encode(1'000'000'000, {{1, 1}, {1, 1}, {2, 2}, {1, 3}}),
            (std::vector<int64_t>{1, 1, 2, 3}));
}

TEST(EventEncoder, TakesTheTickBefore) {
  EXPECT_EQ(Encode(15'625'000, {{1, 127}, {1, 191}}), (std::vector<int64_t>{64, 128}));
}

TEST(EventEncoder, PutsOtherThreadsLater) {
  EXPECT_EQ(Encode(15'625'000, {{1, 640}, {2, 640}, {2, 640}, {1, 0}}),
            (std::vector<int64_t>{640, 704, 704, 768}));
}

TEST(EventEncoder, BoundsTimes) {
  EXPECT_EQ(Encode(1'000'000'000, {{1, -5}, {1, std::numeric_limits<int64_t>::max()}}),
            (std::vector<int64_t>{0, EventEncoder::kMaxTime}));
}

// There is no tick at the odd ones of these times.
TEST(EventEncoder, KeepsLateTimes) {
  const int64_t late = int64_t{1} << 53;
  const std::vector<int64_t> times = {late + 1, late + 2, late + 5, late + 7};
  std::vector<Added> events;
  for (const int64_t time : times) events.push_back({time % 3, time});
  EXPECT_EQ(Encode(EventEncoder::kNanoseconds, events), times);
}

// Late times have ticks of up to 64 bits, which a double only approximates.
TEST(EventEncoder, FindsTheTicksOfLateTimes) {
  std::mt19937_64 random(1);
  for (const uint64_t frequency :
       {EventEncoder::kMinFrequency, uint64_t{15'625'000}, EventEncoder::kMaxFrequency}) {
    std::string bytes;
    const EventEncoder encoder(1, frequency, &bytes);
    const TraceClock clock(frequency);
    for (int i = 0; i < 10'000; ++i) {
      const int64_t time = EventEncoder::kMaxTime - static_cast<int64_t>(random() >> (i % 60 + 3));
      const uint64_t ticks = encoder.TicksAt(time);
      ASSERT_LE(clock.ToNs(ticks), time) << frequency;
      ASSERT_GT(clock.ToNs(ticks + 1), time) << frequency << " " << time;
    }
  }
}

TEST(EventEncoder, KeepsTheOrderAtAnyFrequency) {
  std::mt19937_64 random(1);
  for (const uint64_t frequency :
       {EventEncoder::kMinFrequency, uint64_t{32'768}, uint64_t{11'718'750}, uint64_t{15'625'000},
        uint64_t{999'999'937}, uint64_t{3'000'000'000}, EventEncoder::kMaxFrequency}) {
    const int64_t tick = 1 + static_cast<int64_t>(1'000'000'000 / frequency);
    std::vector<Added> events;
    int64_t time = 1'000'000'000'000'000;
    for (int i = 0; i < 20'000; ++i) {
      time += static_cast<int64_t>(random() % (4 * tick));
      events.push_back({static_cast<int64_t>(random() % 3), time});
    }
    const std::vector<int64_t> times = Encode(frequency, events);
    for (size_t i = 1; i < events.size(); ++i) {
      if (events[i].thread == events[i - 1].thread) {
        ASSERT_GE(times[i], times[i - 1]) << frequency;
      } else {
        ASSERT_GT(times[i], times[i - 1]) << frequency;
      }
      // Errors do not add up.
      ASSERT_GT(times[i], events[i].time - tick - 1) << frequency;
    }
  }
}

}  // namespace event_encoder_test
}  // namespace gotrace::internal
