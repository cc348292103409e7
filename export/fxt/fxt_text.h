// FXT records as text.
#ifndef GOTRACE_EXPORT_FXT_FXT_TEXT_H_
#define GOTRACE_EXPORT_FXT_FXT_TEXT_H_

#include "export/fxt/fxt_format.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Appends `record` as one line: its offset, its kind, and its fields.
//
//   320 duration-begin time=1200 process=1 thread=7 category="region" name="parse" {"task": 3}
//
// Times are in ticks. Names are quoted as Go quotes strings.
void AppendFxtText(const FxtRecord& record, TextBuffer* out);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_FXT_FXT_TEXT_H_
