#include "parser/generation/table_use.h"

namespace gotrace::internal {
namespace {

TableUse::Unused CountUnused(const std::vector<bool>& used) {
  TableUse::Unused unused;
  unused.all = used.size();
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) continue;
    ++unused.count;
    unused.last_index = static_cast<uint32_t>(i);
  }
  return unused;
}

}  // namespace

void TableUse::Ids::Begin(uint64_t last_near, size_t count) {
  end_ = last_near + 1;
  noted_ = std::make_unique<bool[]>(end_ + 1);
  far_.assign(count, false);
}

template <class IndexOf>
std::vector<bool> TableUse::Ids::Used(const IndexOf& index_of) const {
  std::vector<bool> used = far_;
  for (uint64_t id = 1; id < end_; ++id) {
    if (!noted_[id]) continue;
    // What is missing has no place, or one behind all that stand in the trace.
    if (const uint32_t index = index_of(id); index < used.size()) used[index] = true;
  }
  return used;
}

void TableUse::Begin(const GenerationTables& tables) {
  strings_.Begin(tables.last_near_string(), tables.string_count());
  stacks_.Begin(tables.last_near_stack(), tables.stack_count());
}

void TableUse::NoteSamples(const GenerationTables& tables) {
  for (const CpuSample& sample : tables.cpu_samples()) {
    stacks_.NoteFar(sample.stack, tables.StackIndex(sample.stack));
  }
}

TableUse::Unused TableUse::UnusedStrings(const GenerationTables& tables) const {
  std::vector<bool> used = strings_.Used([&tables](uint64_t id) { return tables.StringIndex(id); });
  const size_t size = used.size();
  used.resize(tables.string_count());
  tables.MarkFrameStrings(&used);
  used.resize(size);
  return CountUnused(used);
}

TableUse::Unused TableUse::UnusedStacks(const GenerationTables& tables) const {
  return CountUnused(stacks_.Used([&tables](uint64_t id) { return tables.StackIndex(id); }));
}

}  // namespace gotrace::internal
