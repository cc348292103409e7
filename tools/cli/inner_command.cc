#include "tools/cli/inner_command.h"

#include "absl/strings/str_cat.h"

namespace gotrace::internal {
namespace {

thread_local InnerCommand* current = nullptr;

}  // namespace

InnerCommand::InnerCommand(const std::function<bool()>& keep_going)
    : keep_going_(keep_going), outer_(current) {
  current = this;
}

InnerCommand::~InnerCommand() { current = outer_; }

InnerCommand* InnerCommand::Current() { return current; }

std::function<bool()> InnerCommand::KeepGoing() {
  return current == nullptr ? nullptr : current->keep_going_;
}

void InnerCommand::Report(absl::string_view message) {
  absl::StrAppend(&messages_, messages_.empty() ? "" : "; ", message);
}

}  // namespace gotrace::internal
