// The packets of a Perfetto file as text, for tests.
#ifndef GOTRACE_EXPORT_PERFETTO_PACKET_TEXT_H_
#define GOTRACE_EXPORT_PERFETTO_PACKET_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

// Returns a line for each track, event, switch, waking and clock snapshot of `file`, with names in
// place of the ids of interned data and with absolute times, in the order of the file:
//
//   track 12 thread 1 "main.main"
//   100 begin 12 "select" wait
//   110 switch cpu 0 to 1 "main.main", prev state 1
//
// A packet that refers to something missing from the file, or that this function does not know,
// gives a line that begins with "error".
std::vector<std::string> DescribePackets(absl::string_view file);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PERFETTO_PACKET_TEXT_H_
