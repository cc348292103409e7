#include "bench/synthetic_traces.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gotrace/internal/limits.h"
#include "gotrace/version.h"
#include "tracev2/batch_encoder.h"
#include "tracev2/varint.h"

namespace gotrace::internal {
namespace {

constexpr uint64_t kNoThread = ~uint64_t{0};
constexpr uint64_t kTicksPerSecond = 15'625'000;
constexpr uint64_t kNsPerTick = 64;
constexpr uint64_t kNsPerSecond = 1'000'000'000;
constexpr uint64_t kFirstThread = 1000;     // The id of the first thread.
constexpr uint64_t kFirstTime = 1'000'000;  // In ticks.
// The time at which the trace's clock was 0, in seconds.
constexpr uint64_t kUnixTime = 1'750'000'000;

// Even, so that clocks that are ahead by an odd number of ticks never show the same time.
constexpr uint64_t kTicksPerEvent = 2;

// The maximum size of one more addition to a batch, which is larger than any table entry here.
constexpr size_t kRoom = 4096;

constexpr uint64_t kFunctions = 400;
constexpr uint64_t kFiles = 60;
constexpr uint64_t kStacks = 500;
constexpr uint64_t kShallowest = 4;  // The depths of stacks, in frames.
constexpr uint64_t kDeepest = 24;

// String ids.
constexpr uint64_t kFirstFunction = 1;
constexpr uint64_t kFirstFile = kFirstFunction + kFunctions;
constexpr uint64_t kFirstReason = kFirstFile + kFiles;
constexpr const char* kReasons[] = {"chan receive", "select", "sync", "network", "sleep"};

// A thread creates a goroutine once in this number of turns, and the creator ends.
constexpr uint64_t kTurnsPerCreation = 16;

// The number of runnable goroutines at first, for each thread. At least 1.
constexpr uint64_t kRunnablePerThread = 4;

constexpr uint64_t kHeapSize = 1 << 24;  // In bytes. At most twice as much is in use.

}  // namespace

TraceMaker::TraceMaker(const SyntheticTraceOptions& options)
    : options_(options),
      now_(kFirstTime),
      writer_(Version::kGo126, BatchSizeForm::kPadded, &bytes_) {
  const uint64_t thread_count = static_cast<uint64_t>(options_.threads);
  for (uint64_t i = 0; i < thread_count; ++i) {
    Thread& thread = threads_.emplace_back();
    thread.batch.thread = kFirstThread + i;
    thread.batch.clock_ahead = i % 2 == 1 ? options_.skew : 0;
    thread.proc = i;
  }
  no_thread_.thread = kNoThread;
  goroutines_.resize(std::max(options_.goroutines, 2 * thread_count));
  for (uint32_t i = 0; i < goroutines_.size(); ++i) {
    goroutines_[i].id = next_id_++;
    const bool runnable = i < kRunnablePerThread * thread_count;
    if (runnable) goroutines_[i].status = GoStatus::kRunnable;
    (runnable ? runnable_ : waiting_).push_back(i);
  }
  MakeStrings();
  MakeStacks();
}

void TraceMaker::MakeStrings() {
  std::string payload;
  uint64_t id = 1;
  const auto add = [&payload, &id](const std::string& text) {
    if (payload.empty()) AppendEvent(EventType::kStrings, {}, &payload);
    AppendString(id++, text, &payload);
  };
  for (uint64_t i = 0; i < kFunctions; ++i) {
    add(absl::StrCat("example.com/program/package", i % kFiles, ".(*Type).method", i));
  }
  for (uint64_t i = 0; i < kFiles; ++i) {
    add(absl::StrCat("/home/user/src/example.com/program/package", i, "/file.go"));
  }
  for (const char* reason : kReasons) add(reason);
  tables_.push_back(payload);
}

void TraceMaker::MakeStacks() {
  std::string payload;
  for (uint64_t id = 1; id <= kStacks; ++id) {
    if (payload.empty()) AppendEvent(EventType::kStacks, {}, &payload);
    const uint64_t depth = kShallowest + random_() % (kDeepest - kShallowest + 1);
    AppendEvent(EventType::kStack, {id, depth}, &payload);
    for (uint64_t i = 0; i < depth; ++i) {
      const uint64_t function = random_() % kFunctions;
      const uint64_t line = 1 + random_() % 8;
      AppendVarint(0x480000 + function * 0x400 + line * 0x20, &payload);
      AppendVarint(kFirstFunction + function, &payload);
      AppendVarint(kFirstFile + function % kFiles, &payload);
      AppendVarint(function * 3 % 500 + line, &payload);
    }
    if (payload.size() + kRoom > kMaxBatchSize) tables_.push_back(std::exchange(payload, ""));
  }
  if (!payload.empty()) tables_.push_back(payload);
}

absl::string_view TraceMaker::NextGeneration() {
  if (generation_ == options_.generations) return "";
  // The first time, this keeps the header, with which the writer began.
  if (generation_ > 0) writer_.Taken(bytes_.size());
  ++generation_;
  WriteSync();
  BeginThreads();
  for (uint64_t i = 0; i < options_.events; ++i) TakeStep(&threads_[random_() % threads_.size()]);
  for (Thread& thread : threads_) Flush(&thread.batch);
  // By now, the clocks that are ahead show this time.
  now_ += options_.skew + options_.skew % kTicksPerEvent;
  WriteOtherStatuses();
  WriteTables();
  RawEvent end;
  end.type = EventType::kEndOfGeneration;
  writer_.Write(end);
  return bytes_;
}

void TraceMaker::WriteSync() {
  now_ += kTicksPerEvent;
  const uint64_t ns = now_ * kNsPerTick;
  std::string payload;
  AppendEvent(EventType::kSync, {}, &payload);
  AppendEvent(EventType::kFrequency, {kTicksPerSecond}, &payload);
  AppendEvent(EventType::kClockSnapshot,
              {1, ns, kUnixTime + ns / kNsPerSecond, ns % kNsPerSecond + 1}, &payload);
  WriteBatch(kNoThread, now_, payload);
}

void TraceMaker::WriteTables() {
  for (const std::string& payload : tables_) WriteBatch(kNoThread, now_, payload);
}

void TraceMaker::WriteBatch(uint64_t thread, uint64_t time, const std::string& payload) {
  RawEvent batch;
  batch.type = EventType::kEventBatch;
  batch.args = {generation_, thread, time, payload.size()};
  writer_.Write(batch);
  bytes_.append(payload);
}

void TraceMaker::BeginThreads() {
  for (Thread& thread : threads_) {
    const bool in_syscall = thread.step == Step::kLeaveSyscall;
    const ProcStatus status = in_syscall ? ProcStatus::kSyscall : ProcStatus::kRunning;
    Emit(EventType::kProcStatus, {thread.proc, static_cast<uint64_t>(status)}, &thread.batch);
    thread.proc_sequence = 0;
    if (thread.goroutine == kNone) continue;
    WriteStatus(&goroutines_[thread.goroutine], thread.batch.thread, &thread.batch);
  }
}

void TraceMaker::WriteOtherStatuses() {
  for (const auto* indices : {&runnable_, &waiting_}) {
    for (const uint32_t index : *indices) WriteStatus(&goroutines_[index], kNoThread, &no_thread_);
  }
  Flush(&no_thread_);
}

void TraceMaker::TakeStep(Thread* thread) {
  switch (thread->step) {
    case Step::kStart:
      StartGoroutine(thread);
      thread->step = Step::kMeasure;
      break;
    case Step::kMeasure:
      MeasureHeap(thread);
      thread->step = Step::kEnterSyscall;
      break;
    case Step::kEnterSyscall:
      goroutines_[thread->goroutine].status = GoStatus::kSyscall;
      Emit(EventType::kGoSyscallBegin, {++thread->proc_sequence, SomeStack()}, &thread->batch);
      thread->step = Step::kLeaveSyscall;
      break;
    case Step::kLeaveSyscall:
      goroutines_[thread->goroutine].status = GoStatus::kRunning;
      Emit(EventType::kGoSyscallEnd, {}, &thread->batch);
      thread->step = Step::kWake;
      break;
    case Step::kWake:
      thread->turns % kTurnsPerCreation == 0 ? CreateGoroutine(thread) : WakeGoroutine(thread);
      thread->step = Step::kStop;
      break;
    case Step::kStop:
      StopGoroutine(thread);
      thread->step = Step::kStart;
      break;
  }
}

void TraceMaker::MeasureHeap(Thread* thread) {
  Emit(EventType::kHeapAlloc, {kHeapSize + random_() % kHeapSize}, &thread->batch);
}

// There always is a runnable goroutine: as many as there are threads are running or runnable, and
// this thread is running none.
void TraceMaker::StartGoroutine(Thread* thread) {
  ++thread->turns;
  thread->goroutine = runnable_.front();
  runnable_.pop_front();
  Goroutine& goroutine = goroutines_[thread->goroutine];
  WriteStatus(&goroutine, kNoThread, &thread->batch);
  goroutine.status = GoStatus::kRunning;
  Emit(EventType::kGoStart, {goroutine.id, ++goroutine.sequence}, &thread->batch);
}

void TraceMaker::WakeGoroutine(Thread* thread) {
  if (waiting_.empty()) return MeasureHeap(thread);
  const uint32_t index = waiting_.front();
  waiting_.pop_front();
  Goroutine& goroutine = goroutines_[index];
  WriteStatus(&goroutine, kNoThread, &thread->batch);
  goroutine.status = GoStatus::kRunnable;
  Emit(EventType::kGoUnblock, {goroutine.id, ++goroutine.sequence, SomeStack()}, &thread->batch);
  runnable_.push_back(index);
}

void TraceMaker::CreateGoroutine(Thread* thread) {
  if (ended_.empty()) {
    ended_.push_back(static_cast<uint32_t>(goroutines_.size()));
    goroutines_.emplace_back();
  }
  const uint32_t index = ended_.back();
  ended_.pop_back();
  goroutines_[index] = {next_id_++, GoStatus::kRunnable, generation_, 0};
  Emit(EventType::kGoCreate, {goroutines_[index].id, SomeStack(), SomeStack()}, &thread->batch);
  runnable_.push_back(index);
}

void TraceMaker::StopGoroutine(Thread* thread) {
  const uint32_t index = std::exchange(thread->goroutine, kNone);
  if (thread->turns % kTurnsPerCreation == 0) {
    Emit(EventType::kGoDestroy, {}, &thread->batch);
    ended_.push_back(index);
    return;
  }
  // If it is needed to keep the threads busy, it stays runnable.
  const bool blocks = runnable_.size() >= threads_.size();
  goroutines_[index].status = blocks ? GoStatus::kWaiting : GoStatus::kRunnable;
  Emit(blocks ? EventType::kGoBlock : EventType::kGoStop,
       {kFirstReason + random_() % std::size(kReasons), SomeStack()}, &thread->batch);
  (blocks ? waiting_ : runnable_).push_back(index);
}

void TraceMaker::WriteStatus(Goroutine* goroutine, uint64_t thread, OpenBatch* batch) {
  if (goroutine->generation == generation_) return;
  goroutine->generation = generation_;
  goroutine->sequence = 0;
  Emit(EventType::kGoStatus, {goroutine->id, thread, static_cast<uint64_t>(goroutine->status)},
       batch);
}

void TraceMaker::Emit(EventType type, std::initializer_list<uint64_t> args, OpenBatch* batch) {
  if (batch->payload.size() + kRoom > kMaxBatchSize) Flush(batch);
  now_ += kTicksPerEvent;
  const uint64_t time = now_ + batch->clock_ahead;
  if (batch->payload.empty()) batch->last_time = batch->begin_time = time - 1;
  AppendTimedEvent(type, time - std::exchange(batch->last_time, time), args, &batch->payload);
}

void TraceMaker::Flush(OpenBatch* batch) {
  if (batch->payload.empty()) return;
  WriteBatch(batch->thread, batch->begin_time, batch->payload);
  batch->payload.clear();
}

uint64_t TraceMaker::SomeStack() { return 1 + random_() % kStacks; }

std::string MakeTrace(const SyntheticTraceOptions& options) {
  TraceMaker maker(options);
  std::string trace;
  for (absl::string_view bytes; !(bytes = maker.NextGeneration()).empty();) {
    trace.append(bytes.data(), bytes.size());
  }
  return trace;
}

}  // namespace gotrace::internal
