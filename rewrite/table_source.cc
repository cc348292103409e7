#include "rewrite/table_source.h"

namespace gotrace::internal {

std::optional<absl::string_view> OwnTables::FindString(uint64_t id) const {
  const absl::string_view* const text = tables_.FindString(id);
  return text == nullptr ? std::nullopt : std::optional<absl::string_view>(*text);
}

bool OwnTables::FindStack(uint64_t id, std::vector<Frame>* frames) const {
  frames->clear();
  if (!tables_.HasStack(id)) return false;
  const bool is_missing = tables_.IsMissingStack(id);
  const size_t size = tables_.StackSize(id);
  for (size_t i = 0; i < size; ++i) {
    const EventTables::RawFrame raw = tables_.GetRawFrame(id, i);
    Frame& frame = frames->emplace_back();
    if (!is_missing) frame.pc = raw.pc;
    frame.func = raw.func;
    frame.file = raw.file;
    frame.line = raw.line;
  }
  return true;
}

}  // namespace gotrace::internal
