#include "parser/table_use.h"

#include "parser/batch_decoder.h"

namespace gotrace {
namespace {

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
  if (tables->serial() != serial_) {
    serial_ = tables->serial();
    strings_.assign(tables->string_count(), false);
    stacks_.assign(tables->stack_count(), false);
  }
  // A sample is given with its stack alone.
  if (event.type_ == EventType::kCPUSample)
    return Mark(tables->StackIndex(event.args_[0]), &stacks_);
  const TimedEventRow& row = kTimedEventRows[static_cast<uint8_t>(event.type_)];
  for (int i = 0; i + 1 < row.varints; ++i) {
    const uint64_t id = event.args_[i];
    if (row.tables[i] == IdTableKind::kString) Mark(tables->StringIndex(id), &strings_);
    if (row.tables[i] == IdTableKind::kStack) Mark(tables->StackIndex(id), &stacks_);
  }
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
