// Recognises and undoes damage in transport.
//
// The layers around a trace are found by trying: each kind that the first bytes allow is decoded in
// memory, up to kLooked bytes, and accepted if the result is a trace, or a trace in other layers.
// The same decoders are then chained as streams.
#include "gotrace/transport.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gotrace/byte_stream.h"
#include "gotrace/fault.h"
#include "gotrace/version.h"
#include "parser/framing/batch_check.h"
#include "parser/transport/crlf_filter.h"
#include "parser/transport/transport_filters.h"
#include "util/cut_text.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

// How many bytes of an input, and of each layer in it, are examined.
constexpr size_t kLooked = 256 << 10;
static_assert(kLooked <= ByteSource::kMaxFill);

// How many bytes are examined first. An input that does not begin with text or another known kind
// is not examined further.
constexpr size_t kLookedFirst = 4096;

constexpr size_t kShortText = 16;

constexpr int kMaxLayers = 8;

// How many bytes all attempts may decode together.
constexpr uint64_t kMaxDecoded = 32 << 20;

constexpr absl::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr absl::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD.

constexpr TransportSpec kSpecs[] = {
#define GOTRACE_TRANSPORT(id, name, noun, what, avoid) {name, noun, what, avoid},
#include "gotrace/internal/transports.def"
};

// A layer, and how to remove it.
struct Layer {
  TransportKind kind = TransportKind::kTextBefore;
  std::string detail;
  uint64_t skipped = 0;  // The number of bytes to skip first.
  // Creates the filter that decodes the rest; nullptr if it needs no decoding.
  std::function<std::unique_ptr<Filter>()> make_filter;
  Compression compression = Compression::kNone;
  bool is_noted = true;
  bool is_byte_order_mark = false;  // Whether it is only the byte order mark of UTF-8.
};
using Layers = std::vector<Layer>;

std::unique_ptr<ByteStream> TakeOff(const Layer& layer, std::unique_ptr<ByteStream> input,
                                    const ReaderLimits& limits) {
  input = SkipBytes(layer.skipped, std::move(input));
  if (layer.compression != Compression::kNone) {
    return MakeDecompressor(layer.compression, std::move(input), limits.decompressed_bytes);
  }
  if (layer.make_filter == nullptr) return input;
  return MakeFilterStream(layer.make_filter(), std::string(SpecOf(layer.kind).noun),
                          std::move(input), limits.decompressed_bytes);
}

// Returns whether a terminal could have shown all of `bytes`.
bool IsText(absl::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) {
    return static_cast<uint8_t>(c) >= 0x20 || c == '\n' || c == '\r' || c == '\t' || c == '\b' ||
           c == '\f' || c == '\x1b';
  });
}

// Collects signs of damage to bytes in transport.
class Signs {
 public:
  // Examines `bytes`, which begin with the bytes of the previous call.
  void Take(absl::string_view bytes) {
    for (; next_lf_ < bytes.size() && !lone_lf_; ++next_lf_) {
      lone_lf_ = bytes[next_lf_] == '\n' && (next_lf_ == 0 || bytes[next_lf_ - 1] != '\r');
    }
    while (next_character_ < bytes.size() && !not_utf8_ && TakeCharacter(bytes)) continue;
  }

  // Returns whether it is certain that the bytes are undamaged.
  bool untouched() const { return lone_lf_ && not_utf8_; }

  // Returns whether they may have been converted to UTF-8.
  bool may_be_utf8() const { return has_characters_ && !not_utf8_; }

 private:
  // Returns false if the bytes end inside a possible character.
  bool TakeCharacter(absl::string_view bytes) {
    if (static_cast<uint8_t>(bytes[next_character_]) < 0x80) {
      ++next_character_;
      return true;
    }
    constexpr size_t kMaxCharacterSize = 4;
    int size = 0;
    const absl::string_view rest = bytes.substr(next_character_);
    const bool is_none = DecodeRune(rest, &size) == 0xfffd && size == 1;
    if (is_none && rest.size() < kMaxCharacterSize && MayBeCut(rest)) return false;
    not_utf8_ = is_none;
    has_characters_ = true;
    next_character_ += size;
    return true;
  }

  static bool MayBeCut(absl::string_view rest) {
    return static_cast<uint8_t>(rest[0]) >= 0xc2 &&
           std::all_of(rest.begin() + 1, rest.end(),
                       [](char c) { return (static_cast<uint8_t>(c) & 0xc0) == 0x80; });
  }

  size_t next_lf_ = 0;
  size_t next_character_ = 0;
  bool lone_lf_ = false;         // Whether there is a "\n" that does not follow a "\r".
  bool has_characters_ = false;  // Whether there are characters beyond ASCII.
  bool not_utf8_ = false;
};

bool HasHeader(absl::string_view bytes) { return ParseHeader(bytes).status == HeaderStatus::kOk; }

// Finds the layers around a trace.
class Recogniser {
 public:
  explicit Recogniser(const ReaderLimits& limits) : limits_(limits) {}

  // Returns the layers around the trace in `bytes`, outermost first, or nullopt if there is no
  // trace. `whole` says whether `bytes` are the whole input.
  std::optional<Layers> Recognise(absl::string_view bytes, bool whole) {
    return Recognise(bytes, whole, 0);
  }

  // Returns whether bytes of the trace were replaced.
  bool is_replaced() const { return is_replaced_; }

 private:
  struct Decoded {
    std::string bytes;
    bool whole = false;
    bool damaged = false;
  };

  Decoded Decode(const Layer& layer, absl::string_view bytes, bool whole) {
    Decoded decoded;
    const std::unique_ptr<ByteStream> stream =
        TakeOff(layer, std::make_unique<MemoryStream>(bytes), limits_);
    size_t size = 0;
    decoded.bytes.resize(kLooked);
    while (size < kLooked) {
      const absl::StatusOr<size_t> count =
          stream->Read(decoded.bytes.data() + size, kLooked - size);
      decoded.damaged = !count.ok();
      decoded.whole = whole && count.ok() && *count == 0;
      if (!count.ok() || *count == 0) break;
      size += *count;
    }
    decoded.bytes.resize(size);
    // The minimum cost of an attempt.
    constexpr uint64_t kBase = 4096;
    decoded_ += kBase + size + bytes.size() / 8;
    return decoded;
  }

  // Returns the layers from `layer` inwards, which is at `depth`, or nullopt if there is no trace
  // in it.
  std::optional<Layers> Try(Layer layer, absl::string_view bytes, bool whole, int depth) {
    if (depth >= kMaxLayers || decoded_ > kMaxDecoded) return std::nullopt;
    const Decoded decoded = Decode(layer, bytes, whole);
    const bool was_characters = std::exchange(is_characters_, GivesCharacters(layer));
    std::optional<Layers> rest = Recognise(decoded.bytes, decoded.whole, depth + 1);
    is_characters_ = was_characters;
    if (rest.has_value()) rest->insert(rest->begin(), std::move(layer));
    return rest;
  }

  std::optional<Layers> Recognise(absl::string_view bytes, bool whole, int depth) {
    switch (ParseHeader(bytes).status) {
      case HeaderStatus::kOk:
        return RecogniseChanged(bytes, whole, is_characters_);
      case HeaderStatus::kV1:
      case HeaderStatus::kUnknown:
        return Layers();
      case HeaderStatus::kTruncated:
        if (whole && absl::StartsWith(bytes, "go 1.")) return Layers();
        break;
      case HeaderStatus::kNotATrace:
        break;
    }
    using Kind = std::optional<Layers> (Recogniser::*)(absl::string_view, bool, int);
    constexpr Kind kKinds[] = {
        &Recogniser::TryCompressed, &Recogniser::TryByteOrderMark, &Recogniser::TryUtf16,
        &Recogniser::TryHttp,       &Recogniser::TryChunked,       &Recogniser::TryMultipart,
        &Recogniser::TryJson,       &Recogniser::TryDataUrl,       &Recogniser::TryHexDump,
        &Recogniser::TryHex,        &Recogniser::TryBase64,        &Recogniser::TryTextBefore};
    for (const Kind kind : kKinds) {
      std::optional<Layers> layers = (this->*kind)(bytes, whole, depth);
      if (layers.has_value()) return layers;
    }
    return std::nullopt;
  }

  // Returns whether the contents of `layer` are certainly characters in UTF-8.
  bool GivesCharacters(const Layer& layer) const {
    switch (layer.kind) {
      case TransportKind::kUtf16:
      case TransportKind::kJson:
        return true;
      case TransportKind::kTextBefore:
        return is_characters_ || layer.is_byte_order_mark;
      default:
        return false;
    }
  }

  // Returns the damage to the bytes of a trace whose header is intact, as it has neither line ends
  // nor characters beyond ASCII. `is_characters` says that the bytes are certainly UTF-8.
  Layers RecogniseChanged(absl::string_view bytes, bool whole, bool is_characters) {
    Signs signs;
    signs.Take(bytes);
    if (signs.untouched()) return Layers();
    Walk walk = WalkBatches(bytes, whole);
    if (signs.may_be_utf8() && (is_characters || walk.failed)) {
      if (absl::StrContains(bytes, kReplacement)) {
        is_replaced_ = true;
        return Layers();
      }
      if (is_characters) walk = Walk{0, true};
      return BestCodePage(bytes, whole, 0, &walk);
    }
    return RecogniseCrlf(bytes, whole, &walk);
  }

  // Checks whether line ends were converted, possibly more than once. `*walk`, which belongs to
  // `bytes`, is replaced with that of the restored bytes.
  Layers RecogniseCrlf(absl::string_view bytes, bool whole, Walk* walk) {
    Layers best;
    if (!walk->failed) return best;
    // Each conversion adds a carriage return before every line feed.
    for (int times = CarriageReturns(bytes); times > 0; --times) {
      Layers layers(times - 1, CrlfLayer(MakeEveryCrlfFilter));
      layers.push_back(CrlfLayer(MakeCrlfFilter));
      Decoded decoded = {std::string(bytes), whole};
      for (const Layer& layer : layers) decoded = Decode(layer, decoded.bytes, decoded.whole);
      const Walk undone = WalkBatches(decoded.bytes, decoded.whole);
      if (!IsBetter(undone, *walk)) continue;
      *walk = undone;
      best = std::move(layers);
    }
    return best;
  }

  // Returns the minimum number of carriage returns before a line feed; 0 if there is no line feed.
  static int CarriageReturns(absl::string_view bytes) {
    constexpr int kMax = 3;
    int least = kMax + 1;
    for (size_t pos = bytes.find('\n'); pos != bytes.npos; pos = bytes.find('\n', pos + 1)) {
      int count = 0;
      while (count < least && pos > static_cast<size_t>(count) &&
             bytes[pos - 1 - static_cast<size_t>(count)] == '\r') {
        ++count;
      }
      least = count;
    }
    return least > kMax ? 0 : least;
  }

  static bool IsBetter(const Walk& a, const Walk& b) {
    return a.batches > b.batches || (a.batches == b.batches && b.failed && !a.failed);
  }

  static Layer CrlfLayer(std::unique_ptr<Filter> (*make_filter)()) {
    Layer layer;
    layer.kind = TransportKind::kCrlf;
    layer.make_filter = make_filter;
    return layer;
  }

  // Determines the code page in which the bytes were read, and the damage before that; they may
  // have been encoded as UTF-8 several times. `*best`, which belongs to `bytes`, is replaced with
  // that of the restored bytes.
  Layers BestCodePage(absl::string_view bytes, bool whole, int depth, Walk* best) {
    constexpr int kMaxTimes = 3;
    Layers layers;
    for (const CodePage page : kCodePages) {
      Layer layer;
      layer.kind = TransportKind::kUtf8;
      layer.detail = std::string(CodePageName(page));
      layer.make_filter = [page] { return MakeCodePageFilter(page); };
      const Decoded decoded = Decode(layer, bytes, whole);
      if (decoded.damaged) continue;
      Walk walk = WalkBatches(decoded.bytes, decoded.whole);
      Layers inner = RecogniseCrlf(decoded.bytes, decoded.whole, &walk);
      Signs signs;
      signs.Take(decoded.bytes);
      if (walk.failed && signs.may_be_utf8() && depth + 1 < kMaxTimes) {
        Walk again = walk;
        Layers more = BestCodePage(decoded.bytes, decoded.whole, depth + 1, &again);
        if (IsBetter(again, walk)) {
          walk = again;
          inner = std::move(more);
        }
      }
      if (!IsBetter(walk, *best) && !(layers.empty() && walk.failed && best->failed)) continue;
      *best = walk;
      layers = std::move(inner);
      layers.insert(layers.begin(), std::move(layer));
    }
    return layers;
  }

  std::optional<Layers> TryCompressed(absl::string_view bytes, bool whole, int depth) {
    Layer layer;
    layer.kind = TransportKind::kCompressed;
    layer.compression = FindCompression(bytes);
    // It may also be inside another layer.
    layer.is_noted = depth == 0;
    if (layer.compression == Compression::kNone) return std::nullopt;
    return Try(std::move(layer), bytes, whole, depth);
  }

  std::optional<Layers> TryByteOrderMark(absl::string_view bytes, bool whole, int depth) {
    if (!absl::StartsWith(bytes, kByteOrderMark)) return std::nullopt;
    Layer layer;
    layer.detail = "a byte order mark";
    layer.skipped = kByteOrderMark.size();
    layer.is_noted = false;
    layer.is_byte_order_mark = true;
    return Try(std::move(layer), bytes, whole, depth);
  }

  std::optional<Layers> TryUtf16(absl::string_view bytes, bool whole, int depth) {
    constexpr absl::string_view kLittleEndian = "\xff\xfe";
    constexpr absl::string_view kBigEndian = "\xfe\xff";
    const bool has_mark =
        absl::StartsWith(bytes, kLittleEndian) || absl::StartsWith(bytes, kBigEndian);
    // Without a byte order mark, every other byte of ASCII text is zero.
    if (bytes.size() < 4) return std::nullopt;
    const bool is_little = has_mark
                               ? bytes[0] == kLittleEndian[0]
                               : bytes[0] != 0 && bytes[1] == 0 && bytes[2] != 0 && bytes[3] == 0;
    const bool is_big =
        has_mark ? !is_little : bytes[0] == 0 && bytes[1] != 0 && bytes[2] == 0 && bytes[3] != 0;
    if (!is_little && !is_big) return std::nullopt;
    Layer layer;
    layer.kind = TransportKind::kUtf16;
    layer.detail = is_big ? "big-endian" : "little-endian";
    layer.skipped = has_mark ? kLittleEndian.size() : 0;
    layer.make_filter = [is_big] { return MakeUtf16Filter(is_big); };
    return Try(std::move(layer), bytes, whole, depth);
  }

  // Returns the offset of the body of a message whose header fields begin `bytes`, or npos.
  static size_t BodyAfterFields(absl::string_view bytes) {
    bytes = bytes.substr(0, kMaxBytesBeforeTrace);
    size_t pos = 0;
    while (true) {
      const size_t end = bytes.find('\n', pos);
      if (end == bytes.npos) return bytes.npos;
      const absl::string_view line = bytes.substr(pos, end - pos);
      pos = end + 1;
      if (line.empty() || line == "\r") return pos;
      if (!IsText(line)) return bytes.npos;
    }
  }

  std::optional<Layers> TryHttp(absl::string_view bytes, bool whole, int depth) {
    constexpr size_t kMaxLine = 8192;
    const absl::string_view line =
        absl::StripTrailingAsciiWhitespace(bytes.substr(0, std::min(kMaxLine, bytes.find('\n'))));
    const bool is_answer = absl::StartsWith(line, "HTTP/");
    const bool is_request = absl::EndsWith(line, " HTTP/1.1") || absl::EndsWith(line, " HTTP/1.0");
    if (!is_answer && !is_request) return std::nullopt;
    Layer layer;
    layer.kind = TransportKind::kHttpHeader;
    layer.detail = ShownText(line);
    const size_t body = BodyAfterFields(bytes);
    if (body == bytes.npos) return std::nullopt;
    layer.skipped = body;
    return Try(std::move(layer), bytes, whole, depth);
  }

  std::optional<Layers> TryChunked(absl::string_view bytes, bool whole, int depth) {
    if (bytes.empty() || HexDigit(bytes[0]) < 0) return std::nullopt;
    constexpr size_t kMaxLine = 4096;
    const size_t end = bytes.substr(0, kMaxLine).find('\n');
    if (end == bytes.npos) return std::nullopt;
    Layer layer;
    layer.kind = TransportKind::kChunked;
    layer.make_filter = MakeChunkedFilter;
    return Try(std::move(layer), bytes, whole, depth);
  }

  std::optional<Layers> TryMultipart(absl::string_view bytes, bool whole, int depth) {
    // A line end may precede the first boundary.
    const absl::string_view stripped = absl::StripLeadingAsciiWhitespace(bytes);
    if (!absl::StartsWith(stripped, "--")) return std::nullopt;
    constexpr size_t kMaxBoundary = 256;
    const size_t end = stripped.substr(0, kMaxBoundary).find('\n');
    if (end == stripped.npos) return std::nullopt;
    absl::string_view boundary = stripped.substr(0, end);
    const bool has_cr = absl::ConsumeSuffix(&boundary, "\r");
    if (boundary.size() <= 2 || !IsText(boundary)) return std::nullopt;
    const std::string delimiter = absl::StrCat(has_cr ? "\r\n" : "\n", boundary);
    size_t part = bytes.size() - stripped.size() + end + 1;
    for (int i = 0; i < kMaxParts && part < kMaxBytesBeforeTrace; ++i) {
      const size_t body = BodyAfterFields(bytes.substr(part));
      if (body == bytes.npos) return std::nullopt;
      Layer layer;
      layer.kind = TransportKind::kMultipart;
      layer.skipped = part + body;
      layer.make_filter = [delimiter] { return MakeDelimitedFilter(delimiter); };
      if (std::optional<Layers> layers = Try(std::move(layer), bytes, whole, depth)) return layers;
      const size_t next = bytes.find(delimiter, part);
      if (next == bytes.npos) return std::nullopt;
      part = bytes.find('\n', next + delimiter.size());
      if (part == bytes.npos) return std::nullopt;
      ++part;
    }
    return std::nullopt;
  }

  // Tries each string that begins nearby.
  std::optional<Layers> TryJson(absl::string_view bytes, bool whole, int depth) {
    const absl::string_view stripped = absl::StripLeadingAsciiWhitespace(bytes);
    if (stripped.empty() || absl::string_view("\"{[").find(stripped[0]) == stripped.npos) {
      return std::nullopt;
    }
    constexpr size_t kMinSize = 16;
    int tried = 0;
    size_t pos = bytes.size() - stripped.size();
    while (pos < kMaxBytesBeforeTrace && tried < kMaxParts) {
      pos = bytes.find('"', pos);
      if (pos == bytes.npos) break;
      const size_t begin = ++pos;
      while (pos < bytes.size() && bytes[pos] != '"') pos += bytes[pos] == '\\' ? 2 : 1;
      pos = std::min(pos, bytes.size());
      if (pos - begin >= kMinSize) {
        ++tried;
        Layer layer;
        layer.kind = TransportKind::kJson;
        layer.skipped = begin;
        layer.make_filter = MakeJsonFilter;
        if (std::optional<Layers> layers = Try(std::move(layer), bytes, whole, depth)) {
          return layers;
        }
      }
      ++pos;
    }
    return std::nullopt;
  }

  std::optional<Layers> TryDataUrl(absl::string_view bytes, bool whole, int depth) {
    constexpr size_t kMaxPrefix = 512;
    if (!absl::StartsWithIgnoreCase(bytes, "data:")) return std::nullopt;
    const size_t comma = bytes.substr(0, kMaxPrefix).find(',');
    if (comma == bytes.npos || !absl::EndsWith(bytes.substr(0, comma), ";base64")) {
      return std::nullopt;
    }
    Layer layer;
    layer.kind = TransportKind::kBase64;
    layer.detail = "a data: URL";
    layer.skipped = comma + 1;
    layer.make_filter = MakeBase64Filter;
    return Try(std::move(layer), bytes, whole, depth);
  }

  std::optional<Layers> TryHexDump(absl::string_view bytes, bool whole, int depth) {
    const std::optional<HexDumpForm> form = FindHexDumpForm(bytes);
    if (!form.has_value()) return std::nullopt;
    Layer layer;
    layer.kind = TransportKind::kHex;
    layer.detail = "with offsets";
    layer.make_filter = [form] { return MakeHexDumpFilter(*form); };
    return Try(std::move(layer), bytes, whole, depth);
  }

  std::optional<Layers> TryHex(absl::string_view bytes, bool whole, int depth) {
    absl::string_view begin = absl::StripLeadingAsciiWhitespace(bytes);
    for (const absl::string_view opening : {"{", "[", "\"", "b'", "'"}) {
      if (absl::ConsumePrefix(&begin, opening)) break;
    }
    begin = absl::StripLeadingAsciiWhitespace(begin);
    Layer layer;
    layer.kind = TransportKind::kHex;
    layer.skipped = bytes.size() - begin.size();
    layer.make_filter = MakeHexFilter;
    for (const absl::string_view prefix : {"0x", "0X", "\\x"}) {
      if (absl::ConsumePrefix(&begin, prefix)) break;
    }
    if (begin.size() < 2 || HexDigit(begin[0]) < 0 || HexDigit(begin[1]) < 0) return std::nullopt;
    return Try(std::move(layer), bytes, whole, depth);
  }

  std::optional<Layers> TryBase64(absl::string_view bytes, bool whole, int depth) {
    const absl::string_view begin = absl::StripLeadingAsciiWhitespace(bytes).substr(0, 8);
    const bool may_be = begin.size() == 8 && std::all_of(begin.begin(), begin.end(), [](char c) {
                          return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                                 absl::ascii_isspace(static_cast<unsigned char>(c)) || c == '+' ||
                                 c == '/' || c == '-' || c == '_';
                        });
    if (!may_be) return std::nullopt;
    Layer layer;
    layer.kind = TransportKind::kBase64;
    layer.make_filter = MakeBase64Filter;
    return Try(std::move(layer), bytes, whole, depth);
  }

  // Returns whether a line that begins with `bytes` may begin the layers around a trace.
  static bool MayBegin(absl::string_view bytes) {
    if (FindCompression(bytes) != Compression::kNone) return true;
    // Headers, gzip and zstd in base64 and hexadecimal; and the kinds with their own syntax.
    constexpr absl::string_view kBegins[] = {"Z28gMS4", "H4sI",     "KLUv/", "KLUv_",
                                             "HTTP/",   "--",       "data:", "\"",
                                             "{",       "676f",     "67 6f", "1f8b08",
                                             "1f 8b",   "28b52ffd", "28 b5", "0x67",
                                             "0000000", "\\x67",    "0x1f",  "0x28, 0xb5"};
    return std::any_of(std::begin(kBegins), std::end(kBegins), [&](absl::string_view begin) {
      return absl::StartsWithIgnoreCase(bytes, begin);
    });
  }

  std::optional<Layers> TryTextBefore(absl::string_view bytes, bool whole, int depth) {
    const size_t header = FindHeader(bytes.substr(0, kMaxBytesBeforeTrace + kHeaderSize));
    const auto layer_of = [&](size_t size) {
      Layer layer;
      layer.detail =
          absl::StrCat(size, size == 1 ? " byte: " : " bytes: ", ShownText(bytes.substr(0, size)));
      layer.skipped = size;
      return layer;
    };
    const absl::string_view before = bytes.substr(0, std::min(header, kMaxBytesBeforeTrace));
    const size_t text_size = std::find_if(before.begin(), before.end(),
                                          [](char c) {
                                            return !IsText({&c, 1});
                                          }) -
                             before.begin();
    if (header != bytes.npos && header <= text_size) {
      return Try(layer_of(header), bytes, whole, depth);
    }
    int tried = 0;
    for (size_t pos = bytes.find('\n'); pos < text_size && tried < kMaxParts;
         pos = bytes.find('\n', pos + 1)) {
      if (!MayBegin(bytes.substr(pos + 1))) continue;
      ++tried;
      if (std::optional<Layers> layers = Try(layer_of(pos + 1), bytes, whole, depth)) {
        // The trace begins after this line.
        return layers;
      }
    }
    return std::nullopt;
  }

  static std::string ShownText(absl::string_view text) {
    constexpr size_t kShown = 80;
    return QuotedPrefix(text, kShown);
  }

  // The maximum number of places in one input that are tried for one kind.
  static constexpr int kMaxParts = 16;

  const ReaderLimits& limits_;
  uint64_t decoded_ = 0;
  bool is_characters_ = false;  // Whether the current bytes are certainly characters in UTF-8.
  bool is_replaced_ = false;
};

// Reads a source, from its current position, as a stream.
class SourceStream final : public ByteStream {
 public:
  explicit SourceStream(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    absl::Status status;
    if (source_->window().empty()) status = source_->Fill(1);
    size = std::min(size, source_->window().size());
    if (size == 0 && !status.ok()) return status;
    if (size == 0) return 0;
    std::memcpy(buffer, source_->window().data(), size);
    source_->Skip(size);
    source_->Release(source_->offset());
    return size;
  }

  const ByteSource& source() const { return *source_; }

 private:
  const std::unique_ptr<ByteSource> source_;
};

// A source of decoded bytes that reports the sizes of the original input.
class UndoneSource final : public ByteSource {
 public:
  UndoneSource(std::unique_ptr<ByteSource> decoded, const ByteSource& input)
      : decoded_(std::move(decoded)), input_(input) {}

  absl::Status Fill(size_t size) override {
    decoded_->Skip(offset_ - decoded_->offset());
    absl::Status status = decoded_->Fill(size);
    window_ = decoded_->window();
    return status;
  }
  void Release(uint64_t offset) override { decoded_->Release(offset); }
  void ReleaseSkipped(uint64_t begin, uint64_t end) override {
    decoded_->ReleaseSkipped(begin, end);
  }
  uint64_t input_size() const override { return input_.input_size(); }
  uint64_t input_read() const override { return input_.input_read(); }

 private:
  const std::unique_ptr<ByteSource> decoded_;
  const ByteSource& input_;  // The input, which `decoded_` reads.
};

// Extends the window as far as needed to recognise the input. Returns whether it begins with a
// header and is certainly undamaged.
bool LookAt(ByteSource* source) {
  // Errors occur again when the source is read.
  source->Fill(kHeaderSize).IgnoreError();
  if (!HasHeader(source->window())) {
    source->Fill(kLookedFirst).IgnoreError();
    const absl::string_view begin = source->window().substr(0, kLookedFirst);
    // All kinds except these begin with text.
    const bool may_be_utf16 = begin.size() > 1 && (begin[0] == 0 || begin[1] == 0);
    const bool may_be_more = IsText(begin.substr(0, kShortText)) || may_be_utf16 ||
                             FindCompression(begin) != Compression::kNone;
    if (may_be_more) source->Fill(kLooked).IgnoreError();
    return false;
  }
  Signs signs;
  while (true) {
    const size_t size = source->window().size();
    signs.Take(source->window().substr(0, kLooked));
    if (signs.untouched()) return true;
    if (size >= kLooked) return false;
    source->Fill(size + 1).IgnoreError();
    if (source->window().size() == size) return false;
  }
}

// Drops redundant notes: the code page is a detail of a trace that became text in UTF-16 or JSON,
// and a byte order mark is a detail of any text.
void ChooseNotes(Layers* layers) {
  Layer* text = nullptr;
  bool any = false;
  for (Layer& layer : *layers) {
    if (layer.kind == TransportKind::kUtf16 || layer.kind == TransportKind::kJson) text = &layer;
    if (layer.kind == TransportKind::kUtf8 && text != nullptr) {
      absl::StrAppend(&text->detail, text->detail.empty() ? "" : ", ", layer.detail);
      layer.is_noted = false;
    }
    any |= layer.is_noted;
  }
  if (!any && !layers->empty()) layers->front().is_noted = true;
}

}  // namespace
}  // namespace gotrace::internal

namespace gotrace {

const TransportSpec& SpecOf(TransportKind kind) { return internal::kSpecs[static_cast<int>(kind)]; }

std::string DescribeTransport(const TransportNote& note) {
  std::string what(absl::StripSuffix(SpecOf(note.kind).what, "."));
  what[0] = absl::ascii_tolower(static_cast<unsigned char>(what[0]));
  return note.detail.empty() ? what : absl::StrCat(what, " (", note.detail, ")");
}

std::string FormatTransportNote(const TransportNote& note) {
  return absl::StrCat(DescribeTransport(note), "; reading the trace inside. ",
                      SpecOf(note.kind).avoid);
}

absl::StatusOr<UndoneInput> UndoTransport(std::unique_ptr<ByteSource> source,
                                          const ReaderLimits& limits) {
  if (internal::LookAt(source.get())) return UndoneInput{std::move(source), {}};
  const absl::string_view begin = source->window().substr(0, internal::kLooked);
  internal::Recogniser recogniser(limits);
  std::optional<internal::Layers> layers =
      recogniser.Recognise(begin, /*whole=*/source->window().size() < internal::kLooked);
  if (recogniser.is_replaced()) {
    Fault fault;
    fault.id = FaultId::kBytesReplaced;
    fault.place.offset = 0;
    fault.message =
        "a conversion to text replaced the bytes of the trace that are not valid UTF-8 with "
        "U+FFFD; the original bytes are lost and cannot be restored. Record or copy the trace "
        "again, in binary mode and never as a string";
    return FaultStatus(std::move(fault));
  }
  if (!layers.has_value() || layers->empty()) return UndoneInput{std::move(source), {}};
  internal::ChooseNotes(&*layers);
  UndoneInput undone;
  auto stream = std::make_unique<internal::SourceStream>(std::move(source));
  const ByteSource& input = stream->source();
  std::unique_ptr<ByteStream> decoded = std::move(stream);
  for (const internal::Layer& layer : *layers) {
    decoded = internal::TakeOff(layer, std::move(decoded), limits);
    if (layer.is_noted) undone.notes.push_back({layer.kind, layer.detail});
  }
  absl::StatusOr<std::unique_ptr<ByteSource>> trace = SourceFromStream(std::move(decoded), limits);
  if (!trace.ok()) return trace.status();
  undone.source = std::make_unique<internal::UndoneSource>(*std::move(trace), input);
  return undone;
}

}  // namespace gotrace
