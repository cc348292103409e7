// Waits of goroutines for the network, and who answers.
#ifndef GOTRACE_ANALYSIS_SUMMARY_NETWORK_WAITS_H_
#define GOTRACE_ANALYSIS_SUMMARY_NETWORK_WAITS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "analysis/intervals/generation_times.h"
#include "analysis/intervals/stack_places.h"
#include "gotrace/event.h"
#include "gotrace/histogram.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"
#include "gotrace/states.h"
#include "gotrace/trace_summary.h"
#include "gotrace/wait_stats.h"

namespace gotrace::internal {

// Suspicion::reason of waits for answers of the program itself.
inline constexpr absl::string_view kOwnNetwork = "network, of this program";

// Counts waits of the program for the network, by place and by who answered, and what goroutines of
// this program did until they answered. Mergeable, as an analysis: whatever depends on other
// intervals depends only on those of the same generation. Memory is in proportion to the goroutines
// that exist at a time, to places, and to generations.
class NetworkWaits {
 public:
  // `*interner` must outlive this object.
  explicit NetworkWaits(Interner* interner) : interner_(*interner), places_(interner) {}

  void AddEvents(absl::Span<const Event> events) { generations_.AddEvents(events); }
  void AddGoroutine(const GoInterval& interval);
  void Merge(NetworkWaits& next, const InternerMap& ids);

  // Returns the places that can be suspected of io, in this trace or together with others.
  // `duration` is the length of the trace.
  std::vector<TraceSummary::Suspicion> FindCandidates(int64_t duration);

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
    kProgram,  // This program, which the goroutine may not have asked.
    kAsked,    // This program, after the goroutine had sent something.
    kOther,    // Another one.
    kUnknown,  // The wait lasted into another generation, or had not ended.
  };
  static constexpr size_t kPeers = 4;
  struct Waits {
    Histogram by_peer[kPeers];
  };

  // A state of a goroutine other than Running.
  struct State {
    int64_t begin = 0;
    int64_t end = 0;
    GoState state = GoState::kUndetermined;
    StringId reason = StringId::kEmpty;
    StackId stack = StackId::kNone;
  };

  // What a goroutine did in a generation since its last wait for the network or write.
  struct Work {
    int64_t generation = 0;
    bool has_asked = false;  // Whether it wrote since its last wait for the network.
    bool is_long = false;    // Whether it had more states than are kept.
    std::vector<State> states = {};
  };

  // A write of a goroutine, and what it did before.
  struct Answer {
    int64_t end = 0;
    GoId goroutine = GoId::kNone;
    StringId start = StringId::kEmpty;
    Work work;
  };

  // Where goroutines wait for answers of this program, and what those that answer do meanwhile.
  struct DoingKey {
    WaitPlace place;
    StringId start = StringId::kEmpty;  // Of those that answer.
    GoState state = GoState::kUndetermined;
    StringId reason = StringId::kEmpty;
    StackId stack = StackId::kNone;

    friend bool operator==(const DoingKey&, const DoingKey&) = default;

    template <class H>
    friend H AbslHashValue(H h, const DoingKey& key) {
      return H::combine(std::move(h), key.place, key.start, key.state, key.reason, key.stack);
    }
  };
  struct Doing {
    uint64_t count = 0;
    int64_t time = 0;

    void Add(uint64_t more, int64_t more_time);
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
    std::shared_ptr<const Answer> answer;  // kProgram, kAsked.
  };

  const Stack& StackOf(StackId id);
  void AddWrite(const GoInterval& interval);
  void AddWait(const GoInterval& interval, bool is_direct);
  void AddState(const GoInterval& interval);
  void AddAnswer(const GoInterval& interval, const WaitPlace& place, const Answer& answer);
  // Returns the work of the goroutine of an interval that is in one generation.
  Work& WorkIn(const GoInterval& interval);
  // Returns the wait, with who answered.
  LastWait AnswerTo(const GoInterval& interval, bool is_direct) const;
  TraceSummary::Suspicion SuspicionIn(const WaitPlace& place) const;
  void AddDoing(const DoingKey& key, const Doing& doing, TraceSummary::Suspicion* io);

  Interner& interner_;
  StackPlaces places_;
  std::vector<Stack> stacks_;  // By StackId.

  absl::flat_hash_map<Key, Waits> waits_;
  absl::flat_hash_set<StringId> acceptors_;  // Where goroutines start that accept connections.
  // Where goroutines of `first_` start, and where those start that create them.
  absl::flat_hash_set<std::pair<StringId, StringId>> creators_;
  absl::flat_hash_set<Key> first_;  // Where new goroutines waited for the network first.

  GenerationTimes generations_;
  absl::flat_hash_map<GoId, Creation> new_;  // Of goroutines that did not wait yet.
  absl::flat_hash_map<GoId, LastWait> last_;
  absl::flat_hash_map<GoId, Work> work_;  // Of goroutines that wrote, or waited for the network.
  std::deque<std::shared_ptr<const Answer>> writes_;  // The last ones.
  absl::flat_hash_map<DoingKey, Doing> doing_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_SUMMARY_NETWORK_WAITS_H_
