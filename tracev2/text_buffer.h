// A block of text under construction: what every text output of gotrace is built in.
#ifndef GOTRACE_TRACEV2_TEXT_BUFFER_H_
#define GOTRACE_TRACEV2_TEXT_BUFFER_H_

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>

#include "absl/strings/string_view.h"

namespace gotrace {

// Grows as needed and keeps its memory over clear(), so that a caller who writes it out from time
// to time allocates no more. Unlike std::string it never fills with zeros what is about to be
// written. Not thread-safe.
class TextBuffer {
 public:
  TextBuffer() = default;

  absl::string_view view() const { return absl::string_view(data_.get(), size_); }
  size_t size() const { return size_; }
  void clear() { size_ = 0; }

  void Append(absl::string_view text) {
    if (text.empty()) return;
    std::memcpy(Reserve(text.size()), text.data(), text.size());
    size_ += text.size();
  }

  void Append(char c) {
    *Reserve(1) = c;
    ++size_;
  }

  // Appends `number` in decimal.
  void Append(uint64_t number) { AppendInteger(number, 10); }
  void Append(int64_t number) { AppendInteger(number, 10); }

  // Appends `number` in lower-case hexadecimal, without a prefix.
  void AppendHex(uint64_t number) { AppendInteger(number, 16); }

 private:
  template <class Integer>
  void AppendInteger(Integer number, int base) {
    constexpr size_t kLongest = std::numeric_limits<uint64_t>::digits10 + 2;
    char* begin = Reserve(kLongest);
    size_ += std::to_chars(begin, begin + kLongest, number, base).ptr - begin;
  }

  // The end of the text, where at least `size` more bytes fit.
  char* Reserve(size_t size) {
    if (capacity_ - size_ < size) Grow(size);
    return data_.get() + size_;
  }

  void Grow(size_t size) {
    constexpr size_t kSmallest = 4096;
    size_t capacity = capacity_ < kSmallest ? kSmallest : 2 * capacity_;
    while (capacity - size_ < size) capacity *= 2;
    std::unique_ptr<char[]> data(new char[capacity]);
    if (size_ > 0) std::memcpy(data.get(), data_.get(), size_);
    data_ = std::move(data);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace gotrace

#endif  // GOTRACE_TRACEV2_TEXT_BUFFER_H_
