// Streams that turn the bytes of another stream into others, step by step.
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

// What turns bytes into others. What it makes of them must not depend on how they are divided among
// the steps.
class Filter {
 public:
  virtual ~Filter() = default;

  // Takes bytes off the front of `input` and appends what they become to `*output`, as much as it
  // likes. Returns how many bytes it took. Where it neither takes nor appends any, it needs to see
  // more than `input` at once; or, if `at_end`, no more comes of it. After a step that set done()
  // or error() there is no other.
  virtual size_t Step(absl::string_view input, bool at_end, std::string* output) = 0;

  // Whether what follows in the input does not matter.
  bool done() const { return done_; }

  // What is wrong with the input behind the bytes that were taken: "expected …, found …"; or "".
  const std::string& error() const { return error_; }

 protected:
  void Finish() { done_ = true; }
  void Fail(std::string error) { error_ = std::move(error); }

 private:
  bool done_ = false;
  std::string error_;
};

// The stream of what `filter` makes of `input`. Damage ends it with the fault transport-corrupt,
// whose message calls the input `name`, after all that could be had before; so does one of the
// input. After `most` bytes it ends with the fault limit-decompressed-bytes.
std::unique_ptr<ByteStream> MakeFilterStream(std::unique_ptr<Filter> filter, std::string name,
                                             std::unique_ptr<ByteStream> input, uint64_t most);

// A stream without the first `size` bytes of `input`.
std::unique_ptr<ByteStream> SkipBytes(uint64_t size, std::unique_ptr<ByteStream> input);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_SOURCE_FILTER_STREAM_H_
