// The path and the parameters of a request.
#ifndef GOTRACE_VIEW_PARAMETERS_H_
#define GOTRACE_VIEW_PARAMETERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/trace_view.h"

namespace gotrace::internal {

class ViewRequest {
 public:
  // Reads "path?name=value&name=value". Every text is a request: what cannot be decoded stays as it
  // is. A parameter without "=" has the value "".
  explicit ViewRequest(absl::string_view text);

  const std::string& path() const { return path_; }
  absl::Span<const ViewParameter> parameters() const { return parameters_; }

  // Returns an error if there is a parameter that is not one of `names`, or one more than once.
  absl::Status CheckNames(absl::Span<const absl::string_view> names) const;

  // Returns the value of a parameter, or nullptr if it is not there. Valid as long as this object.
  const std::string* Find(absl::string_view name) const;

  // Returns the value of a parameter that is a number between `min` and `max`, or `otherwise` if it
  // is not there.
  absl::StatusOr<int64_t> Number(absl::string_view name, int64_t min, int64_t max,
                                 int64_t otherwise) const;

 private:
  std::string path_;
  std::vector<ViewParameter> parameters_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VIEW_PARAMETERS_H_
