// Where the writer of generations finds strings and stacks: in the tables of a generation that was
// read (OwnTables), in tables that are put together from several (JoinedTables), or in others and a
// few additions (TableAdditions).
#ifndef GOTRACE_REWRITE_TABLE_SOURCE_H_
#define GOTRACE_REWRITE_TABLE_SOURCE_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "parser/event/event_tables.h"

namespace gotrace::internal {

// The strings and stacks of one generation, by the ids that its events use. Id 0 is the empty
// string, or no stack, and is never listed.
class TableSource {
 public:
  // A frame of a stack.
  struct Frame {
    // nullopt if unknown. Readers treat frames with equal PCs as the same frame, so the writer then
    // chooses one that no other frame has.
    std::optional<uint64_t> pc;
    uint64_t func = 0;  // The id of a string.
    uint64_t file = 0;  // The id of a string.
    uint64_t line = 0;

    friend bool operator==(const Frame&, const Frame&) = default;
    template <typename H>
    friend H AbslHashValue(H hash, const Frame& frame) {
      return H::combine(std::move(hash), frame.pc, frame.func, frame.file, frame.line);
    }
  };

  virtual ~TableSource() = default;

  // Return the ids of all strings or stacks, in the order in which they are written.
  virtual std::vector<uint64_t> StringIds() const = 0;
  virtual std::vector<uint64_t> StackIds() const = 0;

  // Returns the string `id`, which is valid as long as the tables; nullopt if there is none.
  virtual std::optional<absl::string_view> FindString(uint64_t id) const = 0;

  // Stores the frames of stack `id` in `*frames`, the innermost first. Returns false if there is no
  // such stack; `*frames` is then empty.
  virtual bool FindStack(uint64_t id, std::vector<Frame>* frames) const = 0;

  // Returns whether string `id` is in the tables instead of one that is missing in the trace.
  virtual bool IsMissingString(uint64_t id) const = 0;
};

// The tables of a generation that was read, or of events that were built.
class OwnTables final : public TableSource {
 public:
  // `tables` must outlive this object, and may get more entries.
  explicit OwnTables(const EventTables& tables) : tables_(tables) {}

  std::vector<uint64_t> StringIds() const override { return tables_.StringIds(); }
  std::vector<uint64_t> StackIds() const override { return tables_.StackIds(); }
  std::optional<absl::string_view> FindString(uint64_t id) const override;
  bool FindStack(uint64_t id, std::vector<Frame>* frames) const override;
  bool IsMissingString(uint64_t id) const override { return tables_.IsMissingString(id); }

 private:
  const EventTables& tables_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_TABLE_SOURCE_H_
