// Fuzzes the fast decoder of timed events: it must agree with the simple one.
#include "absl/strings/str_cat.h"
#include "fuzz/target.h"
#include "gotrace/internal/event_spec.h"
#include "parser/order/batch_decoder.h"

namespace gotrace::internal {
namespace {

void CheckSameEvent(const TimedEvent& expected, const TimedEvent& found) {
  FUZZ_CHECK(expected.type == found.type, EventTypeName(found.type));
  FUZZ_CHECK(expected.ticks == found.ticks, EventTypeName(found.type));
  const EventSpec* const spec = FindEventSpec(found.type);
  FUZZ_CHECK(spec != nullptr && spec->timed(), EventTypeName(found.type));
  for (int i = 0; i + 1 < spec->arg_count; ++i) {
    FUZZ_CHECK(expected.args[i] == found.args[i], absl::StrCat(spec->name, ", argument ", i));
  }
}

void CheckDiagnosis(const char* pos, const char* end) {
  const char* where = nullptr;
  const DecodeFault fault = DiagnoseTimedEvent(pos, end, &where);
  FUZZ_CHECK(pos <= where && where <= end, "");
  const EventSpec* const spec = FindEventSpec(static_cast<EventType>(*pos));
  const bool is_of_type = fault == DecodeFault::kUnknownType || fault == DecodeFault::kNotTimed;
  FUZZ_CHECK((fault == DecodeFault::kUnknownType) == (spec == nullptr), "");
  FUZZ_CHECK((fault == DecodeFault::kNotTimed) == (spec != nullptr && !spec->timed()), "");
  FUZZ_CHECK(is_of_type == (where == pos), "");
}

}  // namespace

void RunTarget(absl::string_view input) {
  const char* const end = input.data() + input.size();
  TimedEvent event;
  for (const char* pos = input.data(); pos < end;) {
    TimedEvent expected;
    const char* const plain = DecodeTimedEventPlainly(pos, end, &expected);
    const char* const next = DecodeTimedEvent(pos, end, &event);
    FUZZ_CHECK(plain == next, "");
    if (next == nullptr) {
      CheckDiagnosis(pos, end);
      ++pos;
    } else {
      FUZZ_CHECK(next > pos && next <= end, "");
      CheckSameEvent(expected, event);
      pos = next;
    }
  }
}

}  // namespace gotrace::internal
