// Replaces the texts and other details of a trace while it is written.
#ifndef GOTRACE_REWRITE_REPLACER_H_
#define GOTRACE_REWRITE_REPLACER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "gotrace/event.h"

namespace gotrace::internal {

// What a text of a trace says.
enum class TextRole : uint8_t {
  kFunction,
  kFile,
  kReason,  // Why a goroutine or the world stopped: a text of the runtime.
  kLabel,
  kTask,
  kRegion,
  kMessage,  // The category or the text of a message.
};

// A frame of a stack, with its texts.
struct FullFrame {
  std::optional<uint64_t> pc;
  std::string func;
  std::string file;
  uint64_t line = 0;
};

// Must return the same for the same in all generations of a trace, since the ends of regions refer
// to their names, and frames with the same PC are one.
class Replacer {
 public:
  virtual ~Replacer() = default;

  // Returns what replaces a text of an event, which is not empty.
  virtual std::string Replace(TextRole role, absl::string_view text) = 0;

  // Changes a frame. Names that are missing in the trace are empty, and have to stay so.
  virtual void Replace(FullFrame* frame) = 0;

  // Changes a clock snapshot, in the order of generations.
  virtual void Replace(ClockSnapshot* snapshot) = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_REPLACER_H_
