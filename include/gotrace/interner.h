// Ids for strings, frames and stacks that stay valid for a whole trace, unlike the ids in the
// trace, whose meaning changes with each generation.
#ifndef GOTRACE_INTERNER_H_
#define GOTRACE_INTERNER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/event.h"

namespace gotrace {

// The ids of strings, frames and stacks in an Interner. Ids are small numbers without gaps: an
// array can be indexed with them.
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

// Maps the ids of one Interner to the ids of the same content in another; see Interner::Merge().
class InternerMap {
 public:
  // Maps every id to itself.
  InternerMap() = default;

  // Returns the new id for an id of the merged interner.
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

// Stores each string, frame and stack once, until the end of its life. Memory is in proportion to
// the distinct content. Two stacks are the same if all of their frames are, and two frames if they
// have the same PC, function, file and line.
//
// An Interner may be used by one thread at a time.
class Interner {
 public:
  Interner();
  Interner(const Interner&) = delete;
  Interner& operator=(const Interner&) = delete;
  ~Interner();

  // Returns the id of `text`.
  StringId InternString(absl::string_view text);

  // Returns the id of a string of the generation of `event`, or kEmpty if there is no such string.
  // `id` is the string's id there, from an argument of the event. Looking up the same string of a
  // generation again only reads an array.
  StringId InternString(const Event& event, uint64_t id);

  // Returns the id of the name of `range`: "GC mark assist". Cheap unless the name has a reason.
  StringId InternRange(const RangeParts& range);

  // Returns the id of `stack`, or kNone if it has no frames or the trace lacks it. Looking up the
  // same stack of a generation again only reads an array, and no frames.
  StackId InternStack(const Stack& stack);

  // Returns the string `id`. Valid as long as this object.
  absl::string_view String(StringId id) const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the frame `id`. Its views are valid as long as this object.
  StackFrame Frame(FrameId id) const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the frame with ids instead of texts, for exporters that write each text once.
  InternedFrame FrameWithIds(FrameId id) const;

  // Returns the frames of the stack `id`, innermost first. Valid as long as this object.
  absl::Span<const FrameId> Frames(StackId id) const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the name of the outermost function of the stack `id`, in which its goroutine started;
  // "" if the stack has no frames. Valid as long as this object.
  absl::string_view RootFunction(StackId id) const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the id of RootFunction().
  StringId RootFunctionId(StackId id) const;

  // Return the number of strings, frames and stacks. Every id is less than the number of its kind.
  size_t string_count() const;
  size_t frame_count() const;
  size_t stack_count() const;

  // Adds all content of `other`, and returns a map of its ids to the ids here. Merging with itself
  // changes nothing.
  InternerMap Merge(const Interner& other);

 private:
  friend class StateTracker;
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_INTERNER_H_
