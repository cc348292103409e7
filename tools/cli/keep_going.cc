#include "tools/cli/keep_going.h"

namespace gotrace::internal {
namespace {

thread_local const std::function<bool()>* current = nullptr;

}  // namespace

KeepGoingScope::KeepGoingScope(const std::function<bool()>& keep_going) : outer_(current) {
  current = &keep_going;
}

KeepGoingScope::~KeepGoingScope() { current = outer_; }

std::function<bool()> KeepGoingScope::Current() { return current == nullptr ? nullptr : *current; }

}  // namespace gotrace::internal
