// Translates the ids of strings and stacks of events to those of joined tables.
#ifndef GOTRACE_REWRITE_EVENT_TRANSLATOR_H_
#define GOTRACE_REWRITE_EVENT_TRANSLATOR_H_

#include <cstdint>
#include <optional>

#include "gotrace/event.h"
#include "parser/event/event_tables.h"
#include "rewrite/joined_tables.h"
#include "rewrite/table_source.h"

namespace gotrace::internal {

// Returns the tables of the event; empty ones if it has none.
const EventTables& TablesOf(const Event& event);

// Finds the part of joined tables to which an event belongs.
class EventTranslator {
 public:
  // `to` must outlive this object. Texts are replaced with the results of `map` if that is set.
  explicit EventTranslator(JoinedTables* to, MappedTables::Map map = nullptr)
      : to_(*to), map_(std::move(map)) {}
  EventTranslator(const EventTranslator&) = delete;
  EventTranslator& operator=(const EventTranslator&) = delete;

  // Returns the part with the tables of `event`, valid until the call for an event with others.
  // Events of the same tables must come one after the other, or entries are looked up again.
  JoinedTables::Part& PartOf(const Event& event);

 private:
  struct Part {
    Part(const EventTables& from, const MappedTables::Map& map, JoinedTables* to);

    const uint64_t serial;  // Of `from`.
    const OwnTables own;
    const std::optional<MappedTables> mapped;
    JoinedTables::Part part;
  };

  JoinedTables& to_;
  const MappedTables::Map map_;
  std::optional<Part> last_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_EVENT_TRANSLATOR_H_
