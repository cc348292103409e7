#include <gotrace/read.h>

#include <iostream>

// Prints every message of trace.Log: when, on which goroutine, and where.
int main(int argc, char** argv) {
  absl::StatusOr<gotrace::Reader> reader = gotrace::Reader::Open(argc > 1 ? argv[1] : "trace.out");
  if (!reader.ok()) return std::cerr << reader.status().message() << '\n', 1;
  gotrace::EventTimes times;
  gotrace::GoroutineNames names;
  const absl::Status status = reader->ForEach([&](const gotrace::Event& event) {
    times.Add(event);
    names.Add({&event, 1});
    if (event.kind() != gotrace::EventKind::kLog) return;
    std::cout << times.SinceStart(event.time());
    if (const std::optional<absl::Time> wall = times.WallTime(event.time())) {
      std::cout << " (" << absl::FormatTime(*wall, absl::UTCTimeZone()) << ')';
    }
    const gotrace::Log log = event.log();
    std::cout << ", goroutine " << event.goroutine() << " (" << names.NameOf(event.goroutine())
              << "): " << log.category << ": " << log.message << '\n'
              << gotrace::FormatStack(event.stack());
  });
  if (!status.ok()) return std::cerr << status.message() << '\n', 1;
  return 0;
}
