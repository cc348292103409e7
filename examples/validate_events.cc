#include <gotrace/event_builder.h>
#include <gotrace/validator.h>

#include <cstdio>
#include <utility>

// Validates events that do not come from a trace. Here, a goroutine starts twice.
int main() {
  bool sound = true;
  gotrace::Validator validator({}, [&](gotrace::Finding finding) {
    sound = false;
    std::puts(gotrace::FormatFinding(finding).c_str());
  });
  const auto check = [&](gotrace::EventType type, int64_t time, gotrace::GoState from,
                         gotrace::GoState to) {
    validator.Check(gotrace::EventBuilder(type)
                        .Time(time)
                        .Thread(gotrace::ThreadId{1})
                        .Transition(gotrace::GoId{7}, from, to)
                        .Build());
  };
  using gotrace::EventType;
  using gotrace::GoState;
  check(EventType::kGoCreate, 100, GoState::kNotExist, GoState::kRunnable);
  check(EventType::kGoStart, 101, GoState::kRunnable, GoState::kRunning);
  check(EventType::kGoStart, 102, GoState::kRunnable, GoState::kRunning);
  validator.Finish().IgnoreError();
  return sound ? 0 : 1;
}
