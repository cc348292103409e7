#include "export/trace2/trace2_lines.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "util/cut_text.h"

namespace gotrace::internal {
namespace {

// The widths of git's columns, in bytes.
constexpr size_t kNormalWidth = 50;
constexpr size_t kPlaceWidth = 28;
constexpr size_t kThreadWidth = 24;
constexpr size_t kTypeWidth = 12;
constexpr size_t kRepositoryWidth = 3;
constexpr size_t kSecondsWidth = 9;
constexpr size_t kCategoryWidth = 12;

constexpr absl::string_view kBar = " | ";

// The most dots that show the nesting. More could make the output much longer than the trace.
constexpr uint64_t kMaxDots = 200;

void AppendRepeated(char c, uint64_t count, TextBuffer* out) {
  for (uint64_t i = 0; i < count; ++i) out->Append(c);
}

// Fills a column that began where the text had `begin` bytes.
void Pad(size_t begin, size_t width, TextBuffer* out) {
  const size_t end = begin + width;
  if (out->size() < end) AppendRepeated(' ', end - out->size(), out);
}

// Appends a text of a trace, in which line breaks and other control characters become blanks: a
// line is one event.
void AppendText(absl::string_view text, TextBuffer* out) {
  while (!text.empty()) {
    const auto control = std::find_if(text.begin(), text.end(),
                                      [](unsigned char c) { return absl::ascii_iscntrl(c); });
    const size_t plain = control - text.begin();
    out->Append(text.substr(0, plain));
    if (plain == text.size()) return;
    out->Append(' ');
    text.remove_prefix(plain + 1);
  }
}

// Appends a column, and the bar that ends it. A text that is too long is cut between characters.
void AppendColumn(absl::string_view text, size_t width, TextBuffer* out,
                  absl::string_view prefix = "") {
  const size_t begin = out->size();
  out->Append(prefix);
  for (const char c : WholePrefix(text, width - prefix.size())) {
    out->Append(c == '|' || absl::ascii_iscntrl(static_cast<unsigned char>(c)) ? ' ' : c);
  }
  Pad(begin, width, out);
  out->Append(kBar);
}

// Appends an argument, quoted for a shell where that is necessary.
void AppendArgument(absl::string_view argument, TextBuffer* out) {
  const auto is_plain = [](unsigned char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("+,-./:=@_^", static_cast<char>(c));
  };
  if (!argument.empty() && std::all_of(argument.begin(), argument.end(), is_plain)) {
    return out->Append(argument);
  }
  out->Append('\'');
  for (const char c : argument) {
    if (c == '\'' || c == '!') {
      out->Append("'\\", c, '\'');
    } else {
      AppendText(absl::string_view(&c, 1), out);
    }
  }
  out->Append('\'');
}

// Appends a fraction of a second, as ".000042".
void AppendFraction(uint64_t us, TextBuffer* out) {
  char digits[6];
  for (char* digit = std::end(digits); digit != digits; us /= 10) {
    *--digit = static_cast<char>('0' + us % 10);
  }
  out->Append('.', absl::string_view(digits, std::size(digits)));
}

// A text of the second in which a time lies.
using SecondText = ShortText<24>;

// Writes `number`, which must not be larger, in two digits.
struct TwoDigits {
  explicit TwoDigits(int number)
      : text{static_cast<char>('0' + number / 10 % 10), static_cast<char>('0' + number % 10)} {}
  operator absl::string_view() const { return absl::string_view(text, 2); }
  char text[2];
};

SecondText ClockText(const absl::CivilSecond& second, absl::string_view date = "") {
  return {date, TwoDigits(second.hour()),  ":", TwoDigits(second.minute()),
          ":",  TwoDigits(second.second())};
}

// "17:04:59"
SecondText TimeText(absl::Time time, absl::TimeZone zone) {
  return ClockText(absl::ToCivilSecond(time, zone));
}

// "2006-01-02T17:04:59", in UTC. The year must have four digits.
SecondText DateAndTimeText(absl::Time time) {
  const absl::CivilSecond second = absl::ToCivilSecond(time, absl::UTCTimeZone());
  const int year = static_cast<int>(second.year());
  const SecondText date = {TwoDigits(year / 100),
                           TwoDigits(year),
                           "-",
                           TwoDigits(second.month()),
                           "-",
                           TwoDigits(second.day()),
                           "T"};
  return ClockText(second, date.view());
}

// Appends a duration in seconds, to the microsecond.
void AppendSeconds(uint64_t ns, TextBuffer* out) {
  out->Append(ns / 1'000'000'000);
  AppendFraction(ns % 1'000'000'000 / 1000, out);
}

void AppendSecondsColumn(bool shows, uint64_t ns, TextBuffer* out) {
  if (shows) {
    uint64_t digits = 1;
    for (uint64_t seconds = ns / 1'000'000'000; seconds >= 10; seconds /= 10) ++digits;
    constexpr uint64_t kMaxDigits = kSecondsWidth - 7;
    if (digits < kMaxDigits) AppendRepeated(' ', kMaxDigits - digits, out);
    AppendSeconds(ns, out);
  } else {
    AppendRepeated(' ', kSecondsWidth, out);
  }
  out->Append(kBar);
}

// --- Texts of the normal and the perf form.

void AppendNothing(const Trace2Event&, TextBuffer*) {}

void AppendName(const Trace2Event& event, TextBuffer* out) { AppendText(event.name, out); }

void AppendNormalVersion(const Trace2Event& event, TextBuffer* out) {
  out->Append("version ");
  AppendName(event, out);
}

void AppendArguments(const Trace2Event& event, TextBuffer* out) {
  for (size_t i = 0; i < event.arguments.size(); ++i) {
    if (i > 0) out->Append(' ');
    AppendArgument(event.arguments[i], out);
  }
}

void AppendNormalStart(const Trace2Event& event, TextBuffer* out) {
  out->Append("start ");
  AppendArguments(event, out);
}

void AppendCode(const Trace2Event& event, TextBuffer* out) { out->Append("code:", event.code); }

void AppendElapsedCode(const Trace2Event& event, TextBuffer* out) {
  out->Append(" elapsed:");
  AppendSeconds(event.since_start, out);
  out->Append(' ');
  AppendCode(event, out);
}

void AppendNormalExit(const Trace2Event& event, TextBuffer* out) {
  out->Append("exit");
  AppendElapsedCode(event, out);
}

void AppendNormalAtExit(const Trace2Event& event, TextBuffer* out) {
  out->Append("atexit");
  AppendElapsedCode(event, out);
}

void AppendNormalSignal(const Trace2Event& event, TextBuffer* out) {
  out->Append("signal");
  AppendElapsedCode(event, out);
}

void AppendPerfSignal(const Trace2Event& event, TextBuffer* out) {
  out->Append("signo:", event.code);
}

void AppendMessage(const Trace2Event& event, TextBuffer* out) { AppendText(event.text, out); }

void AppendNormalError(const Trace2Event& event, TextBuffer* out) {
  out->Append("error ");
  AppendMessage(event, out);
}

void AppendCommandName(const Trace2Event& event, TextBuffer* out) {
  AppendName(event, out);
  out->Append(" (");
  AppendText(event.text, out);
  out->Append(')');
}

void AppendNormalCommandName(const Trace2Event& event, TextBuffer* out) {
  out->Append("cmd_name ");
  AppendCommandName(event, out);
}

void AppendNormalCommandMode(const Trace2Event& event, TextBuffer* out) {
  out->Append("cmd_mode ");
  AppendName(event, out);
}

void AppendNormalParameter(const Trace2Event& event, TextBuffer* out) {
  out->Append("def_param scope:");
  AppendText(event.category, out);
  out->Append(' ');
  AppendName(event, out);
  out->Append('=');
  AppendText(event.text, out);
}

void AppendNormalChildStart(const Trace2Event& event, TextBuffer* out) {
  out->Append("child_start[", event.id, "] ");
  AppendArguments(event, out);
}

void AppendPerfChildStart(const Trace2Event& event, TextBuffer* out) {
  out->Append("[ch", event.id, "] class:");
  AppendName(event, out);
  out->Append(" argv:[");
  AppendArguments(event, out);
  out->Append(']');
}

void AppendNormalChildExit(const Trace2Event& event, TextBuffer* out) {
  out->Append("child_exit[", event.id, "] pid:0 ");
  AppendCode(event, out);
  out->Append(" elapsed:");
  AppendSeconds(event.elapsed, out);
}

void AppendPerfChildExit(const Trace2Event& event, TextBuffer* out) {
  out->Append("[ch", event.id, "] pid:0 ");
  AppendCode(event, out);
}

void AppendRegion(const Trace2Event& event, TextBuffer* out) {
  out->Append("label:");
  AppendName(event, out);
  if (event.text.empty()) return;
  out->Append(' ');
  AppendText(event.text, out);
}

void AppendData(const Trace2Event& event, TextBuffer* out) {
  AppendName(event, out);
  out->Append(':');
  AppendText(event.text, out);
}

void AppendTimerTexts(const Trace2Timer& timer, TextBuffer* out) {
  out->Append(" intervals:", timer.intervals, " total:");
  AppendSeconds(timer.total, out);
  out->Append(" min:");
  AppendSeconds(timer.min, out);
  out->Append(" max:");
  AppendSeconds(timer.max, out);
}

void AppendPerfTimer(const Trace2Event& event, TextBuffer* out) {
  out->Append("name:");
  AppendName(event, out);
  AppendTimerTexts(event.timer, out);
}

void AppendNormalTimer(const Trace2Event& event, TextBuffer* out) {
  out->Append("timer ");
  AppendText(event.category, out);
  out->Append('/');
  AppendName(event, out);
  AppendTimerTexts(event.timer, out);
}

void AppendPerfCounter(const Trace2Event& event, TextBuffer* out) {
  out->Append("name:");
  AppendName(event, out);
  out->Append(" value:", event.count);
}

void AppendNormalCounter(const Trace2Event& event, TextBuffer* out) {
  out->Append("counter ");
  AppendText(event.category, out);
  out->Append('/');
  AppendName(event, out);
  out->Append(" value:", event.count);
}

// --- Members of the event form.

void AddSeconds(absl::string_view key, uint64_t ns, JsonWriter* json) {
  json->Members('"', key, "\":");
  AppendSeconds(ns, &json->out());
}

void AddVersion(const Trace2Event& event, JsonWriter* json) {
  json->Member("evt", "4");
  json->Member("exe", event.name);
}

void AddArguments(const Trace2Event& event, JsonWriter* json) {
  json->Key("argv");
  json->BeginArray();
  for (const absl::string_view argument : event.arguments) json->Value(argument);
  json->EndArray();
}

void AddStart(const Trace2Event& event, JsonWriter* json) {
  AddSeconds("t_abs", event.since_start, json);
  AddArguments(event, json);
}

void AddExit(const Trace2Event& event, JsonWriter* json) {
  AddSeconds("t_abs", event.since_start, json);
  json->Member("code", event.code);
}

void AddSignal(const Trace2Event& event, JsonWriter* json) {
  AddSeconds("t_abs", event.since_start, json);
  json->Member("signo", event.code);
}

void AddError(const Trace2Event& event, JsonWriter* json) {
  json->Member("msg", event.text);
  json->Member("fmt", event.name);
}

void AddCommandName(const Trace2Event& event, JsonWriter* json) {
  json->Member("name", event.name);
  json->Member("hierarchy", event.text);
}

void AddCommandMode(const Trace2Event& event, JsonWriter* json) {
  json->Member("name", event.name);
}

void AddParameter(const Trace2Event& event, JsonWriter* json) {
  json->Member("scope", event.category);
  json->Member("param", event.name);
  json->Member("value", event.text);
}

void AddChildStart(const Trace2Event& event, JsonWriter* json) {
  json->Member("child_id", event.id);
  json->Member("child_class", event.name);
  json->Members("\"use_shell\":false");
  AddArguments(event, json);
}

void AddElapsed(const Trace2Event& event, JsonWriter* json) {
  AddSeconds("t_rel", event.elapsed, json);
}

void AddChildExit(const Trace2Event& event, JsonWriter* json) {
  json->Member("child_id", event.id);
  json->Members("\"pid\":0");
  json->Member("code", event.code);
  AddElapsed(event, json);
}

void AddNothing(const Trace2Event&, JsonWriter*) {}

void AddRegion(const Trace2Event& event, JsonWriter* json) {
  json->Member("nesting", event.nesting);
  json->Member("category", event.category);
  json->Member("label", event.name);
  if (!event.text.empty()) json->Member("msg", event.text);
}

void AddRegionLeave(const Trace2Event& event, JsonWriter* json) {
  AddElapsed(event, json);
  AddRegion(event, json);
}

void AddData(const Trace2Event& event, JsonWriter* json) {
  AddSeconds("t_abs", event.since_start, json);
  AddElapsed(event, json);
  json->Member("nesting", event.nesting);
  json->Member("category", event.category);
  json->Member("key", event.name);
  json->Member("value", event.text);
}

void AddTimer(const Trace2Event& event, JsonWriter* json) {
  json->Member("category", event.category);
  json->Member("name", event.name);
  json->Member("intervals", event.timer.intervals);
  AddSeconds("t_total", event.timer.total, json);
  AddSeconds("t_min", event.timer.min, json);
  AddSeconds("t_max", event.timer.max, json);
}

void AddCounter(const Trace2Event& event, JsonWriter* json) {
  json->Member("category", event.category);
  json->Member("name", event.name);
  json->Member("count", event.count);
}

// How the events of a type are written.
struct Row {
  Trace2Type type;
  absl::string_view name;
  // Appends the whole text of the normal form; nullptr if it has no such events.
  void (*append_normal)(const Trace2Event& event, TextBuffer* out);
  // Which times the perf form shows, and its text after the columns; nullptr if it has no such
  // events.
  bool shows_since_start;
  bool shows_elapsed;
  void (*append_perf)(const Trace2Event& event, TextBuffer* out);
  // Appends the members of the event form after those that all events have, and whether events
  // that are nested too deeply are left out.
  void (*add_members)(const Trace2Event& event, JsonWriter* json);
  bool has_nesting = false;
  // What precedes the category in the perf form.
  absl::string_view category_prefix = "";
};

// The normal form has no threads, so it has no timers and counters of single threads either.
constexpr Row kRows[] = {
    {Trace2Type::kVersion, "version", AppendNormalVersion, false, false, AppendName, AddVersion},
    {Trace2Type::kTooManyFiles, "too_many_files", nullptr, false, false, nullptr, AddNothing},
    {Trace2Type::kStart, "start", AppendNormalStart, true, false, AppendArguments, AddStart},
    {Trace2Type::kExit, "exit", AppendNormalExit, true, false, AppendCode, AddExit},
    {Trace2Type::kAtExit, "atexit", AppendNormalAtExit, true, false, AppendCode, AddExit},
    {Trace2Type::kSignal, "signal", AppendNormalSignal, true, false, AppendPerfSignal, AddSignal},
    {Trace2Type::kError, "error", AppendNormalError, false, false, AppendMessage, AddError},
    {Trace2Type::kCommandName, "cmd_name", AppendNormalCommandName, false, false, AppendCommandName,
     AddCommandName},
    {Trace2Type::kCommandMode, "cmd_mode", AppendNormalCommandMode, false, false, AppendName,
     AddCommandMode},
    {Trace2Type::kParameter, "def_param", AppendNormalParameter, false, false, AppendData,
     AddParameter, false, "scope:"},
    {Trace2Type::kChildStart, "child_start", AppendNormalChildStart, true, false,
     AppendPerfChildStart, AddChildStart},
    {Trace2Type::kChildExit, "child_exit", AppendNormalChildExit, true, true, AppendPerfChildExit,
     AddChildExit},
    {Trace2Type::kThreadStart, "thread_start", nullptr, true, false, AppendNothing, AddNothing},
    {Trace2Type::kThreadExit, "thread_exit", nullptr, true, true, AppendNothing, AddElapsed},
    {Trace2Type::kRegionEnter, "region_enter", nullptr, true, false, AppendRegion, AddRegion, true},
    {Trace2Type::kRegionLeave, "region_leave", nullptr, true, true, AppendRegion, AddRegionLeave,
     true},
    {Trace2Type::kData, "data", nullptr, true, true, AppendData, AddData, true},
    {Trace2Type::kThreadTimer, "th_timer", nullptr, false, false, AppendPerfTimer, AddTimer},
    {Trace2Type::kTimer, "timer", AppendNormalTimer, false, false, AppendPerfTimer, AddTimer},
    {Trace2Type::kThreadCounter, "th_counter", nullptr, false, false, AppendPerfCounter,
     AddCounter},
    {Trace2Type::kCounter, "counter", AppendNormalCounter, false, false, AppendPerfCounter,
     AddCounter},
};

constexpr const Row& RowOf(Trace2Type type) { return kRows[static_cast<size_t>(type)]; }

constexpr bool RowsAreInOrder() {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (kRows[i].type != static_cast<Trace2Type>(i)) return false;
  }
  return true;
}
static_assert(RowsAreInOrder());

}  // namespace

void Trace2Timer::Add(uint64_t duration) {
  ++intervals;
  total += duration;
  min = std::min(min, duration);
  max = std::max(max, duration);
}

Trace2Formatter::Trace2Formatter(Style style)
    : style_(std::move(style)),
      depth_(static_cast<uint64_t>(
          std::count(style_.session_id.begin(), style_.session_id.end(), '/'))) {}

void Trace2Formatter::AppendTime(absl::Time time, TextBuffer* out) {
  const int64_t us = absl::ToUnixMicros(time);
  const int64_t fraction = (us % 1'000'000 + 1'000'000) % 1'000'000;
  const int64_t second = (us - fraction) / 1'000'000;
  if (second != second_) {
    second_ = second;
    second_text_ = style_.form == Trace2Form::kEvent
                       ? DateAndTimeText(absl::FromUnixSeconds(second))
                       : TimeText(absl::FromUnixSeconds(second), style_.zone);
  }
  out->Append(second_text_);
  AppendFraction(static_cast<uint64_t>(fraction), out);
}

void Trace2Formatter::AppendPerfColumns(const Trace2Event& event, TextBuffer* out) {
  const Row& row = RowOf(event.type);
  if (!style_.brief) {
    AppendTime(event.time, out);
    out->Append(' ');
    const size_t begin = out->size();
    if (!event.file.empty()) {
      // Of a long place only the end is shown.
      const std::string place = absl::StrCat(event.file, ":", event.line);
      absl::string_view shown = place;
      if (place.size() > kPlaceWidth) {
        out->Append("...");
        shown.remove_prefix(place.size() - (kPlaceWidth - 3));
        while (!shown.empty() && (shown[0] & 0xc0) == 0x80) shown.remove_prefix(1);
      }
      AppendText(shown, out);
    }
    Pad(begin, kPlaceWidth, out);
    out->Append(kBar);
  }
  out->Append('d', depth_, kBar);
  AppendColumn(event.thread, kThreadWidth, out);
  AppendColumn(row.name, kTypeWidth, out);
  AppendColumn("", kRepositoryWidth, out);
  AppendSecondsColumn(row.shows_since_start, event.since_start, out);
  AppendSecondsColumn(row.shows_elapsed, event.elapsed, out);
  AppendColumn(event.category, kCategoryWidth, out, row.category_prefix);
  AppendRepeated('.', std::min(2 * (event.nesting - 1), kMaxDots), out);
}

void Trace2Formatter::AppendCommonMembers(const Trace2Event& event, JsonWriter* json) {
  json->Member("event", RowOf(event.type).name);
  json->Member("sid", style_.session_id);
  json->Member("thread", event.thread);
  // As in git, the first and the last event always have a time.
  if (!style_.brief || event.type == Trace2Type::kVersion || event.type == Trace2Type::kAtExit) {
    json->Members("\"time\":\"");
    AppendTime(event.time, &json->out());
    json->out().Append("Z\"");
  }
  if (style_.brief || event.file.empty()) return;
  json->Member("file", event.file);
  json->Member("line", event.line);
}

void Trace2Formatter::Append(const Trace2Event& event, TextBuffer* out) {
  const Row& row = RowOf(event.type);
  switch (style_.form) {
    case Trace2Form::kNormal: {
      if (row.append_normal == nullptr) return;
      const size_t begin = out->size();
      if (!style_.brief) {
        AppendTime(event.time, out);
        out->Append(' ');
        if (!event.file.empty()) {
          AppendText(event.file, out);
          out->Append(':', event.line, ' ');
        }
        Pad(begin, kNormalWidth, out);
      }
      row.append_normal(event, out);
      break;
    }
    case Trace2Form::kPerf:
      if (row.append_perf == nullptr) return;
      AppendPerfColumns(event, out);
      row.append_perf(event, out);
      break;
    case Trace2Form::kEvent: {
      if (row.has_nesting && style_.nesting != 0 && event.nesting > style_.nesting) return;
      JsonWriter json(out);
      json.BeginObject();
      AppendCommonMembers(event, &json);
      row.add_members(event, &json);
      json.EndObject();
      break;
    }
  }
  out->Append('\n');
}

}  // namespace gotrace::internal
