#include <gotrace/goroutine_stats.h>
#include <gotrace/reader.h>

#include <iostream>

// Prints how many goroutines a trace has, by the function that they started in.
int main(int argc, char** argv) {
  absl::StatusOr<gotrace::Reader> reader = gotrace::Reader::Open(argc > 1 ? argv[1] : "trace.out");
  if (!reader.ok()) return std::cerr << reader.status().message() << '\n', 1;
  const auto make_stats = [](gotrace::Interner* interner) {
    return std::make_unique<gotrace::GoroutineStats>(interner, gotrace::GoroutineStats::Options());
  };
  gotrace::AnalysisSink sink(make_stats, gotrace::AnalysisSink::Options());
  gotrace::EventSink* const sinks[] = {&sink};
  const absl::Status status = gotrace::ReadInto(*reader, sinks);
  for (const gotrace::GoroutineGroup& group :
       static_cast<const gotrace::GoroutineStats&>(sink.analysis()).groups()) {
    std::cout << group.count << ' ' << sink.interner().String(group.name) << '\n';
  }
  if (!status.ok()) return std::cerr << status.message() << '\n', 1;
}
