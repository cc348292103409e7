#include "tracev2/wire_writer.h"

#include "gotrace/internal/event_spec.h"
#include "tracev2/varint.h"

namespace gotrace::internal {
namespace {

// The position of `size` among the arguments of an EventBatch. It is the last.
constexpr size_t kBatchSizeArg = 3;

}  // namespace

bool EndsBatch(EventType type) {
  return type == EventType::kEventBatch || type == EventType::kExperimentalBatch ||
         type == EventType::kEndOfGeneration;
}

WireWriter::WireWriter(Version version, BatchSizeForm form, std::string* out)
    : out_(*out), form_(form) {
  out_.append(MakeHeader(version));
}

void WireWriter::Write(const RawEvent& event) {
  if (EndsBatch(event.type)) Finish();
  out_.push_back(static_cast<char>(event.type));
  const bool is_batch = event.type == EventType::kEventBatch;
  const size_t count = is_batch ? kBatchSizeArg : event.args.size();
  for (size_t i = 0; i < count; ++i) AppendVarint(event.args[i], &out_);
  if (is_batch) WriteBatchSize(event);
  if (FindEventSpec(event.type)->form == EventForm::kData) {
    // An experimental batch's data is its payload.
    if (event.type == EventType::kExperimentalBatch) {
      AppendBatchSize(event.data.size(), form_, &out_);
    } else {
      AppendVarint(event.data.size(), &out_);
    }
    out_.append(event.data.data(), event.data.size());
  }
}

void WireWriter::WriteBatchSize(const RawEvent& event) {
  if (event.auto_size) {
    open_batch_ = out_.size();
  } else {
    AppendBatchSize(event.args[kBatchSizeArg], form_, &out_);
  }
}

void WireWriter::Finish() {
  if (open_batch_ == kNone) return;
  std::string size;
  AppendBatchSize(out_.size() - open_batch_, form_, &size);
  out_.insert(open_batch_, size);
  open_batch_ = kNone;
}

size_t WireWriter::final_size() const { return open_batch_ == kNone ? out_.size() : open_batch_; }

void WireWriter::Taken(size_t size) {
  out_.erase(0, size);
  if (open_batch_ != kNone) open_batch_ -= size;
}

}  // namespace gotrace::internal
