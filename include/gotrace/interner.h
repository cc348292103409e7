// Ids for strings, frames and stacks that stay valid over a whole trace. Those of the trace itself
// are new in each generation, and their content is gone after it.
#ifndef GOTRACE_INTERNER_H_
#define GOTRACE_INTERNER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/event.h"

namespace gotrace {

// A string, a frame and a stack of an Interner. Ids are small numbers without gaps: an array can be
// indexed with them.
enum class StringId : uint32_t { kEmpty = 0 };  // kEmpty is "".
enum class FrameId : uint32_t {};
enum class StackId : uint32_t { kNone = 0 };  // kNone has no frames.

// A frame whose function and file are given by their ids.
struct InternedFrame {
  uint64_t pc = 0;
  StringId func = StringId::kEmpty;
  StringId file = StringId::kEmpty;
  uint64_t line = 0;
};

// The ids that the content of one Interner has in another; see Interner::Merge().
class InternerMap {
 public:
  // Maps every id to itself.
  InternerMap() = default;

  // The new id of an id of the merged interner.
  StringId operator()(StringId id) const { return Find(strings_, id); }
  FrameId operator()(FrameId id) const { return Find(frames_, id); }
  StackId operator()(StackId id) const { return Find(stacks_, id); }

 private:
  friend class Interner;

  template <class Id>
  static Id Find(const std::vector<Id>& ids, Id id) {
    return ids.empty() ? id : ids[static_cast<size_t>(id)];
  }

  std::vector<StringId> strings_;
  std::vector<FrameId> frames_;
  std::vector<StackId> stacks_;
};

// Keeps each string, frame and stack that it is given once, for its whole life. Memory is in
// proportion to the distinct content. Two stacks are the same if all of their frames are, and two
// frames if they have the same PC, function, file and line.
//
// Objects of this class may be used by one thread at a time.
class Interner {
 public:
  Interner();
  Interner(const Interner&) = delete;
  Interner& operator=(const Interner&) = delete;
  ~Interner();

  // The id of `text`.
  StringId InternString(absl::string_view text);

  // The id of the string that has the id `id` in the tables of a generation, as the argument of an
  // event names it; kEmpty if there is no such string. `tables` is Event::tables(), and may be
  // nullptr. If the same string of the same generation was looked up before, this costs a look-up
  // in an array.
  StringId InternString(const internal::EventTables* tables, uint64_t id);

  // The id of the name of `range`, "GC mark assist". Cheap unless the name has a reason.
  StringId InternRange(const RangeParts& range);

  // The id of `stack`; kNone if it has no frames, or if the trace lacks it. If the same stack of
  // the same generation was looked up before, this costs a look-up in an array: no frame is read.
  StackId InternStack(const Stack& stack);

  // The string `id`. Valid as long as this object.
  absl::string_view String(StringId id) const;

  // The frame `id`. Its views are valid as long as this object.
  StackFrame Frame(FrameId id) const;

  // The same with ids, for exporters that write each text once.
  InternedFrame FrameWithIds(FrameId id) const;

  // The frames of the stack `id`, the innermost first. Valid as long as this object.
  absl::Span<const FrameId> Frames(StackId id) const;

  // The name of the outermost function of the stack `id`, which is where its goroutine started; ""
  // if the stack has no frames. Valid as long as this object.
  absl::string_view RootFunction(StackId id) const;

  // The id of that name.
  StringId RootFunctionId(StackId id) const;

  // How many there are. Every id is less than the number of its kind.
  size_t string_count() const;
  size_t frame_count() const;
  size_t stack_count() const;

  // Adds all content of `other`, and returns the ids that it has here. Merging with itself changes
  // nothing.
  InternerMap Merge(const Interner& other);

 private:
  friend class StateTracker;
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_INTERNER_H_
