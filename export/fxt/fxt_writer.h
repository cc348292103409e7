// Encodes FXT records, and keeps the tables of strings and threads that they refer to.
#ifndef GOTRACE_EXPORT_FXT_FXT_WRITER_H_
#define GOTRACE_EXPORT_FXT_FXT_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "export/fxt/fxt_format.h"
#include "export/fxt/fxt_store.h"

namespace gotrace::internal {

// Assigns the indices 1 to `kSize` to keys. When all are taken, the oldest is reassigned to the new
// key. `Lookup` is the type by which keys are looked up. The kSafe indices that were returned last
// stay valid: a key whose index would soon be reassigned gets a new one.
template <class Key, class Lookup, size_t kSize, size_t kSafe>
class RecyclingTable {
 public:
  struct Entry {
    uint16_t index = 0;   // 0 if there is none.
    bool is_new = false;  // Whether the index has to be defined now.
  };

  // Returns the index of `key`. Without `may_replace`, there is none if the table is full.
  Entry Get(const Lookup& key, bool may_replace) {
    const auto found = index_of_.find(key);
    if (found != index_of_.end() && !IsGivenAwaySoon(found->second)) return {found->second, false};
    if (keys_.size() == kSize && !may_replace) return {};
    return {Add(Key(key)), true};
  }

  // Takes the last assigned index back from its key, because it could not be defined.
  void Undo() { Remove(Last()); }

  void Clear() {
    index_of_.clear();
    keys_.clear();
    next_ = 0;
  }

 private:
  static_assert(kSafe < kSize);

  bool IsGivenAwaySoon(uint16_t index) const { return (index - 1 + kSize - next_) % kSize < kSafe; }

  uint16_t Last() const { return static_cast<uint16_t>((next_ + kSize - 1) % kSize + 1); }

  uint16_t Add(Key key) {
    if (keys_.size() < kSize) {
      keys_.emplace_back();
    } else {
      Remove(static_cast<uint16_t>(next_ + 1));
    }
    keys_[next_] = key;
    next_ = (next_ + 1) % kSize;
    return index_of_[std::move(key)] = Last();
  }

  void Remove(uint16_t index) {
    const auto found = index_of_.find(keys_[index - 1]);
    // The key may have a newer index.
    if (found != index_of_.end() && found->second == index) index_of_.erase(found);
  }

  absl::flat_hash_map<Key, uint16_t> index_of_;
  std::vector<Key> keys_;  // By index - 1. Grows to kSize.
  size_t next_ = 0;        // The place of the next new key.
};

// Writes records to a store. The file begins with the records of FxtHeader() and the number of
// ticks per second.
class FxtWriter {
 public:
  // Longer strings are not put into the table. Call stacks usually are shorter.
  static constexpr size_t kMaxTableText = 2048;

  explicit FxtWriter(std::unique_ptr<FxtStore> store, uint64_t ticks_per_second = 1'000'000'000);

  // Writes `record`, which must be an event, object, blob, scheduling or log record, preceded by
  // the definitions that it needs. Records of other types are dropped. Names, categories and texts
  // of arguments are put into the string table; longer texts are inline. Strings of more than
  // kFxtMaxText bytes are cut off. Returns false if the record was dropped because of its type,
  // because it is larger than the format allows or has more than 15 arguments, or because the store
  // is full.
  bool Write(const FxtRecord& record);

  // The same, with the texts of arguments inline. For texts that are unlikely to be repeated.
  bool WriteOnce(const FxtRecord& record);

  // Return how many records were dropped, and how many were replaced by later ones.
  uint64_t dropped() const { return dropped_; }
  uint64_t replaced() const { return store_->replaced(); }

  // Writes the records in the store. Returns the first error. The caller finishes the ByteSink.
  absl::Status Finish();

 private:
  bool Encode(const FxtRecord& record, bool texts_in_table);
  bool Keep(FxtType type);
  void EncodeEvent(const FxtRecord& record);
  void EncodeObject(const FxtRecord& record);
  void EncodeScheduling(const FxtRecord& record);
  void EncodeArguments(const FxtRecord& record);

  // Returns the reference to a string or thread, which is defined if necessary. If it is not in the
  // table, its content must be appended later with AppendInline().
  uint16_t RefTo(absl::string_view text, bool in_table = true);
  uint8_t RefTo(const FxtThread& thread);
  bool Define(absl::Span<const uint64_t> words);

  void AppendInline(uint16_t ref, absl::string_view text) {
    if ((ref & 0x8000) != 0) AppendText(text.substr(0, ref & 0x7fff));
  }
  void AppendInline(uint8_t ref, const FxtThread& thread) {
    if (ref != 0) return;
    words_.push_back(thread.process);
    words_.push_back(thread.thread);
  }
  void AppendText(absl::string_view text);

  const std::unique_ptr<FxtStore> store_;
  const uint64_t ticks_per_second_;
  bool has_begun_ = false;
  bool texts_in_table_ = true;
  uint64_t dropped_ = 0;

  // A record has at most 2 + 2 * 15 strings, and one thread.
  RecyclingTable<std::string, absl::string_view, kFxtMaxStrings, 64> strings_;
  RecyclingTable<FxtThread, FxtThread, kFxtMaxThreads, 2> threads_;

  std::vector<uint64_t> definitions_;
  std::vector<uint64_t> words_;
};

// Appends `text` to `words`, padded with zeros.
void AppendFxtText(absl::string_view text, std::vector<uint64_t>* words);

// Returns `word` as it is in memory or in a file, least significant byte first.
uint64_t LittleEndian(uint64_t word);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_FXT_FXT_WRITER_H_
