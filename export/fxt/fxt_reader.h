// Reads the records of an FXT file, as far as they are well-formed.
#ifndef GOTRACE_EXPORT_FXT_FXT_READER_H_
#define GOTRACE_EXPORT_FXT_FXT_READER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "export/fxt/fxt_format.h"
#include "gotrace/byte_source.h"
#include "gotrace/check.h"

namespace gotrace::internal {

// Whether `begin`, the first bytes of a file, are those of an FXT file.
bool IsFxt(absl::string_view begin);

// Returns whether `source`, at its beginning, has an FXT file. Reads no more than is needed for
// that; an error of the source will come again when it is read.
bool StartsFxt(ByteSource* source);

// Something in a file that its format does not allow, or that a reader cannot know.
struct FxtProblem {
  CheckId check = CheckId::kEnd;
  uint64_t offset = 0;  // Of the record, in bytes.
  std::string message;  // What was expected and found.
};

// How reading ended.
enum class FxtEnd : uint8_t {
  kNotYet,
  kComplete,  // After the last byte.
  kCut,       // Within a record: the file is cut off there.
  kDamaged,  // Before a record whose size is wrong, so that nobody knows where the next one begins.
  kError,    // The source could not be read; see FxtReader::status().
};

// Returns one record after the other. Whatever the file is, each complete record before the place
// where it is cut off or damaged is returned. Records of unknown kinds, and unknown arguments of
// known ones, are skipped and counted. Records may come in any order of time.
class FxtReader {
 public:
  // Calls `on_problem` for each problem, before the record that has it is returned.
  explicit FxtReader(std::unique_ptr<ByteSource> source,
                     std::function<void(const FxtProblem&)> on_problem = nullptr);

  // Returns the next record, or nullptr at the end; see end(). The record, and what it refers to,
  // is valid until the next call.
  const FxtRecord* Next();

  FxtEnd end() const { return end_; }

  // Returns the offset after the last complete record. If the file is damaged, that is where the
  // record with the wrong size begins.
  uint64_t offset() const { return offset_; }

  // Returns the error of the source, if there was one.
  const absl::Status& status() const { return status_; }

  // Returns `ticks` of the current provider's clock in nanoseconds, rounded down.
  uint64_t ToNanoseconds(uint64_t ticks) const;

  struct Skipped {
    uint64_t records = 0;    // Of unknown types; and metadata, events and so on of unknown kinds.
    uint64_t arguments = 0;  // Of unknown types.
    uint64_t extended = 0;   // Records with more words than is known. They are returned.
  };
  const Skipped& skipped() const { return skipped_; }

  const ByteSource& source() const { return *source_; }

 private:
  // What the records of one provider refer to.
  struct Provider {
    bool has_info = false;
    uint64_t ticks_per_second = 1'000'000'000;
    absl::flat_hash_map<uint16_t, std::string> strings;
    absl::flat_hash_map<uint16_t, FxtThread> threads;
  };

  // The words of a record, or of an argument of it.
  class Cursor;

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

  // Stores what a reference means. Return false if the words end before its content.
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

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_FXT_FXT_READER_H_
