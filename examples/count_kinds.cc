#include <gotrace/read.h>

#include <iostream>
#include <map>

// Counts the events of each kind in a part of a trace.
class KindCounts : public gotrace::MergeableSink<KindCounts> {
 public:
  void Add(absl::Span<const gotrace::Event> events) override {
    for (const gotrace::Event& event : events) ++counts_[event.kind()];
  }
  void Merge(KindCounts&& next) override {
    for (auto [kind, count] : next.counts_) counts_[kind] += count;
  }
  const std::map<gotrace::EventKind, int64_t>& counts() const { return counts_; }

 private:
  std::map<gotrace::EventKind, int64_t> counts_;
};

// Counts the events of each kind in a trace, using all cores.
int main(int argc, char** argv) {
  auto source = gotrace::OpenSource(argc > 1 ? argv[1] : "trace.out");
  if (!source.ok()) return std::cerr << source.status().message() << '\n', 1;
  std::unique_ptr<KindCounts> sink;
  const absl::Status status = gotrace::ReadParallel(
      *std::move(source), {}, [] { return std::make_unique<KindCounts>(); }, &sink);
  for (auto [kind, count] : sink->counts()) {
    std::cout << gotrace::EventKindName(kind) << ": " << count << '\n';
  }
  if (!status.ok()) return std::cerr << status.message() << '\n', 1;
}
