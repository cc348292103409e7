// The checks of what generations bring besides events: their tables and their clocks.
#ifndef GOTRACE_VALIDATOR_TABLE_CHECKS_H_
#define GOTRACE_VALIDATOR_TABLE_CHECKS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "gotrace/finding.h"
#include "parser/generation/generation_tables.h"
#include "parser/generation/table_use.h"

namespace gotrace::internal {

// Takes the tables of each generation, in order.
class TableChecks {
 public:
  // `sink` is told each finding at once.
  explicit TableChecks(std::function<void(Finding)> sink) : sink_(std::move(sink)) {}

  // Judges the tables of generation `number`. What nothing refers to is told by `use`, if it is not
  // nullptr.
  void EndGeneration(uint64_t number, const GenerationTables& tables, const TableUse* use);

  // Whether its generations may follow those of `before`.
  bool Continues(const TableChecks& before) const;

 private:
  void CheckFrequency(uint64_t number, const GenerationTables& tables);
  void CheckUse(uint64_t number, const GenerationTables& tables, const TableUse& use);
  void Report(CheckId id, uint64_t number, uint64_t offset, std::string message);

  const std::function<void(Finding)> sink_;
  std::optional<uint64_t> first_frequency_;
  std::optional<uint64_t> last_frequency_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_TABLE_CHECKS_H_
