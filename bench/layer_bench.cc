// Measures the speed of each layer of reading by itself: framing, decoding, tables, ordering.
//
//   layer_bench [BENCHMARK FLAGS] [TRACE ...]
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/bench_traces.h"
#include "bench/passes.h"
#include "benchmark/benchmark.h"
#include "gotrace/byte_source.h"
#include "parser/framing/batch_reader.h"
#include "parser/generation/generation.h"
#include "parser/generation/generation_tables.h"
#include "parser/order/batch_decoder.h"
#include "parser/order/event_order.h"
#include "parser/order/frontier.h"
#include "parser/order/scheduler_model.h"

namespace gotrace::internal {
namespace {

// The batches of a trace, which must be sound. They view `bytes`.
struct Framed {
  Version version = kNewestVersion;
  std::vector<Batch> batches;
};
Framed Frame(const std::string& bytes) {
  Framed framed;
  const std::unique_ptr<ByteSource> source = *SourceFromBytes(bytes);
  framed.version = *ReadHeader(source.get());
  for (Batch batch; *ReadBatch(source.get(), &batch);) framed.batches.push_back(batch);
  return framed;
}

// Splits the trace into batches. Items are batches.
void FrameAll(benchmark::State& state, const std::string& bytes) {
  size_t batches = 0;
  for (auto _ : state) batches = Frame(bytes).batches.size();
  SetCounters(state, batches, bytes.size());
}

// Decodes the timed events.
template <const char* (*kDecode)(const char*, const char*, TimedEvent*)>
void DecodeAll(benchmark::State& state, const std::string& bytes) {
  const Framed framed = Frame(bytes);
  uint64_t events = 0;
  uint64_t size = 0;
  for (auto _ : state) {
    events = size = 0;
    for (const Batch& batch : framed.batches) {
      if (!IsEventBatch(batch, framed.version)) continue;
      TimedEvent event;
      const char* pos = batch.payload.data();
      const char* const end = pos + batch.payload.size();
      while (pos != nullptr && pos < end) {
        pos = kDecode(pos, end, &event);
        benchmark::DoNotOptimize(event);
        ++events;
      }
      size += batch.payload.size();
    }
  }
  SetCounters(state, events, size);
}

// Fills a generation's tables with all entries of one kind. Items are strings or stacks.
template <EventType kKind, absl::Status (GenerationTables::*kAdd)(const Batch&),
          size_t (EventTables::*kCount)() const>
void FillTables(benchmark::State& state, const std::string& bytes) {
  const Framed framed = Frame(bytes);
  uint64_t items = 0;
  uint64_t size = 0;
  for (auto _ : state) {
    items = size = 0;
    uint64_t generation = 0;
    auto tables = std::make_unique<GenerationTables>();
    for (const Batch& batch : framed.batches) {
      if (batch.kind() != kKind) continue;
      if (batch.generation != generation) {
        items += (tables.get()->*kCount)();
        tables = std::make_unique<GenerationTables>();
        generation = batch.generation;
      }
      if (!(tables.get()->*kAdd)(batch).ok()) return state.SkipWithError("broken tables");
      size += batch.payload.size();
    }
    items += (tables.get()->*kCount)();
  }
  SetCounters(state, items, size);
}

// Moves the thread at `index` to its next event, if its event can come next.
EventOrder::Outcome Attempt(size_t index, Frontier* frontier, SchedulerModel* scheduler) {
  ThreadCursor& cursor = frontier->cursor(index);
  switch (scheduler->Advance(&cursor)) {
    case SchedulerModel::Outcome::kAdvanced:
      break;
    case SchedulerModel::Outcome::kWaits:
      return EventOrder::Outcome::kWaits;
    case SchedulerModel::Outcome::kFault:
      return EventOrder::Outcome::kStopped;
  }
  switch (cursor.Advance()) {
    case ThreadCursor::Step::kEvent:
      frontier->Update(index);
      break;
    case ThreadCursor::Step::kEnd:
      frontier->Remove(index);
      break;
    case ThreadCursor::Step::kFault:
      return EventOrder::Outcome::kStopped;
  }
  return EventOrder::Outcome::kAdvanced;
}

// Orders the events of `generation`, and adds their number to `*events`.
bool OrderGeneration(Generation* generation, SchedulerModel* scheduler, uint64_t* events) {
  EventOrder order(scheduler);
  Frontier& frontier = order.frontier();
  scheduler->BeginGeneration(generation);
  for (const ThreadBatches& thread : generation->threads()) {
    auto cursor = std::make_unique<ThreadCursor>(*generation, thread);
    if (cursor->Advance() == ThreadCursor::Step::kEvent) frontier.Insert(std::move(cursor));
  }
  while (!frontier.empty()) {
    const auto attempt = [&](size_t index) { return Attempt(index, &frontier, scheduler); };
    if (order.Advance(attempt) != EventOrder::Outcome::kAdvanced) return false;
    *events += scheduler->events().size();
    benchmark::DoNotOptimize(scheduler->events().data());
  }
  return true;
}

// Decodes and orders the timed events. Framing and tables are done before the measurement.
void OrderAll(benchmark::State& state, const std::string& bytes) {
  const std::unique_ptr<ByteSource> source = *SourceFromBytes(bytes);
  GenerationReader reader(source.get(), *ReadHeader(source.get()));
  // The batches view `bytes`, so they stay valid after the reader moves on.
  std::vector<std::unique_ptr<Generation>> generations;
  while (std::unique_ptr<Generation> generation = reader.Next().value_or(nullptr)) {
    generations.push_back(std::move(generation));
  }
  uint64_t events = 0;
  for (auto _ : state) {
    SchedulerModel scheduler;
    events = 0;
    for (const std::unique_ptr<Generation>& generation : generations) {
      if (!OrderGeneration(generation.get(), &scheduler, &events)) {
        return state.SkipWithError("events that cannot be put in order");
      }
    }
  }
  uint64_t size = 0;
  for (const auto& generation : generations) {
    for (const EventBatch& batch : generation->event_batches()) size += batch.size;
  }
  SetCounters(state, events, size);
}

int Main(int argc, char** argv) {
  const std::vector<BenchTrace>& traces = TakeBenchTraces(argc, argv);
  for (const BenchTrace& trace : traces) {
    const auto counts = ReadPass(*SourceFromBytes(trace.bytes), {});
    if (counts.ok()) continue;
    std::fprintf(stderr, "%s: %s\n", trace.name.c_str(), counts.status().ToString().c_str());
    return 1;
  }
  RegisterForAll(traces, "frame", FrameAll);
  RegisterForAll(traces, "decode_fast", DecodeAll<DecodeTimedEvent>);
  RegisterForAll(traces, "decode_plain", DecodeAll<DecodeTimedEventPlainly>);
  RegisterForAll(traces, "strings",
                 FillTables<EventType::kStrings, &GenerationTables::AddStrings,
                            &GenerationTables::string_count>);
  RegisterForAll(
      traces, "stacks",
      FillTables<EventType::kStacks, &GenerationTables::AddStacks, &GenerationTables::stack_count>);
  RegisterForAll(traces, "order", OrderAll);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace gotrace::internal

int main(int argc, char** argv) { return gotrace::internal::Main(argc, argv); }
