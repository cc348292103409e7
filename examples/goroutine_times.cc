#include <gotrace/analyze.h>

#include <cstdio>
#include <iostream>

// Prints how long the goroutines of each function ran and waited for a P, on all cores.
int main(int argc, char** argv) {
  auto source = gotrace::OpenSource(argc > 1 ? argv[1] : "trace.out");
  if (!source.ok()) return std::cerr << source.status().message() << '\n', 1;
  const auto stats = gotrace::Analyze<gotrace::GoroutineStats>(*std::move(source));
  for (const gotrace::GoroutineGroup& group : stats->groups()) {
    const absl::string_view name = stats.interner().String(group.name);
    std::printf("%.*s: %llu goroutines ran %lld ns and waited %lld ns\n",
                static_cast<int>(name.size()), name.data(), (unsigned long long)group.count,
                (long long)group.times.running, (long long)group.times.runnable);
  }
  if (!stats.status().ok()) return std::cerr << stats.status().message() << '\n', 1;
}
