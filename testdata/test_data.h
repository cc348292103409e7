// The real traces below testdata/traces, for tests. Whatever cannot be had ends the test.
#ifndef GOTRACE_TESTDATA_TEST_DATA_H_
#define GOTRACE_TESTDATA_TEST_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

// A line of traces/manifest.tsv: what Go's own tool says about a trace.
struct TestTrace {
  std::string name;           // "go1.22-gc.trace"
  uint64_t size = 0;          // In bytes, not compressed.
  uint64_t events = 0;        // That Go's reader returns.
  std::string parsed_sha256;  // Of the text of all events.
  std::string wire_sha256;    // Of the text of the wire format.
};

// Every trace of the manifest, in its order. Lives for ever.
const std::vector<TestTrace>& TestTraces();

// Where the file `name` of traces/ can be opened.
std::string TestFilePath(absl::string_view name);

// The content of the file `name` of traces/.
std::string ReadTestFile(absl::string_view name);

// The content of the trace `name`, decompressed.
std::string ReadTestTrace(absl::string_view name);

// The SHA-256 digest of `bytes` in lower-case hexadecimal.
std::string Sha256Hex(absl::string_view bytes);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTDATA_TEST_DATA_H_
