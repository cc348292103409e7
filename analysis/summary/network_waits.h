// Waits of goroutines for the network, and who answers.
#ifndef GOTRACE_ANALYSIS_SUMMARY_NETWORK_WAITS_H_
#define GOTRACE_ANALYSIS_SUMMARY_NETWORK_WAITS_H_

#include <cstdint>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "analysis/intervals/stack_places.h"
#include "gotrace/event.h"
#include "gotrace/histogram.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"
#include "gotrace/trace_summary.h"
#include "gotrace/wait_stats.h"

namespace gotrace::internal {

// Counts waits of the program for the network, by place and by who answered. Mergeable, as an
// analysis: whatever depends on other intervals depends only on those of the same generation.
// Memory is in proportion to the goroutines that exist at a time, to places, and to generations.
class NetworkWaits {
 public:
  // `*interner` must outlive this object.
  explicit NetworkWaits(Interner* interner) : interner_(*interner), places_(interner) {}

  void AddEvents(absl::Span<const Event> events);
  void AddGoroutine(const GoInterval& interval);
  void Merge(NetworkWaits& next, const InternerMap& ids);

  // Returns the places that can be suspected of io, in this trace or together with others.
  // `duration` is the length of the trace.
  std::vector<TraceSummary::Suspicion> FindCandidates(int64_t duration) const;

 private:
  // What the functions of a stack say.
  struct Stack {
    bool is_known = false;
    bool is_idle = false;      // Waits for the next connection, request or answer.
    bool is_served = false;    // Of a goroutine of net/http for a connection, outside of a handler.
    bool is_handler = false;   // Below a handler of requests.
    bool is_exchange = false;  // Waits for net/http to connect, or to receive the answer.
    bool accepts = false;
    bool writes = false;  // Sends to a connection.
  };

  // Where goroutines that started in a function wait.
  struct Key {
    StringId start = StringId::kEmpty;
    WaitPlace place;

    friend bool operator==(const Key&, const Key&) = default;

    template <class H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.start, key.place);
    }
  };
  static Key MapIds(const InternerMap& ids, const Key& key);

  // Who answered.
  enum class Peer : uint8_t {
    kProgram,  // This program.
    kOther,    // Another one.
    kUnknown,  // The wait lasted into another generation, or had not ended.
  };
  struct Waits {
    Histogram by_peer[3];
  };

  // When and where a goroutine was created.
  struct Creation {
    int64_t time = 0;
    StackId at = StackId::kNone;
  };

  // The last wait of a goroutine for the network.
  struct LastWait {
    int64_t begin = 0;
    Peer peer = Peer::kUnknown;
  };

  const Stack& StackOf(StackId id);
  // Returns when the generation of a time began.
  int64_t GenerationAt(int64_t time) const;
  bool IsWhole(const GoInterval& interval) const;
  void AddWrite(const GoInterval& interval);
  void AddWait(const GoInterval& interval);
  Peer PeerOf(const GoInterval& interval) const;

  Interner& interner_;
  StackPlaces places_;
  std::vector<Stack> stacks_;  // By StackId.

  absl::flat_hash_map<Key, Waits> waits_;
  absl::flat_hash_set<StringId> acceptors_;  // Where goroutines start that accept connections.
  // Where goroutines of `first_` start, and where those start that create them.
  absl::flat_hash_set<std::pair<StringId, StringId>> creators_;
  absl::flat_hash_set<Key> first_;  // Where new goroutines waited for the network first.

  std::vector<int64_t> generations_;  // When they began.
  int64_t last_event_ = std::numeric_limits<int64_t>::min();
  absl::flat_hash_map<GoId, Creation> new_;  // Of goroutines that did not wait yet.
  absl::flat_hash_map<GoId, LastWait> last_;
  std::deque<std::pair<int64_t, GoId>> writes_;  // The last ends of writes, and who wrote.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_SUMMARY_NETWORK_WAITS_H_
