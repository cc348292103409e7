// Profiles as collapsed stacks, the text format from which flame graphs are made.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"
#include "export/pprof/profile_frames.h"
#include "export/pprof/stack_labels.h"
#include "gotrace/interner.h"
#include "gotrace/profile.h"
#include "gotrace/profile_writer.h"

namespace gotrace {

std::string FormatFolded(const ProfileForm& form, absl::Span<const ProfileSample> samples,
                         const Interner& interner) {
  const bool has_time = !form.time_name.empty();
  std::map<std::string, uint64_t> sums;
  std::vector<internal::ProfileFrame> frames;
  for (const ProfileSample& sample : samples) {
    internal::SetProfileFrames(form, sample.key, interner, &frames);
    std::string stack;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      if (!stack.empty()) stack += ';';
      // The separators cannot be escaped.
      std::string name(frame->name);
      if (form.shows_lines && frame->id.has_value()) {
        absl::StrAppend(&name, " ", internal::LineText(interner.Frame(*frame->id)));
      }
      absl::StrAppend(&stack, absl::StrReplaceAll(name, {{";", ":"}, {"\n", " "}, {"\r", " "}}));
    }
    sums[stack.empty() ? "[unknown]" : stack] +=
        has_time ? static_cast<uint64_t>(sample.value.time) : sample.value.count;
  }
  std::string text;
  for (const auto& [stack, sum] : sums) {
    if (sum > 0) absl::StrAppend(&text, stack, " ", sum, "\n");
  }
  return text;
}

}  // namespace gotrace
