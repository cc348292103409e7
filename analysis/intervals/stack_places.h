// Where in the program a stack is.
#ifndef GOTRACE_ANALYSIS_INTERVALS_STACK_PLACES_H_
#define GOTRACE_ANALYSIS_INTERVALS_STACK_PLACES_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "gotrace/interner.h"
#include "gotrace/wait_stats.h"

namespace gotrace::internal {

// What a stack says about its goroutine. Without frames, everything is empty.
struct StackPlace {
  // The innermost frame of the program and the function that it called; see WaitPlace.
  WaitPlace place;

  // The function of the outermost frame of the program, and the one in which the goroutine started:
  // see StartFunction. If that is main.main or a function without a name, the program's next
  // function says more.
  StringId outermost = StringId::kEmpty;
  StringId start = StringId::kEmpty;

  // The object of package sync for which the stack waits, and the function that waits for it, as
  // the program calls it; kOther and "" if there is none.
  WaitObject object = WaitObject::kOther;
  StringId call = StringId::kEmpty;

  // Whether the goroutine belongs to the runtime, or records the trace.
  bool is_system = false;

  // Whether it is the goroutine with which a context calls what its deadline ends.
  bool is_deadline = false;

  // Whether it waits for the garbage collector: for a cycle to begin, or in a mark assist.
  bool is_in_gc = false;

  // Whether the goroutine serves a connection of net/http; and whether it is outside of the handler
  // and reads.
  bool is_connection = false;
  bool awaits_request = false;

  // Whether it waits for a connection of a pool of the standard library, or gives one back.
  bool awaits_connection = false;
  bool returns_connection = false;

  // Whether it receives from a channel, outside of a select.
  bool receives = false;

  // Whether the stack is in a call that waits for input, for another process or for a signal.
  bool awaits_input = false;
};

// Whose code a frame is in, from what matters most to people on.
enum class FrameKind : uint8_t {
  kProgram,
  kLibrary,  // The standard library, or another module.
  kRuntime,  // Package runtime, or a package below runtime/ or internal/.
};
FrameKind KindOf(const StackFrame& frame);

// Returns for what a goroutine waits for `reason`, in a stack with this place. What only the stack
// says holds for reason "sync", and for waits that began before the trace, which have no reason.
// The runtime's own semaphores have the same reason, and another stack.
WaitObject ObjectOf(absl::string_view reason, const StackPlace& place);

inline bool IsLock(WaitObject object) {
  return object == WaitObject::kMutex || object == WaitObject::kRWMutex;
}

inline bool IsChannel(WaitObject object) {
  return object == WaitObject::kChannel || object == WaitObject::kSelect;
}

// Finds the places of stacks, each once.
class StackPlaces {
 public:
  // `*interner` must outlive this object.
  explicit StackPlaces(const Interner* interner) : interner_(*interner) {}

  // Returns the place of a stack. Valid until the next call.
  const StackPlace& Of(StackId stack);

 private:
  StackPlace Find(StackId stack) const;

  const Interner& interner_;
  // By StackId.
  std::vector<StackPlace> places_;
  std::vector<bool> is_known_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_INTERVALS_STACK_PLACES_H_
