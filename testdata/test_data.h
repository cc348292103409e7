// The real traces below testdata/traces, for tests. Whatever cannot be had ends the test.
#ifndef GOTRACE_TESTDATA_TEST_DATA_H_
#define GOTRACE_TESTDATA_TEST_DATA_H_

#include <cstddef>
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

// For tests that take long with sanitizers: with GOTRACE_TEST_SHARE=N in the environment every Nth
// of these traces, and otherwise all.
const std::vector<TestTrace>& SomeTestTraces();

// The same for how often a test tries something random, or something at one of many places: the Nth
// part of `all`, but not 0.
size_t TestRounds(size_t all);

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
