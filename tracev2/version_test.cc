#include "gotrace/version.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace version_test {

// Returns `text` padded with zeros to the length of a header.
std::string Padded(absl::string_view text) {
  std::string bytes(text);
  bytes.resize(kHeaderSize, '\0');
  return bytes;
}

TEST(VersionTest, HeadersComeBack) {
  ASSERT_EQ(AllVersions().size(), 4u);
  for (const Version version : AllVersions()) {
    const std::string header = MakeHeader(version);
    EXPECT_EQ(header, Padded(absl::StrCat("go 1.", static_cast<uint32_t>(version), " trace")));
    for (const absl::string_view more : {"", "x", "\x01\x01"}) {
      const Header parsed = ParseHeader(absl::StrCat(header, more));
      EXPECT_EQ(parsed.status, HeaderStatus::kOk);
      EXPECT_EQ(parsed.version, version);
      EXPECT_EQ(parsed.minor, static_cast<uint32_t>(version));
    }
  }
}

TEST(VersionTest, CutHeadersAreTruncated) {
  for (const absl::string_view text : {"go 1.22 trace", "go 1.26 trace", "go 1.5 trace"}) {
    const std::string header = Padded(text);
    for (size_t size = 0; size < header.size(); ++size) {
      EXPECT_EQ(ParseHeader(header.substr(0, size)).status, HeaderStatus::kTruncated) << size;
    }
  }
}

TEST(VersionTest, DistinguishesV1FromUnknownVersions) {
  for (const int minor : {5, 7, 8, 9, 10, 11, 19, 20, 21}) {
    const Header header = ParseHeader(Padded(absl::StrCat("go 1.", minor, " trace")));
    EXPECT_EQ(header.status, HeaderStatus::kV1) << minor;
    EXPECT_EQ(header.minor, static_cast<uint32_t>(minor));
  }
  for (const int minor : {24, 27, 28, 99, 100, 65536}) {
    const Header header = ParseHeader(Padded(absl::StrCat("go 1.", minor, " trace")));
    EXPECT_EQ(header.status, HeaderStatus::kUnknown) << minor;
    EXPECT_EQ(header.minor, static_cast<uint32_t>(minor));
  }
}

TEST(VersionTest, ReturnsWhatReadsV1) {
  const auto last_reader = [](uint32_t minor) {
    const V1Version* const version = FindV1Version(minor);
    return version == nullptr ? "" : absl::StrCat(version->last_reader, ", ", version->command);
  };
  EXPECT_EQ(last_reader(5), "Go 1.22, go tool trace PROGRAM");
  for (const uint32_t minor : {7, 8, 9, 10}) {
    EXPECT_EQ(last_reader(minor), "Go 1.22, go tool trace") << minor;
  }
  for (const uint32_t minor : {11, 19, 21}) {
    EXPECT_EQ(last_reader(minor), "Go 1.27, go tool trace") << minor;
  }
  // Releases between write the version before them.
  for (const uint32_t minor : {0, 4, 6, 12, 18, 20, 22}) EXPECT_EQ(last_reader(minor), "") << minor;
  EXPECT_EQ(FindV1Version(11)->written_by, "Go 1.11 to 1.18");
}

// parser/DIVERGENCES.md 4.
TEST(VersionTest, LeadingZerosAreNoTrace) {
  const Header header = ParseHeader(Padded("go 1.0026 trace"));
  EXPECT_EQ(header.status, HeaderStatus::kNotATrace);
}

TEST(VersionTest, OtherBytesAreNoTrace) {
  for (const absl::string_view text :
       {"Go 1.22 trace", "go 2.22 trace", "go 1. trace", "go 1.x trace", "go 1.22 Trace",
        "go 1.22trace", "go 1.22 tracex", " go 1.22 trace", "go 1.-2 trace", "go 1.4294967318 ",
        "go 1.22222222222", "\x1f\x8b", "x"}) {
    EXPECT_EQ(ParseHeader(Padded(text)).status, HeaderStatus::kNotATrace) << text;
  }
  std::string header = Padded("go 1.22 trace");
  header[15] = 'x';
  EXPECT_EQ(ParseHeader(header).status, HeaderStatus::kNotATrace);
}

TEST(VersionTest, EveryOtherByteInAHeaderIsNoticed) {
  const std::string header = MakeHeader(Version::kGo122);
  for (size_t i = 0; i < header.size(); ++i) {
    for (const char byte : {'\0', ' ', 'x', '\xff', '\n'}) {
      std::string changed = header;
      if (changed[i] == byte) continue;
      changed[i] = byte;
      // Only digits may differ, and then the version does.
      EXPECT_EQ(ParseHeader(changed).status, HeaderStatus::kNotATrace) << absl::CHexEscape(changed);
      // A mismatch in the first bytes is reported without more of them.
      EXPECT_EQ(ParseHeader(changed.substr(0, i + 1)).status,
                i == 6 && byte == ' ' ? HeaderStatus::kTruncated : HeaderStatus::kNotATrace)
          << absl::CHexEscape(changed);
    }
  }
}

TEST(VersionTest, FindsTheFirstHeader) {
  const std::string header = MakeHeader(Version::kGo125);
  EXPECT_EQ(FindHeader(""), absl::string_view::npos);
  EXPECT_EQ(FindHeader("go 1.25 trace"), absl::string_view::npos);
  EXPECT_EQ(FindHeader(header), 0u);
  EXPECT_EQ(FindHeader(absl::StrCat("a line\n", header, header)), 7u);
  // Input that begins like a header, or is a header of an unknown version.
  EXPECT_EQ(FindHeader(absl::StrCat("go 1.go 1.", header)), 10u);
  EXPECT_EQ(FindHeader(absl::StrCat(Padded("go 1.21 trace"), Padded("go 1.99 trace"), header)),
            2 * kHeaderSize);
}

TEST(VersionTest, FindsVersionsByNumber) {
  for (uint32_t minor = 0; minor < 40; ++minor) {
    const Version* const version = FindVersion(minor);
    const bool known = minor == 22 || minor == 23 || minor == 25 || minor == 26;
    ASSERT_EQ(version != nullptr, known) << minor;
    if (!known) continue;
    EXPECT_EQ(static_cast<uint32_t>(*version), minor);
  }
  EXPECT_EQ(FindVersion(~uint32_t{0}), nullptr);
  EXPECT_EQ(kNewestVersion, AllVersions().back());
}

TEST(VersionTest, ReturnsWhatWritesIt) {
  EXPECT_EQ(WrittenBy(Version::kGo122), "Go 1.22");
  EXPECT_EQ(WrittenBy(Version::kGo123), "Go 1.23 and 1.24");
  EXPECT_EQ(WrittenBy(Version::kGo125), "Go 1.25");
  EXPECT_EQ(WrittenBy(Version::kGo126), "Go 1.26 and 1.27");
}

}  // namespace version_test
}  // namespace gotrace::internal
