#include "testing/test_util.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "tracev2/batch_encoder.h"
#include "tracev2/text_form.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

std::string DescribeStack(const Stack& stack) {
  if (stack.none()) return "none";
  std::string text = "[";
  for (size_t i = 0; i < stack.size(); ++i) {
    const StackFrame frame = stack.frame(i);
    absl::StrAppend(&text, frame.pc, " ", Quoted(frame.func), " ", Quoted(frame.file), ":",
                    frame.line, "; ");
  }
  return text + "]";
}

std::string DescribeResource(const ResourceId& resource) {
  return absl::StrCat(ResourceKindName(resource.kind), " ", resource.id);
}

std::string DescribeTransition(const StateTransition& transition) {
  return absl::StrCat(DescribeResource(transition.resource), " ", GoStateName(transition.go_from),
                      "->", GoStateName(transition.go_to), " ", ProcStateName(transition.proc_from),
                      "->", ProcStateName(transition.proc_to), " ", Quoted(transition.reason), " ",
                      DescribeStack(transition.stack));
}

std::string DescribeRange(const Event& event) {
  const Range range = event.range();
  std::string text = absl::StrCat(range.name, " on ", DescribeResource(range.scope));
  for (const RangeAttribute& attribute : event.range_attributes()) {
    absl::StrAppend(&text, " ", attribute.name, "=", attribute.value);
  }
  return text;
}

std::string DescribeSync(const Sync& sync) {
  std::string text = absl::StrCat(sync.n);
  if (sync.clock_snapshot.has_value()) {
    absl::StrAppend(&text, " ", sync.clock_snapshot->trace_time, " ", sync.clock_snapshot->mono,
                    " ", absl::FormatTime(sync.clock_snapshot->wall, absl::UTCTimeZone()));
  }
  for (const ExperimentalData& data : sync.experimental_batches) {
    for (const ExperimentalBatch& batch : data.batches) {
      absl::StrAppend(&text, " ", data.experiment, "/", batch.thread.value, "/",
                      Quoted(batch.data));
    }
  }
  return text;
}

std::string DescribeExperimental(const ExperimentalEvent& event) {
  std::string text = absl::StrCat(event.experiment, ".", event.name);
  for (const ExperimentalArg& arg : event.args) {
    absl::StrAppend(&text, " ", arg.name, "=", arg.value);
  }
  return text;
}

}  // namespace

std::string Assemble(absl::string_view text) {
  absl::StatusOr<std::string> bytes = AssembleText(text);
  if (bytes.ok()) return *std::move(bytes);
  std::fprintf(stderr, "%s\n", bytes.status().ToString().c_str());
  std::abort();
}

std::string Wire(EventType type, std::initializer_list<uint64_t> numbers) {
  std::string bytes;
  AppendEvent(type, numbers, &bytes);
  return bytes;
}

testing::AssertionResult IsFault(const absl::Status& status, FaultId id,
                                 std::optional<uint64_t> offset) {
  const std::optional<Fault> fault = FaultOf(status);
  if (fault.has_value() && fault->id == id && fault->place.offset == offset) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure()
         << "expected " << FaultName(id) << " at "
         << (offset.has_value() ? absl::StrCat("byte ", *offset) : "no byte") << ", found "
         << status.ToString();
}

Batch MakeBatch(absl::string_view payload, uint64_t offset, ThreadId thread, uint64_t time) {
  Batch batch;
  batch.offset = offset;
  batch.payload_offset = offset + kTestHeaderSize;
  batch.generation = 1;
  batch.thread = thread;
  batch.time = time;
  batch.payload = payload;
  return batch;
}

std::string Describe(const Event& event) {
  const Metric metric = event.metric();
  const Label label = event.label();
  const Task task = event.task();
  const Region region = event.region();
  const Log log = event.log();
  return absl::StrCat(
      EventKindName(event.kind()), " type ", static_cast<int>(event.type()), " time ", event.time(),
      " M ", event.thread().value, " P ", event.proc().value, " G ", event.goroutine().value,
      " at ", event.offset(), " stack ", DescribeStack(event.stack()),
      absl::StrCat(" metric ", metric.name, "=", metric.value, " label ", Quoted(label.label),
                   " on ", DescribeResource(label.resource), " range ", DescribeRange(event),
                   " task ", task.id.value, " of ", task.parent.value, " ", Quoted(task.type)),
      absl::StrCat(" region ", region.task.value, " ", Quoted(region.type), " log ", log.task.value,
                   " ", Quoted(log.category), " ", Quoted(log.message), " transition ",
                   DescribeTransition(event.state_transition()), " sync ",
                   DescribeSync(event.sync()), " experimental ",
                   DescribeExperimental(event.experimental())));
}

FirstGeneration::FirstGeneration(std::string trace)
    : bytes(std::move(trace)), source(*SourceFromBytes(bytes)) {
  const absl::StatusOr<Version> version = ReadHeader(source.get());
  if (version.ok()) generation = GenerationReader(source.get(), *version).Next().value_or(nullptr);
}

Outcome ReadAll(absl::StatusOr<Reader> reader) {
  if (!reader.ok()) return {{}, reader.status()};
  Outcome outcome;
  while (const Event* event = reader->Next()) outcome.events.push_back(Describe(*event));
  outcome.status = reader->status();
  EXPECT_EQ(reader->event_count(), outcome.events.size());
  return outcome;
}

Outcome ReadAllBlocks(absl::StatusOr<Reader> reader) {
  if (!reader.ok()) return {{}, reader.status()};
  Outcome outcome;
  while (true) {
    const absl::Span<const Event> block = reader->NextBlock();
    if (block.empty()) break;
    for (size_t i = 0; i < block.size(); ++i) {
      EXPECT_TRUE(i == 0 || block[i].kind() != EventKind::kSync) << "a sync inside a block";
      outcome.events.push_back(Describe(block[i]));
    }
  }
  outcome.status = reader->status();
  return outcome;
}

PieceStream::PieceStream(std::string bytes, size_t piece, absl::Status at_end)
    : bytes_(std::move(bytes)), piece_(piece), at_end_(std::move(at_end)) {}

absl::StatusOr<size_t> PieceStream::Read(char* buffer, size_t size) {
  size = std::min({size, piece_, bytes_.size() - pos_});
  if (size == 0 && !at_end_.ok()) return at_end_;
  std::memcpy(buffer, bytes_.data() + pos_, size);
  pos_ += size;
  return size;
}

StreamContent ReadStream(ByteStream* stream, size_t size) {
  StreamContent content;
  std::string buffer(size, '\0');
  while (true) {
    const absl::StatusOr<size_t> read = stream->Read(buffer.data(), size);
    content.status = read.status();
    if (!read.ok() || *read == 0) return content;
    EXPECT_LE(*read, size);
    content.bytes.append(buffer, 0, *read);
  }
}

std::string Zstd(absl::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), /*level=*/3));
  return out;
}

std::string Gzip(absl::string_view bytes) {
  z_stream stream = {};
  // A window of 15 bits, and 16 more to request the gzip format.
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) std::abort();
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) std::abort();
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace gotrace::internal
