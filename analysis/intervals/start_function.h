// The functions in which goroutines started, for people.
#ifndef GOTRACE_ANALYSIS_INTERVALS_START_FUNCTION_H_
#define GOTRACE_ANALYSIS_INTERVALS_START_FUNCTION_H_

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "analysis/intervals/stack_places.h"
#include "gotrace/interner.h"

namespace gotrace::internal {

// The function in which a goroutine started. For a goroutine of sync.(*WaitGroup).Go() and the
// like, in which all of them start, it is the function that these were given, as soon as a stack
// shows it.
class StartFunction {
 public:
  // Returns the name; kEmpty if it is unknown.
  StringId name() const { return name_; }

  // Returns whether later stacks may say more.
  bool is_open() const { return name_ == StringId::kEmpty || is_wrapper_; }

  // Takes what a stack of the goroutine says.
  void Learn(const Interner& interner, StackId stack) {
    if (!is_open()) return;
    const absl::Span<const FrameId> frames = interner.Frames(stack);
    if (frames.empty()) return;
    const StringId root = interner.FrameWithIds(frames.back()).func;
    const absl::string_view package = WrapperPackage(interner.String(root));
    StartFunction found;
    found.name_ = root;
    found.is_wrapper_ = !package.empty();
    if (found.is_wrapper_ && frames.size() > 1) {
      const StringId called = interner.FrameWithIds(frames[frames.size() - 2]).func;
      // It may be about to end.
      if (!absl::StartsWith(interner.String(called), package)) {
        found.name_ = called;
        found.is_wrapper_ = false;
      }
    }
    Learn(found);
  }

  // Takes what is known of the same goroutine from elsewhere.
  void Learn(const StartFunction& other) {
    if (is_open() && other.name_ != StringId::kEmpty &&
        (name_ == StringId::kEmpty || !other.is_wrapper_)) {
      *this = other;
    }
  }

  void MapIds(const InternerMap& ids) { name_ = ids(name_); }

  // Returns the name once no stack can say more. If it is that of a wrapper, it also has the
  // function of the program that created the goroutine: "sync.(*WaitGroup).Go.func1 of main.serve".
  StringId FinalName(StackId created_at, Interner* interner) const {
    if (!is_wrapper_) return name_;
    for (const FrameId id : interner->Frames(created_at)) {
      const StackFrame frame = interner->Frame(id);
      if (KindOf(frame) != FrameKind::kProgram) continue;
      return interner->InternString(absl::StrCat(interner->String(name_), " of ", frame.func));
    }
    return name_;
  }

 private:
  // Returns the beginning of the names of the functions around a wrapper; "" for other functions.
  static absl::string_view WrapperPackage(absl::string_view function) {
    constexpr absl::string_view kSync = "sync.(*WaitGroup).";
    constexpr absl::string_view kGroup = "golang.org/x/sync/errgroup.(*Group).";
    if (absl::StartsWith(function, "sync.(*WaitGroup).Go.")) return kSync;
    if (absl::StartsWith(function, kGroup)) return kGroup;
    return "";
  }

  StringId name_ = StringId::kEmpty;
  bool is_wrapper_ = false;
};

// Returns the function in which a goroutine started, as far as one of its stacks says.
inline StringId StartOf(const Interner& interner, StackId stack) {
  StartFunction start;
  start.Learn(interner, stack);
  return start.name();
}

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_INTERVALS_START_FUNCTION_H_
