#include "fuzz/trace_mutator.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "gotrace/internal/limits.h"

namespace gotrace::internal {
namespace {

// Returns the type of the argument at `index` of an event of `spec`, including the frames of a
// stack.
ArgType TypeOfArg(const EventSpec& spec, size_t index) {
  if (index < spec.arg_count) return spec.arg_types[index];
  const size_t field = (index - spec.arg_count) % kFrameFieldCount;
  return field == 1 || field == 2 ? ArgType::kString : ArgType::kRaw;
}

// Moves the element at `from` to the place before the element at `to`.
template <class T>
void MoveTo(size_t from, size_t to, std::vector<T>* items) {
  const auto begin = items->begin();
  if (from < to) {
    std::rotate(begin + from, begin + from + 1, begin + to);
  } else {
    std::rotate(begin + to, begin + from, begin + from + 1);
  }
}

// Whether events of the type may be in a batch. The beginning of another batch would only cut it
// off.
bool FitsIntoBatch(EventType type) {
  return type != EventType::kEventBatch && type != EventType::kExperimentalBatch &&
         type != EventType::kEndOfGeneration;
}

bool IsOf(const RawBatch& batch, uint64_t generation) {
  return batch.has_header() && batch.generation() == generation;
}

// Returns the position after the last batch of `generation`, and after the EndOfGeneration that
// follows it.
size_t EndOf(const RawTrace& trace, uint64_t generation) {
  size_t end = trace.batches.size();
  while (end > 0 && !IsOf(trace.batches[end - 1], generation)) --end;
  while (end < trace.batches.size() && !trace.batches[end].has_header()) ++end;
  return end;
}

}  // namespace

std::string TraceMutator::Mutate(absl::string_view input, size_t max_size,
                                 ByteMutator mutate_bytes) {
  constexpr size_t kBytesOneIn = 10;
  constexpr size_t kMaxChanges = 5;
  std::string bytes(input);
  std::optional<RawTrace> trace;
  if (!OneIn(kBytesOneIn)) trace = TakeApart(input);
  // Several tries, because some mutations find nothing to change.
  constexpr int kTries = 8;
  for (int i = 0; i < kTries && trace.has_value(); ++i) {
    const size_t changes = 1 + Below(kMaxChanges);
    for (size_t change = 0; change < changes; ++change) Change(&*trace);
    std::string changed = PutTogether(*trace);
    if (changed.size() > max_size) break;
    if (changed != input) return changed;
  }
  mutate_bytes(&bytes, max_size);
  return bytes;
}

std::string TraceMutator::Cross(absl::string_view first, absl::string_view second,
                                size_t max_size) {
  const std::string unchanged(first.substr(0, max_size));
  std::optional<RawTrace> trace = TakeApart(first);
  std::optional<RawTrace> other = TakeApart(second);
  if (!trace.has_value() || !other.has_value() || other->batches.empty()) return unchanged;
  const size_t begin = Below(other->batches.size());
  const size_t count = 1 + Below(other->batches.size() - begin);
  const size_t to = Below(trace->batches.size() + 1);
  const size_t replaced = OneIn(2) ? 0 : Below(trace->batches.size() - to + 1);
  const auto pos = trace->batches.begin() + static_cast<std::ptrdiff_t>(to);
  const auto from = other->batches.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto kept = trace->batches.erase(pos, pos + static_cast<std::ptrdiff_t>(replaced));
  trace->batches.insert(kept, from, from + static_cast<std::ptrdiff_t>(count));
  std::string crossed = PutTogether(*trace);
  return crossed.size() <= max_size ? crossed : unchanged;
}

void TraceMutator::Change(RawTrace* trace) {
  using Mutation = void (TraceMutator::*)(RawTrace*);
  // Mutations of arguments and events are listed twice, since there are far more of these than of
  // batches.
  constexpr Mutation kMutations[] = {
      &TraceMutator::ChangeArgument, &TraceMutator::ChangeArgument,
      &TraceMutator::ChangeArgument, &TraceMutator::ChangeArgument,
      &TraceMutator::ChangeType,     &TraceMutator::InsertEvent,
      &TraceMutator::InsertEvent,    &TraceMutator::InsertEvent,
      &TraceMutator::DropEvents,     &TraceMutator::DropEvents,
      &TraceMutator::CopyEvent,      &TraceMutator::CopyEvent,
      &TraceMutator::MoveEvent,      &TraceMutator::MoveEvent,
      &TraceMutator::SwapEvents,     &TraceMutator::SwapEvents,
      &TraceMutator::ChangeBatch,    &TraceMutator::ChangeBatch,
      &TraceMutator::DropBatch,      &TraceMutator::CopyBatch,
      &TraceMutator::SwapBatches,    &TraceMutator::SplitBatch,
      &TraceMutator::DropGeneration, &TraceMutator::CopyGeneration,
      &TraceMutator::CopyGeneration, &TraceMutator::RenumberGeneration,
      &TraceMutator::ChangeVersion,  &TraceMutator::ChangeData,
  };
  if (trace->batches.empty()) {
    RawBatch batch;
    batch.head = {EventType::kEventBatch, {1, 1, 1, 0}, ""};
    trace->batches.push_back(std::move(batch));
  }
  (this->*kMutations[Below(std::size(kMutations))])(trace);
}

void TraceMutator::ChangeArgument(RawTrace* trace) {
  RawBatch* const batch = SomeBatchWithEvents(trace);
  if (batch == nullptr) return;
  OwnedEvent& event = batch->events[Below(batch->events.size())];
  if (event.args.empty()) return;
  const size_t index = Below(event.args.size());
  const ArgType type = TypeOfArg(*FindEventSpec(event.type), index);
  event.args[index] = SomeValue(*trace, type, event.args[index]);
  FitArguments(&event);
}

void TraceMutator::ChangeType(RawTrace* trace) {
  RawBatch* const batch = SomeBatchWithEvents(trace);
  if (batch == nullptr) return;
  OwnedEvent& event = batch->events[Below(batch->events.size())];
  const EventSpec& spec = AllEventSpecs()[Below(AllEventSpecs().size())];
  if (!spec.timed() && !OneIn(10)) return;
  if (!FitsIntoBatch(spec.type)) return;
  event.type = spec.type;
  FitArguments(&event);
}

void TraceMutator::InsertEvent(RawTrace* trace) {
  RawBatch* const batch = SomeBatch(trace);
  if (batch == nullptr) return;
  const EventSpec& spec = AllEventSpecs()[Below(AllEventSpecs().size())];
  if (!spec.timed() && !OneIn(10)) return;
  if (!FitsIntoBatch(spec.type)) return;
  OwnedEvent event;
  event.type = spec.type;
  FillArguments(*trace, &event);
  const size_t to = Below(batch->events.size() + 1);
  batch->events.insert(batch->events.begin() + static_cast<std::ptrdiff_t>(to), std::move(event));
}

void TraceMutator::DropEvents(RawTrace* trace) {
  RawBatch* const batch = SomeBatchWithEvents(trace);
  if (batch == nullptr) return;
  const auto first =
      batch->events.begin() + static_cast<std::ptrdiff_t>(Below(batch->events.size()));
  const size_t most = static_cast<size_t>(batch->events.end() - first);
  const size_t count = OneIn(4) ? 1 + Below(most) : 1;
  batch->events.erase(first, first + static_cast<std::ptrdiff_t>(count));
}

void TraceMutator::CopyEvent(RawTrace* trace) {
  RawBatch* const from = SomeBatchWithEvents(trace);
  RawBatch* const to = OneIn(2) ? from : SomeBatch(trace);
  if (from == nullptr || to == nullptr) return;
  OwnedEvent event = from->events[Below(from->events.size())];
  const size_t index = Below(to->events.size() + 1);
  to->events.insert(to->events.begin() + static_cast<std::ptrdiff_t>(index), std::move(event));
}

void TraceMutator::MoveEvent(RawTrace* trace) {
  RawBatch* const batch = SomeBatchWithEvents(trace);
  if (batch == nullptr) return;
  MoveTo(Below(batch->events.size()), Below(batch->events.size() + 1), &batch->events);
}

void TraceMutator::SwapEvents(RawTrace* trace) {
  RawBatch* const a = SomeBatchWithEvents(trace);
  RawBatch* const b = OneIn(2) ? a : SomeBatchWithEvents(trace);
  if (a == nullptr || b == nullptr) return;
  OwnedEvent& event = a->events[Below(a->events.size())];
  OwnedEvent& other = b->events[Below(b->events.size())];
  if (&event != &other) std::swap(event, other);
}

void TraceMutator::ChangeBatch(RawTrace* trace) {
  RawBatch* const batch = SomeBatch(trace);
  const RawBatch* const other = SomeBatch(trace);
  if (batch == nullptr || other == nullptr) return;
  RawBatch like = *other;
  switch (Below(4)) {
    case 0:
      batch->generation() = OneIn(2) ? like.generation() : batch->generation() + Below(3) - 1;
      break;
    case 1:
      batch->thread() = OneIn(2) ? like.thread() : SomeValue(*trace, ArgType::kThread, 1);
      break;
    default:
      batch->time() =
          OneIn(2) ? like.time() : SomeValue(*trace, ArgType::kTimeDelta, batch->time());
  }
}

void TraceMutator::DropBatch(RawTrace* trace) {
  trace->batches.erase(trace->batches.begin() +
                       static_cast<std::ptrdiff_t>(Below(trace->batches.size())));
}

void TraceMutator::CopyBatch(RawTrace* trace) {
  RawBatch batch = trace->batches[Below(trace->batches.size())];
  const size_t to = Below(trace->batches.size() + 1);
  trace->batches.insert(trace->batches.begin() + static_cast<std::ptrdiff_t>(to), std::move(batch));
}

void TraceMutator::SwapBatches(RawTrace* trace) {
  MoveTo(Below(trace->batches.size()), Below(trace->batches.size() + 1), &trace->batches);
}

// The second half may be given to another thread.
void TraceMutator::SplitBatch(RawTrace* trace) {
  const RawBatch* const batch = SomeBatchWithEvents(trace);
  if (batch == nullptr) return;
  RawBatch first = *batch;
  RawBatch second = first;
  const auto middle = static_cast<std::ptrdiff_t>(Below(first.events.size()));
  first.events.erase(first.events.begin() + middle, first.events.end());
  first.rest.clear();
  second.events.erase(second.events.begin(), second.events.begin() + middle);
  if (OneIn(2)) second.thread() = SomeValue(*trace, ArgType::kThread, second.thread());
  const auto index = batch - trace->batches.data();
  trace->batches[static_cast<size_t>(index)] = std::move(first);
  trace->batches.insert(trace->batches.begin() + index + 1, std::move(second));
}

void TraceMutator::DropGeneration(RawTrace* trace) {
  const uint64_t generation = SomeGeneration(*trace);
  trace->batches.erase(std::remove_if(trace->batches.begin(), trace->batches.end(),
                                      [&](const RawBatch& b) { return IsOf(b, generation); }),
                       trace->batches.end());
}

// Inserts the copy after the generation, as the next one.
void TraceMutator::CopyGeneration(RawTrace* trace) {
  constexpr size_t kMaxBatches = 1000;
  const uint64_t generation = SomeGeneration(*trace);
  std::vector<RawBatch> copies;
  for (const RawBatch& batch : trace->batches) {
    if (!IsOf(batch, generation)) continue;
    copies.push_back(batch);
    copies.back().generation() = generation + 1;
  }
  if (trace->batches.size() + copies.size() > kMaxBatches) return;
  if (trace->version >= Version::kGo126) {
    RawBatch end;
    end.head.type = EventType::kEndOfGeneration;
    copies.push_back(std::move(end));
  }
  const auto end = static_cast<std::ptrdiff_t>(EndOf(*trace, generation));
  trace->batches.insert(trace->batches.begin() + end, std::make_move_iterator(copies.begin()),
                        std::make_move_iterator(copies.end()));
}

void TraceMutator::RenumberGeneration(RawTrace* trace) {
  const uint64_t generation = SomeGeneration(*trace);
  const uint64_t number =
      OneIn(3) ? SomeValue(*trace, ArgType::kRaw, generation) : generation + Below(4) - 1;
  for (RawBatch& batch : trace->batches) {
    if (IsOf(batch, generation)) batch.generation() = number;
  }
}

void TraceMutator::ChangeVersion(RawTrace* trace) {
  trace->version = AllVersions()[Below(AllVersions().size())];
}

void TraceMutator::ChangeData(RawTrace* trace) {
  RawBatch* const batch = SomeBatch(trace);
  if (batch == nullptr) return;
  std::string* data = &batch->rest;
  if (batch->head.type == EventType::kExperimentalBatch) data = &batch->head.data;
  for (OwnedEvent& event : batch->events) {
    if (!event.data.empty() && OneIn(3)) data = &event.data;
  }
  if (data->empty() || OneIn(8)) {
    data->append(1 + Below(8), static_cast<char>(Below(256)));
  } else {
    (*data)[Below(data->size())] = static_cast<char>(Below(256));
  }
}

RawBatch* TraceMutator::SomeBatch(RawTrace* trace) {
  constexpr int kTries = 8;
  for (int i = 0; i < kTries && !trace->batches.empty(); ++i) {
    RawBatch& batch = trace->batches[Below(trace->batches.size())];
    if (batch.has_header()) return &batch;
  }
  return nullptr;
}

RawBatch* TraceMutator::SomeBatchWithEvents(RawTrace* trace) {
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i) {
    RawBatch* const batch = SomeBatch(trace);
    if (batch != nullptr && !batch->events.empty()) return batch;
  }
  return nullptr;
}

uint64_t TraceMutator::SomeGeneration(const RawTrace& trace) {
  const RawBatch& batch = trace.batches[Below(trace.batches.size())];
  return batch.has_header() ? batch.generation() : 1;
}

uint64_t TraceMutator::SomeValue(const RawTrace& trace, ArgType type, uint64_t old) {
  constexpr uint64_t kOdd[] = {0,
                               1,
                               2,
                               127,
                               128,
                               UINT32_MAX,
                               INT64_MAX,
                               1ULL << 63,
                               UINT64_MAX,
                               UINT64_MAX - 1,
                               1000000000,
                               1ULL << 40,
                               kMaxStringSize};
  const size_t way = Below(8);
  if (way == 0) return kOdd[Below(std::size(kOdd))];
  if (way == 1) return uint64_t{random_()} << Below(40);
  if (way < 4) return old + Below(5) - 2;
  // A value that the trace has. A few tries are enough to find one.
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    const RawBatch& batch = trace.batches[Below(trace.batches.size())];
    if (batch.events.empty()) continue;
    const OwnedEvent& event = batch.events[Below(batch.events.size())];
    const EventSpec& spec = *FindEventSpec(event.type);
    for (size_t arg = 0; arg < event.args.size() && arg < spec.arg_count; ++arg) {
      if (spec.arg_types[arg] == type) return event.args[arg];
    }
  }
  return Below(8);
}

void TraceMutator::FillArguments(const RawTrace& trace, OwnedEvent* event) {
  FitArguments(event);
  const EventSpec& spec = *FindEventSpec(event->type);
  for (size_t i = 0; i < spec.arg_count; ++i) {
    event->args[i] = SomeValue(trace, spec.arg_types[i], 1);
  }
  FitArguments(event);
}

}  // namespace gotrace::internal
