// Goroutines that share some work, how equally they do, and which of them come too late.
#ifndef GOTRACE_ANALYSIS_SUMMARY_WORK_BATCHES_H_
#define GOTRACE_ANALYSIS_SUMMARY_WORK_BATCHES_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "analysis/intervals/partial_goroutines.h"
#include "analysis/intervals/stack_places.h"
#include "gotrace/event.h"
#include "gotrace/histogram.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"
#include "gotrace/trace_summary.h"
#include "gotrace/wait_stats.h"

namespace gotrace::internal {

// Finds batches: goroutines that another one created at one place, before it waited for a WaitGroup
// again, if it did. Mergeable, as an analysis. Memory is in proportion to the goroutines that exist
// at a time, and to those that created others.
class WorkBatches {
 public:
  // `*interner` must outlive this object.
  explicit WorkBatches(Interner* interner) : interner_(*interner), places_(interner) {}

  void AddEvents(absl::Span<const Event> events) { goroutines_.AddEvents(events); }
  void AddGoroutine(const GoInterval& interval);
  void Merge(WorkBatches& next, const InternerMap& ids);

  // `duration` is the length of the trace.
  void Finish(int64_t duration);

  // Returns the places where goroutines are created that can be suspected of imbalance or of a
  // straggler, in this trace or together with others, after Finish(). `holders` say what goroutines
  // did while others waited for a WaitGroup.
  std::vector<TraceSummary::Suspicion> FindCandidates(absl::Span<const WaitHolder> holders,
                                                      int64_t duration);

 private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::min();

  // Where goroutines are created, and the function that they start in.
  struct Origin {
    StackId stack = StackId::kNone;
    StringId start = StringId::kEmpty;

    friend bool operator==(const Origin&, const Origin&) = default;

    template <class H>
    friend H AbslHashValue(H h, const Origin& origin) {
      return H::combine(std::move(h), origin.stack, origin.start);
    }
  };

  // A goroutine, or its part in this part of the trace.
  struct Child {
    GoId creator = GoId::kNone;  // kNone unless it was created here by a goroutine.
    Origin origin;
    int64_t epoch = kNever;  // When its creator's last wait for a WaitGroup had ended by then.
    int64_t begin = 0;
    int64_t end = 0;
    uint64_t busy = 0;  // How long it ran, or was in a syscall.
    uint64_t fed = 0;   // How long others waited until it received what they sent.
  };
  using Goroutines = PartialGoroutines<Child>;

  // One goroutine of a batch.
  struct Member {
    GoId id = GoId::kNone;
    uint64_t busy = 0;
    uint64_t life = 0;
    uint64_t fed = 0;
  };

  // The goroutines of one origin and epoch.
  struct Batch {
    uint64_t alive = 0;  // How many of them are not in the members below.
    int64_t first_begin = std::numeric_limits<int64_t>::max();
    int64_t last_begin = kNever;
    int64_t last_end = kNever;
    Histogram busy;
    Histogram lives;
    Member busiest;  // Was busy for longest.
    Member oldest;   // Lived for longest.

    // Adds a goroutine, or another batch.
    void Add(GoId id, const Child& child);
    void Add(const Batch& other);
    void AddMember(const Member& member);
  };

  // From the end of a wait for a WaitGroup to that of the next one.
  struct Epoch {
    std::optional<GoId> waker;  // Who ended the next wait, if it has ended.
    absl::flat_hash_map<Origin, Batch> batches;
  };

  // A goroutine that created others, or waited for a WaitGroup.
  struct Creator {
    // When its last wait for a WaitGroup ended, and the one before.
    int64_t last_join = kNever;
    int64_t join_before = kNever;
    absl::flat_hash_map<int64_t, Epoch> epochs;  // By their beginnings. Those that are needed.
    bool is_new = false;                         // Whether its beginning is here, if it is known.
    bool has_ended = false;

    // Whether all of an epoch is here. The first one of a creator that is older than this part of
    // the trace may have begun in an earlier one.
    bool IsWhole(int64_t epoch) const { return epoch != kNever || is_new; }
  };

  // The batches of an origin that were unequal, by how long goroutines were busy, or lived.
  struct Uneven {
    Histogram lost;
    Histogram lengths;
    uint64_t longest = 0;
    GoId goroutine = GoId::kNone;
    int64_t awaited = 0;  // How long the oldest lived in all batches, also in others.

    void AddLongest(uint64_t length, GoId id);
    void Add(const Uneven& other);
  };
  using UnevenKey = std::pair<SuspicionKind, Origin>;

  void AddCreation(const GoInterval& interval, Child* child);
  void AddJoin(const GoInterval& interval, bool is_new);
  void Complete(const Goroutines::Entry& entry);
  // Evaluate the batches that have ended, and forget what is not needed any more: of one origin, of
  // an epoch, or all. The first returns whether the batch is not needed any more.
  bool Settle(const Creator& creator, int64_t begin, const Epoch& epoch, const Origin& origin,
              const Batch& batch);
  bool Settle(const Creator& creator, int64_t begin, Epoch* epoch);
  void SettleAll(GoId id);
  // Adds a batch to the results if it is unequal. The flags say whether its busiest goroutine, and
  // its oldest, are waited for.
  void Evaluate(const Origin& origin, const Batch& batch, bool awaits_busiest, bool awaits_oldest);
  bool AddImbalance(const Origin& origin, const Batch& batch);
  void AddStraggler(const Origin& origin, const Batch& batch);
  TraceSummary::Suspicion CandidateOf(const UnevenKey& key, const Uneven& found);

  Interner& interner_;
  StackPlaces places_;
  absl::flat_hash_map<GoId, Creator> creators_;
  absl::flat_hash_map<UnevenKey, Uneven> found_;
  Goroutines goroutines_{[this](Goroutines::Entry& entry) { Complete(entry); },
                         [](Goroutines::Entry& rest, Goroutines::Entry& entry) {
                           Child& child = entry.data;
                           if (rest.data.creator != GoId::kNone) {
                             child.creator = rest.data.creator;
                             child.origin = rest.data.origin;
                             child.epoch = rest.data.epoch;
                             child.begin = rest.data.begin;
                           }
                           if (rest.is_seen) child.end = rest.data.end;
                           child.busy += rest.data.busy;
                           child.fed += rest.data.fed;
                         }};
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_SUMMARY_WORK_BATCHES_H_
