#include "rewrite/event_translator.h"

#include "parser/event/event_access.h"

namespace gotrace::internal {
namespace {

// Of events that refer to no string or stack.
class NoTables final : public EventTables {};

}  // namespace

const EventTables& TablesOf(const Event& event) {
  static const EventTables& none = *new NoTables();
  const EventTables* const tables = EventAccess::Tables(event);
  return tables == nullptr ? none : *tables;
}

EventTranslator::Part::Part(const EventTables& from, JoinedTables* to, Replacer* replacer)
    : serial(from.serial()), own(from), part(&own, to, replacer) {}

JoinedTables::Part& EventTranslator::PartOf(const Event& event) {
  const EventTables& tables = TablesOf(event);
  if (!last_.has_value() || last_->serial != tables.serial())
    last_.emplace(tables, &to_, replacer_);
  return last_->part;
}

}  // namespace gotrace::internal
