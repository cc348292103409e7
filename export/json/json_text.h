// Pieces of JSON.
#ifndef GOTRACE_EXPORT_JSON_JSON_TEXT_H_
#define GOTRACE_EXPORT_JSON_JSON_TEXT_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Appends `text` as a JSON string. Bytes that are not UTF-8 become U+FFFD, since JSON cannot hold
// them.
void AppendJsonString(absl::string_view text, TextBuffer* out);

// Writes one JSON value piece by piece and puts the commas. The caller closes what it opens.
class JsonWriter {
 public:
  // Appends to `*out`, which must outlive the writer.
  explicit JsonWriter(TextBuffer* out) : out_(*out) {}

  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }

  // Begins a member of the open object: a value must follow. Keys are taken as they are. Inline, as
  // their length is mostly known then.
  [[gnu::always_inline]] void Key(absl::string_view key) {
    if (comma_) out_.Append(',');
    out_.Append('"', key, "\":");
    comma_ = false;
  }

  void Value(uint64_t value) { Begin(), out_.Append(value); }
  void Value(int64_t value) { Begin(), out_.Append(value); }
  void Value(absl::string_view value) { Begin(), AppendJsonString(value, &out_); }
  void Value(const char* value) { Value(absl::string_view(value)); }
  void Bool(bool value) { Begin(), out_.Append(value ? "true" : "false"); }
  void Null() { Begin(), out_.Append("null"); }

  template <class T>
  [[gnu::always_inline]] void Member(absl::string_view key, const T& value) {
    Key(key);
    Value(value);
  }

  // One or more members of the open object, which `pieces` are the text of: as TextBuffer::Append()
  // takes them, without a comma at either end. Costs less than Member() for each.
  template <class... Pieces>
  [[gnu::always_inline]] void Members(const Pieces&... pieces) {
    Begin();
    out_.Append(pieces...);
  }

  // Where all is appended to.
  TextBuffer& out() { return out_; }

 private:
  void Begin() {
    if (comma_) out_.Append(',');
    comma_ = true;
  }
  void Open(char c) {
    Begin();
    out_.Append(c);
    comma_ = false;
  }
  void Close(char c) {
    out_.Append(c);
    comma_ = true;
  }

  TextBuffer& out_;
  bool comma_ = false;  // Whether something stands before the next value.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_JSON_JSON_TEXT_H_
