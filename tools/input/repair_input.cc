#include "tools/input/repair_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gotrace/byte_stream.h"
#include "gotrace/transport.h"
#include "gotrace/version.h"
#include "parser/framing/batch_finder.h"
#include "parser/framing/batch_reader.h"
#include "parser/source/source_wrapper.h"
#include "tools/cli/ending_signals.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

// Forwards another source, and shows the progress of reading it.
class WatchedSource final : public SourceWrapper {
 public:
  WatchedSource(std::unique_ptr<ByteSource> source, Progress* progress)
      : SourceWrapper(std::move(source)), progress_(*progress) {}

  absl::Status Fill(size_t size) override {
    absl::Status status = SourceWrapper::Fill(size);
    if (progress_.Due()) progress_.Show({input_read(), input_size(), /*events=*/0});
    return status;
  }

 private:
  Progress& progress_;
};

// Reads another stream, which may be endless, but ends early if its beginning shows that it is not
// a trace. PlanRepair() will report that.
class HopefulStream final : public ByteStream {
 public:
  explicit HopefulStream(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    if (!continues_) return 0;
    absl::StatusOr<size_t> count = stream_->Read(buffer, size);
    if (count.ok() && begin_.size() < kExamined) {
      begin_.append(buffer, *count);
      continues_ = begin_.size() < kExamined || MayBeTrace();
    }
    return count;
  }

 private:
  bool MayBeTrace() const {
    if (FindCompression(begin_) != Compression::kNone ||
        FindHeader(absl::string_view(begin_).substr(0, kMaxBytesBeforeHeader)) != begin_.npos) {
      return true;
    }
    const absl::StatusOr<UndoneInput> input = UndoTransport(*SourceFromBytes(begin_));
    return !input.ok() || !input->notes.empty();
  }

  // As much as UndoTransport() examines.
  static constexpr size_t kExamined = 256 << 10;

  const std::unique_ptr<ByteStream> stream_;
  std::string begin_;
  bool continues_ = true;
};

absl::StatusOr<std::vector<TraceSpan>> ListTracesOf(const OpenTraces& open) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = open();
  if (!source.ok()) return source.status();
  return ListTraces(source->get());
}

// Forwards another stream, and writes everything that is read from it to `copy`.
class TeeStream final : public ByteStream {
 public:
  TeeStream(ByteStream* stream, Output* copy) : stream_(*stream), copy_(*copy) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    absl::StatusOr<size_t> count = stream_.Read(buffer, size);
    if (!count.ok()) return count;
    copy_.buffer().Append(absl::string_view(buffer, *count));
    copy_.MaybeFlush();
    if (!copy_.status().ok()) return copy_.status();
    return count;
  }

 private:
  ByteStream& stream_;
  Output& copy_;
};

// Reads the batches of all traces in `source`, until there are no more.
void ReadBatches(ByteSource* source) {
  bool has_more = true;
  while (has_more) {
    const absl::StatusOr<Version> version = ReadHeader(source);
    if (!version.ok()) return;
    BatchFinder finder(source, *version, [](const Fault&) {});
    Batch batch;
    while (finder.Next(batch.generation, &batch)) source->Release(source->offset());
    has_more = finder.next_trace().has_value();
  }
}

// Copies `stream`, which belongs to `file`, up to its end, or to the place where GuardSource() ends
// it.
absl::Status CopyInput(const std::string& file, ByteStream* stream, const ReaderLimits& limits,
                       Output* copy, Progress* progress) {
  bool has_ended = false;
  absl::StatusOr<std::unique_ptr<ByteSource>> source =
      SourceFromStream(std::make_unique<TeeStream>(stream, copy), limits);
  if (source.ok()) {
    absl::StatusOr<UndoneInput> input = UndoTransport(
        GuardSource(file, std::make_unique<WatchedSource>(*std::move(source), progress),
                    &has_ended),
        limits);
    if (input.ok()) ReadBatches(input->source.get());
  }
  // Errors so far are found again in the copy.
  return has_ended ? copy->Finish() : CopyStream(stream, copy, progress);
}

// Describes the first few traces of an input and the `wanted`th, and what happens to each.
std::vector<std::string> ListOf(const std::vector<TraceSpan>& traces, TraceNumber wanted) {
  std::vector<std::string> lines = {DescribeTraces(traces)};
  size_t left = traces.size();
  for (TraceNumber i = 1; i <= traces.size(); ++i) {
    if (i > kMaxListedTraces && i != wanted) continue;
    --left;
    lines.push_back(absl::StrCat(DescribeTrace(traces[i - 1], i),
                                 i == wanted
                                     ? "; this one is kept"
                                     : absl::StrCat("; left out; --trace=", i, " selects it")));
  }
  if (left > 0) {
    lines.push_back(absl::StrCat("and ", left, left == 1 ? " more trace" : " more traces"));
  }
  return lines;
}

}  // namespace

absl::StatusOr<int> CreateTemporary() {
  const char* const variable = std::getenv("TMPDIR");
  const absl::string_view directory = absl::NullSafeStringView(variable);
  std::string path = absl::StrCat(directory.empty() ? "/tmp" : directory, "/gotrace.XXXXXX");
  const EndingSignalsHeld held;
  const int fd = mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("creating a temporary file, in the directory of TMPDIR: ",
                            QuotedUnlessPlain(path)));
  }
  unlink(path.c_str());
  return fd;
}

absl::Status CopyStream(ByteStream* from, Output* to, Progress* progress) {
  std::string block(1 << 16, '\0');
  uint64_t copied = 0;
  while (to->usable()) {
    const absl::StatusOr<size_t> size = from->Read(block.data(), block.size());
    if (!size.ok()) return size.status();
    if (*size == 0) break;
    to->buffer().Append(absl::string_view(block).substr(0, *size));
    to->MaybeFlush();
    copied += *size;
    if (progress->enabled()) progress->Show({copied, /*total=*/0, /*events=*/0});
  }
  return to->Finish();
}

absl::StatusOr<RepeatableInput> RepeatableInput::Create(const std::string& file,
                                                        const ReaderLimits& limits,
                                                        Progress* progress) {
  if (CanBeReadAgain(file)) return RepeatableInput(file, -1, limits, progress);
  absl::StatusOr<std::unique_ptr<ByteStream>> stream = OpenStream(file);
  if (!stream.ok()) return stream.status();
  const absl::StatusOr<int> fd = CreateTemporary();
  if (!fd.ok()) return fd.status();
  RepeatableInput input(file, *fd, limits, progress);
  Output copy(*fd, "a temporary file");
  HopefulStream hopeful(*std::move(stream));
  if (absl::Status status = CopyInput(file, &hopeful, limits, &copy, progress); !status.ok()) {
    return status;
  }
  return input;
}

RepeatableInput::RepeatableInput(RepeatableInput&& other) noexcept
    : file_(std::move(other.file_)),
      fd_(std::exchange(other.fd_, -1)),
      limits_(other.limits_),
      progress_(other.progress_),
      steady_(other.steady_) {}

RepeatableInput::~RepeatableInput() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<std::unique_ptr<ByteSource>> RepeatableInput::Open() const {
  absl::StatusOr<std::unique_ptr<ByteSource>> source;
  if (fd_ < 0) {
    source = OpenSource(file_, limits_);
  } else {
    absl::StatusOr<std::unique_ptr<ByteStream>> stream = OpenRaw();
    if (!stream.ok()) return stream.status();
    source = SourceFromStream(*std::move(stream), limits_);
  }
  if (!source.ok()) return source.status();
  return steady_.Watch(std::make_unique<WatchedSource>(*std::move(source), progress_));
}

bool RepeatableInput::IsCompressed() const {
  absl::StatusOr<std::unique_ptr<ByteStream>> stream = OpenRaw();
  if (!stream.ok()) return false;
  std::string begin(16, '\0');
  const absl::StatusOr<size_t> size = (*stream)->Read(begin.data(), begin.size());
  return size.ok() &&
         FindCompression(absl::string_view(begin).substr(0, *size)) != Compression::kNone;
}

absl::StatusOr<std::unique_ptr<ByteStream>> RepeatableInput::OpenRaw() const {
  if (fd_ < 0) return OpenStream(file_);
  if (lseek(fd_, 0, SEEK_SET) < 0) return absl::ErrnoToStatus(errno, "reading a temporary file");
  return std::make_unique<FdStream>(fd_, /*owned=*/false, "the copy of the standard input");
}

absl::StatusOr<ChosenTrace> ChooseTrace(const std::string& file, const RepeatableInput& input,
                                        const ReaderLimits& limits, TraceNumber number) {
  const OpenTraces open = [&input, limits]() -> absl::StatusOr<std::unique_ptr<ByteSource>> {
    absl::StatusOr<std::unique_ptr<ByteSource>> source = input.Open();
    if (!source.ok()) return source.status();
    absl::StatusOr<UndoneInput> undone = UndoAndRecognise(*std::move(source), limits);
    if (!undone.ok()) return undone.status();
    return std::move(undone->source);
  };
  const absl::StatusOr<std::vector<TraceSpan>> listed = ListTracesOf(open);
  const std::optional<Fault> fault = FaultOf(listed.status());
  if (!listed.ok() && (!fault.has_value() || fault->id == FaultId::kNotATrace)) {
    return listed.status();
  }
  // Other faults are found again, and repaired if that is possible.
  const size_t count = listed.ok() ? listed->size() : 1;
  if (number > count) return NoSuchTrace(file, count, number);
  ChosenTrace chosen;
  if (count == 1) {
    chosen.open = [&input] { return input.Open(); };
    return chosen;
  }

  const absl::StatusOr<std::vector<TraceSpan>> traces = CheckTraces(open, limits);
  if (!traces.ok()) return traces.status();
  const TraceNumber wanted = number == 0 ? 1 : number;
  chosen.number = wanted;
  chosen.count = count;
  chosen.is_selected = number != 0;
  chosen.report = ListOf(*traces, wanted);
  const TraceSpan span = (*traces)[wanted - 1];
  chosen.open = [open, span]() -> absl::StatusOr<std::unique_ptr<ByteSource>> {
    absl::StatusOr<std::unique_ptr<ByteSource>> source = open();
    if (!source.ok()) return source.status();
    return OneTrace(*std::move(source), span);
  };
  return chosen;
}

}  // namespace gotrace::internal
