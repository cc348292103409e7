// Where goroutines waited, for what, who ended it, and who suffered.
#ifndef GOTRACE_WAIT_STATS_H_
#define GOTRACE_WAIT_STATS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/analysis.h"
#include "gotrace/event_filter.h"
#include "gotrace/histogram.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"
#include "gotrace/states.h"

namespace gotrace {

// A place in the program: the innermost frame of a stack that is neither in the standard library
// nor in another module, nor the function that cgo makes for a call of C. If there is none, the
// innermost frame in another module, else the innermost one that is not in package runtime, sync or
// syscall, or below runtime/ or internal/.
struct WaitPlace {
  StringId function = StringId::kEmpty;  // "" if the stack is unknown.
  StringId file = StringId::kEmpty;
  uint64_t line = 0;

  // The function that it called: sync.(*Mutex).Lock, time.Sleep. "" if there is none, or if it is
  // an unexported function of package runtime, such as runtime.chanrecv1.
  StringId library = StringId::kEmpty;

  friend bool operator==(const WaitPlace&, const WaitPlace&) = default;

  template <class H>
  friend H AbslHashValue(H h, const WaitPlace& place) {
    return H::combine(std::move(h), place.function, place.file, place.line, place.library);
  }
};

// What a goroutine waits for, as far as it belongs to the program.
enum class WaitObject : uint8_t {
  kOther,      // Time, the network, the runtime, a syscall; or the trace does not say.
  kMutex,      // A sync.Mutex.
  kRWMutex,    // A sync.RWMutex.
  kCond,       // A sync.Cond.
  kWaitGroup,  // A sync.WaitGroup.
  kChannel,    // To send to a channel, or to receive from it.
  kSelect,     // Several channels.
};
inline constexpr size_t kWaitObjectEnd = 7;

// Returns the name of the object: "mutex", "chan". Static lifetime.
absl::string_view WaitObjectName(WaitObject object);

// What ended a wait.
enum class WaitEnd : uint8_t {
  kOpen,       // It had not ended when the trace or window did.
  kUnknown,    // The trace does not say, or it was a syscall, which returns by itself.
  kTimer,      // A timer.
  kDeadline,   // The deadline of a context.
  kNetwork,    // The network.
  kRuntime,    // The runtime.
  kPeer,       // Another goroutine that started in the same function; or one that gave back a
               // connection of package net/http or database/sql, for which it waited.
  kGoroutine,  // Any other goroutine of the program.
};

// The key by which waits are counted.
struct WaitKey {
  GoState state = GoState::kWaiting;   // kWaiting or kSyscall.
  StringId reason = StringId::kEmpty;  // As GoInterval::reason.
  StringId start = StringId::kEmpty;   // The function that the goroutine started in.
  WaitPlace place;                     // Where it waited.
  WaitObject object = WaitObject::kOther;
  StringId call = StringId::kEmpty;  // Of an object of package sync: sync.(*RWMutex).RLock.
  WaitEnd end = WaitEnd::kOpen;
  StringId waker = StringId::kEmpty;  // kPeer, kGoroutine: where it was; as WaitPlace::function.

  // kPeer, kGoroutine: the function of package sync by which it did so: sync.(*RWMutex).RUnlock.
  StringId release = StringId::kEmpty;

  // Whether the goroutine belongs to the runtime, or records the trace.
  bool is_system = false;

  // kSyscall: whether it is a call that lasts until there is input, a child ends, or a signal
  // comes, and has lasted for 10 ms or more.
  bool awaits_input = false;

  friend bool operator==(const WaitKey&, const WaitKey&) = default;

  template <class H>
  friend H AbslHashValue(H h, const WaitKey& key) {
    return H::combine(std::move(h), key.state, key.reason, key.start, key.place, key.object,
                      key.call, key.end, key.waker, key.release, key.is_system, key.awaits_input);
  }
};

// All waits with one key, as far as they were seen: see Interval::Seen().
struct WaitGroup {
  WaitKey key;
  Histogram durations;
  uint64_t clipped = 0;  // How many began before the trace or window, or ended after it.

  // In how many of the receives and selects the goroutine waited for an answer: since its last one
  // it had created another goroutine, or had woken one up from a receive or select, in a line
  // before that of the wait. Counts those that a timer or deadline ended, or the goroutine that had
  // been asked, as far as this happened in one generation of the trace.
  uint64_t asked = 0;

  // In how many of the selects the goroutine waited to send: another one received, outside of a
  // select, and so ended the wait.
  uint64_t sends = 0;

  // The smallest ids of different goroutines that waited; the rest is kNone.
  static constexpr size_t kGoroutines = 3;
  std::array<GoId, kGoroutines> goroutines = {GoId::kNone, GoId::kNone, GoId::kNone};
};

// What goroutines did while others waited for them. For each wait that a goroutine ended, the time
// until then is followed back from that goroutine along the critical path (see CriticalPaths):
// where it waited for another one, that one is on the path. So who is named is who kept all of them
// waiting, and not who happened to have the lock last. A wait for an answer by net/http or gRPC is
// that of the goroutine that asked, and not of the one that reads the connection.
struct WaitHolder {
  // The waits, as in WaitKey.
  WaitObject object = WaitObject::kOther;
  StringId reason = StringId::kEmpty;  // kChannel; "" for other objects.
  StringId start = StringId::kEmpty;
  WaitPlace place;

  // The goroutines on the paths: the outermost function of the program in which they were or, if
  // there is none, the function that they started in; and the latter. If they started in main.main
  // or in a function without a name, the next one of the program counts as the outermost.
  StringId holder = StringId::kEmpty;
  StringId holder_start = StringId::kEmpty;

  // What they did there: their state; the reason why they waited or stopped, or "GC mark assist"
  // if they ran in one; and the innermost function of the program, as WaitPlace::function, with the
  // line of it in which they spent most of that time.
  GoState state = GoState::kUndetermined;
  StringId doing = StringId::kEmpty;
  StringId function = StringId::kEmpty;
  StringId file = StringId::kEmpty;
  uint64_t line = 0;

  uint64_t count = 0;  // The number of pieces of paths.
  int64_t time = 0;    // The part of the waits, in nanoseconds.
};

// The waits of goroutines that were in tasks of one type: in a region of such a task, or else since
// they began it. Only waits that a goroutine ended count, and tasks and regions that began in the
// same generation of the trace.
struct WaitTask {
  // The waits, as in WaitHolder.
  WaitObject object = WaitObject::kOther;
  StringId reason = StringId::kEmpty;
  WaitPlace place;

  StringId type = StringId::kEmpty;
  uint64_t count = 0;
  int64_t time = 0;  // In nanoseconds.
};

// Counts waits and syscalls of goroutines by where they are. Memory is in proportion to the
// distinct keys, and to the goroutines that exist at a time. Holders need some 12 MB more, and
// memory in proportion to the pairs of stacks in which one goroutine waits for another.
class WaitStats final : public MergeableAnalysis<WaitStats> {
 public:
  // What to count.
  struct Options {
    // Only goroutines that started in a function whose whole name this matches: an extended
    // regular expression of POSIX, or the name itself; "" for all.
    std::string start = {};

    // Only goroutines that the filter selects are counted, only times within its `times`, and only
    // waits in stacks that its `stacks` select.
    EventFilter filter = {};

    // For which objects, by WaitObject, there are holders() and tasks().
    std::array<bool, kWaitObjectEnd> holders = {};
  };

  // `*interner` must outlive this object.
  WaitStats(Interner* interner, Options options);
  ~WaitStats() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void Merge(WaitStats&& next, const InternerMap& ids) override;
  void Finish(int64_t end) override;

  // Returns the groups by time, most first, after Finish().
  absl::Span<const WaitGroup> groups() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns what goroutines of the program waited for, by time, most first, after Finish(). The
  // times of a place sum to those of its waits, except for waits that no goroutine ended, and
  // except for the beginnings of waits where a path cannot be followed so far: into the generation
  // of the trace before the one in which a wait ends; through more than 1024 states, or more than
  // the last 262,144 of all goroutines; or where there are so many waits that this would take more
  // time than is in proportion to the events.
  absl::Span<const WaitHolder> holders() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the types of the tasks in which goroutines waited, by time, most first, after Finish().
  absl::Span<const WaitTask> tasks() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_WAIT_STATS_H_
