#include <gotrace/goroutine_stats.h>
#include <gotrace/read_parallel.h>

#include <cstdio>
#include <iostream>

// Prints how long the goroutines of each function ran and waited for a P, on all cores.
int main(int argc, char** argv) {
  absl::StatusOr<std::unique_ptr<gotrace::ByteSource>> source =
      gotrace::OpenSource(argc > 1 ? argv[1] : "trace.out");
  if (!source.ok()) return std::cerr << source.status().message() << '\n', 1;
  const auto make_stats = [](gotrace::Interner* interner) {
    return std::make_unique<gotrace::GoroutineStats>(interner, gotrace::GoroutineStats::Options());
  };
  // Each part of the trace has a sink of its own.
  const auto make_sink = [&] {
    return std::make_unique<gotrace::AnalysisSink>(make_stats, gotrace::AnalysisSink::Options());
  };
  gotrace::ReaderOptions reading;
  reading.jobs = 0;
  std::unique_ptr<gotrace::MergeableSink> merged;
  const absl::Status status =
      gotrace::ReadParallel(*std::move(source), reading, make_sink, &merged);
  const auto& sink = static_cast<const gotrace::AnalysisSink&>(*merged);
  for (const gotrace::GoroutineGroup& group :
       static_cast<const gotrace::GoroutineStats&>(sink.analysis()).groups()) {
    const absl::string_view name = sink.interner().String(group.name);
    std::printf("%.*s: %llu goroutines ran %lld ns and waited %lld ns\n",
                static_cast<int>(name.size()), name.data(), (unsigned long long)group.count,
                (long long)group.times.running, (long long)group.times.runnable);
  }
  if (!status.ok()) return std::cerr << status.message() << '\n', 1;
}
