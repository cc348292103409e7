// Tables that are put together from those of several generations.
#ifndef GOTRACE_REWRITE_JOINED_TABLES_H_
#define GOTRACE_REWRITE_JOINED_TABLES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/strings/string_view.h"
#include "rewrite/replacer.h"
#include "rewrite/table_source.h"
#include "rewrite/writer_event.h"

namespace gotrace::internal {

// Copies of the entries that were asked for of other tables. Equal entries are held once, and the
// ids count from 1. The other tables may be of different programs: a PC that has another meaning
// than in the tables before is dropped.
class JoinedTables final : public TableSource {
 public:
  // One of the tables that are joined. It translates their ids.
  class Part {
   public:
    // All must outlive this object. `replacer` is nullptr to replace nothing.
    Part(const TableSource* from, JoinedTables* to, Replacer* replacer = nullptr)
        : from_(*from), to_(*to), replacer_(replacer) {}

    // Return the id in the joined tables of string or stack `id` of this part, adding it if it is
    // new; nullopt if this part has none. `role` matters only to a replacer.
    std::optional<uint64_t> StringId(uint64_t id, TextRole role = TextRole::kReason);
    std::optional<uint64_t> StackId(uint64_t id);

    // Translates the ids of strings and stacks among the arguments of `*event`. Returns false if
    // this part lacks any of them; the event is then useless.
    bool Translate(WriterEvent* event);

   private:
    bool TranslateFrame(Frame* frame);

    const TableSource& from_;
    JoinedTables& to_;
    Replacer* const replacer_;
    absl::flat_hash_map<std::pair<uint64_t, TextRole>, uint64_t>
        string_ids_;  // The results so far.
    absl::flat_hash_map<uint64_t, uint64_t> stack_ids_;
  };

  JoinedTables() = default;
  JoinedTables(const JoinedTables&) = delete;
  JoinedTables& operator=(const JoinedTables&) = delete;

  std::vector<uint64_t> StringIds() const override;
  std::vector<uint64_t> StackIds() const override;
  std::optional<absl::string_view> FindString(uint64_t id) const override;
  bool FindStack(uint64_t id, std::vector<Frame>* frames) const override;
  bool IsMissingString(uint64_t id) const override { return missing_.contains(id); }

  // Returns the id of a text, which is added if it is new.
  uint64_t AddString(absl::string_view text);

  // The same for a stack. A PC that has another meaning than in the stacks before is dropped.
  uint64_t AddStack(std::vector<Frame> frames);

 private:
  uint64_t AddMissingString(absl::string_view text);

  // The addresses of keys are stable.
  absl::node_hash_map<std::string, uint64_t> string_ids_;  // Of those that are not missing.
  absl::node_hash_map<uint64_t, std::string> missing_;     // The others, by id.
  std::vector<const std::string*> strings_;                // By id, counted from 1.
  absl::node_hash_map<std::vector<Frame>, uint64_t> stack_ids_;
  std::vector<const std::vector<Frame>*> stacks_;  // By id, counted from 1.
  absl::flat_hash_map<uint64_t, Frame> by_pc_;     // The first frame with each PC.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_JOINED_TABLES_H_
