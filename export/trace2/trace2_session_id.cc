#include "export/trace2/trace2_session_id.h"

#include <array>
#include <bit>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace gotrace::internal {
namespace {

// The state of SHA-1 (FIPS 180-4).
using Sha1State = std::array<uint32_t, 5>;

constexpr size_t kBlockSize = 64;

// Adds a block of kBlockSize bytes.
void AddBlock(absl::string_view block, Sha1State* state) {
  uint32_t words[80];
  for (size_t i = 0; i < 16; ++i) {
    words[i] = 0;
    for (size_t j = 0; j < 4; ++j) {
      words[i] = words[i] << 8 | static_cast<unsigned char>(block[4 * i + j]);
    }
  }
  for (size_t i = 16; i < 80; ++i) {
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  }
  auto [a, b, c, d, e] = *state;
  for (size_t i = 0; i < 80; ++i) {
    uint32_t mixed;
    switch (i / 20) {
      case 0:
        mixed = ((b & c) | (~b & d)) + 0x5a827999;
        break;
      case 1:
        mixed = (b ^ c ^ d) + 0x6ed9eba1;
        break;
      case 2:
        mixed = ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
        break;
      default:
        mixed = (b ^ c ^ d) + 0xca62c1d6;
        break;
    }
    const uint32_t next = std::rotl(a, 5) + mixed + e + words[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  const Sha1State added = {a, b, c, d, e};
  for (size_t i = 0; i < added.size(); ++i) (*state)[i] += added[i];
}

}  // namespace

std::string Sha1Hex(absl::string_view text) {
  std::string padded(text);
  padded.push_back('\x80');
  while (padded.size() % kBlockSize != kBlockSize - 8) padded.push_back('\0');
  const uint64_t bits = 8 * uint64_t{text.size()};
  for (int shift = 56; shift >= 0; shift -= 8) padded.push_back(static_cast<char>(bits >> shift));
  Sha1State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  for (size_t begin = 0; begin < padded.size(); begin += kBlockSize) {
    AddBlock(absl::string_view(padded).substr(begin, kBlockSize), &state);
  }
  std::string hex;
  for (const uint32_t word : state) absl::StrAppend(&hex, absl::Hex(word, absl::kZeroPad8));
  return hex;
}

std::string Trace2SessionId(absl::Time start, absl::string_view host, uint32_t process) {
  return absl::StrCat(absl::FormatTime("%Y%m%dT%H%M%E6S", start, absl::UTCTimeZone()), "Z-",
                      host.empty() ? "Localhost" : absl::StrCat("H", Sha1Hex(host).substr(0, 8)),
                      "-P", absl::Hex(process, absl::kZeroPad8));
}

}  // namespace gotrace::internal
