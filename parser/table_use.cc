#include "parser/table_use.h"

#include <array>

#include "tracev2/event_spec.h"

namespace gotrace {
namespace {

// Which of an event's arguments are ids, as bits by their place without the time difference.
struct IdArgs {
  uint8_t strings = 0;
  uint8_t stacks = 0;
};

std::array<IdArgs, 256> MakeIdArgs() {
  std::array<IdArgs, 256> all = {};
  for (const EventSpec& spec : AllEventSpecs()) {
    if (!spec.timed()) continue;
    IdArgs& args = all[static_cast<uint8_t>(spec.type)];
    for (int i = 1; i < spec.arg_count; ++i) {
      const uint8_t bit = static_cast<uint8_t>(1u << (i - 1));
      if (spec.arg_types[i] == ArgType::kString) args.strings |= bit;
      if (spec.arg_types[i] == ArgType::kStack) args.stacks |= bit;
    }
  }
  // A sample is given with its stack alone.
  all[static_cast<uint8_t>(EventType::kCPUSample)].stacks = 1;
  return all;
}

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
  static const std::array<IdArgs, 256> kIdArgs = MakeIdArgs();
  const GenerationTables* const tables = event.tables_;
  if (tables == nullptr) return;
  if (tables->serial() != serial_) {
    serial_ = tables->serial();
    strings_.assign(tables->string_count(), false);
    stacks_.assign(tables->stack_count(), false);
  }
  const IdArgs args = kIdArgs[static_cast<uint8_t>(event.type_)];
  for (unsigned i = 0, left = args.strings; left != 0; ++i, left >>= 1) {
    if ((left & 1) != 0) Mark(tables->StringIndex(event.args_[i]), &strings_);
  }
  for (unsigned i = 0, left = args.stacks; left != 0; ++i, left >>= 1) {
    if ((left & 1) != 0) Mark(tables->StackIndex(event.args_[i]), &stacks_);
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
