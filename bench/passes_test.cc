#include "bench/passes.h"

#include <string>

#include "bench/synthetic_traces.h"
#include "gtest/gtest.h"
#include "parser/framing/raw_reader.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace passes_test {

PassCounts CountsOf(PassKind kind, const std::string& bytes) {
  const absl::StatusOr<PassCounts> counts = RunPass(kind, *SourceFromBytes(bytes), {});
  EXPECT_TRUE(counts.ok()) << counts.status();
  return counts.value_or(PassCounts());
}

uint64_t CountRawEvents(const std::string& bytes) {
  absl::StatusOr<RawReader> reader =
      RawReader::FromSource(*SourceFromBytes(bytes), RawReader::Types::kOfVersion);
  EXPECT_TRUE(reader.ok()) << reader.status();
  uint64_t events = 0;
  while (reader->Next() != nullptr) ++events;
  EXPECT_TRUE(reader->status().ok()) << reader->status();
  return events;
}

TEST(PassesTest, ProcessAWholeTrace) {
  for (const TestTrace& trace : TestTraces()) {
    SCOPED_TRACE(trace.name);
    const std::string bytes = ReadTestTrace(trace.name);
    for (const char* name : kPassNames) {
      SCOPED_TRACE(name);
      PassKind kind = {};
      ASSERT_TRUE(FindPass(name, &kind));
      const PassCounts counts = CountsOf(kind, bytes);
      EXPECT_EQ(counts.bytes, trace.size);
      EXPECT_EQ(counts.events, kind == PassKind::kDecode ? CountRawEvents(bytes) : trace.events);
    }
  }
}

TEST(PassesTest, FailIfATraceIsBroken) {
  const std::string bytes = MakeTrace({});
  for (const char* name : kPassNames) {
    SCOPED_TRACE(name);
    PassKind kind = {};
    ASSERT_TRUE(FindPass(name, &kind));
    const std::string cut = bytes.substr(0, bytes.size() - 10);
    EXPECT_FALSE(RunPass(kind, *SourceFromBytes(cut), {}).ok());
    EXPECT_FALSE(RunPass(kind, *SourceFromBytes("go 1.26 trace?\n"), {}).ok());
  }
  // Replaces the first event of the first thread with a byte that is not an event type.
  std::string wrong = bytes;
  wrong[wrong.find(std::string("\x0d\x01\x00\x01", 4))] = '\x7f';
  EXPECT_FALSE(RunPass(PassKind::kDecode, *SourceFromBytes(wrong), {}).ok());
}

TEST(PassesTest, AreFoundByTheirNames) {
  PassKind kind = {};
  EXPECT_TRUE(FindPass("json", &kind));
  EXPECT_EQ(kind, PassKind::kJson);
  EXPECT_FALSE(FindPass("jso", &kind));
}

TEST(PassesTest, ReadCompressedFiles) {
  const absl::StatusOr<std::string> bytes = ReadWholeFile(TestFilePath("go1.27-gc.trace.zst"));
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(*bytes, ReadTestTrace("go1.27-gc.trace"));
  EXPECT_FALSE(ReadWholeFile("/no/such/file").ok());
}

}  // namespace passes_test
}  // namespace gotrace::internal
