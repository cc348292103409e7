#include "rewrite/table_additions.h"

#include <algorithm>

namespace gotrace::internal {

uint64_t TableAdditions::StringId(absl::string_view text) {
  if (text.empty()) return 0;
  const auto [it, is_new] = string_ids_.try_emplace(text, 0);
  if (!is_new) return it->second;
  do {
    --last_string_;
  } while (tables_->HasString(last_string_));
  strings_.emplace(last_string_, text);
  return it->second = last_string_;
}

uint64_t TableAdditions::StackId(absl::string_view func, absl::string_view file, uint64_t line) {
  const uint64_t func_id = StringId(func);
  const auto [it, is_new] = stack_ids_.try_emplace(func_id, 0);
  if (!is_new) return it->second;
  do {
    --last_stack_;
  } while (tables_->HasStack(last_stack_));
  stacks_.push_back({last_stack_, func_id, StringId(file), line});
  return it->second = last_stack_;
}

absl::string_view TableAdditions::FindString(uint64_t id) const {
  if (const absl::string_view* const text = tables_->FindString(id)) return *text;
  const auto added = strings_.find(id);
  return added == strings_.end() ? absl::string_view() : added->second;
}

std::vector<std::pair<uint64_t, absl::string_view>> TableAdditions::Strings() const {
  std::vector<std::pair<uint64_t, absl::string_view>> strings(strings_.begin(), strings_.end());
  std::sort(strings.begin(), strings.end());
  return strings;
}

}  // namespace gotrace::internal
