// The table `allocs`.
#ifndef GOTRACE_ANALYSIS_TABLES_ALLOC_ROWS_H_
#define GOTRACE_ANALYSIS_TABLES_ALLOC_ROWS_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "analysis/heap/heap_layout.h"
#include "analysis/tables/table_rows.h"
#include "gotrace/event.h"
#include "gotrace/interner.h"

namespace gotrace::internal {

class AllocRows {
 public:
  // The objects must outlive this one.
  AllocRows(Interner* interner, TableOutput* output) : interner_(*interner), output_(*output) {}

  // Adds a kSync or kExperimental event.
  void Add(const Event& event);

 private:
  void FillSpan(const Event& event, AllocsRow* row);
  void FillObject(const Event& event, AllocsRow* row);
  void FillStack(const Event& event, AllocsRow* row);

  Interner& interner_;
  TableOutput& output_;
  HeapLayout layout_;
  absl::flat_hash_map<uint64_t, HeapTypeInfo> types_;  // Of the generation.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_TABLES_ALLOC_ROWS_H_
