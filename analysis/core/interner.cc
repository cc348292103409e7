#include "gotrace/interner.h"

#include <string>

#include "analysis/core/interner_impl.h"
#include "parser/event/event_access.h"

namespace gotrace {

StringId Interner::Impl::AddString(absl::string_view text) {
  const auto it = string_ids.find(text);
  if (it != string_ids.end()) return it->second;
  const StringId id{static_cast<uint32_t>(strings.size())};
  string_ids.emplace(strings.emplace_back(text), id);
  return id;
}

FrameId Interner::Impl::AddFrame(const FrameContent& frame) {
  const auto [it, is_new] =
      frame_ids.try_emplace(frame, FrameId{static_cast<uint32_t>(frames.size())});
  if (is_new) frames.push_back(frame);
  return it->second;
}

StackId Interner::Impl::AddStack(absl::Span<const FrameId> stack) {
  const auto it = stack_ids.find(stack);
  if (it != stack_ids.end()) return it->second;
  const StackId id{static_cast<uint32_t>(stacks.size())};
  stacks.push_back(arrays.Copy(stack));
  stack_ids.emplace(stacks.back(), id);
  return id;
}

StackId Interner::Impl::AddStack(const Stack& stack) {
  buffer.clear();
  const size_t size = stack.size();
  for (size_t i = 0; i < size; ++i) {
    const StackFrame frame = stack.frame(i);
    buffer.push_back(
        AddFrame({frame.pc, frame.line, AddString(frame.func), AddString(frame.file)}));
  }
  return AddStack(buffer);
}

void Interner::Impl::UseTables(const internal::EventTables& tables) {
  serial = tables.serial();
  known_strings.assign(tables.last_near_string() + 1, kUnknown);
  known_stacks.assign(tables.last_near_stack() + 1, kUnknown);
  far_stacks.clear();
}

[[gnu::noinline]] StringId Interner::Impl::ReadString(const internal::EventTables& tables,
                                                      uint64_t id) {
  if (tables.serial() != serial) UseTables(tables);
  const absl::string_view* const text = tables.FindString(id);
  const StringId found = text == nullptr ? StringId::kEmpty : AddString(*text);
  if (id < known_strings.size()) known_strings[id] = static_cast<uint32_t>(found);
  return found;
}

[[gnu::noinline]] StackId Interner::Impl::ReadStack(const internal::EventTables& tables,
                                                    uint64_t id) {
  if (tables.serial() != serial) UseTables(tables);
  const uint32_t place = tables.StackIndex(id);
  if (place == internal::EventTables::kNoStack) return StackId::kNone;
  uint32_t* known = nullptr;
  if (id < known_stacks.size()) {
    known = &known_stacks[id];
  } else {
    // A salvaging Reader adds missing entries to the tables while it reads events.
    if (place >= far_stacks.size()) far_stacks.resize(tables.stack_count(), kUnknown);
    known = &far_stacks[place];
  }
  if (*known == kUnknown)
    *known = static_cast<uint32_t>(AddStack(internal::EventAccess::MakeStack(&tables, id)));
  return StackId{*known};
}

Interner::Interner() : impl_(std::make_unique<Impl>()) {
  impl_->AddString("");
  impl_->AddStack(absl::Span<const FrameId>());
}

Interner::~Interner() = default;

StringId Interner::InternString(absl::string_view text) { return impl_->AddString(text); }

StringId Interner::InternString(const Event& event, uint64_t id) {
  return impl_->FindString(internal::EventAccess::Tables(event), id);
}

StackId Interner::InternStack(const Stack& stack) {
  return impl_->FindStack(internal::EventAccess::Tables(stack), stack.id());
}

StringId Interner::InternRange(const RangeParts& range) {
  return range.has_reason ? InternString(range.name()) : InternString(range.what);
}

absl::string_view Interner::String(StringId id) const {
  return impl_->strings[static_cast<size_t>(id)];
}

StackFrame Interner::Frame(FrameId id) const {
  const Impl::FrameContent& frame = impl_->frames[static_cast<size_t>(id)];
  return {frame.pc, String(frame.func), String(frame.file), frame.line};
}

InternedFrame Interner::FrameWithIds(FrameId id) const {
  const Impl::FrameContent& frame = impl_->frames[static_cast<size_t>(id)];
  return {frame.pc, frame.func, frame.file, frame.line};
}

absl::Span<const FrameId> Interner::Frames(StackId id) const {
  return impl_->stacks[static_cast<size_t>(id)];
}

StringId Interner::RootFunctionId(StackId id) const {
  const absl::Span<const FrameId> frames = Frames(id);
  return frames.empty() ? StringId::kEmpty : FrameWithIds(frames.back()).func;
}

absl::string_view Interner::RootFunction(StackId id) const { return String(RootFunctionId(id)); }

size_t Interner::string_count() const { return impl_->strings.size(); }
size_t Interner::frame_count() const { return impl_->frames.size(); }
size_t Interner::stack_count() const { return impl_->stacks.size(); }

InternerMap Interner::Merge(const Interner& other) {
  InternerMap map;
  if (&other == this) return map;
  const Impl& from = *other.impl_;
  for (const std::string& text : from.strings) map.strings_.push_back(impl_->AddString(text));
  for (Impl::FrameContent frame : from.frames) {
    frame.func = map(frame.func);
    frame.file = map(frame.file);
    map.frames_.push_back(impl_->AddFrame(frame));
  }
  std::vector<FrameId> stack;
  for (const absl::Span<const FrameId> frames : from.stacks) {
    stack.clear();
    for (const FrameId frame : frames) stack.push_back(map(frame));
    map.stacks_.push_back(impl_->AddStack(stack));
  }
  return map;
}

}  // namespace gotrace
