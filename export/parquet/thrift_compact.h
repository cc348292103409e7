// The compact protocol of Apache Thrift, in which Parquet describes files and pages.
//
// A struct is a list of fields, each with a number and a type, and ends with a zero byte.
#ifndef GOTRACE_EXPORT_PARQUET_THRIFT_COMPACT_H_
#define GOTRACE_EXPORT_PARQUET_THRIFT_COMPACT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gotrace::internal {

// Appends `value` with 7 bits per byte, lowest first.
void AppendUleb128(uint64_t value, std::string* out);

// Maps numbers close to zero to small unsigned ones.
inline uint64_t ZigZag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t UnZigZag(uint64_t value) {
  return static_cast<int64_t>(value >> 1 ^ (uint64_t{0} - (value & 1)));
}

// The types of fields and elements, with their numbers in the protocol.
enum class ThriftType : uint8_t {
  kTrue = 1,  // Also the type of the elements of a list of bools.
  kFalse = 2,
  kByte = 3,
  kInt16 = 4,
  kInt32 = 5,
  kInt64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
};

// Appends structs to a string. Fields of a struct must be written in ascending order.
class ThriftWriter {
 public:
  // Begins a struct, which End() ends. `out` must outlive the writer.
  explicit ThriftWriter(std::string* out) : out_(*out) {}

  void Bool(int field, bool value);
  void Byte(int field, int8_t value);
  void Int32(int field, int32_t value);
  void Int64(int field, int64_t value);
  void Binary(int field, absl::string_view value);

  // Begins a field that is a struct; its fields follow, up to End().
  void BeginStruct(int field);
  // Ends the innermost struct.
  void End();

  // Begins a field that is a list of `size` elements, which follow.
  void BeginList(int field, ThriftType type, size_t size);
  void BoolElement(bool value);
  void IntElement(int64_t value);
  void BinaryElement(absl::string_view value);
  // Begins an element that is a struct; its fields follow, up to End().
  void BeginStructElement();
  // Adds a field that is a complete struct, written to a string of its own.
  void RawStruct(int field, absl::string_view bytes);
  // Adds a struct without fields, as some types are.
  void EmptyStruct(int field);

 private:
  void BeginField(int field, ThriftType type);

  std::string& out_;
  int last_field_ = 0;
  std::vector<int> outer_;  // `last_field_` of the structs around the current one.
};

// Any value that was read: a struct, a list or a single value.
struct ThriftValue {
  ThriftType type = ThriftType::kFalse;
  int64_t number = 0;                 // Of kTrue (1), kFalse (0), and integers.
  absl::string_view bytes;            // Of kBinary. Valid as long as the input.
  std::vector<ThriftValue> elements;  // Of kList.
  std::map<int, ThriftValue> fields;  // Of kStruct.

  // Returns a field of a struct, or nullptr if it is missing or has another type. `type` is kInt64
  // for all types of integers, and kTrue for both bools.
  const ThriftValue* Find(int field, ThriftType type) const;
};

// Reads a struct from the beginning of `*input`, and removes it from there. Returns an
// InvalidArgumentError if there is none, or if it is nested too deeply.
absl::StatusOr<ThriftValue> ReadThriftStruct(absl::string_view* input);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PARQUET_THRIFT_COMPACT_H_
