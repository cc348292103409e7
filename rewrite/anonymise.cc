// Replaces private parts of a trace: a Replacer makes up texts, and the writer asks it for them.
#include "gotrace/anonymise.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gotrace/event.h"
#include "gotrace/internal/limits.h"
#include "gotrace/reader.h"
#include "parser/event/event_writer.h"
#include "rewrite/replacer.h"
#include "rewrite/trace_writer.h"

namespace gotrace {
namespace internal {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

// The first elements of the paths of the standard library's packages, in order.
constexpr absl::string_view kStandardFolders[] = {
    "archive", "bufio",    "builtin", "bytes",   "cmp",      "compress", "container", "context",
    "crypto",  "database", "debug",   "embed",   "encoding", "errors",   "expvar",    "flag",
    "fmt",     "go",       "hash",    "html",    "image",    "index",    "internal",  "io",
    "iter",    "log",      "maps",    "math",    "mime",     "net",      "os",        "path",
    "plugin",  "reflect",  "regexp",  "runtime", "slices",   "sort",     "strconv",   "strings",
    "structs", "sync",     "syscall", "testing", "text",     "time",     "unicode",   "unique",
    "unsafe",  "vendor",   "weak",
};

// Returns the package of a function of the standard library: "net/http" for
// "net/http.(*Server).Serve"; "" for any other function.
absl::string_view StandardPackageOf(absl::string_view function) {
  const absl::string_view head = function.substr(0, function.find_first_of("([ "));
  const size_t slash = head.rfind('/');
  const size_t dot = head.find('.', slash == absl::string_view::npos ? 0 : slash);
  if (dot == absl::string_view::npos) return "";
  const absl::string_view package = head.substr(0, dot);
  const absl::string_view folder = package.substr(0, package.find('/'));
  if (!std::binary_search(std::begin(kStandardFolders), std::end(kStandardFolders), folder)) {
    return "";
  }
  // Types in brackets may be of any package. Go writes three dots instead.
  if (absl::StrContains(absl::StrReplaceAll(function, {{"[...]", ""}}), '[')) return "";
  return package;
}

bool IsOfWord(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return c == '_' || (!absl::ascii_isspace(byte) && !absl::ascii_ispunct(byte));
}

bool IsNumber(absl::string_view word) {
  return std::all_of(word.begin(), word.end(),
                     [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); });
}

// Returns whether the compiler makes such a part of a function's name, or every program has it.
bool IsCommonInFunctions(absl::string_view word) {
  for (const absl::string_view prefix : {"func", "gowrap", "deferwrap", "range", ""}) {
    absl::string_view rest = word;
    if (absl::StartsWith(rest, prefix)) {
      rest.remove_prefix(prefix.size());
      if (!rest.empty() && IsNumber(rest)) return true;
    }
  }
  return word == "main" || word == "init" || word == "glob" || word == "fm";
}

PrivatePart PartOf(TextRole role) {
  switch (role) {
    case TextRole::kFunction:
      return PrivatePart::kFunctions;
    case TextRole::kFile:
      return PrivatePart::kFiles;
    case TextRole::kTask:
      return PrivatePart::kTasks;
    case TextRole::kRegion:
      return PrivatePart::kRegions;
    case TextRole::kMessage:
      return PrivatePart::kMessages;
    case TextRole::kReason:
    case TextRole::kLabel:
      break;
  }
  return PrivatePart::kLabels;
}

std::string Hex(uint64_t number) { return absl::StrCat("0x", absl::Hex(number)); }

class Anonymiser final : public Replacer {
 public:
  // `options` must outlive this object.
  explicit Anonymiser(const AnonymiseOptions& options) : options_(options) {}

  std::string Replace(TextRole role, absl::string_view text) override {
    if (role == TextRole::kReason) return std::string(text);
    // Of the runtime's workers.
    if (role == TextRole::kLabel && absl::StartsWith(text, "GC (")) return std::string(text);
    return MadeUp(PartOf(role), text);
  }

  void Replace(FullFrame* frame) override {
    const std::string package(StandardPackageOf(frame->func));
    const bool is_known = !package.empty() || Keeps(frame->func);
    std::string file = frame->file;
    if (!package.empty()) {
      if (Has(PrivatePart::kFiles)) file = StandardFile(package, frame->file);
    } else {
      frame->func = MadeUp(PrivatePart::kFunctions, frame->func);
      file = MadeUp(PrivatePart::kFiles, frame->file);
    }
    if (Has(PrivatePart::kLines) && !is_known && frame->line != 0) {
      Lines& lines = lines_[frame->file];
      lines.file = file;
      frame->line = lines.numbers.try_emplace(frame->line, lines.numbers.size() + 1).first->second;
    }
    if (Has(PrivatePart::kPcs) && frame->pc.has_value() && *frame->pc != 0) {
      frame->pc = pcs_.try_emplace(*frame->pc, pcs_.size() + 1).first->second;
    }
    frame->file = std::move(file);
  }

  void Replace(ClockSnapshot* snapshot) override {
    if (!Has(PrivatePart::kTimes)) return;
    if (!first_snapshot_.has_value()) first_snapshot_ = *snapshot;
    const ClockSnapshot& first = *first_snapshot_;
    snapshot->trace_time = Shifted(snapshot->trace_time);
    snapshot->mono = snapshot->mono - std::min(snapshot->mono, first.mono) + kSecond;
    snapshot->wall = absl::FromCivil(absl::CivilSecond(2000), absl::UTCTimeZone()) +
                     std::max(absl::ZeroDuration(), snapshot->wall - first.wall);
  }

  bool shifts_times() const { return Has(PrivatePart::kTimes); }

  // Returns the shifted time. The first one is that at which the trace begins.
  int64_t Shifted(int64_t time) {
    if (!begin_.has_value()) begin_ = time;
    return std::max<int64_t>(0, time - *begin_ + kSecond);
  }

  // Returns all that was replaced. Call it once, at the end.
  std::vector<Replacement> Take() {
    std::vector<Replacement> all;
    for (int i = 0; i < kPrivatePartEnd; ++i) {
      for (auto& [original, made_up] : made_up_[i]) {
        if (made_up != original) all.push_back({static_cast<PrivatePart>(i), made_up, original});
      }
    }
    for (const auto& [file, lines] : lines_) {
      for (const auto& [line, number] : lines.numbers) {
        all.push_back({PrivatePart::kLines, absl::StrCat(lines.file, ":", number),
                       absl::StrCat(file, ":", line)});
      }
    }
    for (const auto& [pc, number] : pcs_) {
      all.push_back({PrivatePart::kPcs, Hex(number), Hex(pc)});
    }
    if (shifts_times() && begin_.has_value()) {
      all.push_back({PrivatePart::kTimes, "0", absl::StrCat(*begin_ - kSecond)});
    }
    std::sort(all.begin(), all.end(), [](const Replacement& a, const Replacement& b) {
      return std::tie(a.part, a.made_up, a.original) < std::tie(b.part, b.made_up, b.original);
    });
    return all;
  }

 private:
  // The lines of a file.
  struct Lines {
    std::string file;  // As it is written.
    absl::flat_hash_map<uint64_t, uint64_t> numbers;
  };

  bool Has(PrivatePart part) const { return options_.parts.contains(part); }
  bool Keeps(absl::string_view text) const { return options_.keeps && options_.keeps(text); }

  // Returns what replaces a text, which may be the same text.
  std::string MadeUp(PrivatePart part, absl::string_view text) {
    if (!Has(part) || text.empty()) return std::string(text);
    const auto [it, is_new] = made_up_[static_cast<int>(part)].try_emplace(text);
    if (is_new) it->second = Keeps(text) ? std::string(text) : MakeUp(part, text);
    return it->second;
  }

  std::string MakeUp(PrivatePart part, absl::string_view text) {
    if (part == PrivatePart::kFiles && text == "<autogenerated>") return std::string(text);
    // Where the path ends, and the name begins.
    const size_t slash = text.substr(0, text.find_first_of("([")).rfind('/');
    const size_t name = slash == absl::string_view::npos ? 0 : slash;
    std::string result;
    bool has_words = false;
    for (size_t i = 0; i < text.size();) {
      size_t end = i;
      while (end < text.size() && IsOfWord(text[end])) ++end;
      if (end == i) {
        result += text[i++];
        continue;
      }
      has_words = true;
      const absl::string_view word = text.substr(i, end - i);
      const bool is_extension = part == PrivatePart::kFiles && end == text.size() && i > 0 &&
                                text[i - 1] == '.' && (word == "go" || word == "s" || word == "c");
      const bool stays = is_extension || (part == PrivatePart::kFunctions && i >= name &&
                                          IsCommonInFunctions(word));
      absl::StrAppend(&result, stays ? std::string(word) : MadeUpWord(word));
      i = end;
    }
    // Signs alone may say something, and the writer would cut what is too long.
    return has_words && result.size() <= kMaxStringSize ? result : MadeUpWord(text);
  }

  std::string MadeUpWord(absl::string_view word) {
    const uint64_t number = words_.try_emplace(word, words_.size() + 1).first->second;
    const bool is_upper = absl::ascii_isupper(static_cast<unsigned char>(word[0]));
    return absl::StrCat(is_upper ? "Anon" : "anon", number);
  }

  // Returns what replaces the file of a function of the standard library's `package`: the part of
  // the path before the library's folder may have the name of a user.
  std::string StandardFile(absl::string_view package, absl::string_view file) {
    const std::string known =
        absl::StrCat(package, "/", file.substr(file.rfind('/') + 1));  // 0 if there is no slash.
    if (file == known || Keeps(file)) return std::string(file);
    const std::string tail = absl::StrCat("/src/", known);
    if (!absl::EndsWith(file, tail)) return MadeUp(PrivatePart::kFiles, file);
    const auto [it, is_new] = made_up_[static_cast<int>(PrivatePart::kFiles)].try_emplace(file);
    if (is_new) {
      const absl::string_view root = file.substr(0, file.size() - tail.size());
      it->second =
          root.empty() ? std::string(file) : absl::StrCat(MakeUp(PrivatePart::kFiles, root), tail);
    }
    return it->second;
  }

  const AnonymiseOptions& options_;
  // By part.
  absl::node_hash_map<std::string, std::string> made_up_[kPrivatePartEnd];
  absl::flat_hash_map<std::string, uint64_t> words_;
  absl::node_hash_map<std::string, Lines> lines_;  // By the original name of the file.
  absl::flat_hash_map<uint64_t, uint64_t> pcs_;
  std::optional<int64_t> begin_;
  std::optional<ClockSnapshot> first_snapshot_;
};

}  // namespace
}  // namespace internal

absl::string_view PrivatePartName(PrivatePart part) {
  switch (part) {
    case PrivatePart::kFunctions:
      return "functions";
    case PrivatePart::kFiles:
      return "files";
    case PrivatePart::kLabels:
      return "labels";
    case PrivatePart::kTasks:
      return "tasks";
    case PrivatePart::kRegions:
      return "regions";
    case PrivatePart::kMessages:
      return "messages";
    case PrivatePart::kLines:
      return "lines";
    case PrivatePart::kPcs:
      return "pcs";
    case PrivatePart::kTimes:
      return "times";
  }
  return "";
}

absl::StatusOr<AnonymisedTrace> Anonymise(std::unique_ptr<ByteSource> source,
                                          const AnonymiseOptions& options,
                                          const ReaderOptions& reader_options, ByteSink* out) {
  absl::StatusOr<Reader> reader = Reader::FromSource(std::move(source), reader_options);
  if (!reader.ok()) return reader.status();
  internal::Anonymiser anonymiser(options);
  internal::TraceWriterImpl writer({.version = reader->version(), .lenient = true}, out);
  writer.SetReplacer(&anonymiser);
  AnonymisedTrace result;
  result.status = reader->ForEach([&](const Event& event) {
    if (event.kind() == EventKind::kExperimental) {
      ++result.experimental_events;
      return true;
    }
    if (!anonymiser.shifts_times()) {
      writer.Add(absl::MakeConstSpan(&event, 1));
      return writer.WantsMore();
    }
    Event shifted = event;
    internal::EventWriter(&shifted).Time(anonymiser.Shifted(event.time()));
    writer.Add(absl::MakeConstSpan(&shifted, 1));
    return writer.WantsMore();
  });
  absl::Status written = writer.Finish();
  if (!written.ok()) return result.status.ok() ? written : result.status;
  result.written = writer.written();
  result.events_read = reader->event_count();
  result.losses = reader->losses();
  result.replacements = anonymiser.Take();
  return result;
}

}  // namespace gotrace
