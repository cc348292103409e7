#include "analysis/tables/stack_rows.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"
#include "analysis/tables/content_hash.h"

namespace gotrace::internal {
namespace {

void AppendNumber(uint64_t number, std::string* bytes) {
  for (int shift = 0; shift < 64; shift += 8) bytes->push_back(static_cast<char>(number >> shift));
}

void AppendText(absl::string_view text, std::string* bytes) {
  AppendNumber(text.size(), bytes);
  absl::StrAppend(bytes, text);
}

}  // namespace

int64_t StackRows::Hash(StackId stack) {
  bytes_.clear();
  for (const FrameId id : interner_.Frames(stack)) {
    const StackFrame frame = interner_.Frame(id);
    AppendText(frame.func, &bytes_);
    AppendText(frame.file, &bytes_);
    AppendNumber(frame.line, &bytes_);
    if (!without_pc_) AppendNumber(frame.pc, &bytes_);
  }
  return ContentHash(bytes_);
}

int64_t StackRows::NewIdOf(StackId stack) {
  ids_.resize(interner_.stack_count());
  return ids_[static_cast<size_t>(stack)] = Hash(stack);
}

void StackRows::Add(const Stack& stack) {
  const StackId interned = interner_.InternStack(stack);
  if (interned == StackId::kNone) return;
  const size_t index = static_cast<size_t>(interned);
  if (index >= is_added_.size()) is_added_.resize(interner_.stack_count());
  if (is_added_[index]) return;
  is_added_[index] = true;
  const int64_t id = *IdOf(interned);
  if (without_pc_ && !added_.insert(id).second) return;

  const absl::Span<const FrameId> frames = interner_.Frames(interned);
  StacksRow row;
  row.stack_id = id;
  row.depth = static_cast<int64_t>(frames.size());
  row.leaf = interner_.FrameWithIds(frames.front()).func;
  row.root = interner_.FrameWithIds(frames.back()).func;
  std::string folded;
  if (output_.Has(TableId::kStacks)) {
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      // The separator cannot be escaped.
      absl::StrAppend(&folded, frame == frames.rbegin() ? "" : ";",
                      absl::StrReplaceAll(interner_.Frame(*frame).func, {{";", ":"}}));
    }
  }
  row.folded = folded;
  output_.Add(row);
  if (!output_.Has(TableId::kStackFrames)) return;
  for (size_t i = 0; i < frames.size(); ++i) {
    const InternedFrame frame = interner_.FrameWithIds(frames[i]);
    StackFramesRow one;
    one.stack_id = id;
    one.position = static_cast<int64_t>(i);
    one.pc = frame.pc;
    one.func = frame.func;
    one.file = frame.file;
    one.line = static_cast<int64_t>(frame.line);
    output_.Add(one);
  }
}

}  // namespace gotrace::internal
