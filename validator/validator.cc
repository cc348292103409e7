#include "gotrace/validator.h"

#include <utility>

#include "validator/event_validator.h"

namespace gotrace {

Validator::Validator(const ValidatorOptions& options, std::function<void(Finding)> on_finding)
    : impl_(std::make_unique<internal::EventValidator>(options, std::move(on_finding))) {}
Validator::Validator(Validator&&) noexcept = default;
Validator& Validator::operator=(Validator&&) noexcept = default;
Validator::~Validator() = default;

void Validator::Add(absl::Span<const Event> events) { impl_->CheckAll(events); }

void Validator::BeginGeneration(uint64_t number) { impl_->BeginGeneration(number); }

void Validator::NoteLoss() { impl_->NoteLoss(); }

absl::Status Validator::Finish() {
  impl_->Finish();
  return absl::OkStatus();
}

uint64_t Validator::event_count() const { return impl_->event_count(); }

}  // namespace gotrace
