#include "tracev2/text_form.h"

#include <array>
#include <initializer_list>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

// The text before each argument of an event; for the first it includes the name: "GoStart dt=",
// " g=".
using EventLabels = std::array<ShortText<32>, EventSpec::kMaxArgs>;

constexpr EventLabels MakeLabels(absl::string_view name, std::initializer_list<const char*> args) {
  EventLabels labels = {};
  size_t count = 0;
  for (const absl::string_view arg : args) {
    labels[count] = {count == 0 ? name : absl::string_view(), " ", arg, "="};
    ++count;
  }
  return labels;
}

constexpr std::array<EventLabels, kEventTypeEnd> kLabels = [] {
  std::array<EventLabels, kEventTypeEnd> labels = {};
#define GOTRACE_EVENT(value, name, since, form, experiment, start, kind, rule, ...) \
  labels[value] = MakeLabels(#name, {__VA_ARGS__});
#include "gotrace/internal/events.def"
  return labels;
}();

// Appends the name of an event and all of its arguments. One call for each number of arguments is
// faster than a loop.
void AppendArgs(const EventSpec& spec, const EventLabels& labels, const uint64_t* args,
                TextBuffer* out) {
  const auto& [label0, label1, label2, label3, label4] = labels;
  switch (spec.arg_count) {
    case 0:
      return out->Append(spec.name);
    case 1:
      return out->Append(label0, args[0]);
    case 2:
      return out->Append(label0, args[0], label1, args[1]);
    case 3:
      return out->Append(label0, args[0], label1, args[1], label2, args[2]);
    case 4:
      return out->Append(label0, args[0], label1, args[1], label2, args[2], label3, args[3]);
    default:
      return out->Append(label0, args[0], label1, args[1], label2, args[2], label3, args[3], label4,
                         args[4]);
  }
}

void AppendFrames(absl::Span<const uint64_t> fields, TextBuffer* out) {
  for (; !fields.empty(); fields.remove_prefix(kFrameFieldCount)) {
    out->Append("\n\tpc=", fields[0], " func=", fields[1], " file=", fields[2],
                " line=", fields[3]);
  }
}

// Removes the next token, which ends at a space or a '#', from the front of `*line`, and returns
// it. Returns "" at the end of the line or before a comment.
absl::string_view TakeToken(absl::string_view* line) {
  int size = 0;
  while (!line->empty() && IsSpace(DecodeRune(*line, &size))) line->remove_prefix(size);
  if (line->empty() || line->front() == '#') return absl::string_view();
  size_t end = 0;
  while (end < line->size() && (*line)[end] != '#' &&
         !IsSpace(DecodeRune(line->substr(end), &size))) {
    end += size;
  }
  const absl::string_view token = line->substr(0, end);
  line->remove_prefix(end);
  return token;
}

// Like Go's strconv.ParseUint in base ten: digits only, no sign.
bool ParseUint(absl::string_view digits, uint64_t* value) {
  return !digits.empty() && digits.find_first_not_of("0123456789") == absl::string_view::npos &&
         absl::SimpleAtoi(digits, value);
}

absl::string_view Trim(absl::string_view text) {
  int size = 0;
  while (!text.empty() && IsSpace(DecodeRune(text, &size))) text.remove_prefix(size);
  while (!text.empty()) {
    size_t last = text.size() - 1;
    while (last > 0 && (static_cast<uint8_t>(text[last]) & 0xC0) == 0x80) --last;
    // The bytes after a shorter rune do not belong to it.
    if (!IsSpace(DecodeRune(text.substr(last), &size)) || last + size != text.size()) break;
    text.remove_suffix(size);
  }
  return text;
}

bool IsBlank(absl::string_view line) { return TakeToken(&line).empty(); }

// Returns an error that ends with the beginning of `text`, quoted.
absl::Status Unexpected(absl::string_view message, absl::string_view text) {
  constexpr size_t kMaxQuoted = 100;
  TextBuffer quoted;
  AppendQuoted(text.substr(0, kMaxQuoted), &quoted);
  return absl::InvalidArgumentError(
      absl::StrCat(message, ", found ", quoted.view(), text.size() > kMaxQuoted ? "..." : ""));
}

}  // namespace

void AppendHeaderText(Version version, TextBuffer* out) {
  out->Append("Trace Go1.", uint64_t{static_cast<uint32_t>(version)}, '\n');
}

void AppendEventText(const RawEvent& event, TextBuffer* out) {
  const EventSpec& spec = *FindEventSpec(event.type);
  const absl::Span<const uint64_t> args = event.args;
  AppendArgs(spec, kLabels[static_cast<uint8_t>(event.type)], args.data(), out);
  AppendFrames(args.subspan(spec.arg_count), out);
  if (!event.data.empty()) {
    out->Append("\n\tdata=");
    AppendQuoted(event.data, out);
  }
  out->Append('\n');
}

absl::Status TextParser::ParseLine(absl::string_view line, Sink sink) {
  if (IsBlank(line)) return absl::OkStatus();
  switch (state_) {
    case State::kHeader:
      return ParseHeaderLine(line);
    case State::kEvent:
      return ParseEventLine(line, sink);
    case State::kFrame:
      return ParseFrameLine(line, sink);
    case State::kData:
      return ParseDataLine(line, sink);
  }
  return absl::InternalError("unreachable state of the text parser");
}

absl::Status TextParser::Finish(Sink sink) {
  switch (state_) {
    case State::kHeader:
      return absl::InvalidArgumentError(
          "expected a header line like \"Trace Go1.22\", found the end of the text");
    case State::kFrame:
      return absl::InvalidArgumentError(
          absl::StrCat("expected ", frames_left_, " more frames, found the end of the text"));
    case State::kData:
      sink(event_);
      break;
    case State::kEvent:
      break;
  }
  return absl::OkStatus();
}

absl::Status TextParser::ParseHeaderLine(absl::string_view line) {
  constexpr absl::string_view kExpected = "expected a header line like \"Trace Go1.22\"";
  const absl::string_view whole = line;
  absl::string_view release;
  uint64_t minor = 0;
  if (TakeToken(&line) != "Trace") return Unexpected(kExpected, whole);
  release = TakeToken(&line);
  if (!absl::ConsumePrefix(&release, "Go1.") || !ParseUint(release, &minor)) {
    return Unexpected(kExpected, whole);
  }
  if (!IsBlank(line)) return Unexpected("expected nothing after the version", line);
  const Version* version =
      minor <= UINT32_MAX ? FindVersion(static_cast<uint32_t>(minor)) : nullptr;
  if (version == nullptr) {
    return Unexpected("expected one of the versions Go1.22, Go1.23, Go1.25 and Go1.26", whole);
  }
  version_ = *version;
  state_ = State::kEvent;
  return absl::OkStatus();
}

absl::Status TextParser::ParseEventLine(absl::string_view line, Sink sink) {
  const absl::string_view name = TakeToken(&line);
  const EventSpec* spec = FindEventSpec(name);
  if (spec == nullptr) return Unexpected("expected the name of an event", name);
  if (!VersionHas(version_, *spec)) {
    return Unexpected(absl::StrCat("expected an event that a trace of version 1.",
                                   static_cast<uint32_t>(version_), " may have"),
                      name);
  }
  event_.type = spec->type;
  event_.args.clear();
  event_.data = absl::string_view();
  event_.auto_size = false;
  if (absl::Status status = ParseArgs(line, spec->args()); !status.ok()) return status;
  if (spec->form == EventForm::kStack) {
    frames_left_ = event_.args[1];
    if (frames_left_ > kMaxFramesPerStack) {
      return absl::InvalidArgumentError(absl::StrCat("expected at most ", kMaxFramesPerStack,
                                                     " frames, found nframes=", frames_left_));
    }
    if (frames_left_ > 0) state_ = State::kFrame;
  }
  if (spec->form == EventForm::kData) state_ = State::kData;
  if (state_ == State::kEvent) sink(event_);
  return absl::OkStatus();
}

absl::Status TextParser::ParseFrameLine(absl::string_view line, Sink sink) {
  if (absl::Status status = ParseArgs(line, kFrameFields); !status.ok()) return status;
  if (--frames_left_ == 0) {
    state_ = State::kEvent;
    sink(event_);
  }
  return absl::OkStatus();
}

absl::Status TextParser::ParseDataLine(absl::string_view line, Sink sink) {
  state_ = State::kEvent;
  const size_t equals = line.find('=');
  const bool has_data = equals != absl::string_view::npos && Trim(line.substr(0, equals)) == "data";
  std::string data;
  if (has_data && !AppendUnquoted(Trim(line.substr(equals + 1)), &data)) {
    return Unexpected("expected data= and a Go string", line);
  }
  event_.data = data;
  sink(event_);
  event_.data = absl::string_view();
  return has_data ? absl::OkStatus() : ParseEventLine(line, sink);
}

absl::Status TextParser::ParseArgs(absl::string_view line, absl::Span<const char* const> names) {
  for (const absl::string_view name : names) {
    const absl::string_view token = TakeToken(&line);
    const size_t equals = token.find('=');
    if (equals == absl::string_view::npos || token.substr(0, equals) != name) {
      return Unexpected(absl::StrCat("expected argument ", name, "=NUMBER"), token);
    }
    const absl::string_view digits = token.substr(equals + 1);
    uint64_t value = 0;
    if (event_.type == EventType::kEventBatch && name == "size" && digits == "auto") {
      event_.auto_size = true;
    } else if (!ParseUint(digits, &value)) {
      return Unexpected(absl::StrCat("expected argument ", name, "=NUMBER"), token);
    }
    event_.args.push_back(value);
  }
  if (!IsBlank(line)) return Unexpected("expected the end of the line", Trim(line));
  return absl::OkStatus();
}

absl::Status TextAssembler::AddLine(absl::string_view line) {
  ++line_number_;
  const auto write = [&](const RawEvent& event) { Write(event); };
  if (absl::Status status = parser_.ParseLine(line, write); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("line ", line_number_, ": ", status.message()));
  }
  if (!writer_.has_value() && has_version()) writer_.emplace(parser_.version(), form_, &bytes_);
  return absl::OkStatus();
}

absl::Status TextAssembler::Finish() {
  const auto write = [&](const RawEvent& event) { Write(event); };
  if (absl::Status status = parser_.Finish(write); !status.ok()) return status;
  EndBatch();
  writer_->Finish();
  return absl::OkStatus();
}

void TextAssembler::Write(const RawEvent& event) {
  if (EndsBatch(event.type)) EndBatch();
  writer_->Write(event);
  ++event_count_;
  if (event.type != EventType::kEventBatch || event.auto_size) return;
  batch_ = {line_number_, event.args.back(), 0};
  payload_begin_ = size();
}

void TextAssembler::EndBatch() {
  if (!batch_.has_value()) return;
  batch_->found = size() - payload_begin_;
  if (batch_->found != batch_->stated && wrong_sizes_++ == 0) first_wrong_size_ = batch_;
  batch_.reset();
}

absl::StatusOr<std::string> AssembleText(absl::string_view text, BatchSizeForm form) {
  std::string bytes;
  TextAssembler assembler(form, &bytes);
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    absl::ConsumeSuffix(&line, "\r");
    if (absl::Status status = assembler.AddLine(line); !status.ok()) return status;
  }
  if (absl::Status status = assembler.Finish(); !status.ok()) return status;
  return bytes;
}

}  // namespace gotrace::internal
