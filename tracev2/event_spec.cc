#include "gotrace/internal/event_spec.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "absl/container/flat_hash_map.h"

namespace gotrace::internal {
namespace {

constexpr EventSpec MakeSpec(EventType type, absl::string_view name, uint32_t since, EventForm form,
                             Experiment experiment, EventType start,
                             std::initializer_list<const char*> args) {
  EventSpec spec;
  spec.type = type;
  spec.name = name;
  spec.since = since;
  spec.form = form;
  spec.experiment = experiment;
  spec.start = start;
  for (const char* arg : args) {
    const int8_t index = static_cast<int8_t>(spec.arg_count++);
    spec.arg_names[index] = arg;
    spec.arg_types[index] = ArgTypeOf(arg);
    if (spec.arg_types[index] != ArgType::kStack) continue;
    (absl::string_view(arg) == "stack" ? spec.stack_arg : spec.other_stack_arg) = index;
  }
  return spec;
}

constexpr EventSpec kSpecs[] = {
#define GOTRACE_EVENT(value, name, since, form, experiment, start, kind, rule, ...)         \
  MakeSpec(EventType::k##name, #name, since, EventForm::k##form, Experiment::k##experiment, \
           EventType::k##start, {__VA_ARGS__}),
#include "gotrace/internal/events.def"
};

constexpr std::array<const EventSpec*, 256> IndexByValue() {
  std::array<const EventSpec*, 256> index = {};
  for (const EventSpec& spec : kSpecs) index[static_cast<uint8_t>(spec.type)] = &spec;
  return index;
}
constexpr std::array<const EventSpec*, 256> kByValue = IndexByValue();

constexpr bool ValuesRise() {
  int last = 0;
  for (const EventSpec& spec : kSpecs) {
    if (static_cast<int>(spec.type) <= last) return false;
    last = static_cast<int>(spec.type);
  }
  return last == kEventTypeEnd - 1;
}
static_assert(ValuesRise(), "rows of events.def must stand in order of their wire values");

constexpr absl::string_view kExperimentNames[kExperimentEnd] = {"None", "AllocFree"};

}  // namespace

const EventSpec* FindEventSpec(EventType type) { return kByValue[static_cast<uint8_t>(type)]; }

const EventSpec* FindEventSpec(absl::string_view name) {
  static const auto* const by_name = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, const EventSpec*>;
    for (const EventSpec& spec : kSpecs) map->emplace(spec.name, &spec);
    return map;
  }();
  const auto it = by_name->find(name);
  return it == by_name->end() ? nullptr : it->second;
}

absl::Span<const EventSpec> AllEventSpecs() { return kSpecs; }

bool VersionHas(Version version, const EventSpec& spec) {
  return static_cast<uint32_t>(version) >= spec.since;
}

bool GoToolPrints(Version version, const EventSpec& spec) {
  return VersionHas(version, spec) &&
         (spec.experiment == Experiment::kNone || version >= Version::kGo126);
}

}  // namespace gotrace::internal

namespace gotrace {

absl::string_view EventTypeName(EventType type) {
  const internal::EventSpec* spec = internal::FindEventSpec(type);
  return spec == nullptr ? "Invalid" : spec->name;
}

absl::string_view ExperimentName(uint64_t experiment) {
  return experiment < internal::kExperimentEnd ? internal::kExperimentNames[experiment] : "";
}

}  // namespace gotrace
