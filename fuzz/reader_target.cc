// Reads a trace as Go's reader would: every accessor of every event, and each in every form. In
// blocks, with one or two cores, it gives the same.
#include "fuzz/event_check.h"
#include "fuzz/target.h"
#include "parser/test_util.h"

namespace gotrace {

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
}

}  // namespace gotrace
