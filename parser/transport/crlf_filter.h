// Undoes the conversion of line ends from "\n" to "\r\n" in a trace.
#ifndef GOTRACE_PARSER_TRANSPORT_CRLF_FILTER_H_
#define GOTRACE_PARSER_TRANSPORT_CRLF_FILTER_H_

#include <memory>

#include "parser/source/filter_stream.h"

namespace gotrace::internal {

// Returns a filter that restores a trace in which "\n" was converted to "\r\n".
//
// Most converters convert every "\n", and then every "\r\n" is converted back. Some leave an
// existing "\r\n" alone, so that a few of many pairs must be kept. The sizes and events of batches
// determine which: if a batch does not have its size, or has impossible events, other choices of
// pairs are tried, as long as the work is proportional to the size of the batch. After a batch for
// which no choice fits, every pair is converted back. A "\r\n" after the last batch is removed,
// since PowerShell adds one.
std::unique_ptr<Filter> MakeCrlfFilter();

// Returns a filter that converts every "\r\n" back, whatever the result: for traces that were
// converted more than once.
std::unique_ptr<Filter> MakeEveryCrlfFilter();

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_TRANSPORT_CRLF_FILTER_H_
