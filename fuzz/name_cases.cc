// Prints for each input that a fuzzer found a name that describes what it shows:
//
//   name_cases TARGET FILE...
#include <cstdio>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "export/parquet/parquet_reader.h"
#include "gotrace/byte_source.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/reader.h"
#include "testdata/test_data.h"
#include "testing/golden_case.h"
#include "tracev2/text_form.h"

namespace gotrace::internal {
namespace {

// Returns how reading ends, for example "go1.26-ok", "go1.22-no-advance" or "not-a-trace".
std::string NameTrace(absl::string_view bytes) {
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  absl::Status status = reader.status();
  std::string version;
  if (reader.ok()) {
    version = absl::StrCat("go1.", static_cast<uint32_t>(reader->version()), "-");
    while (reader->Next() != nullptr) {
    }
    status = reader->status();
  }
  const std::optional<Fault> fault = FaultOf(status);
  return absl::StrCat(version, fault.has_value() ? FaultName(fault->id) : "ok");
}

std::string NameText(absl::string_view text) {
  const absl::StatusOr<std::string> bytes = AssembleText(text);
  return bytes.ok() ? NameTrace(*bytes) : "error";
}

// Returns the type of the first event of a payload.
std::string NamePayload(absl::string_view payload) {
  if (payload.empty()) return "empty";
  return std::string(EventTypeName(static_cast<EventType>(payload[0])));
}

std::string Name(absl::string_view target, absl::string_view bytes) {
  if (target == "varint") return absl::StrCat(bytes.size(), "-bytes");
  if (target == "decoder") return NamePayload(bytes);
  if (target == "text") return NameText(bytes);
  if (target == "view") return absl::StartsWith(bytes, "GET ") ? "http" : "requests";
  if (target == "parquet") return ReadParquet(bytes).ok() ? "file" : "rows";
  return NameTrace(bytes);
}

int Run(int argc, char** argv) {
  for (int i = 2; i < argc; ++i) {
    const absl::StatusOr<std::string> bytes = ReadTextFile(argv[i]);
    if (!bytes.ok()) return std::fputs(bytes.status().ToString().c_str(), stderr), 1;
    constexpr int kDigits = 8;
    std::printf("%s-%s\n", Name(argv[1], *bytes).c_str(),
                Sha256Hex(*bytes).substr(0, kDigits).c_str());
  }
  return 0;
}

}  // namespace
}  // namespace gotrace::internal

int main(int argc, char** argv) {
  if (argc > 2) return gotrace::internal::Run(argc, argv);
  std::fprintf(stderr, "usage: name_cases TARGET FILE...\n");
  return 2;
}
