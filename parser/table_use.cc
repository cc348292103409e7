#include "parser/table_use.h"

namespace gotrace {
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

void TableUse::Ids::Begin(uint64_t gapless, size_t count) {
  end_ = gapless + 1;
  noted_ = std::make_unique<bool[]>(end_ + 1);
  far_.assign(count, false);
}

void TableUse::Begin(const GenerationTables& tables) {
  strings_.Begin(tables.gapless_strings(), tables.string_count());
  stacks_.Begin(tables.gapless_stacks(), tables.stack_count());
}

void TableUse::NoteSamples(const GenerationTables& tables) {
  for (const CpuSample& sample : tables.cpu_samples()) {
    stacks_.NoteFar(sample.stack, tables.StackIndex(sample.stack));
  }
}

TableUse::Unused TableUse::UnusedStrings(const GenerationTables& tables) const {
  std::vector<bool> used = strings_.far_;
  for (uint64_t id = 1; id < strings_.end_; ++id) {
    if (strings_.noted_[id]) used[tables.StringIndex(id)] = true;
  }
  const size_t size = used.size();
  used.resize(tables.string_count());
  tables.MarkFrameStrings(&used);
  used.resize(size);
  return CountUnused(used);
}

TableUse::Unused TableUse::UnusedStacks(const GenerationTables& tables) const {
  std::vector<bool> used = stacks_.far_;
  for (uint64_t id = 1; id < stacks_.end_; ++id) {
    if (stacks_.noted_[id]) used[tables.StackIndex(id)] = true;
  }
  return CountUnused(used);
}

}  // namespace gotrace
