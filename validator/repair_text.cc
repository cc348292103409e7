// What a repair does, in sentences.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "validator/repair.h"

namespace gotrace {
namespace {

std::string Count(uint64_t count, absl::string_view one, absl::string_view many) {
  return absl::StrCat(count, " ", count == 1 ? one : many);
}

std::string Changes(const RepairedGeneration& generation) {
  std::vector<std::string> changes;
  if (generation.events_left_out > 0) {
    changes.push_back(absl::StrCat(Count(generation.events_left_out, "event", "events"),
                                   " that cannot be told left out"));
  }
  if (generation.entries_added > 0) {
    changes.push_back(absl::StrCat(Count(generation.entries_added, "table entry", "table entries"),
                                   " added for what is lost"));
  }
  if (generation.threads_cut > 0) {
    changes.push_back(absl::StrCat(Count(generation.threads_cut, "thread", "threads"),
                                   " cut off where nothing can come next, which loses ",
                                   Count(generation.events_cut, "event", "events")));
  }
  if (changes.empty()) changes.push_back("its frequency taken from another generation");
  return absl::StrJoin(changes, ", ");
}

std::string WhatBecomes(const RepairedGeneration& generation) {
  switch (generation.fate) {
    case GenerationFate::kKept:
      return "is kept without what is damaged in it";
    case GenerationFate::kMended:
    case GenerationFate::kCutShort:
      return absl::StrCat("is kept, with ", Changes(generation));
    case GenerationFate::kBroken:
      return "is left out";
    case GenerationFate::kApart:
      return absl::StrCat("is left out", generation.fault.has_value() ? "" : ", though it is sound",
                          ": it does not follow those that are kept");
    case GenerationFate::kEmpty:
      return "is left out: it was begun at the end, and has no events";
  }
  return "";
}

// Whether the fault is told as a place with stray bytes.
bool IsStray(const RepairPlan& plan, const Fault& fault) {
  return std::any_of(plan.stray.begin(), plan.stray.end(), [&](const Fault& stray) {
    return stray.id == fault.id && stray.place.offset == fault.place.offset;
  });
}

}  // namespace

std::vector<std::string> DescribeRepair(const RepairPlan& plan) {
  std::vector<std::string> lines;
  for (const TransportNote& note : plan.notes) {
    lines.push_back(absl::StrCat("undone: ", DescribeTransport(note)));
  }
  if (plan.input_fault.has_value()) {
    lines.push_back(
        absl::StrCat(FormatFault(*plan.input_fault),
                     plan.pieces.empty() ? "" : "; what could be decompressed is used"));
  }
  if (plan.header_offset > 0) {
    lines.push_back(absl::StrCat(Count(plan.header_offset, "byte", "bytes"),
                                 " before the trace's header are removed"));
  }
  for (const Fault& fault : plan.stray) {
    lines.push_back(absl::StrCat("damaged: ", FormatFault(fault)));
  }
  for (const RepairedGeneration& generation : plan.generations) {
    if (generation.fate == GenerationFate::kKept && !generation.fault.has_value()) continue;
    std::string line =
        absl::StrCat("generation ", generation.number, ", bytes ", generation.begin_offset, " to ",
                     generation.end_offset, ", ", WhatBecomes(generation));
    const bool tells_why =
        generation.fate != GenerationFate::kApart && generation.fate != GenerationFate::kEmpty;
    if (generation.fault.has_value() && tells_why && !IsStray(plan, *generation.fault)) {
      absl::StrAppend(&line, ": ", FormatFault(*generation.fault));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace gotrace
