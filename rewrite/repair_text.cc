// Describes a repair in sentences.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gotrace/repair.h"

namespace gotrace {
namespace {

std::string Count(uint64_t count, absl::string_view one, absl::string_view many) {
  return absl::StrCat(count, " ", count == 1 ? one : many);
}

// "9.6 µs".
std::string Microseconds(int64_t ns) {
  // Rounded up: it is a bound.
  const int64_t tenths = (ns + 99) / 100;
  return absl::StrCat(tenths / 10, ".", tenths % 10, " µs");
}

std::string Changes(const RepairedGeneration& generation) {
  using Clock = RepairedGeneration::Clock;
  std::vector<std::string> changes;
  if (generation.events_left_out > 0) {
    changes.push_back(
        absl::StrCat(Count(generation.events_left_out, "event", "events"), " dropped"));
  }
  if (generation.events_added > 0) {
    changes.push_back(absl::StrCat(Count(generation.events_added, "event", "events"),
                                   " added in place of lost ones"));
  }
  if (generation.statuses_added > 0) {
    changes.push_back(
        absl::StrCat(Count(generation.statuses_added, "status", "statuses"), " added"));
  }
  if (generation.entries_added > 0) {
    changes.push_back(
        absl::StrCat(Count(generation.entries_added, "table entry", "table entries"), " added"));
  }
  if (generation.clock == Clock::kBorrowed) {
    changes.push_back("clock taken from the generation before");
  }
  if (generation.clock == Clock::kAssumed) {
    changes.push_back("clock lost, so its times are ticks shown as nanoseconds");
  }
  return absl::StrJoin(changes, ", ");
}

std::string RegionLine(const RegionChanges& regions) {
  std::vector<std::string> changes;
  if (regions.ends_delayed > 0) {
    changes.push_back(absl::StrCat(Count(regions.ends_delayed, "end", "ends"),
                                   " delayed by at most ", Microseconds(regions.max_delay_ns)));
  }
  if (regions.regions_moved > 0) {
    changes.push_back(
        absl::StrCat(Count(regions.regions_moved, "region", "regions"), " moved to ",
                     Count(regions.goroutines_added, "helper goroutine", "helper goroutines")));
  }
  if (regions.ends_dropped > 0) {
    changes.push_back(
        absl::StrCat(Count(regions.ends_dropped, "repeated end", "repeated ends"), " dropped"));
  }
  return absl::StrCat("regions: ", absl::StrJoin(changes, ", "));
}

std::string WhatBecomes(const RepairedGeneration& generation) {
  switch (generation.fate) {
    case GenerationFate::kKept:
      return "is kept without its damaged parts";
    case GenerationFate::kRewritten: {
      const std::string changes = Changes(generation);
      // The kSync event is included, as in the counts of `info`.
      return absl::StrCat("is rewritten with ", Count(generation.events + 1, "event", "events"),
                          changes.empty() ? "" : ", ", changes);
    }
    case GenerationFate::kBroken:
      return "is dropped";
    case GenerationFate::kApart:
      return absl::StrCat("is dropped", generation.fault.has_value() ? "" : ", though it is sound",
                          ": it does not follow the generations that are kept");
    case GenerationFate::kEmpty:
      return "is dropped: it begins at the end of the trace and has no events";
  }
  return "";
}

bool IsSame(const Fault& a, const Fault& b) {
  return a.id == b.id && a.place.offset == b.place.offset;
}

bool IsCutOffAt(const RepairPlan& plan, const Fault& fault) {
  return plan.cut_off.has_value() && IsSame(*plan.cut_off, fault);
}

// Whether the fault has a line of its own.
bool IsDescribed(const RepairPlan& plan, const Fault& fault) {
  return IsCutOffAt(plan, fault) ||
         std::any_of(plan.stray.begin(), plan.stray.end(),
                     [&](const Fault& stray) { return IsSame(stray, fault); });
}

}  // namespace

std::vector<std::string> DescribeRepair(const RepairPlan& plan) {
  std::vector<std::string> lines;
  for (const TransportNote& note : plan.notes) {
    lines.push_back(absl::StrCat("undone: ", DescribeTransport(note)));
  }
  if (plan.input_fault.has_value()) {
    lines.push_back(absl::StrCat(FormatFault(*plan.input_fault),
                                 plan.pieces.empty() ? "" : "; using everything before that"));
  }
  if (plan.header_offset > 0) {
    lines.push_back(absl::StrCat("removed ", Count(plan.header_offset, "byte", "bytes"),
                                 " before the trace header"));
  }
  if (plan.first_text.has_value()) {
    lines.push_back(absl::StrCat("removed ", Count(plan.text_pieces, "piece", "pieces"),
                                 " of text with ", Count(plan.text_bytes, "byte", "bytes"),
                                 "; the first is at ", FormatFault(*plan.first_text)));
  }
  if (plan.clock_divisor != 1) {
    lines.push_back(absl::StrCat("divided the frequency of the trace clock by ", plan.clock_divisor,
                                 ": Go 1.22.0 writes it too high on Windows, so that times are too "
                                 "short"));
  }
  if (plan.cut_off.has_value()) lines.push_back(FormatFault(*plan.cut_off));
  for (const Fault& fault : plan.stray) {
    if (IsCutOffAt(plan, fault)) continue;
    lines.push_back(absl::StrCat("damaged: ", FormatFault(fault)));
  }
  for (const RepairedGeneration& generation : plan.generations) {
    const bool is_renumbered = generation.new_number.has_value() && generation.events > 0;
    if (generation.fate == GenerationFate::kKept && !generation.fault.has_value() &&
        !is_renumbered) {
      continue;
    }
    std::string line =
        absl::StrCat("generation ", generation.number, ", bytes ", generation.begin_offset, " to ",
                     generation.end_offset, ", ", WhatBecomes(generation),
                     is_renumbered ? absl::StrCat(", as generation ", *generation.new_number) : "");
    const bool gives_reason =
        generation.fate != GenerationFate::kApart && generation.fate != GenerationFate::kEmpty;
    if (generation.fault.has_value() && gives_reason && !IsDescribed(plan, *generation.fault)) {
      absl::StrAppend(&line, ": ", FormatFault(*generation.fault));
    }
    lines.push_back(std::move(line));
  }
  if (plan.unreadable_bytes > 0) {
    lines.push_back(absl::StrCat("lost ", Count(plan.unreadable_bytes, "byte", "bytes"),
                                 " of unreadable events in ",
                                 Count(plan.damaged_batches, "damaged batch", "damaged batches")));
  }
  if (plan.regions != RegionChanges()) lines.push_back(RegionLine(plan.regions));
  return lines;
}

}  // namespace gotrace
