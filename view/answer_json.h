// The parts of answers that several requests have.
#ifndef GOTRACE_VIEW_ANSWER_JSON_H_
#define GOTRACE_VIEW_ANSWER_JSON_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "export/json/json_text.h"
#include "gotrace/trace_view.h"
#include "view/lane_columns.h"
#include "view/lane_state.h"

namespace gotrace::internal::view {

// Returns the byte of an answer for a value of which `full` is 255.
char ByteOf(int64_t value, int64_t full);

// Appends bytes, as text.
void AppendBytes(absl::string_view key, const std::string& bytes, JsonWriter* json);

// Appends columns, as bytes of which 255 is `full`.
void AppendColumns(absl::string_view key, const ColumnValues& values, size_t count, int64_t full,
                   JsonWriter* json);

// Returns the largest value of a column.
template <class Columns>
int64_t LargestColumn(size_t count, const Columns& columns) {
  std::vector<int64_t> sums(count + 1);
  for (const ColumnValues* values : columns) {
    values->ForEach([&](size_t i, int64_t value) { sums[i] += value; });
  }
  return *absl::c_max_element(sums);
}

// Appends the times of states that are not zero.
void AppendTotals(const std::array<int64_t, kLaneStates>& totals, JsonWriter* json);

// Whether a goroutine in this state is at work, or wants to be.
bool IsActive(LaneState state);

// Appends the columns of each state. `is_group` leaves out the states that would hide all others
// where there are many goroutines.
void AppendStates(const LaneColumns& lane, int64_t full, bool is_group, JsonWriter* json);

// Appends which columns an answer has.
void AppendRange(const ColumnRange& range, JsonWriter* json);

// Returns the answer to a request that fails, with a sentence for people.
ViewAnswer ErrorAnswer(int status, absl::string_view message);

// Names of an answer, which rows refer to.
class Names {
 public:
  uint64_t IndexOf(absl::string_view name) {
    const auto [known, is_new] = places_.try_emplace(std::string(name), names_.size());
    if (is_new) names_.emplace_back(name);
    return known->second;
  }
  void Append(JsonWriter* json) const {
    json->Key("names");
    json->BeginArray();
    for (const std::string& name : names_) json->Value(absl::string_view(name));
    json->EndArray();
  }

 private:
  std::vector<std::string> names_ = {""};
  absl::flat_hash_map<std::string, uint64_t> places_ = {{"", 0}};
};

}  // namespace gotrace::internal::view

#endif  // GOTRACE_VIEW_ANSWER_JSON_H_
