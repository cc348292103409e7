// Keeps track of the existing objects, spans and stacks, and counts the changes. Events before the
// window only determine the objects at its beginning.
//
// Go makes the times of a thread's events at least one tick of the clock apart. A thread that
// sweeps writes events faster than that, so its times run ahead by up to some 0.1 ms. So a freed
// slot may seem to be allocated again before it is freed: the event that frees it comes late.
#include "gotrace/heap_stats.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "analysis/core/time_sums.h"
#include "analysis/heap/heap_layout.h"
#include "gotrace/event_type.h"
#include "gotrace/ids.h"

namespace gotrace {
namespace {

using internal::HeapLayout;
using internal::HeapSlot;
using internal::HeapSpan;
using internal::HeapTypeInfo;

constexpr uint64_t kFirstSliceLength = 1000;

// The cycle of objects whose allocation the trace does not have.
constexpr uint32_t kUnknownCycle = std::numeric_limits<uint32_t>::max();

void Add(HeapAmount amount, HeapAmount* sum) {
  sum->objects += amount.objects;
  sum->bytes += amount.bytes;
}

// Adds an object that was allocated, or that the trace lists as existing.
void AddObject(uint64_t bytes, HeapAmount HeapChanges::*how, HeapChanges* changes) {
  Add({1, bytes}, &(changes->*how));
  Add({1, bytes}, &changes->end);
  changes->peak_bytes = std::max(changes->peak_bytes, changes->end.bytes);
}

void FreeObject(uint64_t bytes, HeapChanges* changes) {
  Add({1, bytes}, &changes->freed);
  --changes->end.objects;
  changes->end.bytes -= bytes;
}

// Returns empty changes that start with the end of `before`.
HeapChanges Following(const HeapChanges& before) {
  HeapChanges changes;
  changes.start = changes.end = before.end;
  changes.peak_bytes = before.end.bytes;
  return changes;
}

// Cuts the window into slices of equal length without knowing its end: when there are too many,
// pairs of slices are joined.
class SliceList {
 public:
  // Sets the values that are known at the end of a slice.
  using Describe = std::function<void(HeapSlice* slice)>;

  explicit SliceList(Describe describe) : describe_(std::move(describe)) {}

  // Begins the first slice.
  void Begin(int64_t begin, const HeapChanges& before) {
    begin_ = current_.begin = begin;
    current_.changes = Following(before);
  }

  // Returns the slice for an event at `time`. An earlier time than before maps to the current
  // slice.
  HeapSlice& At(int64_t time) {
    if (time <= begin_) return current_;
    const auto offset = static_cast<uint64_t>(internal::Between(begin_, time));
    while (offset / length_ >= HeapStats::kMaxSlices) Coarsen();
    while (slices_.size() < offset / length_) Close(EndOfCurrent());
    return current_;
  }

  // Ends the last slice.
  void Finish(int64_t end) {
    At(end);
    Close(end);
  }

  absl::Span<const HeapSlice> slices() const { return slices_; }

 private:
  int64_t EndOfCurrent() const {
    const uint64_t offset = (slices_.size() + 1) * length_;
    return static_cast<int64_t>(static_cast<uint64_t>(begin_) + offset);
  }

  void Close(int64_t end) {
    current_.end = end;
    describe_(&current_);
    slices_.push_back(std::exchange(current_, {}));
    current_.begin = end;
    current_.changes = Following(slices_.back().changes);
  }

  // Adds `first` to `*second`, which follows it.
  static void Join(const HeapSlice& first, HeapSlice* second) {
    second->begin = first.begin;
    second->cycles += first.cycles;
    HeapChanges& changes = second->changes;
    // The second started with the objects at the end of the first, plus the objects listed in it.
    changes.start.objects += first.changes.start.objects - first.changes.end.objects;
    changes.start.bytes += first.changes.start.bytes - first.changes.end.bytes;
    Add(first.changes.allocated, &changes.allocated);
    Add(first.changes.freed, &changes.freed);
    changes.peak_bytes = std::max(changes.peak_bytes, first.changes.peak_bytes);
  }

  void Coarsen() {
    if (slices_.size() % 2 == 1) {
      Join(slices_.back(), &current_);
      slices_.pop_back();
    }
    for (size_t i = 0; i < slices_.size(); i += 2) {
      Join(slices_[i], &slices_[i + 1]);
      slices_[i / 2] = std::move(slices_[i + 1]);
    }
    slices_.resize(slices_.size() / 2);
    length_ *= 2;
  }

  const Describe describe_;
  int64_t begin_ = 0;
  uint64_t length_ = kFirstSliceLength;
  std::vector<HeapSlice> slices_;  // The slices that ended.
  HeapSlice current_;
};

}  // namespace

class HeapStats::Impl {
 public:
  Impl(Interner* interner, EventFilter::Times window) : interner_(*interner), window_(window) {}

  void Begin(int64_t /*trace_start*/, EventFilter::Times window) { window_ = window_.And(window); }
  void Add(const Event& event);
  void AddGoroutine(const GoInterval& interval);
  void Finish(int64_t end);

  bool has_events() const { return has_events_; }
  bool has_start() const { return has_start_; }
  uint64_t duration() const { return static_cast<uint64_t>(internal::Between(begin_, end_)); }
  const HeapChanges& total() const { return total_; }
  absl::Span<const HeapType> types() const { return sorted_types_; }
  absl::Span<const HeapFunction> functions() const { return functions_; }
  absl::Span<const HeapSlice> slices() const {
    return has_events_ ? slices_.slices() : absl::Span<const HeapSlice>();
  }
  absl::Span<const HeapAge> ages() const { return ages_; }
  absl::Span<const HeapSpanClass> span_classes() const { return span_classes_; }
  uint64_t objects_without_span() const { return objects_without_span_; }
  uint64_t unknown_frees() const { return unknown_frees_; }

 private:
  struct Object {
    uint64_t bytes = 0;
    uint32_t type = 0;  // Index in types_.
    uint32_t cycle = kUnknownCycle;
    bool owes_free = false;  // Whether the free of the slot's previous object is still to come.
  };

  // A type, and how many objects were freed at each age.
  struct Type {
    HeapType result;
    std::vector<uint64_t> freed_by_age;
  };

  struct Goroutine {
    StringId name = StringId::kEmpty;
    HeapAmount allocated;
  };

  void BeginWindow(int64_t begin);
  void AddExperimental(const Event& event);
  void AddObject(const Event& event, HeapAmount HeapChanges::*how);
  void FreeObject(const Event& event);
  void FreeObject(const Object& object);
  uint32_t TypeOf(uint64_t id);
  void AddToFunction(const Goroutine& goroutine);
  HeapAge& AgeOf(uint64_t age);
  void DescribeSlice(HeapSlice* slice) const;
  void AddSurvivors();
  void SortTypes();
  void SortFunctions();
  void CountSpans();

  Interner& interner_;
  EventFilter::Times window_;
  bool has_begun_ = false;  // Whether the window has begun.
  int64_t begin_ = 0;
  int64_t end_ = 0;
  bool has_events_ = false;
  bool has_start_ = false;
  HeapSlice* slice_ = nullptr;  // The slice of the current event, if it is in the window.

  HeapLayout layout_;
  absl::flat_hash_map<uint64_t, Object> objects_;   // By the address of the slot.
  absl::flat_hash_map<uint64_t, uint64_t> stacks_;  // Their bytes.
  uint64_t stack_bytes_ = 0;
  uint32_t cycle_ = 0;
  std::optional<uint64_t> heap_metric_;

  absl::flat_hash_map<uint64_t, HeapTypeInfo> generation_types_;
  absl::flat_hash_map<uint64_t, uint32_t> types_by_address_;
  std::vector<Type> types_;
  absl::flat_hash_map<GoId, Goroutine> goroutines_;
  absl::flat_hash_map<StringId, HeapFunction> functions_by_name_;

  HeapChanges total_;
  SliceList slices_{[this](HeapSlice* slice) { DescribeSlice(slice); }};
  std::vector<HeapAge> ages_;
  std::vector<HeapType> sorted_types_;
  std::vector<HeapFunction> functions_;
  std::vector<HeapSpanClass> span_classes_;
  uint64_t objects_without_span_ = 0;
  uint64_t unknown_frees_ = 0;
};

void HeapStats::Impl::BeginWindow(int64_t begin) {
  has_begun_ = true;
  begin_ = begin;
  total_ = Following(total_);
  for (Type& type : types_) {
    static_cast<HeapChanges&>(type.result) = Following(type.result);
    type.result.survived = {};
    type.result.max_age.reset();
    type.freed_by_age.clear();
  }
  ages_.clear();
  for (auto& [id, goroutine] : goroutines_) goroutine.allocated = {};
  functions_by_name_.clear();
  slices_.Begin(begin, total_);
}

void HeapStats::Impl::Add(const Event& event) {
  const int64_t time = event.time();
  if (time > window_.to) return;
  if (!has_begun_ && time >= window_.from) BeginWindow(std::max(time, window_.from));
  slice_ = has_begun_ ? &slices_.At(time) : nullptr;
  switch (event.kind()) {
    case EventKind::kSync:
      internal::ReadHeapBatches(event.sync(), &generation_types_, &layout_.units());
      break;
    case EventKind::kExperimental:
      AddExperimental(event);
      break;
    default:
      if (event.type() == EventType::kGCEnd) {
        cycle_ = std::min(cycle_ + 1, kUnknownCycle - 1);
        if (slice_ != nullptr) ++slice_->cycles;
      } else if (event.type() == EventType::kHeapAlloc) {
        heap_metric_ = event.metric().value;
      }
      break;
  }
}

void HeapStats::Impl::AddExperimental(const Event& event) {
  has_events_ = true;
  switch (event.type()) {
    case EventType::kSpan:
      has_start_ = true;
      return layout_.AddSpan(event);
    case EventType::kSpanAlloc:
      return layout_.AddSpan(event);
    case EventType::kSpanFree:
      return layout_.RemoveSpan(event);
    case EventType::kHeapObject:
      return AddObject(event, &HeapChanges::start);
    case EventType::kHeapObjectAlloc:
      return AddObject(event, &HeapChanges::allocated);
    case EventType::kHeapObjectFree:
      return FreeObject(event);
    case EventType::kGoroutineStack:
    case EventType::kGoroutineStackAlloc: {
      // The order is the number of bits of the size, which is a power of two.
      const uint64_t order = event.arg(1);
      const uint64_t bytes = order >= 1 && order <= 64 ? uint64_t{1} << (order - 1) : 0;
      stack_bytes_ += bytes - std::exchange(stacks_[event.arg(0)], bytes);
      return;
    }
    case EventType::kGoroutineStackFree: {
      const auto found = stacks_.find(event.arg(0));
      if (found == stacks_.end()) return;
      stack_bytes_ -= found->second;
      stacks_.erase(found);
      return;
    }
    default:
      return;
  }
}

// Returns the index of the type with an id of the generation.
uint32_t HeapStats::Impl::TypeOf(uint64_t id) {
  const auto known = generation_types_.find(id);
  const HeapTypeInfo info = known == generation_types_.end() ? HeapTypeInfo() : known->second;
  const auto [found, is_new] =
      types_by_address_.try_emplace(info.address, static_cast<uint32_t>(types_.size()));
  if (is_new) {
    HeapType& type = types_.emplace_back().result;
    type.address = info.address;
    type.name = interner_.InternString(info.name);
  }
  return found->second;
}

void HeapStats::Impl::AddObject(const Event& event, HeapAmount HeapChanges::*how) {
  const bool is_allocated = how == &HeapChanges::allocated;
  const HeapSlot slot = layout_.FindSlot(event.arg(0));
  const auto [found, is_new] = objects_.try_emplace(slot.address);
  Object& object = found->second;
  if (!is_new) {
    if (!is_allocated) return;  // It is known already.
    if (slot.span != nullptr && slot.span->HasTinyObjects()) return;
    FreeObject(object);  // The event that freed the old object is late, or missing.
  }
  if (slot.span == nullptr) ++objects_without_span_;
  const uint64_t bytes = slot.span == nullptr ? 0 : slot.span->SlotBytes();
  object = {bytes, TypeOf(event.arg(1)), is_allocated ? cycle_ : kUnknownCycle, !is_new};
  gotrace::AddObject(bytes, how, &total_);
  gotrace::AddObject(bytes, how, &types_[object.type].result);
  if (slice_ != nullptr) gotrace::AddObject(bytes, how, &slice_->changes);
  if (is_allocated) gotrace::Add({1, bytes}, &goroutines_[event.goroutine()].allocated);
}

void HeapStats::Impl::FreeObject(const Event& event) {
  const auto found = objects_.find(layout_.FindSlot(event.arg(0)).address);
  if (found == objects_.end()) {
    ++unknown_frees_;
    return;
  }
  // An object that was allocated in a cycle is not freed in it.
  Object& object = found->second;
  if (std::exchange(object.owes_free, false) && object.cycle == cycle_) return;
  FreeObject(object);
  objects_.erase(found);
}

void HeapStats::Impl::FreeObject(const Object& object) {
  Type& type = types_[object.type];
  gotrace::FreeObject(object.bytes, &total_);
  gotrace::FreeObject(object.bytes, &type.result);
  if (slice_ != nullptr) gotrace::FreeObject(object.bytes, &slice_->changes);
  if (object.cycle == kUnknownCycle) return;
  const HeapAmount amount = {1, object.bytes};
  const uint64_t age = cycle_ - object.cycle;
  gotrace::Add(amount, &AgeOf(age).freed);
  if (age >= 2) gotrace::Add(amount, &type.result.survived);
  type.result.max_age = std::max(type.result.max_age.value_or(0), age);
  const uint64_t index = std::min(age, kMaxAge);
  if (type.freed_by_age.size() <= index) type.freed_by_age.resize(index + 1);
  ++type.freed_by_age[index];
}

HeapAge& HeapStats::Impl::AgeOf(uint64_t age) {
  const uint64_t index = std::min(age, kMaxAge);
  if (ages_.size() <= index) ages_.resize(index + 1);
  return ages_[index];
}

void HeapStats::Impl::AddGoroutine(const GoInterval& interval) {
  const auto found = goroutines_.find(interval.goroutine);
  if (found == goroutines_.end()) return;
  Goroutine& goroutine = found->second;
  if (goroutine.name == StringId::kEmpty) {
    goroutine.name = interner_.RootFunctionId(interval.stack);
  }
  if (!interval.ends_life) return;
  AddToFunction(goroutine);
  goroutines_.erase(found);
}

void HeapStats::Impl::AddToFunction(const Goroutine& goroutine) {
  if (goroutine.allocated.objects == 0) return;
  HeapFunction& function = functions_by_name_[goroutine.name];
  function.name = goroutine.name;
  ++function.goroutines;
  gotrace::Add(goroutine.allocated, &function.allocated);
}

void HeapStats::Impl::DescribeSlice(HeapSlice* slice) const {
  slice->span_bytes = layout_.object_span_bytes();
  slice->stacks = stacks_.size();
  slice->stack_bytes = stack_bytes_;
  slice->heap_metric = heap_metric_;
  for (const Type& type : types_) {
    const HeapType& result = type.result;
    if (result.end.bytes > 0) {
      slice->types.push_back({result.address, result.name, result.end.bytes});
    }
  }
  const auto middle = slice->types.begin() +
                      static_cast<ptrdiff_t>(std::min(HeapStats::kSliceTypes, slice->types.size()));
  std::partial_sort(slice->types.begin(), middle, slice->types.end(),
                    [](const HeapTypeBytes& a, const HeapTypeBytes& b) {
                      return a.bytes != b.bytes ? a.bytes > b.bytes : a.address < b.address;
                    });
  slice->types.erase(middle, slice->types.end());
}

void HeapStats::Impl::AddSurvivors() {
  for (const auto& [address, object] : objects_) {
    if (object.cycle == kUnknownCycle) continue;
    const HeapAmount amount = {1, object.bytes};
    const uint64_t age = cycle_ - object.cycle;
    gotrace::Add(amount, &AgeOf(age).end);
    if (age >= 1) gotrace::Add(amount, &types_[object.type].result.survived);
  }
}

void HeapStats::Impl::SortTypes() {
  for (Type& type : types_) {
    HeapType& result = type.result;
    if (result.start.objects == 0 && result.allocated.objects == 0) continue;
    uint64_t freed = 0;
    for (const uint64_t objects : type.freed_by_age) freed += objects;
    uint64_t younger = 0;
    for (size_t age = 0; age < type.freed_by_age.size(); ++age) {
      younger += type.freed_by_age[age];
      if (freed == 0 || younger < freed - younger) continue;
      result.median_age = age;
      break;
    }
    sorted_types_.push_back(result);
  }
  absl::c_sort(sorted_types_, [this](const HeapType& a, const HeapType& b) {
    const auto key = [this](const HeapType& type) {
      return std::pair(interner_.String(type.name), type.address);
    };
    return key(a) < key(b);
  });
}

void HeapStats::Impl::SortFunctions() {
  for (const auto& [id, goroutine] : goroutines_) AddToFunction(goroutine);
  for (const auto& [name, function] : functions_by_name_) functions_.push_back(function);
  absl::c_sort(functions_, [this](const HeapFunction& a, const HeapFunction& b) {
    return interner_.String(a.name) < interner_.String(b.name);
  });
}

void HeapStats::Impl::CountSpans() {
  std::map<std::tuple<HeapSpanUse, uint64_t, bool>, HeapSpanClass> classes;
  const auto class_of = [&](const HeapSpan& span) -> HeapSpanClass& {
    const HeapSpanUse use = span.size_class == HeapSpan::kLarge    ? HeapSpanUse::kLarge
                            : span.size_class == HeapSpan::kManual ? HeapSpanUse::kManual
                                                                   : HeapSpanUse::kSmall;
    const uint64_t slot_bytes = use == HeapSpanUse::kSmall ? span.SlotBytes() : 0;
    HeapSpanClass& one = classes[{use, slot_bytes, span.has_pointers}];
    one.use = use;
    one.slot_bytes = slot_bytes;
    one.has_pointers = span.has_pointers;
    return one;
  };
  for (const auto& [page, span] : layout_.spans()) {
    HeapSpanClass& one = class_of(span);
    ++one.spans;
    one.bytes += span.bytes;
    one.slots += span.Slots();
  }
  for (const auto& [address, object] : objects_) {
    const HeapSlot slot = layout_.FindSlotAt(address);
    // In a damaged trace, the span may have been missing earlier.
    if (slot.span == nullptr || slot.address != address) continue;
    gotrace::Add({1, slot.span->SlotBytes()}, &class_of(*slot.span).used);
  }
  for (const auto& [id, bytes] : stacks_) {
    const HeapSpan* const span = layout_.FindSpanOfStack(id);
    if (span == nullptr || span->size_class != HeapSpan::kManual) continue;
    gotrace::Add({1, bytes}, &class_of(*span).used);
  }
  for (const auto& [key, one] : classes) span_classes_.push_back(one);
}

void HeapStats::Impl::Finish(int64_t end) {
  if (!has_begun_) BeginWindow(std::max(end, window_.from));
  end_ = std::max(begin_, end);
  if (!has_events_) return;
  slices_.Finish(end_);
  AddSurvivors();
  SortTypes();
  SortFunctions();
  CountSpans();
}

HeapStats::HeapStats(Interner* interner, EventFilter::Times window)
    : impl_(std::make_unique<Impl>(interner, window)) {}
HeapStats::~HeapStats() = default;
void HeapStats::Begin(int64_t trace_start, EventFilter::Times window) {
  impl_->Begin(trace_start, window);
}
void HeapStats::AddEvents(absl::Span<const Event> events) {
  for (const Event& event : events) impl_->Add(event);
}
void HeapStats::AddGoroutine(const GoInterval& interval) { impl_->AddGoroutine(interval); }
void HeapStats::Finish(int64_t end) { impl_->Finish(end); }
bool HeapStats::has_events() const { return impl_->has_events(); }
bool HeapStats::has_start() const { return impl_->has_start(); }
uint64_t HeapStats::duration() const { return impl_->duration(); }
const HeapChanges& HeapStats::total() const { return impl_->total(); }
absl::Span<const HeapType> HeapStats::types() const { return impl_->types(); }
absl::Span<const HeapFunction> HeapStats::functions() const { return impl_->functions(); }
absl::Span<const HeapSlice> HeapStats::slices() const { return impl_->slices(); }
absl::Span<const HeapAge> HeapStats::ages() const { return impl_->ages(); }
absl::Span<const HeapSpanClass> HeapStats::span_classes() const { return impl_->span_classes(); }
uint64_t HeapStats::objects_without_span() const { return impl_->objects_without_span(); }
uint64_t HeapStats::unknown_frees() const { return impl_->unknown_frees(); }

}  // namespace gotrace
