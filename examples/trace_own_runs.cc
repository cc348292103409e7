#include <gotrace/trace2.h>

#include <iostream>
#include <map>
#include <string>
#include <vector>

// Sums how long the regions of a run took, and prints that at the end.
class RegionTimes : public gotrace::Trace2Target {
 public:
  void Write(const gotrace::Trace2Event& event) override {
    if (event.type == gotrace::Trace2Type::kRegionLeave) {
      timers_[std::string(event.name)].Add(event.elapsed);
    } else if (event.type == gotrace::Trace2Type::kAtExit) {
      for (const auto& [label, timer] : timers_) {
        std::cerr << label << ": " << timer.intervals << " times, at most " << timer.max / 1000
                  << " us\n";
      }
    }
  }

 private:
  std::map<std::string, gotrace::Trace2Timer> timers_;
};

int Run(gotrace::Trace2* trace, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const gotrace::Trace2Region region(trace, "greeting", "greet", name);
    std::cout << "Hello, " << name << "!\n";
  }
  return 0;
}

// Greets everybody, and traces that: for example with GREET_TRACE2_PERF=1, or with --times.
int main(int argc, char** argv) {
  const bool shows_times = argc > 1 && argv[1] == std::string("--times");
  gotrace::Trace2Settings settings;
  settings.program = "greet";
  settings.version = "1.0";
  settings.variables = "GREET_TRACE2";
  if (shows_times) settings.targets = {std::make_shared<RegionTimes>()};
  const std::unique_ptr<gotrace::Trace2> trace = gotrace::Trace2::Start(settings);
  if (trace != nullptr) trace->WriteStart(std::vector<std::string>(argv, argv + argc));
  const int code = Run(trace.get(), {argv + (shows_times ? 2 : 1), argv + argc});
  if (trace != nullptr) trace->WriteExit(code);
  return code;
}
