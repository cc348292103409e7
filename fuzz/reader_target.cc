// Reads a trace as Go's reader would: every accessor of every event, and each in every form.
#include "fuzz/event_check.h"
#include "fuzz/target.h"
#include "parser/test_util.h"

namespace gotrace {

void RunTarget(absl::string_view input) {
  // How long a decompressed trace is, is not known before.
  const bool is_compressed = FindCompression(input) != Compression::kNone;
  if (is_compressed) return;
  const CheckedReading reading =
      ReadAndCheck(SourceFromBytes(input), ReadMode::kStrict, input.size());
  const Outcome blocks = ReadAllBlocks(Reader::FromBytes(input));
  CheckSameEvents(reading.events, blocks.events, "read in blocks");
  FUZZ_CHECK(reading.status == blocks.status, blocks.status.ToString());
}

}  // namespace gotrace
