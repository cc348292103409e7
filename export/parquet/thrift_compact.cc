#include "export/parquet/thrift_compact.h"

#include <utility>

#include "absl/status/status.h"

namespace gotrace::internal {

void AppendUleb128(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

void ThriftWriter::BeginField(int field, ThriftType type) {
  const int delta = field - last_field_;
  if (delta > 0 && delta <= 15) {
    out_.push_back(static_cast<char>(delta << 4 | static_cast<int>(type)));
  } else {
    out_.push_back(static_cast<char>(type));
    AppendUleb128(ZigZag(field), &out_);
  }
  last_field_ = field;
}

void ThriftWriter::Bool(int field, bool value) {
  BeginField(field, value ? ThriftType::kTrue : ThriftType::kFalse);
}

void ThriftWriter::Byte(int field, int8_t value) {
  BeginField(field, ThriftType::kByte);
  out_.push_back(static_cast<char>(value));
}

void ThriftWriter::Int32(int field, int32_t value) {
  BeginField(field, ThriftType::kInt32);
  IntElement(value);
}

void ThriftWriter::Int64(int field, int64_t value) {
  BeginField(field, ThriftType::kInt64);
  IntElement(value);
}

void ThriftWriter::Binary(int field, absl::string_view value) {
  BeginField(field, ThriftType::kBinary);
  BinaryElement(value);
}

void ThriftWriter::BeginStruct(int field) {
  BeginField(field, ThriftType::kStruct);
  BeginStructElement();
}

void ThriftWriter::End() {
  out_.push_back(0);
  last_field_ = 0;
  if (outer_.empty()) return;
  last_field_ = outer_.back();
  outer_.pop_back();
}

void ThriftWriter::BeginList(int field, ThriftType type, size_t size) {
  BeginField(field, ThriftType::kList);
  if (size < 15) {
    out_.push_back(static_cast<char>(size << 4 | static_cast<size_t>(type)));
  } else {
    out_.push_back(static_cast<char>(0xF0 | static_cast<int>(type)));
    AppendUleb128(size, &out_);
  }
}

void ThriftWriter::BoolElement(bool value) {
  out_.push_back(static_cast<char>(value ? ThriftType::kTrue : ThriftType::kFalse));
}

void ThriftWriter::IntElement(int64_t value) { AppendUleb128(ZigZag(value), &out_); }

void ThriftWriter::BinaryElement(absl::string_view value) {
  AppendUleb128(value.size(), &out_);
  out_.append(value.data(), value.size());
}

void ThriftWriter::BeginStructElement() {
  outer_.push_back(last_field_);
  last_field_ = 0;
}

void ThriftWriter::RawStruct(int field, absl::string_view bytes) {
  BeginField(field, ThriftType::kStruct);
  out_.append(bytes.data(), bytes.size());
}

void ThriftWriter::EmptyStruct(int field) {
  BeginStruct(field);
  End();
}

const ThriftValue* ThriftValue::Find(int field, ThriftType wanted) const {
  const auto found = fields.find(field);
  return found != fields.end() && found->second.type == wanted ? &found->second : nullptr;
}

namespace {

// Parquet needs seven.
constexpr int kMaxDepth = 16;

class ThriftParser {
 public:
  explicit ThriftParser(absl::string_view* input) : input_(*input) {}

  bool ParseStruct(int depth, ThriftValue* value) {
    value->type = ThriftType::kStruct;
    if (depth > kMaxDepth) return false;
    int64_t field = 0;
    for (;;) {
      uint8_t header;
      if (!ParseByte(&header)) return false;
      if (header == 0) return true;
      int64_t delta = header >> 4;
      if (delta == 0) {
        uint64_t number;
        if (!ParseVarint(&number)) return false;
        field = UnZigZag(number);
      } else {
        field += delta;
      }
      if (field < 0 || field > 0x7FFF) return false;
      ThriftValue member;
      if (!ParseValue(static_cast<ThriftType>(header & 0xF), false, depth, &member)) return false;
      if (!value->fields.emplace(static_cast<int>(field), std::move(member)).second) return false;
    }
  }

 private:
  bool ParseByte(uint8_t* byte) {
    if (input_.empty()) return false;
    *byte = static_cast<uint8_t>(input_[0]);
    input_.remove_prefix(1);
    return true;
  }

  bool ParseVarint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      uint8_t byte;
      if (!ParseByte(&byte)) return false;
      *value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return shift < 63 || byte <= 1;
    }
    return false;
  }

  bool ParseValue(ThriftType type, bool is_element, int depth, ThriftValue* value) {
    value->type = type;
    switch (type) {
      case ThriftType::kTrue:
      case ThriftType::kFalse: {
        value->type = ThriftType::kTrue;
        value->number = type == ThriftType::kTrue;
        if (!is_element) return true;
        uint8_t byte;
        if (!ParseByte(&byte) || byte > 2) return false;
        value->number = byte == 1;
        return true;
      }
      case ThriftType::kByte: {
        value->type = ThriftType::kInt64;
        uint8_t byte;
        if (!ParseByte(&byte)) return false;
        value->number = static_cast<int8_t>(byte);
        return true;
      }
      case ThriftType::kInt16:
      case ThriftType::kInt32:
      case ThriftType::kInt64: {
        value->type = ThriftType::kInt64;
        uint64_t number;
        if (!ParseVarint(&number)) return false;
        value->number = UnZigZag(number);
        return true;
      }
      case ThriftType::kBinary: {
        uint64_t size;
        if (!ParseVarint(&size) || size > input_.size()) return false;
        value->bytes = input_.substr(0, size);
        input_.remove_prefix(size);
        return true;
      }
      case ThriftType::kList:
        return ParseList(depth + 1, value);
      case ThriftType::kStruct:
        return ParseStruct(depth + 1, value);
      case ThriftType::kDouble:
      case ThriftType::kSet:
      case ThriftType::kMap:
        break;  // Parquet does not use them.
    }
    return false;
  }

  bool ParseList(int depth, ThriftValue* value) {
    if (depth > kMaxDepth) return false;
    uint8_t header;
    if (!ParseByte(&header)) return false;
    uint64_t size = header >> 4;
    if (size == 15 && !ParseVarint(&size)) return false;
    // Each element has at least one byte.
    if (size > input_.size()) return false;
    for (uint64_t i = 0; i < size; ++i) {
      value->elements.emplace_back();
      if (!ParseValue(static_cast<ThriftType>(header & 0xF), true, depth,
                      &value->elements.back())) {
        return false;
      }
    }
    return true;
  }

  absl::string_view& input_;
};

}  // namespace

absl::StatusOr<ThriftValue> ReadThriftStruct(absl::string_view* input) {
  ThriftValue value;
  if (!ThriftParser(input).ParseStruct(0, &value)) {
    return absl::InvalidArgumentError("expected a struct of the compact protocol");
  }
  return value;
}

}  // namespace gotrace::internal
