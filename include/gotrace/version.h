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

// A version of the format, named for the Go release that began it. Values are the NN of
// `go 1.NN trace`. Later releases write the newest version that they know.
enum class Version : uint32_t {
  kGo122 = 22,  // Go 1.22.
  kGo123 = 23,  // Go 1.23 and 1.24.
  kGo125 = 25,  // Go 1.25.
  kGo126 = 26,  // Go 1.26 and 1.27.
};
inline constexpr Version kNewestVersion = Version::kGo126;

// The length in bytes of the header of every known version.
inline constexpr size_t kHeaderSize = 16;

// What ParseHeader() made of the first bytes of a file.
enum class HeaderStatus : uint8_t {
  kOk,
  kTruncated,  // The bytes end inside what may become a header.
  kNotATrace,  // Not the header of a Go execution trace of any version.
  kV1,         // A trace of Go 1.5 to 1.21: another format, which this library does not read.
  kUnknown,    // A v2 trace or later of a version that this library does not know.
};

struct Header {
  HeaderStatus status = HeaderStatus::kNotATrace;
  uint32_t minor = 0;                // The NN of 1.NN: for kOk, kV1 and kUnknown.
  Version version = kNewestVersion;  // For kOk.
};

// Reads the header at the beginning of `bytes`, of which it looks at no more than kHeaderSize.
Header ParseHeader(absl::string_view bytes);

// Where in `bytes` the first header of a known version begins, or npos.
size_t FindHeader(absl::string_view bytes);

// The header of a trace of `version`, kHeaderSize bytes long.
std::string MakeHeader(Version version);

// Every version that the library reads, the oldest first.
absl::Span<const Version> AllVersions();

// The version 1.`minor`, or nullptr if the library does not know it.
const Version* FindVersion(uint32_t minor);

// A version of the v1 format, 1.`minor`.
struct V1Version {
  uint32_t minor;
  absl::string_view written_by;  // Which Go releases write it: "Go 1.19 and 1.20".
  // The last Go release whose `go tool trace` reads it, and how its command line begins.
  absl::string_view last_reader;
  absl::string_view command;
};

// The row of the v1 version 1.`minor`, or nullptr if no release of Go writes it.
const V1Version* FindV1Version(uint32_t minor);

// Which Go releases write traces of `version`: "Go 1.23 and 1.24". Static lifetime.
absl::string_view WrittenBy(Version version);

}  // namespace gotrace

#endif  // GOTRACE_VERSION_H_
