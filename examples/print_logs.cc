#include <gotrace/event_times.h>
#include <gotrace/goroutine_names.h>
#include <gotrace/reader.h>
#include <gotrace/stack_copy.h>

#include <iostream>

// Prints every message of trace.Log: when, on which goroutine, and where.
int main(int argc, char** argv) {
  absl::StatusOr<gotrace::Reader> reader = gotrace::Reader::Open(argc > 1 ? argv[1] : "trace.out");
  if (!reader.ok()) return std::cerr << reader.status().message() << '\n', 1;
  gotrace::EventTimes times;
  gotrace::GoroutineNames names;
  while (const gotrace::Event* event = reader->Next()) {
    times.See(*event);
    names.Add({event, 1});
    if (event->kind() != gotrace::EventKind::kLog) continue;
    std::cout << times.SinceStart(event->time());
    if (const std::optional<absl::Time> wall = times.WallTime(event->time())) {
      std::cout << " (" << absl::FormatTime(*wall, absl::UTCTimeZone()) << ')';
    }
    const gotrace::Log log = event->log();
    std::cout << ", goroutine " << event->goroutine() << " (" << names.NameOf(event->goroutine())
              << "): " << log.category << ": " << log.message << '\n'
              << gotrace::FormatStack(event->stack());
  }
  if (!reader->status().ok()) return std::cerr << reader->status().message() << '\n', 1;
  return 0;
}
