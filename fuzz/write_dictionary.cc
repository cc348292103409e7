// Prints the dictionary that all fuzz targets share, in libFuzzer's syntax: the bytes and the names
// of the events in events.def and of the versions.
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/internal/limits.h"
#include "gotrace/version.h"
#include "tracev2/varint.h"

namespace gotrace::internal {
namespace {

// Prints a word, with every byte as \xNN unless it needs no escape.
void Print(absl::string_view word) {
  static std::set<std::string>& printed = *new std::set<std::string>;
  if (word.empty() || !printed.emplace(word).second) return;
  std::string escaped;
  for (const char c : word) {
    const bool is_plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
    const std::string byte(1, c);
    absl::StrAppend(&escaped, is_plain ? byte : absl::StrCat("\\x", absl::BytesToHexString(byte)));
  }
  std::printf("\"%s\"\n", escaped.c_str());
}

void PrintVarint(uint64_t value) {
  std::string varint;
  AppendVarint(value, &varint);
  Print(varint);
}

void PrintEvent(const EventSpec& spec) {
  const char type = static_cast<char>(spec.type);
  Print(absl::string_view(&type, 1));
  // The smallest event of the type, and one with a 1 in each argument.
  Print(type + std::string(spec.arg_count, '\0'));
  Print(type + std::string(spec.arg_count, '\1'));
  Print(spec.name);
  for (const char* name : spec.args()) Print(absl::StrCat(name, "="));
}

void PrintDictionary() {
  for (const Version version : AllVersions()) {
    Print(MakeHeader(version));
    Print(absl::StrCat("Trace Go1.", static_cast<uint32_t>(version)));
  }
  for (const EventSpec& spec : AllEventSpecs()) PrintEvent(spec);
  for (const uint64_t limit : {kMaxBatchSize, kMaxFramesPerStack, kMaxStringSize}) {
    PrintVarint(limit);
    PrintVarint(limit + 1);
  }
  // Values around the change of sign, and the id of no thread.
  for (const uint64_t value : {INT64_MAX + 0ULL, INT64_MAX + 1ULL, UINT64_MAX + 0ULL}) {
    PrintVarint(value);
    Print(absl::StrCat(value));
  }
  std::string padded;
  AppendPaddedVarint(0, kMaxVarintSize, &padded);
  Print(padded);
  for (const char* word : {"size=auto", "\tdata=\"", "\n", "#"}) Print(word);
  Print("\x28\xb5\x2f\xfd");  // zstd
  Print("\x1f\x8b\x08");      // gzip
}

}  // namespace
}  // namespace gotrace::internal

int main() { gotrace::internal::PrintDictionary(); }
