#include "parser/event/event_tables.h"

#include <atomic>

namespace gotrace::internal {
namespace {

uint64_t NextSerial() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace

EventTables::EventTables() : serial_(NextSerial()) {}

size_t EventTables::StackSize(uint64_t id) const {
  const uint32_t index = stacks_.Find(id);
  return index == kNoStack ? 0 : stacks_[index].size;
}

EventTables::RawFrame EventTables::GetRawFrame(uint64_t id, size_t index) const {
  const Frame& frame = frames_[stack_frames_[stacks_[stacks_.Find(id)].first + index]];
  return {frame.pc, frame.func, frame.file, frame.line};
}

StackFrame EventTables::GetFrame(uint64_t id, size_t index) const {
  if (index >= StackSize(id)) return {};
  const RawFrame frame = GetRawFrame(id, index);
  const absl::string_view* func = FindString(frame.func);
  const absl::string_view* file = FindString(frame.file);
  return {frame.pc, func == nullptr ? "" : *func, file == nullptr ? "" : *file, frame.line};
}

std::vector<ExperimentalData> EventTables::experimental_batches() const {
  std::vector<ExperimentalData> all;
  for (const auto& [experiment, batches] : experimental_) all.push_back({experiment, batches});
  return all;
}

}  // namespace gotrace::internal
