// A record begins with its type and its size. Next() takes its words from the source, and Parse()
// reads them with a Cursor, which refuses to read beyond the size. If the content of a record does
// not fit into its size, the size is wrong, so nothing after it can be found. Remaining words are
// an extension of the format that this reader does not know.
#include "gotrace/fxt_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "export/fxt/fxt_format.h"
#include "export/fxt/fxt_writer.h"

namespace gotrace {
namespace {

using internal::FxtEventHasWord;
using internal::FxtPayload;
using internal::FxtPayloadOf;
using internal::IsFxtEvent;
using internal::kFxtMagic;
using internal::LittleEndian;

constexpr size_t kWord = sizeof(uint64_t);

// The part of a large record that is in memory at a time. Its payload is not kept.
constexpr size_t kMaxLargeFill = ByteSource::kMaxFill;

uint64_t Bits(uint64_t word, int first, int last) {
  return word >> first & (~uint64_t{0} >> (63 - (last - first)));
}

uint64_t WordAt(absl::string_view bytes) {
  uint64_t word;
  std::memcpy(&word, bytes.data(), sizeof word);
  return LittleEndian(word);
}

// Reads the words of a record, or of one of its arguments.
class Cursor {
 public:
  explicit Cursor(absl::string_view bytes) : bytes_(bytes) {}

  bool Word(uint64_t* word) {
    if (bytes_.size() < kWord) return false;
    *word = WordAt(bytes_);
    bytes_.remove_prefix(kWord);
    return true;
  }

  // Reads `size` bytes and their padding.
  bool Text(size_t size, absl::string_view* text) {
    const size_t padded = (size + kWord - 1) / kWord * kWord;
    if (bytes_.size() < padded) return false;
    *text = bytes_.substr(0, size);
    const absl::string_view padding = bytes_.substr(size, padded - size);
    has_bad_padding_ |= std::any_of(padding.begin(), padding.end(), [](char c) { return c != 0; });
    bytes_.remove_prefix(padded);
    return true;
  }

  // Splits off a cursor for the next `words` words.
  bool Part(size_t words, Cursor* part) {
    if (bytes_.size() / kWord < words) return false;
    *part = Cursor(bytes_.substr(0, words * kWord));
    bytes_.remove_prefix(words * kWord);
    return true;
  }

  void NotePadding(const Cursor& part) { has_bad_padding_ |= part.has_bad_padding_; }

  bool at_end() const { return bytes_.empty(); }
  size_t left() const { return bytes_.size(); }
  bool has_bad_padding() const { return has_bad_padding_; }

 private:
  absl::string_view bytes_;
  bool has_bad_padding_ = false;
};

}  // namespace

bool IsFxt(absl::string_view begin) { return begin.size() >= kWord && WordAt(begin) == kFxtMagic; }

bool StartsFxt(ByteSource* source) {
  source->Fill(kWord).IgnoreError();
  return IsFxt(source->window());
}

class FxtReader::State {
 public:
  State(std::unique_ptr<ByteSource> source, std::function<void(const FxtProblem&)> on_problem);

  const FxtRecord* Next();
  FxtEnd end() const { return end_; }
  uint64_t offset() const { return offset_; }
  const absl::Status& status() const { return status_; }
  uint64_t ToNanoseconds(uint64_t ticks) const;
  const Skipped& skipped() const { return skipped_; }
  const ByteSource& source() const { return *source_; }

 private:
  // The tables to which the records of one provider refer.
  struct Provider {
    bool has_info = false;
    uint64_t ticks_per_second = 1'000'000'000;
    absl::flat_hash_map<uint16_t, std::string> strings;
    absl::flat_hash_map<uint16_t, FxtThread> threads;
  };

  enum class Result : uint8_t { kRecord, kSkipped, kDamaged };

  bool BeginRecord(uint64_t* header);
  Result Parse(uint64_t header, Cursor* cursor);
  Result ParseMetadata(uint64_t header, Cursor* cursor);
  Result ParseEvent(uint64_t header, Cursor* cursor);
  Result ParseObject(uint64_t header, Cursor* cursor);
  Result ParseScheduling(uint64_t header, Cursor* cursor);
  Result ParseLarge(uint64_t header, Cursor* cursor);
  bool ParseArguments(size_t count, Cursor* cursor);
  bool ParseArgument(Cursor* cursor);

  // Store the value of a reference. Return false if the words end before its content.
  bool Resolve(uint64_t ref, Cursor* cursor, absl::string_view* text);
  bool Resolve(uint64_t ref, Cursor* cursor, FxtThread* thread);

  Result SkipUnknown(absl::string_view what, uint64_t kind);
  void CheckReserved(uint64_t word, int first, int last);
  void Report(CheckId check, std::string message);
  const FxtRecord* End(FxtEnd end);

  bool SkipRecord();
  Provider& ProviderOf(uint32_t id);
  Provider& provider() { return ProviderOf(current_); }

  const std::unique_ptr<ByteSource> source_;
  const std::function<void(const FxtProblem&)> on_problem_;
  absl::flat_hash_map<uint32_t, Provider> providers_;
  uint32_t current_ = 0;  // The provider of the current section.
  FxtRecord record_;
  uint64_t offset_ = 0;
  uint64_t size_ = 0;  // Of the current record, in bytes.
  FxtEnd end_ = FxtEnd::kNotYet;
  absl::Status status_;
  Skipped skipped_;
};

FxtReader::State::State(std::unique_ptr<ByteSource> source,
                        std::function<void(const FxtProblem&)> on_problem)
    : source_(std::move(source)), on_problem_(std::move(on_problem)), offset_(source_->offset()) {
  // Records before the first section belong to a provider 0 without a name.
  provider().has_info = true;
}

const FxtRecord* FxtReader::State::End(FxtEnd end) {
  end_ = end;
  return nullptr;
}

const FxtRecord* FxtReader::State::Next() {
  while (end_ == FxtEnd::kNotYet) {
    source_->Release(offset_);
    uint64_t header = 0;
    if (!BeginRecord(&header)) break;
    const size_t in_memory = std::min<uint64_t>(size_, kMaxLargeFill);
    record_ = FxtRecord{};
    record_.type = static_cast<FxtType>(Bits(header, 0, 3));
    record_.offset = offset_;
    record_.size = size_;
    record_.provider = current_;
    Cursor cursor(source_->window().substr(0, in_memory));
    uint64_t first;
    cursor.Word(&first);
    const Result result = Parse(header, &cursor);
    if (result == Result::kDamaged) {
      Report(CheckId::kFxtRecordSize,
             absl::StrCat("expected a size that holds the record's content, found ", size_ / kWord,
                          size_ == kWord ? " word" : " words"));
      return End(FxtEnd::kDamaged);
    }
    if (cursor.has_bad_padding()) {
      Report(CheckId::kFxtReserved, "expected zeros after a string, found other bytes");
    }
    if (result == Result::kRecord && record_.type != FxtType::kLarge && !cursor.at_end()) {
      ++skipped_.extended;
      Report(CheckId::kFxtExtended, "expected the end of the record, found more words");
    }
    if (!SkipRecord()) return nullptr;
    offset_ += size_;
    if (result == Result::kRecord) return &record_;
  }
  return nullptr;
}

bool FxtReader::State::BeginRecord(uint64_t* header) {
  const auto has = [this](uint64_t size, absl::string_view what) {
    if (status_ = source_->Fill(std::min<uint64_t>(size, kMaxLargeFill)); !status_.ok()) {
      End(FxtEnd::kError);
      return false;
    }
    const size_t found = source_->window().size();
    if (found >= std::min<uint64_t>(size, kMaxLargeFill)) return true;
    if (found == 0) {
      End(FxtEnd::kComplete);
      return false;
    }
    Report(CheckId::kFxtTruncated, absl::StrCat("expected ", what, " of ", size,
                                                " bytes, found the end of the file after ", found));
    End(FxtEnd::kCut);
    return false;
  };
  if (!has(kWord, "a header")) return false;
  *header = WordAt(source_->window());
  const bool is_large = Bits(*header, 0, 3) == static_cast<uint64_t>(FxtType::kLarge);
  size_ = kWord * (is_large ? Bits(*header, 4, 35) : Bits(*header, 4, 15));
  if (size_ == 0) {
    Report(CheckId::kFxtRecordSize, "expected the size of a record, found 0");
    End(FxtEnd::kDamaged);
    return false;
  }
  return has(size_, "a record");
}

bool FxtReader::State::SkipRecord() {
  // The data to which the record refers stays in memory until the next call, but not the rest of a
  // large record.
  uint64_t left = size_;
  for (;;) {
    const uint64_t begin = source_->offset();
    const size_t step = std::min<uint64_t>(left, source_->window().size());
    source_->Skip(step);
    if (left < size_) source_->ReleaseSkipped(begin, source_->offset());
    left -= step;
    if (left == 0) return true;
    if (status_ = source_->Fill(std::min<uint64_t>(left, kMaxLargeFill)); !status_.ok()) {
      return End(FxtEnd::kError), false;
    }
    if (!source_->window().empty()) continue;
    Report(CheckId::kFxtTruncated,
           absl::StrCat("expected ", left, " more bytes of the record, found the end of the file"));
    return End(FxtEnd::kCut), false;
  }
}

FxtReader::State::Provider& FxtReader::State::ProviderOf(uint32_t id) {
  // Real files have a few dozen. In a damaged file, all providers beyond the limit share one table.
  constexpr size_t kMaxProviders = size_t{1} << 16;
  const auto found = providers_.find(id);
  if (found != providers_.end()) return found->second;
  return providers_[providers_.size() < kMaxProviders ? id : 0];
}

FxtReader::State::Result FxtReader::State::Parse(uint64_t header, Cursor* cursor) {
  switch (record_.type) {
    case FxtType::kMetadata:
      return ParseMetadata(header, cursor);
    case FxtType::kInitialization:
      CheckReserved(header, 16, 63);
      if (!cursor->Word(&record_.ticks)) return Result::kDamaged;
      if (record_.ticks == 0) {
        Report(CheckId::kFxtTicks, "expected the number of ticks per second, found 0");
      } else {
        provider().ticks_per_second = record_.ticks;
      }
      return Result::kRecord;
    case FxtType::kString: {
      CheckReserved(header, 31, 31);
      CheckReserved(header, 47, 63);
      record_.index = static_cast<uint16_t>(Bits(header, 16, 30));
      if (!cursor->Text(Bits(header, 32, 46), &record_.text)) return Result::kDamaged;
      if (record_.index == 0) {
        Report(CheckId::kFxtIndex, "expected an index of the string table, found 0");
      } else {
        provider().strings[record_.index].assign(record_.text.data(), record_.text.size());
      }
      return Result::kRecord;
    }
    case FxtType::kThread: {
      CheckReserved(header, 24, 63);
      record_.index = static_cast<uint16_t>(Bits(header, 16, 23));
      if (!cursor->Word(&record_.thread.process) || !cursor->Word(&record_.thread.thread)) {
        return Result::kDamaged;
      }
      if (record_.index == 0) {
        Report(CheckId::kFxtIndex, "expected an index of the thread table, found 0");
      } else {
        provider().threads[record_.index] = record_.thread;
      }
      return Result::kRecord;
    }
    case FxtType::kEvent:
      return ParseEvent(header, cursor);
    case FxtType::kBlob:
      CheckReserved(header, 47, 47);
      CheckReserved(header, 56, 63);
      record_.kind = static_cast<uint8_t>(Bits(header, 48, 55));
      return Resolve(Bits(header, 16, 31), cursor, &record_.name) &&
                     cursor->Text(Bits(header, 32, 46), &record_.text)
                 ? Result::kRecord
                 : Result::kDamaged;
    case FxtType::kUserObject:
    case FxtType::kKernelObject:
      return ParseObject(header, cursor);
    case FxtType::kScheduling:
      return ParseScheduling(header, cursor);
    case FxtType::kLog:
      CheckReserved(header, 31, 31);
      CheckReserved(header, 40, 63);
      return cursor->Word(&record_.ticks) &&
                     Resolve(Bits(header, 32, 39), cursor, &record_.thread) &&
                     cursor->Text(Bits(header, 16, 30), &record_.text)
                 ? Result::kRecord
                 : Result::kDamaged;
    case FxtType::kLarge:
      return ParseLarge(header, cursor);
  }
  return SkipUnknown("record type", static_cast<uint64_t>(record_.type));
}

FxtReader::State::Result FxtReader::State::ParseMetadata(uint64_t header, Cursor* cursor) {
  record_.kind = static_cast<uint8_t>(Bits(header, 16, 19));
  record_.provider = static_cast<uint32_t>(Bits(header, 20, 51));
  switch (static_cast<FxtMetadata>(record_.kind)) {
    case FxtMetadata::kProviderInfo: {
      CheckReserved(header, 60, 63);
      if (!cursor->Text(Bits(header, 52, 59), &record_.name)) return Result::kDamaged;
      ProviderOf(record_.provider).has_info = true;
      current_ = record_.provider;
      return Result::kRecord;
    }
    case FxtMetadata::kProviderSection:
      CheckReserved(header, 52, 63);
      current_ = record_.provider;
      if (!provider().has_info) {
        provider().has_info = true;  // Once is enough.
        Report(CheckId::kFxtProviderUndefined,
               absl::StrCat("expected a provider that was introduced, found provider ", current_));
      }
      return Result::kRecord;
    case FxtMetadata::kProviderEvent:
      record_.index = static_cast<uint16_t>(Bits(header, 52, 55));
      CheckReserved(header, 56, 63);
      if (record_.index != 0) return SkipUnknown("provider event", record_.index);
      Report(CheckId::kFxtBufferFull,
             absl::StrCat("expected all records of provider ", record_.provider,
                          ", found that its buffer was full"));
      return Result::kRecord;
    case FxtMetadata::kTraceInfo:
      record_.provider = 0;
      if (header == kFxtMagic) return Result::kRecord;
      Report(CheckId::kFxtMagic, "expected the magic number, found another trace info record");
      return Result::kSkipped;
  }
  return SkipUnknown("metadata type", record_.kind);
}

FxtReader::State::Result FxtReader::State::ParseEvent(uint64_t header, Cursor* cursor) {
  record_.kind = static_cast<uint8_t>(Bits(header, 16, 19));
  if (!IsFxtEvent(record_.kind)) return SkipUnknown("event type", record_.kind);
  if (!cursor->Word(&record_.ticks) || !Resolve(Bits(header, 24, 31), cursor, &record_.thread) ||
      !Resolve(Bits(header, 32, 47), cursor, &record_.category) ||
      !Resolve(Bits(header, 48, 63), cursor, &record_.name) ||
      !ParseArguments(Bits(header, 20, 23), cursor)) {
    return Result::kDamaged;
  }
  if (FxtEventHasWord(record_.kind) && !cursor->Word(&record_.id)) return Result::kDamaged;
  if (record_.kind == static_cast<uint8_t>(FxtEvent::kDurationComplete) &&
      static_cast<int64_t>(record_.id) < static_cast<int64_t>(record_.ticks)) {
    Report(CheckId::kFxtDuration, absl::StrCat("expected an end not before ", record_.ticks,
                                               " ticks, found ", record_.id));
  }
  return Result::kRecord;
}

FxtReader::State::Result FxtReader::State::ParseObject(uint64_t header, Cursor* cursor) {
  CheckReserved(header, 44, 63);
  if (!cursor->Word(&record_.id)) return Result::kDamaged;
  if (record_.type == FxtType::kKernelObject) {
    record_.kind = static_cast<uint8_t>(Bits(header, 16, 23));
  } else if (const uint64_t ref = Bits(header, 16, 23); ref == 0) {
    if (!cursor->Word(&record_.thread.process)) return Result::kDamaged;
  } else {
    Resolve(ref, cursor, &record_.thread);
  }
  return Resolve(Bits(header, 24, 39), cursor, &record_.name) &&
                 ParseArguments(Bits(header, 40, 43), cursor)
             ? Result::kRecord
             : Result::kDamaged;
}

FxtReader::State::Result FxtReader::State::ParseScheduling(uint64_t header, Cursor* cursor) {
  record_.kind = static_cast<uint8_t>(Bits(header, 60, 63));
  switch (static_cast<FxtScheduling>(record_.kind)) {
    case FxtScheduling::kLegacySwitch:
      record_.index = static_cast<uint16_t>(Bits(header, 16, 23));
      record_.outgoing_state = static_cast<uint8_t>(Bits(header, 24, 27));
      record_.priorities = static_cast<uint16_t>(Bits(header, 44, 59));
      return cursor->Word(&record_.ticks) &&
                     Resolve(Bits(header, 28, 35), cursor, &record_.outgoing) &&
                     Resolve(Bits(header, 36, 43), cursor, &record_.incoming)
                 ? Result::kRecord
                 : Result::kDamaged;
    case FxtScheduling::kContextSwitch:
      CheckReserved(header, 40, 59);
      record_.index = static_cast<uint16_t>(Bits(header, 20, 35));
      record_.outgoing_state = static_cast<uint8_t>(Bits(header, 36, 39));
      return cursor->Word(&record_.ticks) && cursor->Word(&record_.outgoing.thread) &&
                     cursor->Word(&record_.incoming.thread) &&
                     ParseArguments(Bits(header, 16, 19), cursor)
                 ? Result::kRecord
                 : Result::kDamaged;
    case FxtScheduling::kWakeup:
      CheckReserved(header, 36, 59);
      record_.index = static_cast<uint16_t>(Bits(header, 20, 35));
      return cursor->Word(&record_.ticks) && cursor->Word(&record_.incoming.thread) &&
                     ParseArguments(Bits(header, 16, 19), cursor)
                 ? Result::kRecord
                 : Result::kDamaged;
  }
  return SkipUnknown("scheduling record type", record_.kind);
}

FxtReader::State::Result FxtReader::State::ParseLarge(uint64_t header, Cursor* cursor) {
  if (Bits(header, 36, 39) != 0) return SkipUnknown("large record type", Bits(header, 36, 39));
  CheckReserved(header, 44, 63);
  record_.kind = static_cast<uint8_t>(Bits(header, 40, 43));
  if (record_.kind > 1) return SkipUnknown("format of a large blob", record_.kind);
  uint64_t format;
  if (!cursor->Word(&format)) return Result::kDamaged;
  const bool has_metadata = record_.kind == 0;
  CheckReserved(format, has_metadata ? 44 : 32, 63);
  if (!Resolve(Bits(format, 0, 15), cursor, &record_.category) ||
      !Resolve(Bits(format, 16, 31), cursor, &record_.name)) {
    return Result::kDamaged;
  }
  if (has_metadata &&
      (!cursor->Word(&record_.ticks) || !Resolve(Bits(format, 36, 43), cursor, &record_.thread) ||
       !ParseArguments(Bits(format, 32, 35), cursor))) {
    return Result::kDamaged;
  }
  if (!cursor->Word(&record_.id)) return Result::kDamaged;
  const uint64_t read = std::min<uint64_t>(size_, kMaxLargeFill) - cursor->left();
  return record_.id <= size_ - read ? Result::kRecord : Result::kDamaged;
}

bool FxtReader::State::ParseArguments(size_t count, Cursor* cursor) {
  for (size_t i = 0; i < count; ++i) {
    if (!ParseArgument(cursor)) return false;
  }
  return true;
}

bool FxtReader::State::ParseArgument(Cursor* cursor) {
  Cursor peek = *cursor;
  uint64_t header;
  Cursor part(absl::string_view{});
  if (!peek.Word(&header) || Bits(header, 4, 15) == 0 ||
      !cursor->Part(Bits(header, 4, 15), &part)) {
    return false;
  }
  part.Word(&header);
  const uint8_t type = static_cast<uint8_t>(Bits(header, 0, 3));
  const FxtPayload payload = FxtPayloadOf(type);
  FxtArgument argument;
  argument.type = static_cast<FxtArgumentType>(type);
  if (payload == FxtPayload::kUnknown) {
    ++skipped_.arguments;
    Report(CheckId::kFxtUnknown, absl::StrCat("skipped an argument of type ", type));
    return true;
  }
  if (!Resolve(Bits(header, 16, 31), &part, &argument.name)) return false;
  switch (payload) {
    case FxtPayload::kUnknown:
      break;
    case FxtPayload::kNone:
      CheckReserved(header, 32, 63);
      break;
    case FxtPayload::kHeader:
      argument.value = Bits(header, 32, 63);
      break;
    case FxtPayload::kWord:
      CheckReserved(header, 32, 63);
      if (!part.Word(&argument.value)) return false;
      break;
    case FxtPayload::kString:
      CheckReserved(header, 48, 63);
      if (!Resolve(Bits(header, 32, 47), &part, &argument.text)) return false;
      break;
  }
  cursor->NotePadding(part);
  record_.arguments.push_back(argument);
  return true;
}

bool FxtReader::State::Resolve(uint64_t ref, Cursor* cursor, absl::string_view* text) {
  if (ref == 0) return true;
  if ((ref & 0x8000) != 0) return cursor->Text(ref & 0x7fff, text);
  const auto found = provider().strings.find(static_cast<uint16_t>(ref));
  if (found == provider().strings.end()) {
    Report(CheckId::kFxtStringUndefined,
           absl::StrCat("expected a string that was defined, found string ", ref));
    return true;
  }
  *text = found->second;
  return true;
}

bool FxtReader::State::Resolve(uint64_t ref, Cursor* cursor, FxtThread* thread) {
  if (ref == 0) return cursor->Word(&thread->process) && cursor->Word(&thread->thread);
  const auto found = provider().threads.find(static_cast<uint16_t>(ref));
  if (found == provider().threads.end()) {
    Report(CheckId::kFxtThreadUndefined,
           absl::StrCat("expected a thread that was defined, found thread ", ref));
    return true;
  }
  *thread = found->second;
  return true;
}

FxtReader::State::Result FxtReader::State::SkipUnknown(absl::string_view what, uint64_t kind) {
  ++skipped_.records;
  Report(CheckId::kFxtUnknown, absl::StrCat("skipped a record: unknown ", what, " ", kind));
  return Result::kSkipped;
}

void FxtReader::State::CheckReserved(uint64_t word, int first, int last) {
  if (Bits(word, first, last) == 0) return;
  Report(CheckId::kFxtReserved, absl::StrCat("expected zero in the reserved bits ", first, " to ",
                                             last, ", found ", Bits(word, first, last)));
}

void FxtReader::State::Report(CheckId check, std::string message) {
  if (on_problem_) on_problem_({check, offset_, std::move(message)});
}

uint64_t FxtReader::State::ToNanoseconds(uint64_t ticks) const {
  const auto found = providers_.find(current_);
  const uint64_t per_second =
      found == providers_.end() ? 1'000'000'000 : found->second.ticks_per_second;
  if (per_second == 1'000'000'000) return ticks;
  return static_cast<uint64_t>(static_cast<unsigned __int128>(ticks) * 1'000'000'000 / per_second);
}

FxtReader::FxtReader(std::unique_ptr<ByteSource> source,
                     std::function<void(const FxtProblem&)> on_problem)
    : state_(std::make_unique<State>(std::move(source), std::move(on_problem))) {}

FxtReader::~FxtReader() = default;

const FxtRecord* FxtReader::Next() { return state_->Next(); }

FxtEnd FxtReader::end() const { return state_->end(); }

uint64_t FxtReader::offset() const { return state_->offset(); }

const absl::Status& FxtReader::status() const { return state_->status(); }

uint64_t FxtReader::ToNanoseconds(uint64_t ticks) const { return state_->ToNanoseconds(ticks); }

const FxtReader::Skipped& FxtReader::skipped() const { return state_->skipped(); }

const ByteSource& FxtReader::source() const { return state_->source(); }

}  // namespace gotrace
