// Reads a trace as Go's reader would: every accessor of every event, and each in every form. In
// blocks, with one or two cores, and in halves, it gives the same.
#include <string>
#include <vector>

#include "fuzz/event_check.h"
#include "fuzz/target.h"
#include "parser/read_halves.h"
#include "parser/test_util.h"

namespace gotrace {
namespace {

void CheckHalves(absl::string_view input, const CheckedReading& reading) {
  struct Told {
    std::string event;
    bool is_task_end;
  };
  std::vector<Told> first;
  std::vector<Told> second;
  const auto take_into = [](std::vector<Told>* told) {
    return [told](absl::Span<const Event> events) {
      for (const Event& event : events) {
        told->push_back({Describe(event), event.kind() == EventKind::kTaskEnd});
      }
    };
  };
  ReaderOptions options;
  options.jobs = 2;
  options.jobs_from_bytes = 0;
  const absl::Status status = ReadHalves(*SourceFromBytes(input), options, take_into(&first),
                                         take_into(&second), [&] { second.clear(); });
  std::vector<std::string> events;
  for (const Told& told : first) events.push_back(told.event);
  for (const Told& told : second) {
    // In the second half such an event may tell less.
    const bool may_differ = told.is_task_end && events.size() < reading.events.size();
    events.push_back(may_differ ? reading.events[events.size()] : told.event);
  }
  CheckSameEvents(reading.events, events, "read in halves");
  FUZZ_CHECK(reading.status == status, status.ToString());
}

}  // namespace

void RunTarget(absl::string_view input) {
  // How long a decompressed trace is, is not known before.
  if (FindCompression(input) != Compression::kNone) return;
  const CheckedReading reading =
      ReadAndCheck(SourceFromBytes(input), ReadMode::kStrict, input.size(), Forms::kAll);
  ReaderOptions options;
  options.jobs = input.size() % 3 == 0 ? 1 : 2;
  options.jobs_from_bytes = 0;
  options.share =
      input.size() % 3 == 1 ? ReaderOptions::Share::kOrder : ReaderOptions::Share::kMerge;
  const Outcome blocks = ReadAllBlocks(Reader::FromBytes(input, options));
  CheckSameEvents(reading.events, blocks.events, "read in blocks");
  FUZZ_CHECK(reading.status == blocks.status, blocks.status.ToString());
  // Threads are slow to begin: not every input gets another one.
  if (input.size() % 3 == 0) CheckHalves(input, reading);
}

}  // namespace gotrace
