#include "tracev2/batch_encoder.h"

#include "gotrace/internal/limits.h"
#include "tracev2/varint.h"

namespace gotrace::internal {

void AppendBatchSize(uint64_t size, BatchSizeForm form, std::string* out) {
  if (form == BatchSizeForm::kPadded) {
    AppendPaddedVarint(size, kMaxVarintSize, out);
  } else {
    AppendVarint(size, out);
  }
}

void AppendBatchHeader(const BatchHeader& header, uint64_t size, BatchSizeForm form,
                       std::string* out) {
  if (header.experiment == 0) {
    out->push_back(static_cast<char>(EventType::kEventBatch));
  } else {
    out->push_back(static_cast<char>(EventType::kExperimentalBatch));
    out->push_back(static_cast<char>(header.experiment));
  }
  for (const uint64_t number : {header.generation, header.thread, header.time}) {
    AppendVarint(number, out);
  }
  AppendBatchSize(size, form, out);
}

void AppendBatch(const BatchHeader& header, absl::string_view payload, BatchSizeForm form,
                 std::string* out) {
  AppendBatchHeader(header, payload.size(), form, out);
  out->append(payload.data(), payload.size());
}

void AppendEvent(EventType type, absl::Span<const uint64_t> numbers, std::string* out) {
  out->push_back(static_cast<char>(type));
  for (const uint64_t number : numbers) AppendVarint(number, out);
}

void AppendTimedEvent(EventType type, uint64_t ticks, absl::Span<const uint64_t> args,
                      std::string* out) {
  AppendEvent(type, {ticks}, out);
  for (const uint64_t arg : args) AppendVarint(arg, out);
}

void AppendString(uint64_t id, absl::string_view text, std::string* out) {
  AppendEvent(EventType::kString, {id, text.size()}, out);
  out->append(text.data(), text.size());
}

void BatchSplitter::Add(absl::string_view entry) {
  if (payload_.size() + entry.size() > kMaxBatchSize) Finish();
  if (payload_.empty() && kind_ != EventType::kNone) payload_.push_back(static_cast<char>(kind_));
  payload_.append(entry.data(), entry.size());
}

void BatchSplitter::Finish() {
  if (!payload_.empty()) AppendBatch(header_, payload_, BatchSizeForm::kShortest, &out_);
  payload_.clear();
}

}  // namespace gotrace::internal
