// The checks of what generations bring besides events: their tables and their clocks.
#ifndef GOTRACE_VALIDATOR_TABLE_CHECKS_H_
#define GOTRACE_VALIDATOR_TABLE_CHECKS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "parser/event.h"
#include "parser/generation_tables.h"
#include "parser/table_use.h"
#include "validator/finding.h"

namespace gotrace {

// Takes the events of a trace and, behind those of each generation, its tables.
class TableChecks {
 public:
  // `sink` is told each finding at once.
  explicit TableChecks(std::function<void(Finding)> sink) : sink_(std::move(sink)) {}

  // Takes the next events.
  void Take(absl::Span<const Event> events) { use_.Take(events); }

  // Judges the tables of generation `number`, whose events all were taken. If it `is_whole`, what
  // nothing refers to is told.
  void EndGeneration(uint64_t number, bool is_whole, const GenerationTables& tables);

  // Whether its generations may follow those of `before`.
  bool Continues(const TableChecks& before) const;

 private:
  void CheckFrequency(uint64_t number, const GenerationTables& tables);
  void CheckUse(uint64_t number, const GenerationTables& tables);
  void Report(CheckId id, uint64_t number, uint64_t offset, std::string message);

  const std::function<void(Finding)> sink_;
  TableUse use_;
  std::optional<uint64_t> first_frequency_;
  std::optional<uint64_t> last_frequency_;
};

}  // namespace gotrace

#endif  // GOTRACE_VALIDATOR_TABLE_CHECKS_H_
