// Validates a stream of ordered events from any source.
#ifndef GOTRACE_VALIDATOR_H_
#define GOTRACE_VALIDATOR_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gotrace/event.h"
#include "gotrace/event_sink.h"
#include "gotrace/finding.h"
#include "gotrace/version.h"

namespace gotrace::internal {
class EventValidator;
}  // namespace gotrace::internal

namespace gotrace {

// The options of a Validator.
struct ValidatorOptions {
  // The version of the trace's format: since Go 1.25 generations have clock snapshots.
  Version version = kNewestVersion;

  // The shortest time without events that is noted, in nanoseconds.
  int64_t time_gap = 5'000'000'000;
};

// Checks events, in order. Memory is bounded by the goroutines, Ps and threads that exist, and the
// tasks, regions and ranges that are open. Not thread-safe; movable, and a moved-from Validator can
// only be assigned to or destroyed.
//
//   gotrace::Validator validator({}, [](gotrace::Finding finding) { … });
//   while (const gotrace::Event* event = reader->Next()) validator.Check(*event);
//   validator.Finish().IgnoreError();
//
// ValidateTrace() of gotrace/validate.h does this for a whole trace, and adds the faults of reading
// it and the checks of its tables.
class Validator final : public EventSink {
 public:
  // `on_finding` is called with each finding when it is found.
  explicit Validator(const ValidatorOptions& options, std::function<void(Finding)> on_finding);
  // A moved-from Validator can only be assigned to or destroyed.
  Validator(Validator&&) noexcept;
  Validator& operator=(Validator&&) noexcept;
  ~Validator() override;

  // Checks the next event. An event that has an Event::fault() is not checked, but its effects
  // count.
  void Check(const Event& event) { Add({&event, 1}); }

  // Checks the next events. Costs less than to check each of them.
  void Add(absl::Span<const Event> events) override;

  // Declares that the next event, a kSync event, begins generation `number`, which states the
  // status of every goroutine and P. Need not be called if generations are not known: then their
  // numbers are not checked.
  void BeginGeneration(uint64_t number);

  // Declares that events are missing before the next one, or anywhere in the current generation.
  // Until the next BeginGeneration(), events are not checked against earlier ones. From then on
  // they are checked as at the beginning of a trace, except that tasks, regions and ranges may have
  // begun before.
  void NoteLoss();

  // Ends the stream, and reports everything that is still open. Always returns OK.
  absl::Status Finish() override;

  // Returns the number of events that were checked.
  uint64_t event_count() const;

 private:
  std::unique_ptr<internal::EventValidator> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_VALIDATOR_H_
