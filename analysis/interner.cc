#include "gotrace/interner.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "parser/event/event_tables.h"

namespace gotrace {
namespace {

struct FrameContent {
  uint64_t pc = 0;
  uint64_t line = 0;
  StringId func = StringId::kEmpty;
  StringId file = StringId::kEmpty;

  friend bool operator==(const FrameContent&, const FrameContent&) = default;

  template <class H>
  friend H AbslHashValue(H h, const FrameContent& frame) {
    return H::combine(std::move(h), frame.pc, frame.line, frame.func, frame.file);
  }
};

// Copies of arrays of frame ids, which keep their addresses.
class FrameArrays {
 public:
  absl::Span<const FrameId> Copy(absl::Span<const FrameId> frames) {
    if (frames.size() > left_) {
      left_ = std::max(frames.size(), kChunk);
      chunks_.push_back(std::make_unique<FrameId[]>(left_));
      next_ = chunks_.back().get();
    }
    FrameId* const copy = next_;
    std::copy(frames.begin(), frames.end(), copy);
    next_ += frames.size();
    left_ -= frames.size();
    return {copy, frames.size()};
  }

 private:
  static constexpr size_t kChunk = 4096;

  std::vector<std::unique_ptr<FrameId[]>> chunks_;
  FrameId* next_ = nullptr;
  size_t left_ = 0;
};

// The id of an entry that a cache does not have yet.
constexpr uint32_t kUnknown = static_cast<uint32_t>(-1);

// String ids from here on are not cached: a damaged trace may have any.
constexpr uint64_t kCachedStrings = 1 << 14;

}  // namespace

struct Interner::Impl {
  StringId AddString(absl::string_view text);
  FrameId AddFrame(const FrameContent& frame);
  StackId AddStack(absl::Span<const FrameId> frames);
  StackId ReadStack(const Stack& stack);
  void UseTables(const EventTables& tables);

  std::deque<std::string> strings;  // Elements keep their addresses.
  absl::flat_hash_map<absl::string_view, StringId> string_ids;
  std::vector<FrameContent> frames;
  absl::flat_hash_map<FrameContent, FrameId> frame_ids;
  FrameArrays arrays;
  std::vector<absl::Span<const FrameId>> stacks;
  absl::flat_hash_map<absl::Span<const FrameId>, StackId> stack_ids;

  // What was looked up in the tables with this serial number; kUnknown for what was not. Stacks are
  // found by their index in the tables, and strings by their id.
  uint64_t serial = 0;
  std::vector<uint32_t> known_stacks;
  std::vector<uint32_t> known_strings;
  std::vector<FrameId> buffer;
};

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

[[gnu::noinline]] StackId Interner::Impl::ReadStack(const Stack& stack) {
  buffer.clear();
  const size_t size = stack.size();
  for (size_t i = 0; i < size; ++i) {
    const StackFrame frame = stack.frame(i);
    buffer.push_back(
        AddFrame({frame.pc, frame.line, AddString(frame.func), AddString(frame.file)}));
  }
  return AddStack(buffer);
}

[[gnu::noinline]] void Interner::Impl::UseTables(const EventTables& tables) {
  serial = tables.serial();
  known_stacks.assign(tables.stack_count(), kUnknown);
  known_strings.clear();
}

Interner::Interner() : impl_(std::make_unique<Impl>()) {
  impl_->AddString("");
  impl_->AddStack({});
}

Interner::~Interner() = default;

StringId Interner::InternString(absl::string_view text) { return impl_->AddString(text); }

StringId Interner::InternString(const EventTables* tables, uint64_t id) {
  if (tables == nullptr || id == 0) return StringId::kEmpty;
  Impl& impl = *impl_;
  if (tables->serial() != impl.serial) [[unlikely]]
    impl.UseTables(*tables);
  if (id < impl.known_strings.size() && impl.known_strings[id] != kUnknown) [[likely]] {
    return StringId{impl.known_strings[id]};
  }
  const absl::string_view* const text = tables->FindString(id);
  const StringId found = text == nullptr ? StringId::kEmpty : impl.AddString(*text);
  if (id < kCachedStrings) {
    if (id >= impl.known_strings.size()) impl.known_strings.resize(id + 1, kUnknown);
    impl.known_strings[id] = static_cast<uint32_t>(found);
  }
  return found;
}

StackId Interner::InternStack(const Stack& stack) {
  const EventTables* const tables = stack.tables();
  if (tables == nullptr || stack.id() == 0) return StackId::kNone;
  Impl& impl = *impl_;
  if (tables->serial() != impl.serial) [[unlikely]]
    impl.UseTables(*tables);
  const uint32_t index = tables->StackIndex(stack.id());
  if (index >= impl.known_stacks.size()) return StackId::kNone;
  uint32_t& known = impl.known_stacks[index];
  if (known == kUnknown) [[unlikely]]
    known = static_cast<uint32_t>(impl.ReadStack(stack));
  return StackId{known};
}

absl::string_view Interner::String(StringId id) const {
  return impl_->strings[static_cast<size_t>(id)];
}

StackFrame Interner::Frame(FrameId id) const {
  const FrameContent& frame = impl_->frames[static_cast<size_t>(id)];
  return {frame.pc, String(frame.func), String(frame.file), frame.line};
}

absl::Span<const FrameId> Interner::Frames(StackId id) const {
  return impl_->stacks[static_cast<size_t>(id)];
}

absl::string_view Interner::RootFunction(StackId id) const {
  const absl::Span<const FrameId> frames = Frames(id);
  return frames.empty() ? absl::string_view() : Frame(frames.back()).func;
}

size_t Interner::string_count() const { return impl_->strings.size(); }
size_t Interner::frame_count() const { return impl_->frames.size(); }
size_t Interner::stack_count() const { return impl_->stacks.size(); }

InternerMap Interner::Merge(const Interner& other) {
  InternerMap map;
  if (&other == this) return map;
  const Impl& from = *other.impl_;
  for (const std::string& text : from.strings) map.strings_.push_back(impl_->AddString(text));
  for (FrameContent frame : from.frames) {
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
