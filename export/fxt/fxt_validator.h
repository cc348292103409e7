// Validates FXT files.
#ifndef GOTRACE_EXPORT_FXT_FXT_VALIDATOR_H_
#define GOTRACE_EXPORT_FXT_FXT_VALIDATOR_H_

#include <memory>

#include "gotrace/byte_source.h"
#include "gotrace/validate.h"

namespace gotrace::internal {

// Reads all of `source`, an FXT file (see IsFxt()), and reports the problems that FxtReader finds.
// The events of the report are records. jobs and limits of `options` do not apply.
ValidationReport ValidateFxt(std::unique_ptr<ByteSource> source, const ValidateOptions& options);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_FXT_FXT_VALIDATOR_H_
