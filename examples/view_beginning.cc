#include <gotrace/export.h>
#include <gotrace/read.h>

#include <iostream>

// Writes the first 100 milliseconds of a trace for ui.perfetto.dev: the first argument is the
// trace, the second one is the file to write.
int main(int argc, char** argv) {
  if (argc != 3) return std::cerr << "usage: view_beginning TRACE FILE\n", 2;
  auto out = gotrace::SinkToFile(argv[2]);
  if (!out.ok()) return std::cerr << out.status().message() << '\n', 1;
  absl::StatusOr<gotrace::Reader> reader = gotrace::Reader::Open(argv[1]);
  if (!reader.ok()) return std::cerr << reader.status().message() << '\n', 1;
  gotrace::PerfettoOptions options;
  options.filter.since_start.to = 100'000'000;
  gotrace::PerfettoExporter exporter(out->get(), options);
  absl::Status status = gotrace::ReadInto(*reader, {&exporter});
  status.Update((*out)->Finish());
  if (!status.ok()) return std::cerr << status.message() << '\n', 1;
}
