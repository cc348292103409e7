// Tests of FxtWriter and FxtReader: that what is written is read, and that the reader recovers what
// it can from files that are cut off, damaged, or newer than it is.
#include "gotrace/fxt_reader.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "export/fxt/fxt_writer.h"
#include "gotrace/byte_sink.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace fxt_reader_test {

// A record with strings of its own.
struct KeptRecord {
  explicit KeptRecord(const FxtRecord& from) : record(from) {
    for (absl::string_view* text : Texts()) {
      texts.push_back(std::make_unique<std::string>(*text));
      *text = *texts.back();
    }
  }

  std::vector<absl::string_view*> Texts() {
    std::vector<absl::string_view*> all = {&record.category, &record.name, &record.text};
    for (FxtArgument& argument : record.arguments) {
      all.push_back(&argument.name);
      all.push_back(&argument.text);
    }
    return all;
  }

  FxtRecord record;
  std::vector<std::unique_ptr<std::string>> texts;
};

// What a reader returned.
struct Read {
  std::vector<KeptRecord> records;
  std::vector<FxtProblem> problems;
  FxtEnd end = FxtEnd::kNotYet;
  uint64_t offset = 0;
  FxtReader::Skipped skipped;

  // Without metadata and definitions.
  std::vector<const FxtRecord*> Content() const {
    std::vector<const FxtRecord*> content;
    for (const KeptRecord& kept : records) {
      switch (kept.record.type) {
        case FxtType::kMetadata:
        case FxtType::kInitialization:
        case FxtType::kString:
        case FxtType::kThread:
          break;
        default:
          content.push_back(&kept.record);
      }
    }
    return content;
  }

  std::vector<CheckId> Checks() const {
    std::vector<CheckId> checks;
    for (const FxtProblem& problem : problems) checks.push_back(problem.check);
    return checks;
  }
};

Read ReadAll(absl::string_view bytes) {
  Read read;
  FxtReader reader(*SourceFromBytes(bytes),
                   [&](const FxtProblem& problem) { read.problems.push_back(problem); });
  while (const FxtRecord* record = reader.Next()) read.records.emplace_back(*record);
  EXPECT_EQ(reader.Next(), nullptr);
  read.end = reader.end();
  read.offset = reader.offset();
  read.skipped = reader.skipped();
  return read;
}

std::string Words(std::initializer_list<uint64_t> words) {
  std::string bytes;
  for (uint64_t word : words) {
    word = LittleEndian(word);
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  return bytes;
}

FxtRecord Instant(uint64_t ticks, absl::string_view name, FxtThread thread = {1, 2}) {
  FxtRecord record;
  record.type = FxtType::kEvent;
  record.kind = static_cast<uint8_t>(FxtEvent::kInstant);
  record.ticks = ticks;
  record.thread = thread;
  record.category = "category";
  record.name = name;
  return record;
}

// A record of each kind that the writer can write.
std::vector<FxtRecord> OneOfEach() {
  std::vector<FxtRecord> all;
  for (uint8_t kind = 0; IsFxtEvent(kind); ++kind) {
    FxtRecord record = Instant(1000 + kind, "an event");
    record.kind = kind;
    if (FxtEventHasWord(kind)) record.id = 5000 + kind;
    record.arguments = {{FxtArgumentType::kNull, "null", 0, ""},
                        FxtInt32("int32", -5),
                        {FxtArgumentType::kUint32, "uint32", 0xfffffffe, ""},
                        FxtInt64("int64", -5'000'000'000),
                        FxtUint64("uint64", ~uint64_t{0}),
                        {FxtArgumentType::kDouble, "double", 0x3ff8000000000000, ""},
                        FxtString("string", "text"),
                        FxtString("empty", ""),
                        {FxtArgumentType::kPointer, "pointer", 0xdeadbeef, ""},
                        FxtKoid("koid", uint64_t{1} << 63),
                        {FxtArgumentType::kBool, "bool", 1, ""}};
    all.push_back(record);
  }
  FxtRecord record;
  record.type = FxtType::kBlob;
  record.kind = 3;
  record.name = "a blob";
  record.text = absl::string_view("\0\1\2\3\4\5\6\7\x8", 9);
  all.push_back(record);

  record = {};
  record.type = FxtType::kUserObject;
  record.thread = {1, 2};
  record.id = 0x1234;
  record.name = "an object";
  record.arguments = {FxtInt32("size", 8)};
  all.push_back(record);

  record.type = FxtType::kKernelObject;
  record.kind = kFxtThreadObject;
  record.thread = {};
  record.arguments = {FxtKoid("process", 1)};
  all.push_back(record);

  record = {};
  record.type = FxtType::kScheduling;
  record.kind = static_cast<uint8_t>(FxtScheduling::kLegacySwitch);
  record.index = 255;
  record.ticks = 77;
  record.outgoing = {1, 2};
  record.incoming = {3, 4};
  record.outgoing_state = static_cast<uint8_t>(FxtState::kBlocked);
  record.priorities = 0xfe01;
  all.push_back(record);

  record.kind = static_cast<uint8_t>(FxtScheduling::kContextSwitch);
  record.index = 65535;
  record.outgoing.process = record.incoming.process = 0;
  record.priorities = 0;
  record.arguments = {FxtInt32("outgoing_weight", kFxtIdleWeight)};
  all.push_back(record);

  record.kind = static_cast<uint8_t>(FxtScheduling::kWakeup);
  record.outgoing = {};
  record.outgoing_state = 0;
  record.arguments = {FxtKoid("waker", 9)};
  all.push_back(record);

  record = {};
  record.type = FxtType::kLog;
  record.ticks = 99;
  record.thread = {1, 2};
  record.text = "a message";
  all.push_back(record);
  return all;
}

std::string Write(const std::vector<FxtRecord>& records, uint64_t ticks_per_second = 1000) {
  std::string bytes;
  const std::unique_ptr<ByteSink> sink = SinkToString(&bytes);
  FxtWriter writer(MakeFxtStore({}, sink.get()), ticks_per_second);
  for (const FxtRecord& record : records) EXPECT_TRUE(writer.Write(record));
  EXPECT_TRUE(writer.Finish().ok());
  EXPECT_TRUE(sink->Finish().ok());
  return bytes;
}

TEST(FxtReaderTest, ReturnsWhatWasWritten) {
  const std::vector<FxtRecord> written = OneOfEach();
  const std::string bytes = Write(written);
  const Read read = ReadAll(bytes);
  EXPECT_TRUE(read.problems.empty()) << read.problems[0].message;
  EXPECT_EQ(read.end, FxtEnd::kComplete);
  EXPECT_EQ(read.offset, bytes.size());
  const std::vector<const FxtRecord*> content = read.Content();
  ASSERT_EQ(content.size(), written.size());
  for (size_t i = 0; i < written.size(); ++i) {
    FxtRecord expected = written[i];
    expected.provider = 1;
    EXPECT_TRUE(SameContent(expected, *content[i])) << i;
  }
}

// Makes records of all kinds with all kinds of arguments, and with random values.
class RandomRecords {
 public:
  explicit RandomRecords(uint32_t seed) : random_(seed) {}

  // The views of the result are valid as long as this object.
  FxtRecord Next() {
    FxtRecord record;
    switch (Below(7)) {
      case 0:
        record.type = FxtType::kBlob;
        record.kind = static_cast<uint8_t>(Below(256));
        record.name = Text();
        record.text = Text();
        return record;
      case 1:
        record.type = FxtType::kUserObject;
        record.thread = Thread();
        record.id = Value();
        record.name = Text();
        break;
      case 2:
        record.type = FxtType::kKernelObject;
        record.kind = static_cast<uint8_t>(Below(256));
        record.id = Value();
        record.name = Text();
        break;
      case 3:
        return Scheduling();
      case 4:
        record.type = FxtType::kLog;
        record.ticks = Value();
        record.thread = Thread();
        record.text = Text();
        return record;
      default:
        record.type = FxtType::kEvent;
        record.kind = static_cast<uint8_t>(Below(11));
        record.ticks = Below(2) == 0 ? 0 : Value();
        record.thread = Thread();
        record.category = Text();
        record.name = Text();
        if (FxtEventHasWord(record.kind)) record.id = Value();
        // Complete durations must not end before they begin.
        if (record.kind == static_cast<uint8_t>(FxtEvent::kDurationComplete)) {
          record.id = static_cast<uint64_t>(
              std::max(static_cast<int64_t>(record.id), static_cast<int64_t>(record.ticks)));
        }
    }
    AddArguments(&record);
    return record;
  }

 private:
  FxtRecord Scheduling() {
    FxtRecord record;
    record.type = FxtType::kScheduling;
    record.kind = static_cast<uint8_t>(Below(3));
    record.ticks = Value();
    record.index = static_cast<uint16_t>(Value());
    record.incoming.thread = Value();
    const FxtScheduling kind = static_cast<FxtScheduling>(record.kind);
    if (kind != FxtScheduling::kWakeup) {
      record.outgoing.thread = Value();
      record.outgoing_state = static_cast<uint8_t>(Below(16));
    }
    if (kind == FxtScheduling::kLegacySwitch) {
      record.index &= 0xff;
      record.outgoing.process = Value();
      record.incoming.process = Value();
      record.priorities = static_cast<uint16_t>(Value());
      return record;
    }
    AddArguments(&record);
    return record;
  }

  void AddArguments(FxtRecord* record) {
    record->arguments.resize(Below(kFxtMaxArguments + 1));
    for (FxtArgument& argument : record->arguments) {
      argument.type = static_cast<FxtArgumentType>(Below(10));
      argument.name = Text();
      switch (FxtPayloadOf(static_cast<uint8_t>(argument.type))) {
        case FxtPayload::kHeader:
          argument.value = argument.type == FxtArgumentType::kBool ? Below(2) : Value() >> 32;
          break;
        case FxtPayload::kWord:
          argument.value = Value();
          break;
        case FxtPayload::kString:
          argument.text = Text();
          break;
        case FxtPayload::kNone:
        case FxtPayload::kUnknown:
          break;
      }
    }
  }

  uint64_t Value() { return std::uniform_int_distribution<uint64_t>()(random_); }
  uint64_t Below(uint64_t limit) { return Value() % limit; }
  FxtThread Thread() { return {Below(3), Below(600)}; }

  // Any bytes of a length from 0 on, some of them again later; a few are too long for the table.
  absl::string_view Text() {
    if (texts_.size() > 100 && Below(4) > 0) return *texts_[Below(texts_.size())];
    std::string text(Below(50) == 0 ? Below(FxtWriter::kMaxTableText + 200) : Below(20), 0);
    for (char& c : text) c = static_cast<char>(Below(256));
    texts_.push_back(std::make_unique<std::string>(std::move(text)));
    return *texts_.back();
  }

  std::mt19937_64 random_;
  std::vector<std::unique_ptr<std::string>> texts_;
};

TEST(FxtReaderTest, ReturnsWhatWasWrittenWhateverItIs) {
  RandomRecords random(1);
  std::vector<FxtRecord> written;
  std::string bytes;
  const std::unique_ptr<ByteSink> sink = SinkToString(&bytes);
  FxtWriter writer(MakeFxtStore({}, sink.get()));
  while (written.size() < 30'000) {
    FxtRecord record = random.Next();
    // What is too large for the format is left out as a whole.
    const uint64_t dropped = writer.dropped();
    ASSERT_EQ(written.size() % 2 == 0 ? writer.Write(record) : writer.WriteOnce(record),
              writer.dropped() == dropped);
    if (writer.dropped() > dropped) continue;
    record.provider = 1;
    written.push_back(std::move(record));
  }
  ASSERT_TRUE(writer.Finish().ok() && sink->Finish().ok());
  EXPECT_LT(writer.dropped(), written.size() / 100);
  FxtReader reader(*SourceFromBytes(bytes), [](const FxtProblem& problem) {
    ADD_FAILURE() << problem.offset << ": " << problem.message;
  });
  size_t next = 0;
  size_t strings = 0, threads = 0;
  while (const FxtRecord* record = reader.Next()) {
    strings += record->type == FxtType::kString ? 1 : 0;
    threads += record->type == FxtType::kThread ? 1 : 0;
    if (record->type <= FxtType::kThread) continue;
    ASSERT_LT(next, written.size());
    ASSERT_TRUE(SameContent(*record, written[next])) << next;
    ++next;
  }
  EXPECT_EQ(next, written.size());
  EXPECT_EQ(reader.end(), FxtEnd::kComplete);
  // The tables were too small for all of them.
  EXPECT_GT(strings, kFxtMaxStrings);
  EXPECT_GT(threads, kFxtMaxThreads);
}

TEST(FxtReaderTest, RecoversTheRecordsBeforeAnyCut) {
  const std::string bytes = Write(OneOfEach());
  const Read whole = ReadAll(bytes);
  size_t complete = 0;
  for (size_t size = 0; size <= bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    const Read read = ReadAll(cut);
    while (complete < whole.records.size()) {
      const FxtRecord& next = whole.records[complete].record;
      if (next.offset + next.size > size) break;
      ++complete;
    }
    ASSERT_EQ(read.records.size(), complete) << size;
    for (size_t i = 0; i < complete; ++i) {
      ASSERT_TRUE(SameContent(read.records[i].record, whole.records[i].record)) << size;
    }
    const FxtRecord* const last = complete == 0 ? nullptr : &whole.records[complete - 1].record;
    EXPECT_EQ(read.offset, last == nullptr ? 0 : last->offset + last->size);
    EXPECT_EQ(read.end, read.offset == size ? FxtEnd::kComplete : FxtEnd::kCut);
    EXPECT_EQ(read.Checks(), read.end == FxtEnd::kCut ? std::vector<CheckId>{CheckId::kFxtTruncated}
                                                      : std::vector<CheckId>{});
  }
}

// Bytes between two instants: what is unknown must not affect them.
class FxtUnknownTest : public testing::Test {
 protected:
  Read ReadWith(const std::string& between) {
    const std::string begin = Write({Instant(1, "one")});
    // The same definitions are valid for the same record.
    const std::string record = begin.substr(begin.size() - 16);
    bytes_ = begin + between + record;
    inserted_ = begin.size();
    Read read = ReadAll(bytes_);
    EXPECT_EQ(read.end, FxtEnd::kComplete);
    const std::vector<const FxtRecord*> content = read.Content();
    EXPECT_TRUE(SameContent(*content.front(), *content.back()));
    EXPECT_GE(content.size(), 2u);
    for (const FxtProblem& problem : read.problems) EXPECT_EQ(problem.offset, inserted_);
    return read;
  }

  std::string bytes_;
  uint64_t inserted_ = 0;
};

TEST_F(FxtUnknownTest, RecordTypesAreSkipped) {
  for (const uint64_t type : {10, 11, 12, 13, 14}) {
    const Read read = ReadWith(Words({type | 2 << 4, ~uint64_t{0}}));
    EXPECT_EQ(read.Content().size(), 2u);
    EXPECT_EQ(read.skipped.records, 1u);
    EXPECT_EQ(read.Checks(), std::vector<CheckId>{CheckId::kFxtUnknown});
  }
}

TEST_F(FxtUnknownTest, KindsAreSkipped) {
  const uint64_t kKinds[] = {
      0 | 2 << 4 | 9 << 16,               // Metadata.
      0 | 2 << 4 | 3 << 16 | 7ull << 52,  // A provider event.
      4 | 2 << 4 | 11 << 16,              // An event.
      8 | 2 << 4 | 3ull << 60,            // A scheduling record.
      15 | 2ull << 4 | 1ull << 36,        // A large record.
      15 | 2ull << 4 | 2ull << 40,        // A format of a large blob.
  };
  for (const uint64_t header : kKinds) {
    const Read read = ReadWith(Words({header, ~uint64_t{0}}));
    EXPECT_EQ(read.Content().size(), 2u) << header;
    EXPECT_EQ(read.skipped.records, 1u) << header;
    EXPECT_EQ(read.Checks(), std::vector<CheckId>{CheckId::kFxtUnknown}) << header;
  }
}

TEST_F(FxtUnknownTest, ArgumentsAreSkipped) {
  // An instant with an argument of type 12, and one of type 1 after it.
  const Read read = ReadWith(Words(
      {4 | 5 << 4 | 2 << 20 | 1 << 24, 7, 12 | 2 << 4, ~uint64_t{0}, 1 | 1 << 4 | 5ull << 32}));
  const std::vector<const FxtRecord*> content = read.Content();
  ASSERT_EQ(content.size(), 3u);
  ASSERT_EQ(content[1]->arguments.size(), 1u);
  EXPECT_EQ(content[1]->arguments[0], FxtInt32("", 5));
  EXPECT_EQ(read.skipped.arguments, 1u);
  EXPECT_EQ(read.Checks(), std::vector<CheckId>{CheckId::kFxtUnknown});
}

TEST_F(FxtUnknownTest, WordsAfterAKnownRecordAreIgnored) {
  const Read read = ReadWith(Words({4 | 3 << 4 | 1 << 24, 7, ~uint64_t{0}}));
  ASSERT_EQ(read.Content().size(), 3u);
  EXPECT_EQ(read.Content()[1]->ticks, 7u);
  EXPECT_EQ(read.skipped.extended, 1u);
  EXPECT_EQ(read.Checks(), std::vector<CheckId>{CheckId::kFxtExtended});
}

TEST_F(FxtUnknownTest, LargeBlobsAreReturnedWithoutTheirPayload) {
  // With metadata: one argument, the thread 1. 1 MB is more than is in memory at a time.
  constexpr uint64_t kPayload = 1 << 20;
  const std::string large =
      Words({15 | (6ull + kPayload / 8) << 4, 0x8004ull << 16 | 1ull << 32 | 1ull << 36, 0x626f6c62,
             7, 1 | 1 << 4 | 5ull << 32, kPayload - 3}) +
      std::string(kPayload, '\0');
  const Read read = ReadWith(large);
  ASSERT_EQ(read.Content().size(), 3u);
  const FxtRecord& blob = *read.Content()[1];
  EXPECT_EQ(blob.name, "blob");
  EXPECT_EQ(blob.ticks, 7u);
  EXPECT_EQ(blob.thread, (FxtThread{1, 2}));
  EXPECT_EQ(blob.arguments.size(), 1u);
  EXPECT_EQ(blob.id, kPayload - 3);
  EXPECT_TRUE(read.problems.empty());
  for (const size_t cut : {size_t{8}, size_t{100}, size_t{600'000}, size_t{kPayload}}) {
    const Read shorter = ReadAll(bytes_.substr(0, inserted_ + cut));
    EXPECT_EQ(shorter.Content().size(), 1u);
    EXPECT_EQ(shorter.end, FxtEnd::kCut);
    EXPECT_EQ(shorter.offset, inserted_);
  }
}

TEST(FxtReaderTest, StopsAtASizeThatIsWrong) {
  const std::string begin = Write({Instant(1, "one")});
  const std::string after = begin.substr(begin.size() - 16);
  const std::string kDamaged[] = {
      Words({4 | 0 << 4, 7}),                                  // No size at all.
      Words({15 | 0 << 4}),                                    // The same for a large record.
      Words({4 | 1 << 4 | 1 << 24}),                           // No room for the time,
      Words({4 | 2 << 4, 7}),                                  // the thread,
      Words({4 | 2 << 4 | 1 << 24 | 0x8001ull << 48, 7}),      // the name,
      Words({4 | 2 << 4 | 1 << 20 | 1 << 24, 7}),              // an argument,
      Words({4 | 2 << 4 | 1 << 16 | 1 << 24, 7}),              // the word of a counter,
      Words({4 | 3 << 4 | 1 << 20 | 1 << 24, 7, 1}),           // an argument of size 0,
      Words({4 | 3 << 4 | 1 << 20 | 1 << 24, 7, 1 | 2 << 4}),  // one that is too long,
      Words({4 | 3 << 4 | 1 << 20 | 1 << 24, 7, 3 | 1 << 4}),  // one without its value.
      Words({2 | 1 << 4 | 1 << 16 | 1ull << 32}),              // A string without its bytes.
      Words({15 | 3ull << 4, 1, 16}),                          // A blob that is too short.
  };
  for (const std::string& damaged : kDamaged) {
    const Read read = ReadAll(begin + damaged + after);
    EXPECT_EQ(read.Content().size(), 1u);
    EXPECT_EQ(read.end, FxtEnd::kDamaged);
    EXPECT_EQ(read.offset, begin.size());
    ASSERT_EQ(read.Checks(), std::vector<CheckId>{CheckId::kFxtRecordSize});
    EXPECT_EQ(read.problems[0].offset, begin.size());
  }
}

TEST(FxtReaderTest, RefersToTheTablesOfTheSection) {
  std::string bytes = Words({kFxtMagic});
  for (const uint64_t provider : {5, 6}) {
    bytes += Words({0 | 1 << 4 | 1 << 16 | provider << 20});
    bytes += Words({1 | 2 << 4, provider * 1000});
    bytes += Words({2 | 2 << 4 | 1 << 16 | 1ull << 32, 'A' + provider});
    bytes += Words({3 | 3 << 4 | 1 << 16, provider, 70 + provider});
  }
  const auto event = [&] { return Words({4 | 2 << 4 | 1 << 24 | 1ull << 48, 10}); };
  bytes += event();
  for (const uint64_t provider : {5, 6, 5}) {
    bytes += Words({0 | 1 << 4 | 2 << 16 | provider << 20}) + event();
  }
  const Read read = ReadAll(bytes);
  EXPECT_TRUE(read.problems.empty());
  ASSERT_EQ(read.Content().size(), 4u);
  const uint64_t kExpected[] = {6, 5, 6, 5};
  for (int i = 0; i < 4; ++i) {
    const FxtRecord& record = *read.Content()[i];
    EXPECT_EQ(record.provider, kExpected[i]);
    EXPECT_EQ(record.name, std::string(1, static_cast<char>('A' + kExpected[i])));
    EXPECT_EQ(record.thread, (FxtThread{kExpected[i], 70 + kExpected[i]}));
  }
  // Times are in the clock of the provider.
  FxtReader reader(*SourceFromBytes(bytes));
  std::vector<uint64_t> times;
  while (const FxtRecord* record = reader.Next()) {
    if (record->type == FxtType::kEvent) times.push_back(reader.ToNanoseconds(record->ticks));
  }
  EXPECT_EQ(times, (std::vector<uint64_t>{1666666, 2000000, 1666666, 2000000}));
}

TEST(FxtReaderTest, ReportsWhatIsNotDefined) {
  const std::string begin = Write({Instant(1, "one")});
  const std::pair<std::string, CheckId> kBad[] = {
      {Words({4 | 2 << 4 | 1 << 24 | 99ull << 48, 7}), CheckId::kFxtStringUndefined},
      {Words({4 | 2 << 4 | 99 << 24, 7}), CheckId::kFxtThreadUndefined},
      {Words({0 | 1 << 4 | 2 << 16 | 9 << 20}), CheckId::kFxtProviderUndefined},
      {Words({2 | 1 << 4}), CheckId::kFxtIndex},
      {Words({3 | 3 << 4, 1, 2}), CheckId::kFxtIndex},
      {Words({1 | 2 << 4, 0}), CheckId::kFxtTicks},
      {Words({kFxtMagic ^ uint64_t{1} << 40}), CheckId::kFxtMagic},
      {Words({4 | 3 << 4 | 4 << 16 | 1 << 24, 7, 6}), CheckId::kFxtDuration},
      {Words({2 | 2 << 4 | 1 << 16 | 1ull << 32, 0x101}), CheckId::kFxtReserved},
      {Words({1 | 2 << 4 | 1 << 16, 1}), CheckId::kFxtReserved},
      {Words({0 | 1 << 4 | 3 << 16 | 1 << 20}), CheckId::kFxtBufferFull},
  };
  for (const auto& [bytes, check] : kBad) {
    const Read read = ReadAll(begin + bytes);
    EXPECT_EQ(read.end, FxtEnd::kComplete) << SpecOf(check).name;
    ASSERT_EQ(read.Checks(), std::vector<CheckId>{check}) << SpecOf(check).name;
    EXPECT_EQ(read.problems[0].offset, begin.size());
  }
}

TEST(FxtWriterTest, RecyclesItsTables) {
  // More strings and threads than the tables hold, and old ones again.
  std::string bytes;
  const std::unique_ptr<ByteSink> sink = SinkToString(&bytes);
  FxtWriter writer(MakeFxtStore({}, sink.get()));
  constexpr uint64_t kRecords = 80'000;
  const auto name = [](uint64_t i) { return absl::StrCat("name ", i % 50'000); };
  const auto thread = [](uint64_t i) { return FxtThread{1, i * 7 % 600}; };
  const auto old = [](uint64_t i) { return absl::StrCat("name ", i / 2); };
  for (uint64_t i = 0; i < kRecords; ++i) {
    const std::string text = name(i), other = old(i);
    FxtRecord record = Instant(kRecords - i, text, thread(i));
    record.arguments = {FxtString("old", other)};
    ASSERT_TRUE(writer.Write(record));
  }
  ASSERT_TRUE(writer.Finish().ok() && sink->Finish().ok());
  FxtReader reader(*SourceFromBytes(bytes), [](const FxtProblem& problem) {
    ADD_FAILURE() << problem.offset << ": " << problem.message;
  });
  uint64_t i = 0;
  uint64_t strings = 0, threads = 0;
  while (const FxtRecord* record = reader.Next()) {
    strings += record->type == FxtType::kString ? 1 : 0;
    threads += record->type == FxtType::kThread ? 1 : 0;
    if (record->type != FxtType::kEvent) continue;
    ASSERT_EQ(record->ticks, kRecords - i);
    ASSERT_EQ(record->name, name(i));
    ASSERT_EQ(record->thread, thread(i));
    ASSERT_EQ(record->category, "category");
    ASSERT_EQ(record->arguments[0].name, "old");
    ASSERT_EQ(record->arguments[0].text, old(i));
    ++i;
  }
  EXPECT_EQ(i, kRecords);
  EXPECT_GT(strings, kFxtMaxStrings);
  EXPECT_GT(threads, kFxtMaxThreads);
}

TEST(FxtWriterTest, KeepsTheStringsOfOneRecord) {
  // Each record refers to the string that the table would give away next, and then needs new ones.
  std::string bytes;
  const std::unique_ptr<ByteSink> sink = SinkToString(&bytes);
  FxtWriter writer(MakeFxtStore({}, sink.get()));
  std::vector<std::string> texts;
  for (uint64_t i = 0; i < 40'000; ++i) {
    const std::string oldest = absl::StrCat("s", i < kFxtMaxStrings ? 0 : i - kFxtMaxStrings + 3);
    const std::string fresh = absl::StrCat("s", i);
    FxtRecord record = Instant(i, oldest);
    record.category = "";
    record.arguments = {FxtString("", fresh)};
    ASSERT_TRUE(writer.Write(record));
    texts.push_back(oldest + fresh);
  }
  ASSERT_TRUE(writer.Finish().ok() && sink->Finish().ok());
  FxtReader reader(*SourceFromBytes(bytes));
  while (const FxtRecord* record = reader.Next()) {
    if (record->type != FxtType::kEvent) continue;
    ASSERT_EQ(absl::StrCat(record->name, record->arguments[0].text), texts[record->ticks]);
  }
}

TEST(FxtWriterTest, WritesLongStringsInline) {
  const std::string text(kFxtMaxText + 100, 'x');
  const std::string table(FxtWriter::kMaxTableText, 'y');
  for (const size_t size : {FxtWriter::kMaxTableText + 1, kFxtMaxText, kFxtMaxText + 100}) {
    FxtRecord record = Instant(1, text);
    record.name = record.name.substr(0, size);
    const std::string bytes = Write({record, Instant(2, table)});
    const Read read = ReadAll(bytes);
    ASSERT_EQ(read.Content().size(), 2u);
    EXPECT_EQ(read.Content()[0]->name, text.substr(0, std::min(size, kFxtMaxText)));
    EXPECT_EQ(read.Content()[1]->name, table);
    EXPECT_TRUE(read.problems.empty());
  }
}

TEST(FxtWriterTest, CutsBetweenCharacters) {
  std::string text;
  while (text.size() < kFxtMaxText + 100) text += "€";
  const Read read = ReadAll(Write({Instant(1, text)}));
  ASSERT_EQ(read.Content().size(), 1u);
  EXPECT_EQ(read.Content()[0]->name, text.substr(0, kFxtMaxText / 3 * 3));
}

TEST(FxtWriterTest, RefusesRecordsThatAreTooLarge) {
  std::string bytes;
  const std::unique_ptr<ByteSink> sink = SinkToString(&bytes);
  FxtWriter writer(MakeFxtStore({}, sink.get()));
  const std::string text(30'000, 'x');
  FxtRecord large = Instant(1, "large");
  large.arguments = {FxtString("a", text), FxtString("b", text)};
  EXPECT_FALSE(writer.Write(large));
  FxtRecord many = Instant(1, "many");
  many.arguments.resize(16);
  EXPECT_FALSE(writer.Write(many));
  EXPECT_TRUE(writer.Write(Instant(2, "large")));
  EXPECT_EQ(writer.dropped(), 2u);
  ASSERT_TRUE(writer.Finish().ok() && sink->Finish().ok());
  const Read read = ReadAll(bytes);
  EXPECT_TRUE(read.problems.empty());
  ASSERT_EQ(read.Content().size(), 1u);
  EXPECT_EQ(read.Content()[0]->name, "large");
}

}  // namespace fxt_reader_test
}  // namespace gotrace::internal
