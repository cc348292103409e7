#include <gotrace/repair.h>

#include <fstream>
#include <iostream>

// Repairs a trace: the first argument is the broken file, the second one is the file to write.
int main(int argc, char** argv) {
  if (argc != 3) return std::cerr << "usage: repair BROKEN REPAIRED\n", 2;
  std::ofstream out(argv[2], std::ios::binary);
  gotrace::RepairPlan plan;
  const absl::Status status = gotrace::Repair(
      [&] { return gotrace::OpenSource(argv[1]); },
      [&](absl::string_view bytes) {
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush();
        return out ? absl::OkStatus() : absl::UnknownError("cannot write the repaired trace");
      },
      &plan);
  for (const std::string& line : gotrace::DescribeRepair(plan)) std::cout << line << '\n';
  if (!status.ok()) return std::cerr << status.message() << '\n', 1;
  std::cout << plan.events_with_syncs << " events\n";
}
