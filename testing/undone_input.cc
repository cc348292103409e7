#include "testing/undone_input.h"

#include <utility>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

Undone UndoAndRead(absl::StatusOr<std::unique_ptr<ByteSource>> source, const ReaderLimits& limits) {
  Undone undone;
  undone.status = source.status();
  if (!source.ok()) return undone;
  absl::StatusOr<UndoneInput> input = UndoTransport(*std::move(source), limits);
  undone.status = input.status();
  if (!input.ok()) return undone;
  undone.notes = std::move(input->notes);
  while (true) {
    undone.status = input->source->Fill(1);
    const absl::string_view window = input->source->window();
    undone.bytes.append(window.data(), window.size());
    input->source->Skip(window.size());
    input->source->Release(input->source->offset());
    if (window.empty() || !undone.status.ok()) return undone;
  }
}

}  // namespace gotrace::internal
