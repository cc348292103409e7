// Finds out what must change in a generation so that Go's reader takes it.
#ifndef GOTRACE_REWRITE_GENERATION_MENDER_H_
#define GOTRACE_REWRITE_GENERATION_MENDER_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "parser/batch_reader.h"
#include "parser/fault.h"
#include "parser/ids.h"
#include "parser/scheduler.h"
#include "tracev2/version.h"

namespace gotrace {

// What must change in one generation.
struct Mending {
  // Where the rest of a thread's events is cut off.
  struct Cut {
    uint64_t batch_offset = 0;  // Of the batch that loses its end. Later ones of the thread go.
    uint64_t event_offset = 0;  // Of the first event that goes.
  };

  std::set<uint64_t> left_out;              // Offsets of single events that go.
  absl::flat_hash_map<ThreadId, Cut> cuts;  // By thread.
  uint64_t events_cut = 0;                  // That go with them, as far as they can be decoded.

  // Table entries that must be added: strings with their ids, and stacks of one frame in a function
  // whose name is another of those strings.
  struct Stack {
    uint64_t id = 0;
    uint64_t func = 0;  // String id.
  };
  std::vector<std::pair<uint64_t, std::string>> strings;
  std::vector<Stack> stacks;

  bool needs_sync = false;  // Whether the sync batch of another generation must be added.

  std::optional<Fault> first_fault;  // Of those that are mended.

  // Whether the generation stays as it is.
  bool nothing() const {
    return left_out.empty() && cuts.empty() && strings.empty() && stacks.empty() && !needs_sync;
  }
};

// How far mending may go.
enum class MendMode : uint8_t {
  // Events may be left out that change no state of a goroutine or P, and table entries added.
  kWhole,
  // Besides each thread's events may be cut off where they cannot go on, as at the end of a trace
  // whose last batches were never written.
  kCutShort,
};

struct MendResult {
  // Why Go's reader does not take the generation, however it is mended; nullopt if it does.
  std::optional<Fault> fault;
  Mending mending;
  uint64_t events = 0;  // That the mended generation gives.
};

// Orders the events of a generation, as Reader does in strict mode, after those that `scheduler`
// has seen. `batches` are all of it, at least one; each must have stood the test of
// Generation::Add(). `sync_payload` is that of another generation's sync batch, "" if there is
// none: it may be borrowed in versions before 1.25, whose sync batches tell nothing but the
// frequency. After a fault the scheduler must not be used any more.
// `limits` are those that the batches were read with.
MendResult MendGeneration(Version version, const std::vector<Batch>& batches,
                          absl::string_view sync_payload, MendMode mode, const ReaderLimits& limits,
                          Scheduler* scheduler);

}  // namespace gotrace

#endif  // GOTRACE_REWRITE_GENERATION_MENDER_H_
