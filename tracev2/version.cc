#include "gotrace/version.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace gotrace {
namespace {

constexpr Version kVersions[] = {Version::kGo122, Version::kGo123, Version::kGo125,
                                 Version::kGo126};

struct WrittenByRow {
  Version version;
  absl::string_view releases;
};
constexpr WrittenByRow kWrittenBy[] = {
    {Version::kGo122, "Go 1.22"},
    {Version::kGo123, "Go 1.23 and 1.24"},
    {Version::kGo125, "Go 1.25"},
    {Version::kGo126, "Go 1.26 and 1.27"},
};

// Go 1.23 dropped support for versions before 1.11. The two oldest releases write no function
// names, which the tool takes from the program.
constexpr V1Version kV1Versions[] = {
    {5, "Go 1.5 and 1.6", "Go 1.22", "go tool trace PROGRAM"},
    {7, "Go 1.7", "Go 1.22", "go tool trace"},
    {8, "Go 1.8", "Go 1.22", "go tool trace"},
    {9, "Go 1.9", "Go 1.22", "go tool trace"},
    {10, "Go 1.10", "Go 1.22", "go tool trace"},
    {11, "Go 1.11 to 1.18", "Go 1.27", "go tool trace"},
    {19, "Go 1.19 and 1.20", "Go 1.27", "go tool trace"},
    {21, "Go 1.21", "Go 1.27", "go tool trace"},
};

constexpr absl::string_view kPrefix = "go 1.";
constexpr absl::string_view kSuffix = " trace";

// The newest version of the v1 format.
constexpr uint32_t kNewestV1 = 21;

// Returns whether `rest`, which follows the digits, is " trace" and NUL bytes or a prefix of that.
bool IsSuffix(absl::string_view rest) {
  const size_t known = std::min(rest.size(), kSuffix.size());
  return rest.substr(0, known) == kSuffix.substr(0, known) &&
         rest.substr(known).find_first_not_of('\0') == absl::string_view::npos;
}

}  // namespace

Header ParseHeader(absl::string_view bytes) {
  Header header;
  bytes = bytes.substr(0, kHeaderSize);
  const size_t prefix = std::min(bytes.size(), kPrefix.size());
  if (bytes.substr(0, prefix) != kPrefix.substr(0, prefix)) return header;
  size_t pos = prefix;
  while (pos < bytes.size() && absl::ascii_isdigit(bytes[pos])) {
    header.minor = header.minor * 10 + static_cast<uint32_t>(bytes[pos++] - '0');
  }
  const absl::string_view rest = bytes.substr(pos);
  const bool has_digits = pos > kPrefix.size();
  if (!rest.empty() && (!has_digits || !IsSuffix(rest))) return header;
  if (bytes.size() < kHeaderSize) {
    header.status = HeaderStatus::kTruncated;
    return header;
  }
  if (rest.size() < kSuffix.size()) return header;
  if (header.minor <= kNewestV1) {
    header.status = HeaderStatus::kV1;
  } else if (const Version* version = FindVersion(header.minor)) {
    // With leading zeros, the header would have another length.
    if (bytes != MakeHeader(*version)) return header;
    header.status = HeaderStatus::kOk;
    header.version = *version;
  } else {
    header.status = HeaderStatus::kUnknown;
  }
  return header;
}

size_t FindHeader(absl::string_view bytes) {
  size_t pos = bytes.find(kPrefix);
  while (pos != bytes.npos && ParseHeader(bytes.substr(pos)).status != HeaderStatus::kOk) {
    pos = bytes.find(kPrefix, pos + 1);
  }
  return pos;
}

std::string MakeHeader(Version version) {
  std::string header = absl::StrCat(kPrefix, static_cast<uint32_t>(version), kSuffix);
  header.resize(kHeaderSize, '\0');
  return header;
}

absl::Span<const Version> AllVersions() { return kVersions; }

const Version* FindVersion(uint32_t minor) {
  const auto* it = std::find(std::begin(kVersions), std::end(kVersions), Version{minor});
  return it == std::end(kVersions) ? nullptr : it;
}

absl::string_view WrittenBy(Version version) {
  for (const WrittenByRow& row : kWrittenBy) {
    if (row.version == version) return row.releases;
  }
  return "";
}

const V1Version* FindV1Version(uint32_t minor) {
  for (const V1Version& row : kV1Versions) {
    if (row.minor == minor) return &row;
  }
  return nullptr;
}

}  // namespace gotrace
