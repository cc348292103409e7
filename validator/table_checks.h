// Checks of the tables and clocks of generations.
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

// Checks the tables of each generation, in order.
class TableChecks {
 public:
  // `sink` is called with each finding.
  explicit TableChecks(std::function<void(Finding)> sink) : sink_(std::move(sink)) {}

  // Checks the tables of generation `number`. `use` says which entries are used; if it is nullptr,
  // that is not checked.
  void EndGeneration(uint64_t number, const GenerationTables& tables, const TableUse* use);

  // Returns whether there is nothing to report between the last generation of `before` and the
  // first generation of this object.
  bool Follows(const TableChecks& before) const;

  // Appends the generations of `next`, which follows this.
  void Append(const TableChecks& next) {
    if (next.last_frequency_.has_value()) last_frequency_ = next.last_frequency_;
  }

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
