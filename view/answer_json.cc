#include "view/answer_json.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "util/text_buffer.h"

namespace gotrace::internal::view {

char ByteOf(int64_t value, int64_t full) {
  if (value <= 0) return 0;
  return static_cast<char>(
      std::clamp<int64_t>((value * 255 + full / 2) / std::max<int64_t>(full, 1), 1, 255));
}

void AppendBytes(absl::string_view key, const std::string& bytes, JsonWriter* json) {
  json->Member(key, absl::string_view(absl::Base64Escape(bytes)));
}

void AppendColumns(absl::string_view key, const ColumnValues& values, size_t count, int64_t full,
                   JsonWriter* json) {
  std::string bytes(count, '\0');
  values.ForEach([&](size_t i, int64_t value) { bytes[i] = ByteOf(value, full); });
  AppendBytes(key, bytes, json);
}

void AppendTotals(const std::array<int64_t, kLaneStates>& totals, JsonWriter* json) {
  json->Key("totals");
  json->BeginObject();
  for (size_t i = 0; i < kLaneStates; ++i) {
    if (totals[i] != 0) json->Member(kLaneStateNames[i], totals[i]);
  }
  json->EndObject();
}

bool IsActive(LaneState state) {
  return state != LaneState::kBlocked && state != LaneState::kNetwork;
}

void AppendStates(const LaneColumns& lane, int64_t full, bool is_group, JsonWriter* json) {
  json->Key("columns");
  json->BeginObject();
  for (size_t i = 0; i < kLaneStates; ++i) {
    const auto state = static_cast<LaneState>(i);
    if (lane.columns(state).empty() || (is_group && !IsActive(state))) continue;
    AppendColumns(LaneStateName(state), lane.columns(state), lane.range().count, full, json);
  }
  json->EndObject();
}

void AppendRange(const ColumnRange& range, JsonWriter* json) {
  json->Member("begin", range.begin);
  json->Member("step", range.step);
  json->Member("count", uint64_t{range.count});
}

ViewAnswer ErrorAnswer(int status, absl::string_view message) {
  TextBuffer out;
  JsonWriter json(&out);
  json.BeginObject();
  json.Member("error", message);
  json.EndObject();
  return {status, "application/json", std::string(out.view())};
}

}  // namespace gotrace::internal::view
