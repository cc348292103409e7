// The data of an Interner, for callers that need its look-ups to be inlined.
#ifndef GOTRACE_ANALYSIS_CORE_INTERNER_IMPL_H_
#define GOTRACE_ANALYSIS_CORE_INTERNER_IMPL_H_

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/interner.h"
#include "parser/event/event_tables.h"

namespace gotrace {

struct Interner::Impl {
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

  // The value in a cache for an id that was not looked up yet.
  static constexpr uint32_t kUnknown = static_cast<uint32_t>(-1);

  // As Interner::InternString() and InternStack(). Both take few instructions if the id was looked
  // up before.
  StringId FindString(const internal::EventTables* tables, uint64_t id) {
    if (tables == nullptr || id == 0) return StringId::kEmpty;
    if (tables->serial() == serial && id < known_strings.size()) [[likely]] {
      const uint32_t known = known_strings[id];
      if (known != kUnknown) [[likely]]
        return StringId{known};
    }
    return ReadString(*tables, id);
  }
  StackId FindStack(const internal::EventTables* tables, uint64_t id) {
    if (tables == nullptr || id == 0) return StackId::kNone;
    if (tables->serial() == serial && id < known_stacks.size()) [[likely]] {
      const uint32_t known = known_stacks[id];
      if (known != kUnknown) [[likely]]
        return StackId{known};
    }
    return ReadStack(*tables, id);
  }

  StringId ReadString(const internal::EventTables& tables, uint64_t id);
  StackId ReadStack(const internal::EventTables& tables, uint64_t id);
  void UseTables(const internal::EventTables& tables);

  StringId AddString(absl::string_view text);
  FrameId AddFrame(const FrameContent& frame);
  StackId AddStack(absl::Span<const FrameId> frames);
  StackId AddStack(const Stack& stack);

  std::deque<std::string> strings;  // Elements keep their addresses.
  absl::flat_hash_map<absl::string_view, StringId> string_ids;
  std::vector<FrameContent> frames;
  absl::flat_hash_map<FrameContent, FrameId> frame_ids;
  FrameArrays arrays;
  std::vector<absl::Span<const FrameId>> stacks;
  absl::flat_hash_map<absl::Span<const FrameId>, StackId> stack_ids;

  // The results of look-ups in the tables with this serial number, by the ids in these tables.
  // Stacks that are not found by index there are in `far_stacks`, by their place in the table.
  uint64_t serial = 0;
  std::vector<uint32_t> known_strings;
  std::vector<uint32_t> known_stacks;
  std::vector<uint32_t> far_stacks;
  std::vector<FrameId> buffer;
};

}  // namespace gotrace

#endif  // GOTRACE_ANALYSIS_CORE_INTERNER_IMPL_H_
