#include "gotrace/trace_list.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace trace_list_test {

// A trace of `generations` generations.
std::string Trace(int generations) {
  std::string text = "Trace Go1.22\n";
  for (int gen = 1; gen <= generations; ++gen) {
    absl::StrAppend(&text, "EventBatch gen=", gen, " m=0 time=1 size=auto\n",
                    "Frequency freq=1000000000\n", "EventBatch gen=", gen, " m=1 time=", 100 * gen,
                    " size=auto\n", "ProcStatus dt=1 p=0 pstatus=1\n",
                    "GoStatus dt=1 g=1 m=1 gstatus=2\n");
  }
  return Assemble(text);
}

// A trace that ends inside a batch.
std::string Cut() {
  std::string trace = Trace(2);
  trace.resize(trace.size() - 6);
  return trace;
}

std::unique_ptr<ByteSource> Pieces(const std::string& bytes, size_t piece) {
  return *SourceFromStream(std::make_unique<PieceStream>(bytes, piece));
}

// Returns all bytes of `source`.
std::string Content(ByteSource* source) {
  std::string content;
  while (true) {
    EXPECT_TRUE(source->Fill(100).ok());
    if (source->window().empty()) return content;
    EXPECT_EQ(source->offset(), content.size());
    content.append(source->window().data(), source->window().size());
    source->Skip(source->window().size());
    source->Release(source->offset());
  }
}

TEST(TraceListTest, ListsTracesWithOffsetsAndSizes) {
  const std::vector<std::string> traces = {Trace(1), Trace(3), Trace(2)};
  const std::string bytes = absl::StrCat(traces[0], traces[1], traces[2]);
  const auto open = [&] { return SourceFromBytes(bytes); };
  const absl::StatusOr<std::vector<TraceSpan>> spans = CheckTraces(open);
  ASSERT_TRUE(spans.ok()) << spans.status();
  ASSERT_EQ(spans->size(), 3u);
  uint64_t offset = 0;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*spans)[i].offset, offset);
    EXPECT_EQ((*spans)[i].size, traces[i].size());
    EXPECT_EQ((*spans)[i].version, Version::kGo122);
    EXPECT_EQ((*spans)[i].sound, true);
    offset += traces[i].size();
    EXPECT_EQ(Content(OneTrace(*open(), (*spans)[i])->get()), traces[i]);
  }
  const absl::StatusOr<std::vector<TraceSpan>> one = ListTraces(SourceFromBytes(traces[1])->get());
  ASSERT_EQ(one->size(), 1u);
  EXPECT_FALSE(one->front().sound.has_value());
}

TEST(TraceListTest, DistinguishesSoundFromDamagedTraces) {
  const std::string cut = Cut();
  const std::string whole = Trace(2);
  for (const bool cut_first : {true, false}) {
    const std::string bytes = cut_first ? cut + whole : whole + cut;
    const absl::StatusOr<std::vector<TraceSpan>> spans =
        CheckTraces([&] { return SourceFromBytes(bytes); });
    ASSERT_EQ(spans->size(), 2u);
    EXPECT_EQ((*spans)[1].offset, cut_first ? cut.size() : whole.size());
    EXPECT_EQ((*spans)[0].sound, !cut_first);
    EXPECT_EQ((*spans)[1].sound, cut_first);
  }
}

TEST(TraceListTest, ATraceOfAnUnknownVersionIncludesTheRest) {
  const std::string unknown("go 1.99 trace\0\0\0whatever", 24);
  const std::string bytes = absl::StrCat(Trace(1), unknown);
  const absl::StatusOr<std::vector<TraceSpan>> spans =
      CheckTraces([&] { return SourceFromBytes(bytes); });
  ASSERT_EQ(spans->size(), 2u);
  EXPECT_EQ((*spans)[1].size, unknown.size());
  EXPECT_EQ((*spans)[1].sound, false);
  EXPECT_FALSE(ListTraces(SourceFromBytes(unknown)->get()).ok());
}

// Also if the bytes arrive in pieces or are compressed.
TEST(TraceListTest, OneTraceEndsWhereTheNextBegins) {
  const std::string first = Trace(2);
  const std::string second = Trace(1);
  for (const size_t piece : {1, 7, 16, 1000}) {
    TraceEnd end;
    EXPECT_EQ(Content(OneTrace(Pieces(first + second, piece), &end).get()), first) << piece;
    EXPECT_EQ(end.next_trace, first.size());
    TraceEnd end_of_last;
    std::unique_ptr<ByteSource> source = Pieces(first + second, piece);
    EXPECT_EQ(*SkipToTrace(source.get(), 2), 2u);
    EXPECT_EQ(Content(OneTrace(std::move(source), &end_of_last).get()), second) << piece;
    EXPECT_FALSE(end_of_last.next_trace.has_value());
  }
  TraceEnd end;
  EXPECT_EQ(Content(OneTrace(*SourceFromBytes(Zstd(first + second)), &end).get()), first);
  EXPECT_EQ(end.next_trace, first.size());
}

// As in ListTraces(), text before the second trace belongs to the first one, and the header to the
// second.
TEST(TraceListTest, OneTraceEndsAfterTheTextBeforeTheNext) {
  const std::string second = Trace(1);
  for (const std::string& text : {std::string("done\n"), std::string("go 1.22 trace\n"),
                                  std::string("go\n4 of 14 go"), std::string("größer\n")}) {
    const std::string first = Trace(2) + text;
    for (const size_t piece : {1, 3, 7, 16, 1000}) {
      TraceEnd end;
      EXPECT_EQ(Content(OneTrace(Pieces(first + second, piece), &end).get()), first)
          << piece << text;
      EXPECT_EQ(end.next_trace, first.size());
    }
    const std::string bytes = first + second;
    EXPECT_EQ((*ListTraces(SourceFromBytes(bytes)->get()))[0].size, first.size());
  }
}

TEST(TraceListTest, SkipsOnlyTracesThatAreThere) {
  const std::string bytes = absl::StrCat(Trace(1), Cut(), Trace(1));
  for (const uint64_t n : {1, 2, 3}) {
    EXPECT_EQ(*SkipToTrace(SourceFromBytes(bytes)->get(), n), n);
  }
  EXPECT_EQ(*SkipToTrace(SourceFromBytes(bytes)->get(), 4), 3u);
  EXPECT_EQ(*SkipToTrace(SourceFromBytes(bytes)->get(), ~uint64_t{0}), 3u);
}

// A single trace is passed on unchanged, whatever is wrong with it.
TEST(TraceListTest, OneTracePassesASingleTraceUnchanged) {
  const std::string whole = Trace(3);
  for (size_t size = kHeaderSize; size <= whole.size(); ++size) {
    for (const std::string& tail : {std::string(), std::string("g"), std::string("go 1.22 tra"),
                                    std::string("listening\n"), std::string(100, '\xff')}) {
      const std::string bytes = whole.substr(0, size) + tail;
      TraceEnd end;
      EXPECT_EQ(Content(OneTrace(Pieces(bytes, 5), &end).get()), bytes) << size << tail;
      EXPECT_FALSE(end.next_trace.has_value());
    }
  }
}

TEST(TraceListTest, AStrictReaderReadsTheFirstAlone) {
  const std::string first = Trace(2);
  const Outcome alone = ReadAll(Reader::FromBytes(first));
  const Outcome both = ReadAll(Reader::FromSource(OneTrace(Pieces(first + Trace(1), 10), nullptr)));
  EXPECT_TRUE(both.status.ok()) << both.status;
  EXPECT_EQ(both.events, alone.events);
  // Like Go's reader, it refuses the whole file.
  EXPECT_FALSE(ReadAll(Reader::FromBytes(first + Trace(1))).status.ok());
}

}  // namespace trace_list_test
}  // namespace gotrace::internal
