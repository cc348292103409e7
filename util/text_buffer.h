// A block of text under construction: what every text output of gotrace is built in.
#ifndef GOTRACE_UTIL_TEXT_BUFFER_H_
#define GOTRACE_UTIL_TEXT_BUFFER_H_

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

// A text of less than `kSize` bytes that is appended faster than others: kSize bytes are copied,
// whatever its length, so that no length has to be looked at. For tables of names.
template <size_t kSize>
class ShortText {
 public:
  constexpr ShortText() = default;

  // Joins `pieces`. Pieces that are too long are no constant expression, and must not be given.
  constexpr ShortText(std::initializer_list<absl::string_view> pieces) {
    for (const absl::string_view piece : pieces) {
      for (const char c : piece) text_[size_++] = c;
    }
  }

  constexpr absl::string_view view() const { return absl::string_view(text_, size_); }

 private:
  friend class TextBuffer;
  static_assert(kSize > 0 && kSize <= 256);

  char text_[kSize - 1] = {};
  uint8_t size_ = 0;
};

// Grows as needed and keeps its memory over clear(), so that a caller who writes it out from time
// to time allocates no more. Unlike std::string it never fills with zeros what is about to be
// written. Not thread-safe.
class TextBuffer {
 public:
  TextBuffer() = default;

  absl::string_view view() const { return absl::string_view(data_.get(), size_); }
  size_t size() const { return size_; }
  void clear() { size_ = 0; }

  // Appends one or more pieces behind one another: texts, characters, ShortTexts, and numbers of 64
  // bits, in decimal. What is told in one call costs less than in several.
  template <class... Pieces>
  void Append(const Pieces&... pieces) {
    char* const begin = Reserve((MaxSize(pieces) + ...));
    char* end = begin;
    ((end = Put(pieces, end)), ...);
    size_ += end - begin;
  }

  // Appends `number` in lower-case hexadecimal, without a prefix.
  void AppendHex(uint64_t number) {
    constexpr size_t kLongest = 2 * sizeof(number);
    char* const begin = Reserve(kLongest);
    size_ += std::to_chars(begin, begin + kLongest, number, 16).ptr - begin;
  }

 private:
  // The longest number of 64 bits, with its sign.
  static constexpr size_t kLongestNumber = std::numeric_limits<uint64_t>::digits10 + 2;

  // How many bytes Put() may write for a piece, those behind its text included.
  static size_t MaxSize(absl::string_view text) { return text.size(); }
  template <size_t kSize>
  static size_t MaxSize(const ShortText<kSize>&) {
    return kSize;
  }
  static size_t MaxSize(char) { return 1; }
  static size_t MaxSize(uint64_t) { return kLongestNumber; }
  static size_t MaxSize(int64_t) { return kLongestNumber; }

  // Writes a piece to `out` and returns the end of its text.
  static char* Put(absl::string_view text, char* out) {
    if (!text.empty()) std::memcpy(out, text.data(), text.size());
    return out + text.size();
  }
  template <size_t kSize>
  static char* Put(const ShortText<kSize>& text, char* out) {
    static_assert(sizeof(text) == kSize);
    std::memcpy(out, &text, kSize);
    return out + text.size_;
  }
  static char* Put(char c, char* out) {
    *out = c;
    return out + 1;
  }
  static char* Put(uint64_t number, char* out) {
    return std::to_chars(out, out + kLongestNumber, number).ptr;
  }
  static char* Put(int64_t number, char* out) {
    return std::to_chars(out, out + kLongestNumber, number).ptr;
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

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_TEXT_BUFFER_H_
