// Reads a trace, and keeps the overview from which Answers answers requests.
#include "gotrace/trace_view.h"

#include <atomic>
#include <mutex>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gotrace/fault.h"
#include "gotrace/read_parallel.h"
#include "view/answers.h"

namespace gotrace {

using internal::DecodedGenerations;
using internal::Overview;
using internal::Previews;
using internal::view::Answers;
using internal::view::Known;
using internal::view::OpenedTrace;
using internal::view::OverviewSink;

class TraceView::Impl {
 public:
  Impl(std::unique_ptr<ByteSource> source, TraceIndex index, TraceViewOptions options)
      : options_(std::move(options)),
        trace_(std::make_shared<OpenedTrace>(std::move(source), std::move(index))) {}

  absl::Status Read();
  ViewAnswer Answer(absl::string_view request, const std::function<bool()>& keep_going) const;

 private:
  // Reads the trace of `known` once.
  absl::Status ReadInto(Known* known);

  const TraceViewOptions options_;
  std::atomic<uint64_t> bytes_read_ = 0;
  std::atomic<uint64_t> bytes_ = 0;
  std::atomic<uint64_t> events_ = 0;
  mutable Previews previews_;
  const std::shared_ptr<const OpenedTrace> trace_;

  mutable std::mutex mutex_;
  std::shared_ptr<const Known> known_;  // Once the trace is read.
};

absl::Status TraceView::Impl::ReadInto(Known* known) {
  const auto make_sink = [this] {
    return std::make_unique<OverviewSink>(
        [this](Interner* interner) {
          return std::make_unique<Overview>(interner, previews_.MakeWatch());
        },
        AnalysisSink::Options());
  };
  const auto on_progress = [this](const ReadProgress& progress) {
    bytes_read_ = progress.bytes;
    bytes_ = progress.total;
    events_ = progress.events;
  };
  const ByteSource& source = *known->trace->source;
  return ReadParallel(source.Fork(0), options_.reader, make_sink, &known->sink, on_progress);
}

absl::Status TraceView::Impl::Read() {
  auto known = std::make_shared<Known>();
  known->trace = trace_;
  absl::Status status = ReadInto(known.get());
  const std::optional<Fault> fault = FaultOf(status);
  if (fault.has_value()) {
    known->fault = FormatFault(*fault);
    absl::string_view shown = "everything before that is shown";
    absl::StatusOr<RepairedTrace> repaired = absl::UnavailableError("");
    if (options_.repair != nullptr) repaired = options_.repair();
    if (repaired.ok()) {
      absl::StatusOr<TraceIndex> index =
          TraceIndex::Build(*repaired->source, options_.reader.keep_going);
      auto sound = std::make_shared<Known>();
      if (index.ok()) {
        sound->trace =
            std::make_shared<OpenedTrace>(std::move(repaired->source), *std::move(index));
        if (ReadInto(sound.get()).ok()) {
          sound->fault = std::move(known->fault);
          known = std::move(sound);
          shown = repaired->remark;
        }
      }
    }
    absl::StrAppend(&known->fault, "; ", shown);
  } else if (!status.ok()) {
    known->fault = std::string(status.message());
  }
  ReaderOptions reader = options_.reader;
  reader.keep_going = nullptr;
  known->generations = std::make_unique<DecodedGenerations>(
      known->trace->source.get(), &known->trace->index, std::move(reader),
      known->sink->analysis().begin(), options_.cache_bytes);
  {
    const std::lock_guard lock(mutex_);
    known_ = std::move(known);
  }
  previews_.Clear();
  return status;
}

ViewAnswer TraceView::Impl::Answer(absl::string_view request,
                                   const std::function<bool()>& keep_going) const {
  std::shared_ptr<const Known> known;
  {
    const std::lock_guard lock(mutex_);
    known = known_;
  }
  if (known == nullptr) {
    const auto generations = trace_->index.generations();
    auto so_far = std::make_shared<Known>();
    so_far->trace = trace_;
    so_far->preview = previews_.Get(
        generations.empty() ? 0 : generations.back().first_time - trace_->index.start_time());
    known = std::move(so_far);
  }
  const ReadProgress progress = {bytes_read_, bytes_, events_};
  return Answers(options_, *known, progress, keep_going).Answer(request);
}

TraceView::TraceView(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TraceView::~TraceView() = default;

absl::StatusOr<std::unique_ptr<TraceView>> TraceView::Open(std::unique_ptr<ByteSource> source,
                                                           TraceViewOptions options) {
  absl::StatusOr<TraceIndex> index = TraceIndex::Build(*source, options.reader.keep_going);
  if (!index.ok()) return index.status();
  return std::unique_ptr<TraceView>(new TraceView(
      std::make_unique<Impl>(std::move(source), *std::move(index), std::move(options))));
}

absl::Status TraceView::Read() { return impl_->Read(); }

ViewAnswer TraceView::Answer(absl::string_view request,
                             const std::function<bool()>& keep_going) const {
  return impl_->Answer(request, keep_going);
}

std::vector<TraceView::Request> TraceView::Requests() {
  std::vector<Request> requests;
  for (const Answers::Row& row : Answers::Rows()) {
    requests.push_back(
        {row.path, absl::StrSplit(row.parameters, ' ', absl::SkipEmpty()), row.handler == nullptr});
  }
  return requests;
}

}  // namespace gotrace
