#include <gotrace/read.h>

#include <cstdio>
#include <iostream>

// Reads as much as possible of a broken trace.
int main(int argc, char** argv) {
  gotrace::ReaderOptions options;
  options.mode = gotrace::ReadMode::kSalvage;
  options.on_fault = [](const gotrace::Fault& fault) {
    std::puts(gotrace::FormatFault(fault).c_str());
  };
  absl::StatusOr<gotrace::Reader> reader =
      gotrace::Reader::Open(argc > 1 ? argv[1] : "trace.out", options);
  if (!reader.ok()) return std::cerr << reader.status().message() << '\n', 1;
  int marked = 0;
  while (const gotrace::Event* event = reader->Next()) marked += event->fault().has_value();
  std::printf("%llu events, %d of them contradict others\n",
              (unsigned long long)reader->event_count(), marked);
  if (!reader->status().ok()) return std::cerr << reader->status().message() << '\n', 1;
  return reader->losses().faults == 0 ? 0 : 1;
}
