#include "export/pprof/folded.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace gotrace::internal {

void AppendFolded(const ProfileForm& form, absl::Span<const ProfileSample> samples,
                  const Interner& interner, TextBuffer* out) {
  const bool has_time = !form.time_name.empty();
  std::map<std::string, uint64_t> sums;
  std::vector<ProfileFrame> frames;
  for (const ProfileSample& sample : samples) {
    SetProfileFrames(form, sample.key, interner, &frames);
    std::string stack;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      if (!stack.empty()) stack += ';';
      // The separators cannot be escaped.
      absl::StrAppend(&stack,
                      absl::StrReplaceAll(frame->name, {{";", ":"}, {"\n", " "}, {"\r", " "}}));
    }
    sums[stack.empty() ? "[unknown]" : stack] +=
        has_time ? static_cast<uint64_t>(sample.value.time) : sample.value.count;
  }
  for (const auto& [stack, sum] : sums) {
    if (sum > 0) out->Append(stack, " ", sum, "\n");
  }
}

}  // namespace gotrace::internal
