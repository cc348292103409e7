#include "export/parquet/leaf_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "absl/base/optimization.h"
#include "absl/status/statusor.h"
#include "export/parquet/encodings.h"
#include "util/quote.h"

namespace gotrace::internal::parquet {

void LeafWriter::AddRows(size_t count, absl::Span<const uint8_t> present) {
  rows_ += count;
  entries_ += count;
  if (leaf_.max_definition == 0) return;
  if (definitions_.empty()) {
    if (std::find(present.begin(), present.end(), 0) == present.end()) return;
    definitions_.resize(entries_ - count, 1);
  }
  if (present.empty()) {
    definitions_.resize(entries_, 1);
  } else {
    const size_t old_size = definitions_.size();
    definitions_.resize(old_size + count);
    std::transform(present.begin(), present.end(), definitions_.begin() + old_size,
                   [](uint8_t value) { return value != 0; });
  }
}

void LeafWriter::AddEntry(bool begins_row, int definition) {
  rows_ += begins_row;
  ++entries_;
  definitions_.push_back(static_cast<uint8_t>(definition));
  repetitions_.push_back(begins_row ? 0 : 1);
}

LeafWriter::Position LeafWriter::Advance(Position from, size_t rows) const {
  Position to = from;
  to.row += rows;
  if (repetitions_.empty()) {
    to.entry += rows;
  } else {
    for (size_t begun = 0; to.entry < entries_; ++to.entry) {
      begun += repetitions_[to.entry] == 0;
      if (begun > rows) break;
    }
  }
  if (definitions_.empty()) {
    to.value += to.entry - from.entry;
  } else {
    to.value += std::count(definitions_.begin() + from.entry, definitions_.begin() + to.entry,
                           static_cast<uint8_t>(leaf_.max_definition));
  }
  return to;
}

// A page has at least `page_rows` rows, and more if they seem to take very little space, since each
// page has overhead. Large values make it shorter.
LeafWriter::Position LeafWriter::FindPageEnd(Position begin, const ParquetOptions& options) const {
  constexpr size_t kStep = 1024;
  const size_t min_bytes = options.page_bytes / 256;
  Position end = begin;
  size_t size = 0;
  size_t step = kStep;
  while (end.row < rows_) {
    const Position next = Advance(end, std::min(step, rows_ - end.row));
    const size_t next_size = size + SizeOf(end.value, next.value);
    if (next_size > options.page_bytes && next.row - begin.row > 1) {
      if (step == 1) return end;
      step = std::max<size_t>(1, step / 8);
      continue;
    }
    end = next;
    size = next_size;
    const size_t rows = end.row - begin.row;
    if (rows >= options.page_rows && (size >= min_bytes || rows >= kMaxPageRows)) break;
  }
  return end;
}

void LeafWriter::WritePage(Position begin, Position end, WriteContext* context,
                           ChunkWriter* chunk) {
  Page page;
  page.first_row = begin.row;
  page.entries = end.entry - begin.entry;
  page.nulls = page.entries - (end.value - begin.value);
  std::string& body = context->page;
  body.clear();
  // Levels follow their size in bytes.
  const auto add_levels = [&](const std::vector<uint8_t>& levels, int max) {
    if (max == 0) return;
    const size_t start = body.size();
    AppendLittleEndian(uint32_t{0}, &body);
    if (levels.empty()) {
      AppendRleRun(max, page.entries, BitWidth(max), &body);
    } else {
      AppendRle(absl::MakeConstSpan(levels).subspan(begin.entry, page.entries), BitWidth(max),
                &body);
    }
    const uint32_t size = static_cast<uint32_t>(body.size() - start - sizeof(uint32_t));
    std::memcpy(body.data() + start, &size, sizeof(size));
  };
  add_levels(repetitions_, leaf_.max_repetition);
  add_levels(definitions_, leaf_.max_definition);
  // A page with only nulls is PLAIN, without any bytes, since not every reader accepts that for
  // deltas.
  if (begin.value < end.value) EncodeValues(begin.value, end.value, context, &page);
  chunk->WritePage(std::move(page), body);
}

Chunk LeafWriter::WriteChunk(WriteContext* context) {
  ChunkWriter chunk(&leaf_, context->compressor, context->sink);
  if (values() > 0) BeginChunk(context, &chunk);
  for (Position begin; begin.row < rows_;) {
    const Position end = FindPageEnd(begin, *context->options);
    WritePage(begin, end, context, &chunk);
    begin = end;
  }
  const uint64_t filter_offset = context->sink->size();
  if (leaf_.bloom_filter && values() > 0) {
    BloomFilter filter(distinct_values());
    AddTo(&filter);
    filter.Shrink();
    std::string bytes;
    AppendBloomFilterHeader(filter.bytes(), &bytes);
    filter.Append(&bytes);
    context->sink->Append(bytes);
  }
  Chunk result = chunk.Finish(filter_offset, context->sink->size() - filter_offset);
  EndChunk();
  rows_ = entries_ = 0;
  definitions_.clear();
  repetitions_.clear();
  return result;
}

void IntegerWriter::Append(absl::Span<const uint64_t> values, absl::Span<const uint8_t> present) {
  AddRows(values.size(), present);
  const size_t old_size = values_.size();
  values_.resize(old_size + values.size());
  uint64_t* const begin = values_.data() + old_size;
  uint64_t* end = begin;
  if (present.empty()) {
    end = std::copy(values.begin(), values.end(), begin);
  } else {
    for (size_t i = 0; i < values.size(); ++i) {
      *end = values[i];
      end += present[i] != 0;
    }
  }
  if (leaf().bits == 32) {
    for (uint64_t* value = begin; value < end; ++value) {
      *value = leaf().is_signed ? static_cast<uint64_t>(static_cast<int32_t>(*value))
                                : static_cast<uint32_t>(*value);
    }
  } else if (leaf().bits == 1) {
    for (uint64_t* value = begin; value < end; ++value) *value = *value != 0;
  }
  values_.resize(end - values_.data());
}

namespace {

constexpr size_t kSampleSize = 4096;

}  // namespace

// Values from the middle of the chunk, from which its size is estimated.
absl::Span<const uint64_t> IntegerWriter::Sample() const {
  const size_t size = std::min(values_.size(), kSampleSize);
  return absl::MakeConstSpan(values_).subspan((values_.size() - size) / 2, size);
}

void IntegerWriter::AppendPlain(absl::Span<const uint64_t> values, std::string* out) const {
  if (leaf().bits == 1) {
    AppendPlainBools(values, out);
  } else {
    AppendPlainIntegers(values, leaf().bits / 8, out);
  }
}

// Fills `dictionary_` and `context->indices`. Returns false, without a dictionary, if there are too
// many different values to make it worthwhile.
bool IntegerWriter::MakeDictionary(WriteContext* context) {
  std::vector<uint32_t>& slots = context->slots;
  constexpr uint32_t kEmpty = ~uint32_t{0};
  int bits = 0;
  const auto set_size = [&](int new_bits) {
    bits = new_bits;
    slots.assign(size_t{1} << bits, kEmpty);
  };
  const auto find = [&](uint64_t value) {
    size_t slot = value * 0x9E37'79B9'7F4A'7C15 >> (64 - bits);
    while (slots[slot] != kEmpty && dictionary_[slots[slot]] != value) {
      slot = (slot + 1) & (slots.size() - 1);
    }
    return slot;
  };
  // Replaces each of `values` by its index in `indices`.
  const auto add_all = [&](absl::Span<const uint64_t> values, size_t max_entries) {
    set_size(10);
    context->indices.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      size_t slot = find(values[i]);
      if (ABSL_PREDICT_FALSE(slots[slot] == kEmpty)) {
        if (dictionary_.size() == max_entries) return false;
        slots[slot] = static_cast<uint32_t>(dictionary_.size());
        dictionary_.push_back(values[i]);
        if (dictionary_.size() * 2 > slots.size()) {
          set_size(bits + 1);
          for (size_t k = 0; k < dictionary_.size(); ++k) {
            slots[find(dictionary_[k])] = static_cast<uint32_t>(k);
          }
          slot = find(values[i]);
        }
      }
      context->indices[i] = slots[slot];
    }
    return true;
  };
  // For most columns, a few values show that a dictionary is not worthwhile.
  const absl::Span<const uint64_t> sample = Sample();
  const bool pays = add_all(sample, sample.size() * 3 / 4);
  dictionary_.clear();
  if (pays && add_all(values_, values_.size() / 2)) return true;
  dictionary_.clear();
  return false;
}

void IntegerWriter::BeginChunk(WriteContext* context, ChunkWriter* chunk) {
  encoding_ = Encoding::kPlain;
  bits_each_ = leaf().bits;
  if (leaf().bits == 1) return;
  std::string& bytes = context->page;
  const bool has_dictionary = MakeDictionary(context);
  // With fewer entries than this, an index takes at most a byte, so the dictionary is best.
  constexpr size_t kFewEntries = 256;
  if (!has_dictionary || dictionary_.size() > kFewEntries) {
    // The encoding that is smallest after compression, judging by the sample.
    const absl::Span<const uint64_t> sample = Sample();
    bytes.clear();
    AppendPlain(sample, &bytes);
    size_t best = context->compressor->Compress(bytes).size();
    bytes.clear();
    AppendDeltas(sample, leaf().bits, &bytes);
    const size_t delta_bits = bytes.size() * 8 / sample.size();
    const size_t delta_size = context->compressor->Compress(bytes).size();
    if (delta_size <= best) {
      best = delta_size;
      encoding_ = Encoding::kDeltaBinaryPacked;
      bits_each_ = delta_bits;
    }
    if (has_dictionary) {
      bytes.clear();
      const size_t first = sample.data() - values_.data();
      AppendRle(absl::MakeConstSpan(context->indices).subspan(first, sample.size()),
                BitWidth(dictionary_.size() - 1), &bytes);
      size_t size = context->compressor->Compress(bytes).size();
      // The dictionary is for all values, so it counts in proportion to the sample.
      bytes.clear();
      const size_t entries = std::min(dictionary_.size(), kSampleSize);
      AppendPlain(absl::MakeConstSpan(dictionary_).subspan(0, entries), &bytes);
      const uint64_t dictionary_size =
          context->compressor->Compress(bytes).size() * dictionary_.size() / entries;
      size += dictionary_size * sample.size() / values_.size();
      if (size > best) dictionary_.clear();
    }
  }
  if (dictionary_.empty()) return;
  encoding_ = Encoding::kRleDictionary;
  bits_each_ = BitWidth(dictionary_.size() - 1);
  bytes.clear();
  AppendPlain(dictionary_, &bytes);
  chunk->WriteDictionary(dictionary_.size(), bytes);
}

size_t IntegerWriter::SizeOf(size_t begin, size_t end) const {
  return (end - begin) * bits_each_ / 8;
}

Bound IntegerWriter::MakeBound(uint64_t value) const {
  Bound bound;
  // The highest byte first, with the sign inverted.
  constexpr uint64_t kSignBit = uint64_t{1} << 63;
  const uint64_t order = leaf().is_signed ? value ^ kSignBit : value;
  for (int shift = 56; shift >= 0; shift -= 8) {
    bound.order.push_back(static_cast<char>(order >> shift));
  }
  AppendPlain(absl::MakeConstSpan(&value, 1), &bound.value);
  return bound;
}

namespace {

template <typename T>
std::pair<uint64_t, uint64_t> MinMax(absl::Span<const uint64_t> values) {
  T min = static_cast<T>(values[0]);
  T max = min;
  for (const uint64_t value : values) {
    min = std::min(min, static_cast<T>(value));
    max = std::max(max, static_cast<T>(value));
  }
  return {static_cast<uint64_t>(min), static_cast<uint64_t>(max)};
}

// Appends indices with as many bits as the largest needs. The first byte is this number.
void AppendIndices(absl::Span<const uint32_t> indices, std::string* out) {
  uint32_t used = 1;
  for (const uint32_t index : indices) used |= index;
  const int width = BitWidth(used);
  out->push_back(static_cast<char>(width));
  AppendRle(indices, width, out);
}

}  // namespace

void IntegerWriter::EncodeValues(size_t begin, size_t end, WriteContext* context, Page* page) {
  const absl::Span<const uint64_t> values =
      absl::MakeConstSpan(values_).subspan(begin, end - begin);
  const auto [min, max] = leaf().is_signed ? MinMax<int64_t>(values) : MinMax<uint64_t>(values);
  page->min = MakeBound(min);
  page->max = MakeBound(max);
  page->encoding = encoding_;
  switch (encoding_) {
    case Encoding::kRleDictionary:
      AppendIndices(absl::MakeConstSpan(context->indices).subspan(begin, end - begin),
                    &context->page);
      break;
    case Encoding::kDeltaBinaryPacked:
      AppendDeltas(values, leaf().bits, &context->page);
      break;
    default:
      AppendPlain(values, &context->page);
      break;
  }
}

size_t IntegerWriter::distinct_values() const {
  return dictionary_.empty() ? values_.size() : dictionary_.size();
}

void IntegerWriter::AddTo(BloomFilter* filter) const {
  const size_t size = (leaf().bits + 7) / 8;
  for (const uint64_t value : dictionary_.empty() ? values_ : dictionary_) {
    char bytes[sizeof(value)];
    std::memcpy(bytes, &value, sizeof(value));
    filter->Add(BloomFilter::Hash(absl::string_view(bytes, size)));
  }
}

void IntegerWriter::EndChunk() {
  values_.clear();
  dictionary_.clear();
}

namespace {

// The format allows twice as much, but then a page could not have anything else.
constexpr size_t kMaxText = size_t{1} << 30;

// Larger handles are an error, since handles should be small numbers.
constexpr uint64_t kMaxHandle = uint64_t{1} << 28;

// Longer texts are cut in statistics.
constexpr size_t kMaxBound = 32;

bool IsAscii(absl::string_view text) {
  uint64_t bits = 0;
  size_t i = 0;
  for (; i + sizeof(bits) <= text.size(); i += sizeof(bits)) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, sizeof(word));
    bits |= word;
  }
  for (; i < text.size(); ++i) bits |= static_cast<uint8_t>(text[i]);
  return (bits & 0x8080'8080'8080'8080) == 0;
}

bool IsContinuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

// Returns the longest prefix of `text` that has no more than kMaxBound bytes and ends between
// characters.
absl::string_view CutText(absl::string_view text) {
  if (text.size() <= kMaxBound) return text;
  size_t size = kMaxBound;
  while (IsContinuation(text[size])) --size;
  return text.substr(0, size);
}

Bound LowerBound(absl::string_view text) {
  const std::string cut(CutText(text));
  return {cut, cut, cut.size() == text.size()};
}

Bound UpperBound(absl::string_view text) {
  std::string cut(CutText(text));
  const bool is_exact = cut.size() == text.size();
  if (!is_exact) {
    // Finds the next larger text of at most this length: the last character is replaced with the
    // next code point. If this would change more than its last byte, the character is removed, and
    // the previous one is tried.
    const auto is_last = [](char c) { return c == '\x7F' || c == '\xBF'; };
    while (!cut.empty() && is_last(cut.back())) {
      size_t begin = cut.size() - 1;
      while (IsContinuation(cut[begin])) --begin;
      cut.resize(begin);
    }
    if (cut.empty()) return {std::string(text), std::string(text), true};
    ++cut.back();
  }
  return {cut, cut, is_exact};
}

}  // namespace

size_t TextWriter::bytes() const {
  // The end of a text, its last page, and its hash with the overhead of the hash table.
  constexpr size_t kBytesOfText = 40;
  return LeafWriter::bytes() + indices_.size() * sizeof(indices_[0]) + characters_.size() +
         ends_.size() * kBytesOfText;
}

absl::StatusOr<uint32_t> TextWriter::AddText(absl::string_view text) {
  if (!IsAscii(text)) {
    repaired_.clear();
    AppendValidUtf8(text, &repaired_);
    text = repaired_;
  }
  if (text.size() > kMaxText) {
    return absl::ResourceExhaustedError("a text of more than 2^30 bytes is too long for Parquet");
  }
  const uint32_t next = static_cast<uint32_t>(ends_.size());
  if (finds_equal_) {
    const auto [found, is_new] = index_of_hash_.try_emplace(BloomFilter::Hash(text), next);
    // A text whose hash is taken by another text is treated as new.
    if (!is_new && TextAt(found->second) == text) return found->second;
  }
  characters_.append(text.data(), text.size());
  ends_.push_back(characters_.size());
  return next;
}

absl::Status TextWriter::AddHandle(uint64_t handle) {
  if (handle > kMaxHandle) return absl::InvalidArgumentError("the handle of a text is too large");
  absl::StatusOr<uint32_t> index = AddText((*texts_)(handle));
  if (!index.ok()) return index.status();
  if (handle >= index_of_handle_.size()) {
    index_of_handle_.resize(std::max(handle + 1, index_of_handle_.size() * uint64_t{2}), kNone);
  }
  index_of_handle_[handle] = *index;
  handles_.push_back(handle);
  return absl::OkStatus();
}

absl::Status TextWriter::AppendHandles(absl::Span<const uint64_t> handles,
                                       absl::Span<const uint8_t> present) {
  AddRows(handles.size(), present);
  const size_t old_size = indices_.size();
  indices_.resize(old_size + handles.size());
  uint32_t* next = indices_.data() + old_size;
  for (size_t i = 0; i < handles.size(); ++i) {
    if (!present.empty() && present[i] == 0) continue;
    const uint64_t handle = handles[i];
    if (ABSL_PREDICT_FALSE(handle >= index_of_handle_.size() ||
                           index_of_handle_[handle] == kNone)) {
      const absl::Status status = AddHandle(handle);
      if (!status.ok()) return status;
    }
    *next++ = index_of_handle_[handle];
  }
  indices_.resize(next - indices_.data());
  return absl::OkStatus();
}

absl::Status TextWriter::AppendTexts(absl::Span<const absl::string_view> texts,
                                     absl::Span<const uint8_t> present) {
  AddRows(texts.size(), present);
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!present.empty() && present[i] == 0) continue;
    absl::StatusOr<uint32_t> index = AddText(texts[i]);
    if (!index.ok()) return index.status();
    indices_.push_back(*index);
  }
  // The number of texts after which to decide whether equal ones are frequent enough to look for.
  constexpr size_t kEnough = 4096;
  if (indices_.size() >= kEnough && ends_.size() > indices_.size() / 4 * 3) finds_equal_ = false;
  return absl::OkStatus();
}

absl::Status TextWriter::AppendEntry(bool begins_row, absl::string_view text) {
  AddEntry(begins_row, leaf().max_definition);
  absl::StatusOr<uint32_t> index = AddText(text);
  if (!index.ok()) return index.status();
  indices_.push_back(*index);
  return absl::OkStatus();
}

void TextWriter::BeginChunk(WriteContext* context, ChunkWriter* chunk) {
  page_of_text_.assign(ends_.size(), 0);
  page_ = 0;
  const uint64_t dictionary_bytes = characters_.size() + ends_.size() * sizeof(uint32_t);
  const uint64_t index_bytes = indices_.size() * uint64_t(BitWidth(ends_.size() - 1)) / 8;
  // In a page, the length of a text takes about one more byte.
  uint64_t page_bytes = indices_.size();
  if (dictionary_bytes + index_bytes > page_bytes) {
    for (const uint32_t index : indices_) page_bytes += TextAt(index).size();
  }
  has_dictionary_ = dictionary_bytes <= kMaxText && dictionary_bytes + index_bytes <= page_bytes;
  if (!has_dictionary_) return;
  std::string& bytes = context->page;
  bytes.clear();
  for (uint32_t i = 0; i < ends_.size(); ++i) AppendPlainText(TextAt(i), &bytes);
  chunk->WriteDictionary(ends_.size(), bytes);
}

size_t TextWriter::SizeOf(size_t begin, size_t end) const {
  if (has_dictionary_) return (end - begin) * BitWidth(ends_.size() - 1) / 8;
  size_t size = end - begin;
  for (size_t i = begin; i < end; ++i) size += TextAt(indices_[i]).size();
  return size;
}

void TextWriter::FindBounds(size_t begin, size_t end, Page* page) {
  ++page_;
  absl::string_view min = TextAt(indices_[begin]);
  absl::string_view max = min;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t index = indices_[i];
    if (page_of_text_[index] == page_) continue;
    page_of_text_[index] = page_;
    const absl::string_view text = TextAt(index);
    if (text < min) min = text;
    if (text > max) max = text;
  }
  page->min = LowerBound(min);
  page->max = UpperBound(max);
}

void TextWriter::EncodeValues(size_t begin, size_t end, WriteContext* context, Page* page) {
  FindBounds(begin, end, page);
  const absl::Span<const uint32_t> indices =
      absl::MakeConstSpan(indices_).subspan(begin, end - begin);
  if (has_dictionary_) {
    page->encoding = Encoding::kRleDictionary;
    AppendIndices(indices, &context->page);
    return;
  }
  page->encoding = Encoding::kDeltaLengthByteArray;
  std::vector<uint64_t> lengths;
  lengths.reserve(indices.size());
  for (const uint32_t index : indices) lengths.push_back(TextAt(index).size());
  AppendDeltas(lengths, 32, &context->page);
  for (const uint32_t index : indices) {
    const absl::string_view text = TextAt(index);
    context->page.append(text.data(), text.size());
  }
}

void TextWriter::AddTo(BloomFilter* filter) const {
  for (uint32_t i = 0; i < ends_.size(); ++i) filter->Add(BloomFilter::Hash(TextAt(i)));
}

void TextWriter::EndChunk() {
  for (const uint64_t handle : handles_) index_of_handle_[handle] = kNone;
  handles_.clear();
  indices_.clear();
  characters_.clear();
  ends_.clear();
  index_of_hash_.clear();
  finds_equal_ = true;
}

}  // namespace gotrace::internal::parquet
