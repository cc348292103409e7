#include "validator/second_half.h"

#include <algorithm>
#include <array>
#include <utility>

#include "util/helper_thread.h"

namespace gotrace::internal {

SecondHalf::Result::Result(const SplitTrace& split, const ValidateOptions& options)
    : judge(options, &report), reader(split.OpenSecond(judge.MakeReaderOptions(/*jobs=*/1))) {
  if (!reader.ok()) return;
  validator = judge.MakeValidator(reader->version());
  validator->Assume();
}

SecondHalf::SecondHalf(const SplitTrace& split, const ValidateOptions& options)
    : split_(split), options_(options) {
  options_.on_progress = [this](uint64_t input_read, uint64_t events) {
    bytes_read_.store(input_read - split_.offset(), std::memory_order_relaxed);
    events_read_.store(events, std::memory_order_relaxed);
  };
  thread_ = StartHelper([this] { Run(); });
  if (!thread_.has_value()) failed_ = true;
}

SecondHalf::~SecondHalf() {
  stops_ = true;
  if (thread_.has_value()) thread_->join();
}

SecondHalf::Result* SecondHalf::Wait() {
  if (thread_.has_value()) thread_->join();
  thread_.reset();
  return result_.get();
}

void SecondHalf::Run() {
  try {
    // What the thread writes to is made on it, so that no other writes to the same cache lines.
    auto result = std::make_unique<Result>(split_, options_);
    if (result->Read([this] { return stops_.load(std::memory_order_relaxed); })) {
      result_ = std::move(result);
    }
  } catch (...) {
    // Where memory runs out, it may be enough for one half.
  }
  if (result_ == nullptr) failed_ = true;
}

bool SecondHalf::Result::Read(const std::function<bool()>& stop) {
  if (!reader.ok()) return false;
  const auto is_flawed = [&] {
    return !reader->status().ok() || reader->losses().faults > 0 || validator->assumes_wrongly();
  };
  if (judge.ReadOn(&*reader, validator.get(), [&] { return is_flawed() || stop(); })) return false;
  judge.EndEvents(*reader, validator.get());
  return !is_flawed();
}

void Judge::TellProgress(uint64_t input_read, uint64_t events) {
  if (!options_.on_progress) return;
  if (other_half_ != nullptr) {
    // What of the other half was read ahead is counted there.
    input_read = std::min(input_read, other_half_->begin()) + other_half_->bytes_read();
    events += other_half_->events_read();
  }
  told_read_ = std::max(told_read_, input_read);
  told_events_ = std::max(told_events_, events);
  options_.on_progress(told_read_, told_events_);
}

bool Judge::ReadHalves(const SplitTrace& split, Reader* reader, Validator* validator) {
  split.Stop(reader);
  SecondHalf second(split, options_);
  other_half_ = &second;
  // Behind a fault nothing is taken for granted.
  const bool gives_up =
      ReadOn(reader, validator, [&] { return second.failed() || reader->losses().faults > 0; });
  const bool is_done = !gives_up && Take(&second, *reader, validator);
  other_half_ = nullptr;
  is_done ? SplitTrace::End(reader) : SplitTrace::GoOn(reader, options_.jobs);
  return is_done;
}

bool Judge::Take(SecondHalf* second, const Reader& reader, Validator* validator) {
  if (reader.losses().faults > 0 || !reader.status().ok()) return false;
  SecondHalf::Result* const result = second->Wait();
  const uint64_t events_before = validator->event_count();
  if (result == nullptr || !SplitTrace::Continues(*result->reader, reader) ||
      !result->judge.table_checks_.Continues(table_checks_) ||
      !validator->Append(*result->validator)) {
    return false;
  }
  TakeFindings(&result->report, events_before);
  report_.events = report_.good_events = validator->event_count();
  report_.bytes = report_.good_bytes = result->report.bytes;
  return true;
}

void Judge::TakeFindings(ValidationReport* second, uint64_t events_before) {
  std::array<uint64_t, kCheckIdEnd> counts = report_.counts;
  for (Finding& finding : second->findings) {
    if (counts[static_cast<int>(finding.check)]++ >= options_.max_per_check) continue;
    if (finding.event_number != 0) finding.event_number += events_before;
    report_.findings.push_back(std::move(finding));
  }
  for (int check = 0; check < kCheckIdEnd; ++check) report_.counts[check] += second->counts[check];
  report_.errors += second->errors;
  report_.warnings += second->warnings;
  report_.notes += second->notes;
}

}  // namespace gotrace::internal
