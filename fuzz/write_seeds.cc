// Writes the seeds of a fuzz target, made from the cases and traces in testdata/:
//
//   write_seeds TARGET DIRECTORY
//
// Must be run in the folder that has testdata/. The name of a seed says what it shows.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "export/parquet/parquet_table.h"
#include "gotrace/byte_sink.h"
#include "gotrace/byte_source.h"
#include "gotrace/event_sink.h"
#include "gotrace/fxt_exporter.h"
#include "gotrace/fxt_reader.h"
#include "gotrace/reader.h"
#include "parser/framing/batch_reader.h"
#include "parser/framing/raw_reader.h"
#include "testdata/test_data.h"
#include "testing/golden_case.h"
#include "testing/test_util.h"
#include "tracev2/text_form.h"
#include "tracev2/varint.h"

namespace gotrace::internal {
namespace {

// Larger traces are mutated too slowly, and show little more.
constexpr size_t kLargestSeed = 4 << 10;

struct Seed {
  std::string name;
  std::string bytes;
};
using Seeds = std::vector<Seed>;

Seeds Traces() {
  Seeds seeds;
  for (const char* directory : {"testdata/cases", "testdata/findings"}) {
    for (const std::string& path : ListGoldenCases(directory)) {
      const absl::StatusOr<std::string> text = ReadTextFile(path);
      const absl::StatusOr<GoldenCase> golden =
          text.ok() ? ParseGoldenCase(*text) : absl::StatusOr<GoldenCase>(text.status());
      const absl::StatusOr<std::string> bytes =
          golden.ok() ? GoldenInput(*golden) : absl::StatusOr<std::string>(golden.status());
      const std::filesystem::path file(path);
      const bool is_finding = file.parent_path().filename() == "findings";
      if (bytes.ok()) {
        seeds.push_back({absl::StrCat(is_finding ? "finding-" : "", file.stem().string()), *bytes});
      }
    }
  }
  for (const TestTrace& trace : TestTraces()) {
    if (trace.size <= kLargestSeed) seeds.push_back({trace.name, ReadTestTrace(trace.name)});
  }
  return seeds;
}

Seeds Varints() {
  Seeds seeds;
  for (int bits = 0; bits <= 64; ++bits) {
    std::string shortest, padded;
    const uint64_t value = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    AppendVarint(value, &shortest);
    AppendPaddedVarint(value, kMaxVarintSize, &padded);
    seeds.push_back({absl::StrCat(bits, "-bits"), shortest});
    seeds.push_back({absl::StrCat(bits, "-bits-padded"), padded});
  }
  seeds.push_back({"overflow-in-tenth-byte", std::string(9, '\x80') + "\x02"});
  seeds.push_back({"eleven-bytes", std::string(10, '\x80') + "\x01"});
  seeds.push_back({"cut-off", "\xff\xff"});
  return seeds;
}

// Returns the payloads of event batches.
Seeds Payloads() {
  Seeds seeds;
  for (const Seed& trace : Traces()) {
    absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromBytes(trace.bytes);
    if (!source.ok() || !ReadHeader(source->get()).ok()) continue;
    Batch batch;
    for (int number = 1;; ++number) {
      const absl::StatusOr<bool> more = ReadBatch(source->get(), &batch);
      if (!more.ok() || !*more) break;
      if (batch.thread == ThreadId::kNone || batch.experiment != 0) continue;
      seeds.push_back({absl::StrCat(trace.name, "-", number), std::string(batch.payload)});
    }
  }
  return seeds;
}

Seeds Texts() {
  Seeds seeds;
  for (const Seed& trace : Traces()) {
    absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromBytes(trace.bytes);
    if (!source.ok()) continue;
    absl::StatusOr<RawReader> reader =
        RawReader::FromSource(*std::move(source), RawReader::Types::kOfVersion);
    if (!reader.ok()) continue;
    TextBuffer text;
    AppendHeaderText(reader->version(), &text);
    while (const RawEvent* event = reader->Next()) AppendEventText(*event, &text);
    seeds.push_back({trace.name, std::string(text.view())});
  }
  return seeds;
}

Seeds Compressed() {
  Seeds seeds;
  for (const Seed& trace : Traces()) {
    if (FindCompression(trace.bytes) != Compression::kNone) {
      seeds.push_back(trace);
      continue;
    }
    seeds.push_back({absl::StrCat(trace.name, ".zst"), Zstd(trace.bytes)});
    seeds.push_back({absl::StrCat(trace.name, ".gz"), Gzip(trace.bytes)});
  }
  // Frames and members one after the other.
  const std::string half = MakeHeader(kNewestVersion).substr(0, 8);
  const std::string rest = MakeHeader(kNewestVersion).substr(8);
  seeds.push_back({"two-frames.zst", Zstd(half) + Zstd(rest)});
  seeds.push_back({"two-members.gz", Gzip(half) + Gzip(rest)});
  seeds.push_back({"frame-then-member", Zstd(half) + Gzip(rest)});
  seeds.push_back(
      {"skippable-frame.zst", std::string("\x50\x2a\x4d\x18\x03\x00\x00\x00zzz", 11) + Zstd(half)});
  return seeds;
}

// Returns the cases that are FXT files, and small traces in that format.
Seeds FxtFiles() {
  Seeds seeds;
  for (const Seed& trace : Traces()) {
    if (IsFxt(trace.bytes)) seeds.push_back(trace);
    absl::StatusOr<Reader> reader = Reader::FromBytes(trace.bytes);
    if (!reader.ok()) continue;
    std::string bytes;
    const std::unique_ptr<ByteSink> sink = SinkToString(&bytes);
    FxtExporter exporter(sink.get(), {});
    EventSink* const sinks[] = {&exporter};
    ReadInto(*reader, sinks).IgnoreError();
    if (sink->Finish().ok()) seeds.push_back({absl::StrCat(trace.name, ".fxt"), bytes});
  }
  return seeds;
}

// Returns small tables, and bytes of which the target makes tables.
Seeds ParquetFiles() {
  Seeds seeds;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    RandomTable random = MakeRandomTable(seed, 50);
    random.table.columns.resize(std::min<size_t>(random.table.columns.size(), 3));
    const absl::StatusOr<std::string> bytes =
        WriteParquet(random.table, random.options, random.batches);
    if (bytes.ok()) seeds.push_back({absl::StrCat("table-", seed), *bytes});
    const std::string rows = ToJsonLines(random.table);
    seeds.push_back({absl::StrCat("rows-", seed), rows.substr(0, kLargestSeed)});
  }
  return seeds;
}

// Returns requests of a viewer, some of them as HTTP.
Seeds Requests() {
  return {{"lanes", "lanes?ids=p:*,m:*,g:1,group:0&from=0&to=100000&step=64\ntrace\nstrip\nmarks"},
          {"lists", "groups?limit=1&text=a\nmembers?group=0&offset=1\ntasklanes?type=x"},
          {"spans", "span?lane=p:0&at=1\nspan?lane=g:1&at=2\narrows?lane=g:1\nsearch?text=g:1"},
          {"http", "GET /api/trace?token=x HTTP/1.1\r\nHost: localhost:1\r\n\r\n"}};
}

Seeds SeedsOf(absl::string_view target) {
  if (target == "view") return Requests();
  if (target == "varint") return Varints();
  if (target == "decoder") return Payloads();
  if (target == "text") return Texts();
  if (target == "fxt") return FxtFiles();
  if (target == "parquet") return ParquetFiles();
  if (target == "compressed") return Compressed();
  return Traces();
}

int Run(const std::string& target, const std::string& directory) {
  const Seeds seeds = SeedsOf(target);
  std::filesystem::create_directories(directory);
  for (const Seed& seed : seeds) {
    if (seed.bytes.size() > kLargestSeed) continue;
    std::ofstream file(absl::StrCat(directory, "/", seed.name), std::ios::binary);
    file << seed.bytes;
    if (!file.flush()) return std::perror(seed.name.c_str()), 1;
  }
  return seeds.empty() ? 1 : 0;
}

}  // namespace
}  // namespace gotrace::internal

int main(int argc, char** argv) {
  if (argc == 3) return gotrace::internal::Run(argv[1], argv[2]);
  std::fprintf(stderr, "usage: write_seeds TARGET DIRECTORY\n");
  return 2;
}
