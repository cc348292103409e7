// Translates the ids of strings and stacks of events to those of joined tables.
#ifndef GOTRACE_REWRITE_EVENT_TRANSLATOR_H_
#define GOTRACE_REWRITE_EVENT_TRANSLATOR_H_

#include <cstdint>
#include <optional>

#include "gotrace/event.h"
#include "parser/event/event_tables.h"
#include "rewrite/joined_tables.h"
#include "rewrite/replacer.h"
#include "rewrite/table_source.h"

namespace gotrace::internal {

// Returns the tables of the event; empty ones if it has none.
const EventTables& TablesOf(const Event& event);

// Finds the part of joined tables to which an event belongs.
class EventTranslator {
 public:
  // Both must outlive this object. `replacer` is nullptr to replace nothing.
  explicit EventTranslator(JoinedTables* to, Replacer* replacer = nullptr)
      : to_(*to), replacer_(replacer) {}
  EventTranslator(const EventTranslator&) = delete;
  EventTranslator& operator=(const EventTranslator&) = delete;

  // Returns the part with the tables of `event`, valid until the call for an event with others.
  // Events of the same tables must come one after the other, or entries are looked up again.
  JoinedTables::Part& PartOf(const Event& event);

 private:
  struct Part {
    Part(const EventTables& from, JoinedTables* to, Replacer* replacer);

    const uint64_t serial;  // Of `from`.
    const OwnTables own;
    JoinedTables::Part part;
  };

  JoinedTables& to_;
  Replacer* const replacer_;
  std::optional<Part> last_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_EVENT_TRANSLATOR_H_
