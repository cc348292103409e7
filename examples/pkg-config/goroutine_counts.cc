#include <gotrace/analyze.h>

#include <iostream>

// Prints how many goroutines a trace has, by the function that they started in.
int main(int argc, char** argv) {
  auto source = gotrace::OpenSource(argc > 1 ? argv[1] : "trace.out");
  if (!source.ok()) return std::cerr << source.status().message() << '\n', 1;
  const auto stats = gotrace::Analyze<gotrace::GoroutineStats>(*std::move(source));
  for (const gotrace::GoroutineGroup& group : stats->groups()) {
    std::cout << group.count << ' ' << stats.interner().String(group.name) << '\n';
  }
  if (!stats.status().ok()) return std::cerr << stats.status().message() << '\n', 1;
}
