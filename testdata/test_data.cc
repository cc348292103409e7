#include "testdata/test_data.h"

#include <openssl/evp.h>
#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace gotrace::internal {
namespace {

[[noreturn]] void Die(absl::string_view what, absl::string_view name) {
  std::fprintf(stderr, "%s: %s\n", std::string(what).c_str(), std::string(name).c_str());
  std::abort();
}

// N of GOTRACE_TEST_SHARE=N.
size_t TestShare() {
  const char* const text = std::getenv("GOTRACE_TEST_SHARE");
  size_t share = 1;
  if (text != nullptr && (!absl::SimpleAtoi(text, &share) || share == 0)) {
    Die("GOTRACE_TEST_SHARE is not a number above 0", text);
  }
  return share;
}

std::vector<TestTrace> ReadManifest() {
  std::vector<TestTrace> traces;
  const std::string manifest = ReadTestFile("manifest.tsv");
  for (const absl::string_view line : absl::StrSplit(manifest, '\n', absl::SkipEmpty())) {
    if (line[0] == '#') continue;
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    TestTrace trace;
    if (fields.size() != 5 || !absl::SimpleAtoi(fields[1], &trace.size) ||
        !absl::SimpleAtoi(fields[2], &trace.events)) {
      Die("bad line in the manifest", line);
    }
    trace.name = fields[0];
    trace.parsed_sha256 = fields[3];
    trace.wire_sha256 = fields[4];
    traces.push_back(std::move(trace));
  }
  return traces;
}

}  // namespace

const std::vector<TestTrace>& TestTraces() {
  static const auto* const traces = new std::vector<TestTrace>(ReadManifest());
  return *traces;
}

const std::vector<TestTrace>& SomeTestTraces() {
  static const auto* const traces = [] {
    auto* const some = new std::vector<TestTrace>;
    const size_t share = TestShare();
    for (size_t i = 0; i < TestTraces().size(); i += share) some->push_back(TestTraces()[i]);
    return some;
  }();
  return *traces;
}

size_t TestRounds(size_t all) { return std::max<size_t>(all / TestShare(), 1); }

std::string TestFilePath(absl::string_view name) {
  const char* const runfiles = std::getenv("TEST_SRCDIR");
  const char* const workspace = std::getenv("TEST_WORKSPACE");
  const std::string path = absl::StrCat("testdata/traces/", name);
  if (runfiles == nullptr || workspace == nullptr) return path;
  return absl::StrCat(runfiles, "/", workspace, "/", path);
}

std::string ReadTestFile(absl::string_view name) {
  std::ifstream file(TestFilePath(name), std::ios::binary);
  if (!file) Die("cannot open", TestFilePath(name));
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

std::string ReadTestTrace(absl::string_view name) {
  const std::string compressed = ReadTestFile(absl::StrCat(name, ".zst"));
  const unsigned long long size = ZSTD_getFrameContentSize(compressed.data(), compressed.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR) Die("no size in", name);
  std::string bytes(size, '\0');
  const size_t result =
      ZSTD_decompress(bytes.data(), bytes.size(), compressed.data(), compressed.size());
  if (ZSTD_isError(result) != 0 || result != size) Die("cannot decompress", name);
  return bytes;
}

std::string Sha256Hex(absl::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr) != 1) {
    Die("cannot digest", "SHA-256");
  }
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), size));
}

}  // namespace gotrace::internal
