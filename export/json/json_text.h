// Writes JSON.
#ifndef GOTRACE_EXPORT_JSON_JSON_TEXT_H_
#define GOTRACE_EXPORT_JSON_JSON_TEXT_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Appends `text` as a JSON string. Bytes that are not UTF-8 become U+FFFD, since JSON cannot
// represent them.
void AppendJsonString(absl::string_view text, TextBuffer* out);

// Writes one JSON value piece by piece and adds the commas. The caller must close objects and
// arrays.
class JsonWriter {
 public:
  // Appends to `*out`, which must outlive the writer.
  explicit JsonWriter(TextBuffer* out) : out_(*out) {}

  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }

  // Begins a member of the open object; its value must follow. Keys are not escaped. Inline,
  // because the length of most keys is then a constant.
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

  // Appends one or more members of the open object whose text is `pieces`, as for
  // TextBuffer::Append(), without a comma at either end. Faster than Member() for each.
  template <class... Pieces>
  [[gnu::always_inline]] void Members(const Pieces&... pieces) {
    Begin();
    out_.Append(pieces...);
  }

  // Returns the output.
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
  bool comma_ = false;  // Whether the next value needs a comma before it.
};

// Adds the member "file" with the name of a file. If the name is not valid UTF-8, so that "file"
// cannot hold it, also adds "file_base64" with its bytes.
void AppendFileMembers(absl::string_view name, JsonWriter* json);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_JSON_JSON_TEXT_H_
