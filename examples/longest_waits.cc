#include <gotrace/analyze.h>

#include <algorithm>
#include <iostream>
#include <vector>

// Keeps the ten longest intervals in which a goroutine was blocked.
class LongestWaits : public gotrace::Analysis {
 public:
  void AddGoroutine(const gotrace::GoInterval& interval) override {
    if (interval.state != gotrace::GoState::kWaiting) return;
    waits_.push_back(interval);
    std::sort(waits_.begin(), waits_.end(),
              [](const auto& a, const auto& b) { return a.duration() > b.duration(); });
    if (waits_.size() > 10) waits_.pop_back();
  }

  const std::vector<gotrace::GoInterval>& waits() const { return waits_; }

 private:
  std::vector<gotrace::GoInterval> waits_;
};

// Prints the ten longest waits of a trace: for what, what woke the goroutine, and where it blocked.
int main(int argc, char** argv) {
  auto source = gotrace::OpenSource(argc > 1 ? argv[1] : "trace.out");
  if (!source.ok()) return std::cerr << source.status().message() << '\n', 1;
  const auto longest = gotrace::Analyze<LongestWaits>(*std::move(source));
  const gotrace::Interner& interner = longest.interner();
  for (const gotrace::GoInterval& wait : longest->waits()) {
    const absl::string_view reason = interner.String(wait.reason);
    std::cout << wait.duration() / 1000 << " us: goroutine " << wait.goroutine << ", "
              << (reason.empty() ? "unknown reason" : reason) << ", "
              << (wait.end_clipped ? "never" : CauseKindName(wait.ended_by.kind)) << '\n';
    for (const gotrace::FrameId id : interner.Frames(wait.stack)) {
      const gotrace::StackFrame frame = interner.Frame(id);
      std::cout << "    " << frame.func << " (" << frame.file << ':' << frame.line << ")\n";
    }
  }
  if (!longest.status().ok()) return std::cerr << longest.status().message() << '\n', 1;
}
