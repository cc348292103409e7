#include "gotrace/read_halves.h"

#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "gotrace/reader.h"
#include "parser/reader/split_trace.h"
#include "util/cores.h"
#include "util/helper_thread.h"

namespace gotrace {
namespace {

// A thread that reads the second half.
class SecondHalf {
 public:
  // All must outlive it.
  SecondHalf(const internal::SplitTrace& split, const ReaderOptions& options,
             const TakeEvents& take)
      : split_(split),
        options_(options),
        take_(take),
        thread_(internal::StartHelper([this] { Run(); })) {}
  SecondHalf(const SecondHalf&) = delete;
  SecondHalf& operator=(const SecondHalf&) = delete;
  ~SecondHalf() { Stop(); }

  // Waits for the thread, and returns the Reader that came to the end, or nullptr if none did.
  const Reader* Wait() {
    if (thread_.has_value()) thread_->join();
    thread_.reset();
    return reader_.get();
  }

  // Lets the thread stop, and waits for it.
  void Stop() {
    stops_ = true;
    Wait();
  }

 private:
  void Run() {
    try {
      absl::StatusOr<Reader> opened = split_.OpenSecond(options_);
      if (!opened.ok()) return;
      // On the heap by this thread, as are the Reader's parts: what one thread writes to must not
      // be in the cache lines of another's.
      auto reader = std::make_unique<Reader>(*std::move(opened));
      for (absl::Span<const Event> block; !(block = reader->NextBlock()).empty();) {
        if (stops_.load(std::memory_order_relaxed)) return;
        take_(block);
      }
      reader_ = std::move(reader);
    } catch (...) {
      // Where memory runs out, it may be enough for one half.
    }
  }

  const internal::SplitTrace& split_;
  const ReaderOptions& options_;
  const TakeEvents& take_;
  std::unique_ptr<Reader> reader_;
  std::atomic<bool> stops_ = false;
  std::optional<std::thread> thread_;  // Last, as it uses all of these.
};

void GiveAll(Reader* reader, const TakeEvents& take) {
  for (absl::Span<const Event> block; !(block = reader->NextBlock()).empty();) take(block);
}

}  // namespace

absl::Status ReadHalves(std::unique_ptr<ByteSource> source, const ReaderOptions& options,
                        const TakeEvents& first, const TakeEvents& second,
                        const std::function<void()>& drop_second) {
  ReaderOptions reader_options = options;
  reader_options.mode = ReadMode::kStrict;
  reader_options.on_generation_end = nullptr;
  const size_t jobs = options.jobs == 0 ? internal::AvailableCores() : options.jobs;
  std::optional<internal::SplitTrace> split;
  if (jobs > 1) split = internal::SplitTrace::Find(*source, options.jobs_from_bytes);
  reader_options.jobs = split.has_value() ? 1 : jobs;
  absl::StatusOr<Reader> reader = Reader::FromSource(std::move(source), reader_options);
  if (!reader.ok()) return reader.status();
  if (split.has_value()) {
    split->Stop(&*reader);
    SecondHalf other(*split, reader_options, second);
    GiveAll(&*reader, first);
    if (reader->status().ok()) {
      const Reader* const ended = other.Wait();
      if (ended != nullptr && internal::SplitTrace::Continues(*ended, *reader)) {
        internal::SplitTrace::End(&*reader);
        return absl::OkStatus();
      }
    }
    other.Stop();
    drop_second();
    internal::SplitTrace::GoOn(&*reader, jobs);
  }
  GiveAll(&*reader, first);
  return reader->status();
}

}  // namespace gotrace
