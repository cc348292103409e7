#include "tools/repair.h"

#include <fcntl.h>
#include <sys/stat.h>
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
#include "util/quote.h"

namespace gotrace::internal {
namespace {

// How many lines a report has at most, besides the last.
constexpr size_t kMostLines = 20;

// Passes everything on, and shows on the way how far reading has come.
class WatchedSource final : public ByteSource {
 public:
  WatchedSource(std::unique_ptr<ByteSource> source, Progress* progress)
      : source_(std::move(source)), progress_(*progress) {
    offset_ = source_->offset();
    window_ = source_->window();
  }

  absl::Status Fill(size_t size) override {
    source_->Skip(offset_ - source_->offset());
    absl::Status status = source_->Fill(size);
    window_ = source_->window();
    if (progress_.Due()) progress_.Show({input_read(), input_size(), /*events=*/0});
    return status;
  }
  void Release(uint64_t offset) override { source_->Release(offset); }
  void ReleaseSkipped(uint64_t begin, uint64_t end) override {
    source_->ReleaseSkipped(begin, end);
  }
  uint64_t input_size() const override { return source_->input_size(); }
  uint64_t input_read() const override { return source_->input_read(); }

 private:
  const std::unique_ptr<ByteSource> source_;
  Progress& progress_;
};

absl::StatusOr<int> CreateTemporary() {
  const char* const variable = std::getenv("TMPDIR");
  const absl::string_view directory = absl::NullSafeStringView(variable);
  std::string path = absl::StrCat(directory.empty() ? "/tmp" : directory, "/gotrace.XXXXXX");
  const int fd = mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) {
    return absl::ErrnoToStatus(
        errno,
        absl::StrCat("creating a temporary file, where TMPDIR tells: ", QuotedUnlessPlain(path)));
  }
  unlink(path.c_str());
  return fd;
}

absl::Status Copy(ByteStream* from, Output* out) {
  std::string block(1 << 16, '\0');
  while (out->usable()) {
    const absl::StatusOr<size_t> size = from->Read(block.data(), block.size());
    if (!size.ok()) return size.status();
    if (*size == 0) break;
    out->buffer().Append(absl::string_view(block).substr(0, *size));
    out->MaybeFlush();
  }
  return out->Finish();
}

// Gives what another stream does, which may have no end, but ends early where that cannot be a
// trace: PlanRepair() will find that it is none.
class HopefulStream final : public ByteStream {
 public:
  explicit HopefulStream(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    if (!goes_on_) return 0;
    absl::StatusOr<size_t> count = stream_->Read(buffer, size);
    if (count.ok() && begin_.size() < kLooked) {
      begin_.append(buffer, *count);
      goes_on_ = begin_.size() < kLooked || MayBeTrace();
    }
    return count;
  }

 private:
  bool MayBeTrace() const {
    if (FindCompression(begin_) != Compression::kNone ||
        FindHeader(absl::string_view(begin_).substr(0, kMostBeforeHeader)) != begin_.npos) {
      return true;
    }
    const absl::StatusOr<UndoneInput> input = UndoTransport(*SourceFromBytes(begin_));
    return !input.ok() || !input->notes.empty();
  }

  // As much as UndoTransport() looks at.
  static constexpr size_t kLooked = 256 << 10;

  const std::unique_ptr<ByteStream> stream_;
  std::string begin_;
  bool goes_on_ = true;
};

// Says how many events are lost, and what part of all that is.
std::string LostEvents(uint64_t lost, uint64_t kept) {
  if (lost == 0) return "";
  const double all = static_cast<double>(lost) + static_cast<double>(kept);
  return absl::StrFormat("; %d %s lost (%.2f %%)", lost, lost == 1 ? "event is" : "events are",
                         100 * static_cast<double>(lost) / all);
}

absl::StatusOr<std::vector<TraceSpan>> ListTracesOf(const OpenTraces& open) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = open();
  if (!source.ok()) return source.status();
  return ListTraces(source->get());
}

// The first few traces of an input and the `wanted`th, and what becomes of each.
std::vector<std::string> ListOf(const std::vector<TraceSpan>& traces, TraceNumber wanted) {
  std::vector<std::string> lines = {DescribeTraces(traces)};
  size_t left = traces.size();
  for (TraceNumber i = 1; i <= traces.size(); ++i) {
    if (i > kMaxListedTraces && i != wanted) continue;
    --left;
    lines.push_back(absl::StrCat(DescribeTrace(traces[i - 1], i),
                                 i == wanted
                                     ? "; this one is kept"
                                     : absl::StrCat("; left out, which --trace=", i, " selects")));
  }
  if (left > 0)
    lines.push_back(absl::StrCat("and ", left, left == 1 ? " more trace" : " more traces"));
  return lines;
}

// How many generations are kept, and how.
std::string GenerationCounts(uint64_t kept, uint64_t rewritten, uint64_t all, bool is_written) {
  if (all == 1 && kept == 1) {
    return rewritten == 1
               ? (is_written ? "1 generation, rewritten" : "1 generation, which would be rewritten")
               : (is_written ? "1 generation, kept" : "1 generation, which can be kept");
  }
  return absl::StrCat(kept, " of ", all, all == 1 ? " generation" : " generations",
                      is_written ? " kept" : " can be kept",
                      rewritten == 0 ? "" : absl::StrCat(", ", rewritten, " of them rewritten"));
}

// What to say of a sound trace.
std::string SoundLine(const ChosenTrace& chosen, bool is_compressed, absl::string_view target) {
  std::string line = chosen.count == 1
                         ? "sound"
                         : absl::StrCat("trace ", chosen.number, " of ", chosen.count, " is sound");
  if (!chosen.leaves_out_others()) {
    line += ", there is nothing to repair";
  } else if (target.empty()) {
    line += chosen.count == 2 ? "; repair would leave out the other"
                              : "; repair would leave out the others";
  }
  if (!target.empty()) absl::StrAppend(&line, "; wrote ", target);
  if (!target.empty() && is_compressed) line += ", not compressed";
  return line;
}

bool CanBeReadAgain(const std::string& file) {
  struct stat info;
  // What is not there is told by whoever opens it.
  return file != "-" && (stat(file.c_str(), &info) != 0 || S_ISREG(info.st_mode));
}

}  // namespace

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
  if (absl::Status status = Copy(&hopeful, &copy); !status.ok()) return status;
  return input;
}

RepeatableInput::RepeatableInput(RepeatableInput&& other) noexcept
    : file_(std::move(other.file_)),
      fd_(std::exchange(other.fd_, -1)),
      limits_(other.limits_),
      progress_(other.progress_) {}

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
  return std::make_unique<WatchedSource>(*std::move(source), progress_);
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
    absl::StatusOr<UndoneInput> undone = UndoTransport(*std::move(source), limits);
    if (!undone.ok()) return undone.status();
    return std::move(undone->source);
  };
  const absl::StatusOr<std::vector<TraceSpan>> listed = ListTracesOf(open);
  if (!listed.ok() && !FaultOf(listed.status()).has_value()) return listed.status();
  // What is wrong with an input without a trace is found when it is repaired.
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

absl::Status WriteRepaired(const RepairPlan& plan, const OpenInput& open, Output* out) {
  absl::StatusOr<std::unique_ptr<ByteStream>> stream = OpenRepaired(plan, open);
  if (!stream.ok()) return stream.status();
  return Copy(stream->get(), out);
}

std::vector<std::string> RepairReport(const RepairPlan& plan, const ChosenTrace& chosen,
                                      bool is_compressed, absl::string_view target) {
  std::vector<std::string> lines = DescribeRepair(plan);
  if (lines.size() > kMostLines) {
    const size_t more = lines.size() - kMostLines;
    lines.resize(kMostLines);
    lines.push_back(absl::StrCat("and ", more, " more such lines"));
  }
  const std::string written = target.empty() ? "" : absl::StrCat("; wrote ", target);
  if (plan.sound && !plan.notes.empty()) {
    lines.push_back(absl::StrCat("the trace is sound once that is undone", written));
    return lines;
  }
  if (plan.sound) {
    lines.push_back(SoundLine(chosen, is_compressed, target));
    return lines;
  }
  if (plan.pieces.empty()) {
    lines.push_back(
        "no generation is left that Go's reader would take; `gotrace-dump events --salvage` prints "
        "what can be read");
    return lines;
  }
  uint64_t kept = 0, rewritten = 0, lost = 0, added = 0;
  for (const RepairedGeneration& generation : plan.generations) {
    if (generation.events == 0) continue;
    ++kept;
    rewritten += generation.fate == GenerationFate::kRewritten;
    lost += generation.events_left_out;
    added += generation.events_added + generation.statuses_added;
  }
  lines.push_back(absl::StrCat(
      GenerationCounts(kept, rewritten, plan.generations.size(), !target.empty()), ", with ",
      plan.events_with_syncs, plan.events_with_syncs == 1 ? " event" : " events",
      added == 0 ? "" : absl::StrCat(", of which ", added, added == 1 ? " is added" : " are added"),
      LostEvents(lost, plan.events_with_syncs - added), "; ", plan.input_bytes, " bytes become ",
      plan.output_bytes, written));
  return lines;
}

}  // namespace gotrace::internal
