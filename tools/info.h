// What a trace holds: the command `info` of gotrace-dump.
#ifndef GOTRACE_TOOLS_INFO_H_
#define GOTRACE_TOOLS_INFO_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gotrace/event_kind.h"
#include "gotrace/ids.h"
#include "gotrace/reader.h"
#include "gotrace/trace_list.h"
#include "tools/progress.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

struct TraceInfo {
  struct Generation {
    GenerationInfo info;
    int64_t begin = 0;    // Of its first event, in nanoseconds of the trace's clock.
    int64_t end = 0;      // Of its last event.
    uint64_t events = 0;  // Its kSync event too, but not the one at the trace's end.
  };

  Version version = kNewestVersion;
  std::vector<Generation> generations;
  int64_t begin = 0;  // Of the first event, in nanoseconds of the trace's clock.
  int64_t end = 0;    // Of the last event.
  uint64_t events = 0;
  uint64_t bytes = 0;  // Of the (decompressed) trace, as far as it was read.
  std::array<uint64_t, kEventKindEnd> by_kind = {};
  uint64_t goroutines = 0;  // Different ones that existed.
  // Those that may come into being again.
  absl::flat_hash_set<int64_t> returning_goroutines;
  absl::flat_hash_set<int64_t> procs;     // Whose state is told.
  absl::flat_hash_set<ThreadId> threads;  // With events of their own.
  std::optional<absl::Time> wall_begin;   // The wall-clock time of `begin`.
  absl::Status status;                    // What reading ended with.
  Losses losses;                          // What it left out.
  std::vector<TraceSpan> traces;          // All of a file that holds several.

  // The generation whose frequency of the trace clock is not plausible, or nullptr.
  const Generation* TimelessGeneration() const;

  // Whether `begin` and `end` mean anything: without a generation there is no clock.
  bool has_times() const { return !generations.empty() && TimelessGeneration() == nullptr; }
};

// Reads all of `reader` into `*info`. Returns the failure of reading, if any, which then stands in
// `info->status` too; what stood before it is counted.
absl::Status CollectInfo(Reader* reader, Progress* progress, TraceInfo* info);

// Appends the information as text, or as one JSON object on a line, which names `file`:
// docs/info.schema.json describes it.
void AppendInfo(const TraceInfo& info, TextBuffer* out);
void AppendInfoJson(absl::string_view file, const TraceInfo& info, TextBuffer* out);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_INFO_H_
