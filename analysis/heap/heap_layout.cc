#include "analysis/heap/heap_layout.h"

#include <iterator>
#include <utility>

#include "gotrace/event_type.h"
#include "tracev2/varint.h"

namespace gotrace::internal {
namespace {

// The kinds of batches, by their first byte.
constexpr char kTypesBatch = 0;
constexpr char kUnitsBatch = 1;

// The sizes of the slots of each size class. They are the same in all versions of Go that write
// these events.
constexpr uint16_t kSlotBytes[] = {
    0,     8,     16,    24,    32,    48,    64,    80,    96,    112,   128,   144,
    160,   176,   192,   208,   224,   240,   256,   288,   320,   352,   384,   416,
    448,   480,   512,   576,   640,   704,   768,   896,   1024,  1152,  1280,  1408,
    1536,  1792,  2048,  2304,  2688,  3072,  3200,  3456,  4096,  4864,  5376,  6144,
    6528,  6784,  6912,  8192,  9472,  9728,  10240, 10880, 12288, 13568, 14336, 16384,
    18432, 19072, 20480, 21760, 24576, 27264, 28672, 32768,
};
static_assert(std::size(kSlotBytes) == HeapSpan::kManual);

constexpr uint8_t kTinyClass = 2;

// For objects of at most this size with pointers, a bitmap at the end of the span marks the
// pointers: one bit for each word.
constexpr uint64_t kMaxBytesWithBitmap = 512;
constexpr uint64_t kBytesPerBitmapByte = 64;

// Reads numbers and texts from a batch, until it ends or is broken.
class BatchReader {
 public:
  explicit BatchReader(absl::string_view data) : pos_(data.data()), end_(pos_ + data.size()) {}

  bool TakeNumber(uint64_t* number) {
    const char* const next = ReadVarint(pos_, end_, number);
    if (next == nullptr) return false;
    pos_ = next;
    return true;
  }

  bool TakeText(uint64_t size, absl::string_view* text) {
    if (size > static_cast<uint64_t>(end_ - pos_)) return false;
    *text = absl::string_view(pos_, size);
    pos_ += size;
    return true;
  }

 private:
  const char* pos_;
  const char* const end_;
};

void ReadTypes(absl::string_view data, absl::flat_hash_map<uint64_t, HeapTypeInfo>* types) {
  BatchReader reader(data);
  uint64_t id = 0;
  uint64_t value_bytes = 0;
  uint64_t pointer_bytes = 0;
  uint64_t name_size = 0;
  HeapTypeInfo type;
  while (reader.TakeNumber(&id) && reader.TakeNumber(&type.address) &&
         reader.TakeNumber(&value_bytes) && reader.TakeNumber(&pointer_bytes) &&
         reader.TakeNumber(&name_size) && reader.TakeText(name_size, &type.name)) {
    types->try_emplace(id, type);
  }
}

void ReadUnits(absl::string_view data, HeapUnits* units) {
  BatchReader reader(data);
  uint64_t lowest = 0;
  HeapUnits read;
  if (reader.TakeNumber(&lowest) && reader.TakeNumber(&read.page) &&
      reader.TakeNumber(&read.object) && reader.TakeNumber(&read.stack) && read.page > 0) {
    read.lowest = lowest;
    *units = read;
  }
}

}  // namespace

void ReadHeapBatches(const Sync& sync, absl::flat_hash_map<uint64_t, HeapTypeInfo>* types,
                     HeapUnits* units) {
  types->clear();
  for (const ExperimentalData& data : sync.experimental_batches) {
    if (data.experiment != static_cast<uint64_t>(Experiment::kAllocFree)) continue;
    for (const ExperimentalBatch& batch : data.batches) {
      if (batch.data.empty()) continue;
      const absl::string_view rest = batch.data.substr(1);
      if (batch.data[0] == kTypesBatch) ReadTypes(rest, types);
      if (batch.data[0] == kUnitsBatch) ReadUnits(rest, units);
    }
  }
}

uint64_t HeapSpan::SlotBytes() const {
  if (size_class == kManual) return 0;
  return size_class == kLarge ? bytes : kSlotBytes[size_class];
}

bool HeapSpan::HasTinyObjects() const { return size_class == kTinyClass && !has_pointers; }

uint64_t HeapSpan::Slots() const {
  if (size_class == kManual) return 0;
  if (size_class == kLarge) return 1;
  const bool has_bitmap = has_pointers && SlotBytes() <= kMaxBytesWithBitmap;
  return (has_bitmap ? bytes - bytes / kBytesPerBitmapByte : bytes) / SlotBytes();
}

void HeapLayout::AddSpan(const Event& event) {
  HeapSpan span;
  span.owes_free = Remove(event.arg(0));
  span.bytes = event.arg(1) * units_.page;
  // The lowest bit means that there are no objects, the next one that objects have no pointers.
  const uint64_t kind_and_class = event.arg(2);
  if ((kind_and_class & 1) == 0 && kind_and_class >> 2 < HeapSpan::kManual) {
    span.size_class = static_cast<uint8_t>(kind_and_class >> 2);
    span.has_pointers = (kind_and_class & 2) == 0;
    object_span_bytes_ += span.bytes;
  }
  spans_.emplace(event.arg(0), span);
}

void HeapLayout::RemoveSpan(const Event& event) {
  const auto found = spans_.find(event.arg(0));
  if (found != spans_.end() && std::exchange(found->second.owes_free, false)) return;
  Remove(event.arg(0));
}

bool HeapLayout::Remove(uint64_t page) {
  const auto found = spans_.find(page);
  if (found == spans_.end()) return false;
  if (found->second.size_class != HeapSpan::kManual) object_span_bytes_ -= found->second.bytes;
  spans_.erase(found);
  return true;
}

HeapLayout::Place HeapLayout::Find(uint64_t address) const {
  const auto after = spans_.upper_bound(address / units_.page);
  if (after == spans_.begin()) return {};
  const auto& [page, span] = *std::prev(after);
  const uint64_t offset = address - page * units_.page;
  return offset < span.bytes ? Place{&span, offset} : Place{};
}

HeapSlot HeapLayout::FindSlotAt(uint64_t address) const {
  const Place place = Find(address);
  if (place.span == nullptr || place.span->Slots() == 0) return {nullptr, address};
  const uint64_t slot_bytes = place.span->SlotBytes();
  if (place.offset / slot_bytes >= place.span->Slots()) return {nullptr, address};
  return {place.span, address - place.offset % slot_bytes};
}

const HeapSpan* HeapLayout::FindSpanOfStack(uint64_t id) const {
  return Find(id * units_.stack).span;
}

}  // namespace gotrace::internal
