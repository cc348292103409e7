#include "testing/salvage_util.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "parser/framing/batch_reader.h"
#include "testing/test_util.h"

namespace gotrace::internal {

ReadResult ReadIn(absl::string_view bytes, ReadMode mode, bool describe) {
  ReadResult result;
  ReaderOptions options;
  options.mode = mode;
  options.on_fault = [&](const Fault& fault) { result.faults.push_back(fault); };
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes, options);
  result.status = reader.status();
  if (!reader.ok()) return result;
  while (const Event* e = reader->Next()) {
    if (describe) result.texts.push_back(Describe(*e));
    if (e->kind() == EventKind::kSync) continue;
    result.events.push_back({e->offset(), e->kind(), e->type(), e->time(), e->thread().value,
                             e->proc().value, e->goroutine().value, e->fault().has_value()});
  }
  result.status = reader->status();
  result.losses = reader->losses();
  EXPECT_EQ(result.losses.faults, result.faults.size());
  EXPECT_TRUE(mode != ReadMode::kStrict || result.faults.empty());
  return result;
}

std::string TwoGenerations(bool has_ends, const std::map<int, std::string>& extra_events) {
  std::string text = absl::StrCat("Trace Go1.", has_ends ? "26" : "23", "\n");
  for (const int gen : {1, 2}) {
    const auto batch = [&](absl::string_view thread, absl::string_view events) {
      absl::StrAppend(&text, "EventBatch gen=", gen, " m=", thread, " time=", gen, "000000000",
                      " size=auto\n", events);
    };
    constexpr absl::string_view kNobody = "18446744073709551615";
    batch(kNobody, has_ends ? "Sync\nFrequency freq=1000000000\nClockSnapshot dt=1 mono=2 sec=3 "
                              "nsec=4\n"
                            : "Frequency freq=1000000000\n");
    batch("300", absl::StrCat("ProcStatus dt=1 p=1 pstatus=1\nGoStatus dt=1 g=1 m=300 gstatus=2\n"
                              "GoLabel dt=300 label_string=1\n"
                              "ProcsChange dt=1 procs_value=7 stack=1\n",
                              extra_events.count(gen) > 0 ? extra_events.at(gen) : ""));
    batch("301",
          "ProcStatus dt=5 p=2 pstatus=1\nGoStatus dt=1 g=2 m=301 gstatus=2\n"
          "HeapAlloc dt=10 heapalloc_value=100\n");
    batch("300",
          "HeapAlloc dt=1000 heapalloc_value=1000000\n"
          "UserLog dt=1 task=0 key_string=1 value_string=2 stack=1\n");
    batch(kNobody, "Strings\nString id=1\n\tdata=\"text\"\nString id=2\n\tdata=\"more\"\n");
    batch(kNobody, "Stacks\nStack id=1 nframes=1\n\tpc=1 func=1 file=2 line=3\n");
    if (has_ends) absl::StrAppend(&text, "EndOfGeneration\n");
  }
  return text;
}

std::vector<BatchExtent> ExtentsOf(absl::string_view bytes) {
  std::vector<BatchExtent> batches;
  const auto source = *SourceFromBytes(bytes);
  EXPECT_TRUE(ReadHeader(source.get()).ok());
  Batch batch;
  while (ReadBatch(source.get(), &batch).value()) {
    // An end of generation belongs to the generation that it ends.
    const uint64_t number = batch.generation != 0 ? batch.generation : batches.back().generation;
    batches.push_back({batch.offset, source->offset(), number});
  }
  return batches;
}

}  // namespace gotrace::internal
