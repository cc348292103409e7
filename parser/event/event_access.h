// The tables to which an event or a stack refers, which only the library's own code sees.
#ifndef GOTRACE_PARSER_EVENT_EVENT_ACCESS_H_
#define GOTRACE_PARSER_EVENT_EVENT_ACCESS_H_

#include <cstdint>

#include "gotrace/event.h"
#include "gotrace/event_kind.h"
#include "gotrace/internal/event_tags.h"

namespace gotrace::internal {

class EventTables;

class EventAccess {
 public:
  // Returns the tables of the event's generation, which are valid as long as its strings; nullptr
  // for the last kSync event.
  static const EventTables* Tables(const Event& event) { return event.tables_; }

  // Returns the tables that hold the stack, or nullptr if it is none().
  static const EventTables* Tables(const Stack& stack) { return stack.tables_; }

  // Returns the type, kind, states and fault in one word.
  static EventTags Tags(const Event& event) { return event.tags_; }

  // Returns the string id of Event::transition_reason() in Tables(event); 0 if there is none.
  static uint64_t ReasonId(const Event& event) {
    const int8_t arg = kReasonArgs[static_cast<uint8_t>(event.type())];
    return arg < 0 ? 0 : event.args_[arg];
  }

  // Returns the stack `id` of `tables`; no stack if they are nullptr.
  static Stack MakeStack(const EventTables* tables, uint64_t id) { return Stack(tables, id); }
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_EVENT_EVENT_ACCESS_H_
