#include "parser/table_use.h"

#include <array>
#include <cstddef>

#include "parser/batch_decoder.h"

namespace gotrace {
namespace {

// Which of an event's arguments are ids of strings or of stacks.
struct alignas(8) IdArgs {
  // The first of each kind, -1 if there is none.
  int8_t string = -1;
  int8_t stack = -1;
  // Those after them, which few types have.
  uint8_t others = 0;
  uint8_t args[kMaxTimedArgs - 2] = {};
};

// By type on the wire.
constexpr std::array<IdArgs, 256> kIdArgs = [] {
  std::array<IdArgs, 256> all = {};
  for (size_t type = 0; type < all.size(); ++type) {
    const TimedEventRow& row = kTimedEventRows[type];
    IdArgs ids;
    for (int8_t arg = 0; arg + 1 < row.varints; ++arg) {
      if (row.tables[arg] == IdTableKind::kNone) continue;
      const bool is_stack = row.tables[arg] == IdTableKind::kStack;
      if (is_stack && ids.stack < 0) {
        ids.stack = arg;
      } else if (!is_stack && ids.string < 0) {
        ids.string = arg;
      } else {
        ids.args[ids.others++] = static_cast<uint8_t>(arg);
      }
    }
    all[type] = ids;
  }
  // A sample is given with its stack alone.
  all[static_cast<size_t>(EventType::kCPUSample)].stack = 0;
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

[[gnu::always_inline]] inline void TableUse::TakeOne(const Event& event) {
  const uint8_t type = static_cast<uint8_t>(event.tags_.type);
  const IdArgs& ids = kIdArgs[type];
  // No branches by the type, which comes in no order that a processor could foresee: what is not
  // there counts as 0, which was seen.
  const auto id_at = [&](int8_t arg) {
    return event.args_[arg & 3] & ~static_cast<uint64_t>(arg >> 7);
  };
  See(event, /*is_stack=*/false, id_at(ids.string));
  See(event, /*is_stack=*/true, id_at(ids.stack));
  for (int i = 0; i < ids.others; ++i) {
    const uint8_t arg = ids.args[i];
    See(event, kTimedEventRows[type].tables[arg] == IdTableKind::kStack, event.args_[arg]);
  }
}

void TableUse::Take(absl::Span<const Event> events) {
  const GenerationTables* tables = nullptr;
  for (const Event& event : events) {
    if (event.tables_ != tables) [[unlikely]] {
      tables = event.tables_;
      if (tables != nullptr && tables->serial() != serial_) Begin(*tables);
    }
    if (tables != nullptr) [[likely]]
      TakeOne(event);
  }
}

void TableUse::Begin(const GenerationTables& tables) {
  serial_ = tables.serial();
  strings_.assign(tables.string_count(), false);
  stacks_.assign(tables.stack_count(), false);
  for (IdSet& seen : seen_) {
    seen.Clear();
    // Stands for the empty string and for no stack.
    seen.Add(0);
  }
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
