#include "export/fxt/fxt_writer.h"

#include <bit>
#include <cstring>
#include <utility>

#include "util/cut_text.h"

namespace gotrace::internal {

uint64_t LittleEndian(uint64_t word) {
  return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

void AppendFxtText(absl::string_view text, std::vector<uint64_t>* words) {
  for (size_t at = 0; at < text.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    const absl::string_view piece = text.substr(at, sizeof word);
    std::memcpy(&word, piece.data(), piece.size());
    words->push_back(LittleEndian(word));
  }
}

namespace {

// Returns `value` in the bits from `first` on.
template <class Value>
constexpr uint64_t Bits(Value value, int first) {
  return static_cast<uint64_t>(value) << first;
}

constexpr uint64_t Header(FxtType type, size_t words) { return Bits(type, 0) | Bits(words, 4); }

}  // namespace

FxtWriter::FxtWriter(std::unique_ptr<FxtStore> store, uint64_t ticks_per_second)
    : store_(std::move(store)), ticks_per_second_(ticks_per_second) {}

bool FxtWriter::Write(const FxtRecord& record) { return Encode(record, true); }
bool FxtWriter::WriteOnce(const FxtRecord& record) { return Encode(record, false); }

absl::Status FxtWriter::Finish() { return store_->Finish(); }

bool FxtWriter::Encode(const FxtRecord& record, bool texts_in_table) {
  definitions_.clear();
  words_.clear();
  texts_in_table_ = texts_in_table;
  const bool is_first = !has_begun_;
  if (is_first) {
    const absl::Span<const uint64_t> header = FxtHeader();
    std::vector<uint64_t> begin(header.begin(), header.end());
    begin.push_back(Header(FxtType::kInitialization, 2));
    begin.push_back(ticks_per_second_);
    Define(begin);
    has_begun_ = true;
  }
  switch (record.type) {
    case FxtType::kEvent:
      EncodeEvent(record);
      break;
    case FxtType::kBlob: {
      const uint16_t name = RefTo(record.name);
      const absl::string_view payload = record.text.substr(0, 0x7fff);
      words_.push_back(Bits(name, 16) | Bits(payload.size(), 32) | Bits(record.kind, 48));
      AppendInline(name, record.name);
      AppendText(payload);
      break;
    }
    case FxtType::kUserObject:
    case FxtType::kKernelObject:
      EncodeObject(record);
      break;
    case FxtType::kScheduling:
      EncodeScheduling(record);
      break;
    case FxtType::kLog: {
      const uint8_t thread = RefTo(record.thread);
      const absl::string_view text = WholePrefix(record.text, kFxtMaxText);
      words_.push_back(Bits(text.size(), 16) | Bits(thread, 32));
      words_.push_back(record.ticks);
      AppendInline(thread, record.thread);
      AppendText(text);
      break;
    }
    case FxtType::kMetadata:
    case FxtType::kInitialization:
    case FxtType::kString:
    case FxtType::kThread:
    case FxtType::kLarge:
      break;
  }
  bool is_kept = !words_.empty() && words_.size() <= kFxtMaxRecordWords &&
                 record.arguments.size() <= kFxtMaxArguments;
  if (is_kept) {
    words_[0] |= Header(record.type, words_.size());
    is_kept = Keep(record.type);
  }
  if (is_kept) return true;
  ++dropped_;
  if (store_->KeepsDefinitions()) return false;
  // The definitions of this record are missing from the file.
  strings_.Clear();
  threads_.Clear();
  has_begun_ = !is_first;
  return false;
}

bool FxtWriter::Keep(FxtType type) {
  // Names of processes and threads must be kept as long as the strings.
  if (type == FxtType::kKernelObject && store_->KeepsDefinitions() &&
      store_->AppendDefinition(words_)) {
    return true;
  }
  definitions_.insert(definitions_.end(), words_.begin(), words_.end());
  return store_->Append(definitions_);
}

void FxtWriter::EncodeEvent(const FxtRecord& record) {
  const uint8_t thread = RefTo(record.thread);
  const uint16_t category = RefTo(record.category);
  const uint16_t name = RefTo(record.name);
  words_.push_back(Bits(record.kind, 16) | Bits(record.arguments.size(), 20) | Bits(thread, 24) |
                   Bits(category, 32) | Bits(name, 48));
  words_.push_back(record.ticks);
  AppendInline(thread, record.thread);
  AppendInline(category, record.category);
  AppendInline(name, record.name);
  EncodeArguments(record);
  if (FxtEventHasWord(record.kind)) words_.push_back(record.id);
}

void FxtWriter::EncodeObject(const FxtRecord& record) {
  const bool is_user = record.type == FxtType::kUserObject;
  // Readers use only the process.
  const uint8_t thread = is_user ? RefTo(record.thread) : record.kind;
  const uint16_t name = RefTo(record.name);
  words_.push_back(Bits(thread, 16) | Bits(name, 24) | Bits(record.arguments.size(), 40));
  words_.push_back(record.id);
  if (is_user && thread == 0) words_.push_back(record.thread.process);
  AppendInline(name, record.name);
  EncodeArguments(record);
}

void FxtWriter::EncodeScheduling(const FxtRecord& record) {
  const FxtScheduling kind = static_cast<FxtScheduling>(record.kind);
  if (kind == FxtScheduling::kLegacySwitch) {
    // Both threads are inline, so that the table need not keep two for one record.
    words_.push_back(Bits(record.index & 0xff, 16) | Bits(record.outgoing_state, 24) |
                     Bits(record.priorities, 44) | Bits(record.kind, 60));
    words_.push_back(record.ticks);
    AppendInline(uint8_t{0}, record.outgoing);
    AppendInline(uint8_t{0}, record.incoming);
    return;
  }
  words_.push_back(Bits(record.arguments.size(), 16) | Bits(record.index, 20) |
                   Bits(record.outgoing_state, 36) | Bits(record.kind, 60));
  words_.push_back(record.ticks);
  if (kind == FxtScheduling::kContextSwitch) words_.push_back(record.outgoing.thread);
  words_.push_back(record.incoming.thread);
  EncodeArguments(record);
}

void FxtWriter::EncodeArguments(const FxtRecord& record) {
  for (const FxtArgument& argument : record.arguments) {
    const size_t begin = words_.size();
    const uint16_t name = RefTo(argument.name);
    words_.push_back(Bits(argument.type, 0) | Bits(name, 16));
    AppendInline(name, argument.name);
    switch (FxtPayloadOf(static_cast<uint8_t>(argument.type))) {
      case FxtPayload::kUnknown:
      case FxtPayload::kNone:
        break;
      case FxtPayload::kHeader:
        words_[begin] |= Bits(argument.value, 32);
        break;
      case FxtPayload::kWord:
        words_.push_back(argument.value);
        break;
      case FxtPayload::kString: {
        const uint16_t text = RefTo(argument.text, texts_in_table_);
        words_[begin] |= Bits(text, 32);
        AppendInline(text, argument.text);
        break;
      }
    }
    // If the value is too large, so is the record, which Encode() rejects.
    words_[begin] |= Bits((words_.size() - begin) & kFxtMaxRecordWords, 4);
  }
}

uint16_t FxtWriter::RefTo(absl::string_view text, bool in_table) {
  if (text.empty()) return 0;
  if (in_table && text.size() <= kMaxTableText) {
    const auto entry = strings_.Get(text, !store_->KeepsDefinitions());
    if (entry.index != 0 && !entry.is_new) return entry.index;
    if (entry.index != 0) {
      std::vector<uint64_t> words = {Bits(entry.index, 16) | Bits(text.size(), 32)};
      AppendFxtText(text, &words);
      words[0] |= Header(FxtType::kString, words.size());
      if (Define(words)) return entry.index;
      strings_.Undo();
    }
  }
  return static_cast<uint16_t>(0x8000 | WholePrefix(text, kFxtMaxText).size());
}

uint8_t FxtWriter::RefTo(const FxtThread& thread) {
  const auto entry = threads_.Get(thread, !store_->KeepsDefinitions());
  const uint8_t index = static_cast<uint8_t>(entry.index);
  if (index == 0 || !entry.is_new) return index;
  if (Define({Header(FxtType::kThread, 3) | Bits(index, 16), thread.process, thread.thread})) {
    return index;
  }
  threads_.Undo();
  return 0;
}

bool FxtWriter::Define(absl::Span<const uint64_t> words) {
  if (store_->KeepsDefinitions()) return store_->AppendDefinition(words);
  definitions_.insert(definitions_.end(), words.begin(), words.end());
  return true;
}

void FxtWriter::AppendText(absl::string_view text) { AppendFxtText(text, &words_); }

}  // namespace gotrace::internal
