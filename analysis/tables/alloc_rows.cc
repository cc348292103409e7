#include "analysis/tables/alloc_rows.h"

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "analysis/tables/row_values.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"

namespace gotrace::internal {

void AllocRows::Add(const Event& event) {
  if (!output_.Has(TableId::kAllocs)) return;
  if (event.kind() == EventKind::kSync) {
    ReadHeapBatches(event.sync(), &types_, &layout_.units());
    return;
  }
  AllocsRow row;
  absl::string_view what = EventTypeName(event.type());
  absl::string_view op = "exists";
  if (absl::ConsumeSuffix(&what, "Alloc")) {
    op = "alloc";
  } else if (absl::ConsumeSuffix(&what, "Free")) {
    op = "free";
  }
  row.time_ns = event.time();
  row.what = interner_.InternString(what);
  row.op = interner_.InternString(op);
  row.id = event.arg(0);
  row.g = IdOrNull(event.goroutine());
  row.p = IdOrNull(event.proc());
  row.m = IdOrNull(event.thread());
  switch (event.type()) {
    case EventType::kSpan:
    case EventType::kSpanAlloc:
    case EventType::kSpanFree:
      FillSpan(event, &row);
      break;
    case EventType::kHeapObject:
    case EventType::kHeapObjectAlloc:
    case EventType::kHeapObjectFree:
      FillObject(event, &row);
      break;
    case EventType::kGoroutineStack:
    case EventType::kGoroutineStackAlloc:
    case EventType::kGoroutineStackFree:
      FillStack(event, &row);
      break;
    default:
      return;
  }
  output_.Add(row);
}

void AllocRows::FillSpan(const Event& event, AllocsRow* row) {
  const HeapUnits& units = layout_.units();
  if (units.lowest.has_value()) row->address = *units.lowest + row->id * units.page;
  if (event.type() == EventType::kSpanFree) {
    const auto span = layout_.spans().find(row->id);
    if (span != layout_.spans().end()) row->bytes = static_cast<int64_t>(span->second.bytes);
    layout_.RemoveSpan(event);
    return;
  }
  row->pages = static_cast<int64_t>(event.arg(1));
  row->kind_class = static_cast<int64_t>(event.arg(2));
  row->bytes = static_cast<int64_t>(event.arg(1) * units.page);
  layout_.AddSpan(event);
}

void AllocRows::FillObject(const Event& event, AllocsRow* row) {
  const HeapUnits& units = layout_.units();
  if (units.lowest.has_value()) row->address = *units.lowest + row->id * units.object;
  const HeapSlot slot = layout_.FindSlot(row->id);
  if (slot.span != nullptr) row->bytes = static_cast<int64_t>(slot.span->SlotBytes());
  if (event.type() == EventType::kHeapObjectFree) return;
  const auto type = types_.find(event.arg(1));
  if (type != types_.end()) row->type = NameOrNull(interner_.InternString(type->second.name));
}

void AllocRows::FillStack(const Event& event, AllocsRow* row) {
  const HeapUnits& units = layout_.units();
  if (units.lowest.has_value()) row->address = *units.lowest + row->id * units.stack;
  if (event.type() == EventType::kGoroutineStackFree) return;
  const uint64_t order = event.arg(1);
  row->stack_order = static_cast<int64_t>(order);
  if (order >= 1 && order < 64) row->bytes = int64_t{1} << (order - 1);
}

}  // namespace gotrace::internal
