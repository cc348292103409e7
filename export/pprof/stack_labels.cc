#include "export/pprof/stack_labels.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "export/pprof/profile_frames.h"

namespace gotrace::internal {
namespace {

std::vector<StringId> FunctionsOf(StackId stack, const Interner& interner) {
  std::vector<StringId> functions;
  for (const FrameId frame : interner.Frames(stack)) {
    functions.push_back(interner.FrameWithIds(frame).func);
  }
  return functions;
}

// The number of characters of UTF-8.
size_t WidthOf(absl::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

StackId StacksByFunctions::Of(StackId stack) {
  return stacks_.try_emplace(FunctionsOf(stack, interner_), stack).first->second;
}

std::string LineText(const StackFrame& frame) {
  absl::string_view file = frame.file;
  file.remove_prefix(file.find_last_of("/\\") + 1);
  return file.empty() ? "" : absl::StrCat(file, ":", frame.line);
}

StackLabels::StackLabels(const Interner* interner, absl::Span<const StackId> stacks)
    : interner_(*interner) {
  absl::flat_hash_map<std::vector<StringId>, std::vector<StackId>> alike;
  for (const StackId stack : stacks) {
    if (stack == StackId::kNone) continue;
    std::vector<StackId>& some = alike[FunctionsOf(stack, interner_)];
    if (std::find(some.begin(), some.end(), stack) == some.end()) some.push_back(stack);
  }
  for (const auto& [functions, some] : alike) {
    if (some.size() == 1) continue;
    std::vector<bool> differ(functions.size());
    for (size_t i = 0; i < differ.size(); ++i) {
      const auto line_of = [&](StackId stack) {
        return LineText(interner_.Frame(interner_.Frames(stack)[i]));
      };
      for (const StackId stack : some) differ[i] = differ[i] || line_of(stack) != line_of(some[0]);
    }
    for (const StackId stack : some) lines_.emplace(stack, differ);
  }
}

void StackLabels::AppendParts(StackId stack, std::vector<Part>* parts) const {
  const absl::Span<const FrameId> frames = interner_.Frames(stack);
  const auto lines = lines_.find(stack);
  for (size_t i = frames.size(); i-- > 0;) {
    const StackFrame frame = interner_.Frame(frames[i]);
    Part& part = parts->emplace_back();
    part.text = std::string(frame.func);
    part.kind = KindOf(frame);
    if (lines != lines_.end() && lines->second[i]) {
      absl::StrAppend(&part.text, " ", LineText(frame));
    }
  }
}

std::vector<StackLabels::Part> StackLabels::PartsOf(const ProfileKey& key) const {
  std::vector<Part> parts;
  AppendParts(key.stack, &parts);
  if (key.stack == StackId::kNone && key.start != StringId::kEmpty) {
    parts.push_back({std::string(interner_.String(key.start)), FrameKind::kProgram});
  }
  if (const absl::string_view waker = WakerName(key.woken_by); !waker.empty()) {
    parts.push_back({std::string(waker), FrameKind::kProgram});
    AppendParts(key.waker, &parts);
  }
  return parts;
}

std::string StackLabels::Text(const ProfileKey& key) const {
  std::string text;
  for (const Part& part : PartsOf(key)) absl::StrAppend(&text, text.empty() ? "" : ";", part.text);
  return text;
}

std::string StackLabels::Fit(const ProfileKey& key, size_t width) const {
  const std::vector<Part> parts = PartsOf(key);
  // The innermost frame of the program, or without one the outermost of all, stays.
  size_t kept = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].kind == FrameKind::kProgram) kept = i;
  }
  std::vector<size_t> order;
  for (const FrameKind kind : {FrameKind::kRuntime, FrameKind::kLibrary}) {
    // The function that the program called comes last.
    for (size_t i = parts.size(); i-- > 0;) {
      if (parts[i].kind == kind && i != kept && i != kept + 1) order.push_back(i);
    }
    if (kept + 1 < parts.size() && parts[kept + 1].kind == kind) order.push_back(kept + 1);
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].kind == FrameKind::kProgram && i != kept) order.push_back(i);
  }
  std::vector<bool> is_omitted(parts.size());
  const auto joined = [&] {
    std::string text;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (is_omitted[i] && i > 0 && is_omitted[i - 1]) continue;
      absl::StrAppend(&text, text.empty() ? "" : ";", is_omitted[i] ? "…" : parts[i].text);
    }
    return text;
  };
  std::string text = joined();
  for (const size_t i : order) {
    if (WidthOf(text) <= width) break;
    is_omitted[i] = true;
    text = joined();
  }
  return text;
}

}  // namespace gotrace::internal
