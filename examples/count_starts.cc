#include <gotrace/read.h>

#include <cstdio>
#include <iostream>
#include <map>

// Counts how often each goroutine of a trace began to run.
int main(int argc, char** argv) {
  absl::StatusOr<gotrace::Reader> reader = gotrace::Reader::Open(argc > 1 ? argv[1] : "trace.out");
  if (!reader.ok()) return std::cerr << reader.status().message() << '\n', 1;
  std::map<int64_t, int> starts;
  const absl::Status status = reader->ForEach([&](const gotrace::Event& event) {
    if (event.kind() != gotrace::EventKind::kStateTransition) return;
    const gotrace::StateTransition change = event.state_transition();
    if (change.go_to == gotrace::GoState::kRunning) ++starts[change.resource.id];
  });
  for (auto [id, count] : starts) std::printf("goroutine %lld: %d\n", (long long)id, count);
  if (!status.ok()) return std::cerr << status.message() << '\n', 1;
  return 0;
}
