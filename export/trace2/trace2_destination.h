// The destination of the lines of one form of Trace2.
#ifndef GOTRACE_EXPORT_TRACE2_TRACE2_DESTINATION_H_
#define GOTRACE_EXPORT_TRACE2_TRACE2_DESTINATION_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

// A destination as given by an environment variable.
struct Trace2DestinationOptions {
  std::string variable;       // Its name, for messages.
  std::string value;          // As in git: "1", "/a/file", "af_unix:/a/socket" and so on.
  std::string file_name;      // The name of a new file if `value` is a directory.
  uint64_t max_files = 0;     // The maximum number of entries in the directory; 0 for no limit.
  bool tells_errors = false;  // Whether to report errors of opening and writing too.
  std::function<void(absl::string_view message)> on_warning;
};

class Trace2Destination {
 public:
  // Opens the destination. Returns nullptr if nothing is to be written, or if it cannot be opened.
  static std::unique_ptr<Trace2Destination> Open(Trace2DestinationOptions options);

  ~Trace2Destination();
  Trace2Destination(const Trace2Destination&) = delete;
  Trace2Destination& operator=(const Trace2Destination&) = delete;

  // Returns whether the directory had the maximum number of files, so that the trace goes to the
  // file that records this.
  bool too_many_files() const { return too_many_files_; }

  // Writes `line` immediately. After an error nothing more is written. A closed pipe causes no
  // signal.
  void Write(absl::string_view line);

  // The same, for signal handlers: reports no errors.
  void WriteInSignalHandler(absl::string_view line);

 private:
  explicit Trace2Destination(Trace2DestinationOptions options) : options_(std::move(options)) {}

  // Opens the descriptor. Returns whether it is open.
  bool Open();
  bool OpenFile(const std::string& path, int flags, absl::string_view shown);
  bool OpenIn(const std::string& directory);
  bool Connect();

  void Warn(absl::string_view message) const;
  // Reports the failure of `what`, if errors are reported. Returns false.
  bool Fail(absl::string_view what, int error) const;
  // Writes the line, and returns an errno or 0.
  int WriteOnce(absl::string_view line);

  const Trace2DestinationOptions options_;
  std::atomic<int> fd_ = -1;  // -1 after an error.
  bool is_owned_ = true;      // Whether the descriptor is closed at the end.
  bool too_many_files_ = false;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_TRACE2_TRACE2_DESTINATION_H_
