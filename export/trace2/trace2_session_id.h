// The names of sessions in Git's Trace2, from which tools determine which program called which.
#ifndef GOTRACE_EXPORT_TRACE2_TRACE2_SESSION_ID_H_
#define GOTRACE_EXPORT_TRACE2_TRACE2_SESSION_ID_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace gotrace::internal {

// Returns the name of a session that started at `start`. `host` is the name of the machine, or ""
// if it is not known, and `process` the id of the process.
std::string Trace2SessionId(absl::Time start, absl::string_view host = "", uint32_t process = 0);

// Returns the SHA-1 of `text` in hexadecimal, from which git makes the names of machines.
std::string Sha1Hex(absl::string_view text);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_TRACE2_TRACE2_SESSION_ID_H_
