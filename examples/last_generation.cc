#include <gotrace/read.h>

#include <iostream>

// Counts the events of the last generation of a trace, without reading most of the others.
int main(int argc, char** argv) {
  auto source = gotrace::OpenSource(argc > 1 ? argv[1] : "trace.out");
  if (!source.ok()) return std::cerr << source.status().message() << '\n', 1;
  absl::StatusOr<gotrace::TraceIndex> index = gotrace::TraceIndex::Build(**source);
  if (!index.ok()) return std::cerr << index.status().message() << '\n', 1;
  // The fault at which the index ends early, if the trace is cut or damaged.
  if (!index->status().ok()) std::cerr << index->status().message() << '\n';
  if (index->generations().empty()) return std::cerr << "no generation is whole\n", 1;
  const size_t last = index->generations().size() - 1;
  absl::StatusOr<gotrace::Reader> reader = gotrace::Reader::OpenAt(**source, *index, last);
  if (!reader.ok()) return std::cerr << reader.status().message() << '\n', 1;
  while (reader->Next() != nullptr) {
  }
  if (!reader->status().ok()) return std::cerr << reader->status().message() << '\n', 1;
  std::cout << reader->event_count() << " events in generation "
            << index->generations()[last].number << '\n';
}
