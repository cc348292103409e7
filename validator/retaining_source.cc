#include "validator/retaining_source.h"

#include <utility>

namespace gotrace::internal {

RetainingSource::RetainingSource(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {
  offset_ = source_->offset();
  window_ = source_->window();
  Remember();
}

absl::Status RetainingSource::Fill(size_t size) {
  source_->Skip(offset_ - source_->offset());
  absl::Status status = source_->Fill(size);
  window_ = source_->window();
  Remember();
  return status;
}

void RetainingSource::Release(uint64_t offset) {
  source_->Release(offset);
  while (pieces_.size() > 1 && pieces_.front().offset + pieces_.front().bytes.size() <= offset) {
    pieces_.pop_front();
  }
}

void RetainingSource::ReleaseSkipped(uint64_t begin, uint64_t end) {
  source_->ReleaseSkipped(begin, end);
  // Bytes that the source has released must not be shown. The last piece is the window. A piece may
  // reach into the next one, but its memory is released when the next one begins.
  uint64_t next_offset = pieces_.back().offset;
  for (size_t i = pieces_.size() - 1; i-- > 0;) {
    Piece& piece = pieces_[i];
    const uint64_t piece_end = std::exchange(next_offset, piece.offset);
    if (piece_end <= begin) break;
    if (piece_end > end) continue;
    if (piece.offset < begin) {
      piece.bytes = piece.bytes.substr(0, begin - piece.offset);
    } else {
      pieces_.erase(pieces_.begin() + i);
    }
  }
}

void RetainingSource::Remember() {
  if (!pieces_.empty()) {
    Piece& last = pieces_.back();
    const char* const begin = last.bytes.data();
    const uint64_t gap = offset_ - last.offset;
    if (gap <= last.bytes.size() && begin + gap == window_.data()) {
      last.bytes = absl::string_view(begin, gap + window_.size());
      return;
    }
  }
  pieces_.push_back({offset_, window_});
}

absl::string_view RetainingSource::BytesAt(uint64_t offset) const {
  for (auto piece = pieces_.rbegin(); piece != pieces_.rend(); ++piece) {
    if (offset < piece->offset) continue;
    if (offset - piece->offset >= piece->bytes.size()) break;
    return piece->bytes.substr(offset - piece->offset);
  }
  return absl::string_view();
}

}  // namespace gotrace::internal
