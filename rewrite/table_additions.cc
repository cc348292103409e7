#include "rewrite/table_additions.h"

namespace gotrace::internal {

uint64_t TableAdditions::StringId(absl::string_view text) {
  if (text.empty()) return 0;
  const auto [it, is_new] = string_ids_.try_emplace(text, 0);
  if (!is_new) return it->second;
  do {
    --last_string_;
  } while (tables_.FindString(last_string_).has_value());
  strings_.emplace(last_string_, text);
  return it->second = last_string_;
}

uint64_t TableAdditions::StackId(absl::string_view func, absl::string_view file, uint64_t line) {
  const uint64_t func_id = StringId(func);
  const auto [it, is_new] = stack_ids_.try_emplace(func_id, 0);
  if (!is_new) return it->second;
  std::vector<Frame> frames;
  do {
    --last_stack_;
  } while (tables_.FindStack(last_stack_, &frames));
  stacks_.emplace(last_stack_, Frame{std::nullopt, func_id, StringId(file), line});
  return it->second = last_stack_;
}

std::vector<uint64_t> TableAdditions::StringIds() const {
  std::vector<uint64_t> ids = tables_.StringIds();
  for (const auto& [id, text] : strings_) ids.push_back(id);
  return ids;
}

std::vector<uint64_t> TableAdditions::StackIds() const {
  std::vector<uint64_t> ids = tables_.StackIds();
  for (const auto& [id, frame] : stacks_) ids.push_back(id);
  return ids;
}

std::optional<absl::string_view> TableAdditions::FindString(uint64_t id) const {
  const auto added = strings_.find(id);
  return added == strings_.end() ? tables_.FindString(id) : added->second;
}

bool TableAdditions::FindStack(uint64_t id, std::vector<Frame>* frames) const {
  const auto added = stacks_.find(id);
  if (added == stacks_.end()) return tables_.FindStack(id, frames);
  frames->assign({added->second});
  return true;
}

}  // namespace gotrace::internal
