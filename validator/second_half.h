// Judges the second half of a trace while the first one is. For the validator's own files only.
#ifndef GOTRACE_VALIDATOR_SECOND_HALF_H_
#define GOTRACE_VALIDATOR_SECOND_HALF_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "gotrace/reader.h"
#include "gotrace/validate.h"
#include "parser/reader/split_trace.h"
#include "validator/judge.h"
#include "validator/validator.h"

namespace gotrace::internal {

// A thread that judges it on its own. All is to be called from one other thread.
class SecondHalf {
 public:
  // What it came to.
  struct Result {
    Result(const SplitTrace& split, const ValidateOptions& options);

    // Judges until all is, or `stop` tells to stop. Returns whether something may come of it.
    bool Read(const std::function<bool()>& stop);

    ValidationReport report;
    Judge judge;
    absl::StatusOr<Reader> reader;
    std::unique_ptr<Validator> validator;  // nullptr without a reader.
  };

  // Starts the thread. Both must outlive it.
  SecondHalf(const SplitTrace& split, const ValidateOptions& options);
  SecondHalf(const SecondHalf&) = delete;
  SecondHalf& operator=(const SecondHalf&) = delete;

  // Stops the thread, if it is not done.
  ~SecondHalf();

  // Whether it is known that nothing can come of it.
  bool failed() const { return failed_.load(std::memory_order_relaxed); }

  // Where it begins, in bytes.
  uint64_t begin() const { return split_.offset(); }

  // How much it read of the input, in bytes, and how many events. For progress only.
  uint64_t bytes_read() const { return bytes_read_.load(std::memory_order_relaxed); }
  uint64_t events_read() const { return events_read_.load(std::memory_order_relaxed); }

  // What it came to, or nullptr if it failed. Waits until the thread is done.
  Result* Wait();

 private:
  void Run();

  const SplitTrace& split_;
  ValidateOptions options_;
  std::unique_ptr<Result> result_;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> stops_ = false;
  std::atomic<uint64_t> bytes_read_ = 0;
  std::atomic<uint64_t> events_read_ = 0;
  std::optional<std::thread> thread_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_SECOND_HALF_H_
