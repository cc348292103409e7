// Undoes the conversion of line ends from "\n" to "\r\n" in a trace.
#ifndef GOTRACE_PARSER_TRANSPORT_CRLF_FILTER_H_
#define GOTRACE_PARSER_TRANSPORT_CRLF_FILTER_H_

#include <memory>

#include "parser/source/filter_stream.h"

namespace gotrace::internal {

// A trace with "\r\n" for each "\n" to the trace. Most converters turn every "\n" into "\r\n", and
// then every "\r\n" is turned back. Some leave a "\r\n" as it is that stood there before, so that
// one "\r\n" of many must be kept. Sizes and events of batches tell which: where a batch does not
// fit its size or has events that cannot be, other readings of its pairs are tried, as far as the
// work stays in proportion to its size. Behind a batch that has no reading that fits, every pair is
// turned back. A "\r\n" behind the last batch is left out, as the converter of PowerShell adds it.
std::unique_ptr<Filter> MakeCrlfFilter();

// Turns every "\r\n" back, whatever it makes of the trace: for what was converted more than once.
std::unique_ptr<Filter> MakeEveryCrlfFilter();

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_TRANSPORT_CRLF_FILTER_H_
