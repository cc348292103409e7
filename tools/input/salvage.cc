#include "tools/input/salvage.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gotrace/check.h"
#include "gotrace/reader_limits.h"
#include "tools/cli/hints.h"

namespace gotrace::internal {
namespace {

// "1 batch", "2 batches".
std::string Count(uint64_t count, absl::string_view one, absl::string_view many) {
  return absl::StrCat(count, " ", count == 1 ? one : many);
}

std::string Bytes(uint64_t count) { return Count(count, "byte", "bytes"); }

}  // namespace

void FaultLog::Add(const Fault& fault) {
  if (++count_ > kKept) return;
  const std::string text = FormatFault(fault);
  first_.push_back(IsLimit(fault.id) ? WithHint(text, CheckOf(fault.id)) : text);
}

ReaderOptions FaultLog::SalvageOptions() {
  ReaderOptions options;
  options.mode = ReadMode::kSalvage;
  options.on_fault = [this](const Fault& fault) { Add(fault); };
  return options;
}

std::string FormatLosses(const Losses& losses) {
  std::vector<std::string> left_out;
  if (losses.skipped_bytes > 0) {
    left_out.push_back(absl::StrCat(Bytes(losses.skipped_bytes), " outside any batch"));
  }
  if (losses.dropped_batches > 0) {
    left_out.push_back(absl::StrCat(Bytes(losses.dropped_bytes), " of ",
                                    Count(losses.dropped_batches, "batch", "batches")));
  }
  if (losses.dropped_events > 0) {
    left_out.push_back(Count(losses.dropped_events, "contradictory event", "contradictory events"));
  }
  std::vector<std::string> parts;
  if (losses.text_pieces > 0) {
    parts.push_back(absl::StrCat("removed ", Count(losses.text_pieces, "piece", "pieces"),
                                 " of text with ", Bytes(losses.text_bytes)));
  }
  if (!left_out.empty()) parts.push_back(absl::StrCat("left out ", absl::StrJoin(left_out, ", ")));
  if (losses.unresolved > 0) {
    parts.push_back(
        absl::StrCat(Count(losses.unresolved, "string or stack is", "strings or stacks are"),
                     " missing from the tables"));
  }
  if (losses.marked_events > 0) {
    parts.push_back(absl::StrCat(
        "marked ", Count(losses.marked_events, "event that contradicts", "events that contradict"),
        " earlier ones"));
  }
  return absl::StrJoin(parts, "; ");
}

std::vector<std::string> SalvageReport(absl::string_view name, const FaultLog& log,
                                       const Losses& losses) {
  std::vector<std::string> lines;
  for (const std::string& fault : log.first()) lines.push_back(absl::StrCat(name, ": ", fault));
  const uint64_t more = log.count() - log.first().size();
  if (more > 0)
    lines.push_back(absl::StrCat(name, ": and ", Count(more, "more fault", "more faults")));
  const std::string sentence = FormatLosses(losses);
  if (!sentence.empty()) lines.push_back(absl::StrCat(name, ": ", sentence));
  return lines;
}

absl::string_view WhyIncomplete(const absl::Status& status, const Losses& losses) {
  if (!status.ok()) return "only the part before the first fault";
  return losses.faults > 0 || losses.any() ? "only the readable parts of a broken trace" : "";
}

void AppendCompleteness(const absl::Status& status, const Losses& losses, JsonWriter* json) {
  const bool has_losses = losses.faults > 0 || losses.any();
  json->Key("complete");
  json->Bool(WhyIncomplete(status, losses).empty());
  if (!status.ok()) {
    const std::optional<Fault> fault = FaultOf(status);
    const std::string error =
        fault.has_value() ? FormatFault(*fault) : std::string(status.message());
    json->Member("error", absl::string_view(error));
  }
  if (!has_losses) return;
  json->Key("losses");
  json->BeginObject();
  json->Member("faults", losses.faults);
  json->Member("skipped_bytes", losses.skipped_bytes);
  json->Member("dropped_batches", losses.dropped_batches);
  json->Member("dropped_bytes", losses.dropped_bytes);
  json->Member("dropped_events", losses.dropped_events);
  json->Member("marked_events", losses.marked_events);
  json->Member("unresolved", losses.unresolved);
  json->Member("text_pieces", losses.text_pieces);
  json->Member("text_bytes", losses.text_bytes);
  json->EndObject();
}

}  // namespace gotrace::internal
