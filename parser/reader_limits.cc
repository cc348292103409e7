#include "parser/reader_limits.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gotrace {
namespace {

struct LimitRow {
  FaultId fault;
  absl::string_view name;
  uint64_t ReaderLimits::*value;
  absl::string_view what;  // That there may be at most so many of.
};

constexpr LimitRow kRows[] = {
    {FaultId::kLimitGenerationBytes, "generation-bytes", &ReaderLimits::generation_bytes,
     "bytes in a generation"},
    {FaultId::kLimitThreads, "threads", &ReaderLimits::threads, "threads in a generation"},
    {FaultId::kLimitProcs, "procs", &ReaderLimits::procs, "Ps"},
    {FaultId::kLimitGoroutines, "goroutines", &ReaderLimits::goroutines,
     "live goroutines in a trace with generations of this size"},
    {FaultId::kLimitNesting, "nesting", &ReaderLimits::nesting,
     "tasks, regions and ranges open at a time"},
    {FaultId::kLimitDecompressedBytes, "decompressed-bytes", &ReaderLimits::decompressed_bytes,
     "bytes in what the compressed input stands for"},
};

const LimitRow* RowOf(FaultId id) {
  for (const LimitRow& row : kRows) {
    if (row.fault == id) return &row;
  }
  return nullptr;
}

}  // namespace

uint64_t* FindLimit(absl::string_view name, ReaderLimits* limits) {
  for (const LimitRow& row : kRows) {
    if (row.name == name) return &(limits->*row.value);
  }
  return nullptr;
}

std::string LimitNames() {
  return absl::StrJoin(kRows, ", ", [](std::string* names, const LimitRow& row) {
    absl::StrAppend(names, row.name);
  });
}

bool IsLimit(FaultId id) { return RowOf(id) != nullptr; }

uint64_t LimitOf(FaultId id, const ReaderLimits& limits) { return limits.*RowOf(id)->value; }

std::string LimitMessage(FaultId id, uint64_t limit, uint64_t allowed) {
  const LimitRow& row = *RowOf(id);
  return absl::StrCat("expected at most ", allowed, " ", row.what, ", found more; the limit ",
                      row.name, " is ", limit,
                      ": if the trace can be trusted, raise it with --limits=", row.name,
                      "=N or ReaderOptions::limits");
}

}  // namespace gotrace
