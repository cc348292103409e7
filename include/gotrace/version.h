// The header of a trace and the versions of the v2 format (FORMAT.md §2).
#ifndef GOTRACE_VERSION_H_
#define GOTRACE_VERSION_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/internal/requires_cxx20.h"

namespace gotrace {

// A version of the format, named after the Go release that introduced it. Values are the NN of
// `go 1.NN trace`.
enum class Version : uint32_t {
  kGo122 = 22,  // Go 1.22.
  kGo123 = 23,  // Go 1.23 and 1.24.
  kGo125 = 25,  // Go 1.25.
  kGo126 = 26,  // Go 1.26 and 1.27.
};
inline constexpr Version kNewestVersion = Version::kGo126;

// The length in bytes of the header of every known version.
inline constexpr size_t kHeaderSize = 16;

// The result of ParseHeader().
enum class HeaderStatus : uint8_t {
  kOk,
  kTruncated,  // The bytes end inside what may become a header.
  kNotATrace,  // Not the header of a Go execution trace of any version.
  kV1,         // A trace of Go 1.5 to 1.21, in an older format that this library does not read.
  kUnknown,    // A v2 or later trace of a version that this library does not support.
};

// A parsed header.
struct Header {
  HeaderStatus status = HeaderStatus::kNotATrace;
  uint32_t minor = 0;                // The NN of 1.NN: for kOk, kV1 and kUnknown.
  Version version = kNewestVersion;  // For kOk.
};

// Parses the header at the beginning of `bytes`. Looks at no more than kHeaderSize bytes.
Header ParseHeader(absl::string_view bytes);

// Returns the offset in `bytes` of the first header of a supported version, or npos.
size_t FindHeader(absl::string_view bytes);

// Returns the header of a trace of `version`, kHeaderSize bytes long.
std::string MakeHeader(Version version);

// Returns every version that the library reads, oldest first. Static lifetime.
absl::Span<const Version> AllVersions();

// Returns the version 1.`minor`, or nullptr if the library does not support it. Static lifetime.
const Version* FindVersion(uint32_t minor);

// A version of the v1 format. All texts have static lifetime.
struct V1Version {
  uint32_t minor;                 // The NN of 1.NN.
  absl::string_view written_by;   // The Go releases that write it: "Go 1.19 and 1.20".
  absl::string_view last_reader;  // The last Go release whose `go tool trace` reads it.
  absl::string_view command;      // The beginning of that command line.
};

// Returns the v1 version 1.`minor`, or nullptr if no release of Go writes it. Static lifetime.
const V1Version* FindV1Version(uint32_t minor);

// Returns the Go releases that write traces of `version`: "Go 1.23 and 1.24". Static lifetime.
absl::string_view WrittenBy(Version version);

}  // namespace gotrace

#endif  // GOTRACE_VERSION_H_
