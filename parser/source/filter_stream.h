// Streams that transform the bytes of another stream step by step.
#ifndef GOTRACE_PARSER_SOURCE_FILTER_STREAM_H_
#define GOTRACE_PARSER_SOURCE_FILTER_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_stream.h"

namespace gotrace::internal {

// Transforms bytes. The result must not depend on how the input is divided among the steps.
class Filter {
 public:
  virtual ~Filter() = default;

  // Consumes any number of bytes at the beginning of `input`, appends the result to `*output`, and
  // returns how many bytes it consumed. If it neither consumes nor appends any, it needs more input
  // at once or, if `at_end`, is finished. Not called again after done() or error() is set.
  virtual size_t Step(absl::string_view input, bool at_end, std::string* output) = 0;

  // Returns whether the rest of the input does not matter.
  bool done() const { return done_; }

  // Returns what is wrong with the input after the consumed bytes: "expected …, found …"; or "".
  const std::string& error() const { return error_; }

 protected:
  void Finish() { done_ = true; }
  void Fail(std::string error) { error_ = std::move(error); }

 private:
  bool done_ = false;
  std::string error_;
};

// Returns the stream of `input` transformed by `filter`. Damage ends it with the fault
// transport-corrupt, whose message refers to the input as `name`, after everything before the
// damage. An error of `input` ends it likewise. After `most` bytes it ends with the fault
// limit-decompressed-bytes.
std::unique_ptr<ByteStream> MakeFilterStream(std::unique_ptr<Filter> filter, std::string name,
                                             std::unique_ptr<ByteStream> input, uint64_t most);

// Returns a stream of `input` without its first `size` bytes.
std::unique_ptr<ByteStream> SkipBytes(uint64_t size, std::unique_ptr<ByteStream> input);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_SOURCE_FILTER_STREAM_H_
