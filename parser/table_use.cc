#include "parser/table_use.h"

#include <array>
#include <cstddef>

#include "parser/batch_decoder.h"

namespace gotrace {
namespace {

// Which of an event's arguments are ids of strings or of stacks.
struct alignas(16) IdArgs {
  uint8_t count = 0;
  uint8_t args[kMaxTimedArgs - 1] = {};
  bool is_stack[kMaxTimedArgs - 1] = {};
};

// By type on the wire.
constexpr std::array<IdArgs, 256> kIdArgs = [] {
  std::array<IdArgs, 256> all = {};
  for (size_t type = 0; type < all.size(); ++type) {
    const TimedEventRow& row = kTimedEventRows[type];
    for (uint8_t arg = 0; arg + 1 < row.varints; ++arg) {
      if (row.tables[arg] == IdTableKind::kNone) continue;
      all[type].is_stack[all[type].count] = row.tables[arg] == IdTableKind::kStack;
      all[type].args[all[type].count++] = arg;
    }
  }
  // A sample is given with its stack alone.
  all[static_cast<size_t>(EventType::kCPUSample)] = {1, {0}, {true}};
  return all;
}();

void Mark(uint32_t index, std::vector<bool>* used) {
  // What was found missing meanwhile stands behind what the tables had.
  if (index < used->size()) (*used)[index] = true;
}

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

void TableUse::Take(const Event& event) {
  const GenerationTables* const tables = event.tables_;
  if (tables == nullptr) return;
  if (tables->serial() != serial_) Begin(*tables);
  const IdArgs& ids = kIdArgs[static_cast<uint8_t>(event.tags_.type)];
  for (int i = 0; i < ids.count; ++i) {
    const uint64_t id = event.args_[ids.args[i]];
    if (!seen_[ids.is_stack[i]].Has(id)) MarkNew(*tables, ids.is_stack[i], id);
  }
}

void TableUse::Begin(const GenerationTables& tables) {
  serial_ = tables.serial();
  strings_.assign(tables.string_count(), false);
  stacks_.assign(tables.stack_count(), false);
  for (IdSet& seen : seen_) seen.Clear();
}

void TableUse::MarkNew(const GenerationTables& tables, bool is_stack, uint64_t id) {
  if (is_stack) {
    Mark(tables.StackIndex(id), &stacks_);
  } else {
    Mark(tables.StringIndex(id), &strings_);
  }
  seen_[is_stack].Add(id);
}

// The bits of `tables`, of which no event may have been taken at all, without what was added as
// missing.
std::vector<bool> TableUse::UsedIn(const GenerationTables& tables, const std::vector<bool>& used,
                                   size_t count) const {
  return tables.serial() == serial_ ? used : std::vector<bool>(count);
}

TableUse::Unused TableUse::UnusedStrings(const GenerationTables& tables) const {
  std::vector<bool> used = UsedIn(tables, strings_, tables.string_count());
  const size_t size = used.size();
  used.resize(tables.string_count());
  tables.MarkFrameStrings(&used);
  used.resize(size);
  return CountUnused(used);
}

TableUse::Unused TableUse::UnusedStacks(const GenerationTables& tables) const {
  return CountUnused(UsedIn(tables, stacks_, tables.stack_count()));
}

}  // namespace gotrace
