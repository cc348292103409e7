#include "gotrace/reader_limits.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gotrace {
namespace {

constexpr LimitSpec kSpecs[] = {
    {FaultId::kLimitGenerationBytes, "generation-bytes", &ReaderLimits::generation_bytes,
     "bytes in a generation"},
    {FaultId::kLimitThreads, "threads", &ReaderLimits::threads, "threads in a generation"},
    {FaultId::kLimitProcs, "procs", &ReaderLimits::procs, "Ps"},
    {FaultId::kLimitGoroutines, "goroutines", &ReaderLimits::goroutines, "live goroutines",
     " in a trace with generations of this size"},
    {FaultId::kLimitNesting, "nesting", &ReaderLimits::nesting,
     "tasks, regions and ranges open at a time"},
    {FaultId::kLimitDecompressedBytes, "decompressed-bytes", &ReaderLimits::decompressed_bytes,
     "bytes after decompression"},
};

const LimitSpec* SpecOf(FaultId id) {
  for (const LimitSpec& spec : kSpecs) {
    if (spec.fault == id) return &spec;
  }
  return nullptr;
}

}  // namespace

absl::Span<const LimitSpec> AllLimits() { return kSpecs; }

uint64_t* FindLimit(absl::string_view name, ReaderLimits* limits) {
  for (const LimitSpec& spec : kSpecs) {
    if (spec.name == name) return &(limits->*spec.value);
  }
  return nullptr;
}

std::string LimitNames() {
  return absl::StrJoin(kSpecs, ", ", [](std::string* names, const LimitSpec& spec) {
    absl::StrAppend(names, spec.name);
  });
}

bool IsLimit(FaultId id) { return SpecOf(id) != nullptr; }

uint64_t LimitOf(FaultId id, const ReaderLimits& limits) { return limits.*SpecOf(id)->value; }

std::string LimitMessage(FaultId id, uint64_t limit, uint64_t allowed) {
  const LimitSpec& spec = *SpecOf(id);
  return absl::StrCat("expected at most ", allowed, " ", spec.what, spec.scope,
                      ", found more; the limit ", spec.name, " is ", limit);
}

}  // namespace gotrace
