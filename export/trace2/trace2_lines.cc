#include "export/trace2/trace2_lines.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
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

// The maximum number of dots that show the nesting. More could make the output much longer than the
// trace.
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

// --- The forms of each type of event.

// A template of a text. % and a letter stand for a member of the event, as AppendMember() writes
// it. A part in braces is left out if the first member in it is empty or 0.
using Template = absl::string_view;

// The form has no events of this type.
constexpr Template kNone;

// How the events of a type are written.
struct Row {
  Trace2Type type;
  absl::string_view name;
  Template normal;
  // The text of the perf form after the columns, and the times in the columns.
  Template perf;
  bool shows_since_start = false;
  bool shows_elapsed = false;
  // The members of the event form after the common ones.
  Template members;
  // Whether the event form leaves out events that are nested too deeply.
  bool has_nesting = false;
  // The text before the category in the perf form.
  absl::string_view category_prefix = "";
};

constexpr bool kSinceStart = true;
constexpr bool kElapsed = true;
constexpr bool kNested = true;

constexpr Template kTimerText = " intervals:%k total:%S min:%m max:%M";
constexpr Template kTimerMembers =
    R"("category":%c,"name":%n,"intervals":%k,"t_total":%S,"t_min":%m,"t_max":%M)";
constexpr Template kCounterMembers = R"("category":%c,"name":%n,"count":%v)";

// In the order of Trace2Type. The normal form has no threads, so it has no timers and counters of
// single threads either.
// clang-format off
constexpr Row kRows[] = {
    {Trace2Type::kVersion, "version",
     "version %n", "%n", false, false, R"("evt":"4","exe":%n)"},
    {Trace2Type::kTooManyFiles, "too_many_files",
     kNone, kNone, false, false, ""},
    {Trace2Type::kStart, "start",
     "start %a", "%a", kSinceStart, false, R"("t_abs":%s,"argv":%a)"},
    {Trace2Type::kExit, "exit",
     "exit elapsed:%s code:%x", "code:%x", kSinceStart, false, R"("t_abs":%s,"code":%x)"},
    {Trace2Type::kAtExit, "atexit",
     "atexit elapsed:%s code:%x", "code:%x", kSinceStart, false, R"("t_abs":%s,"code":%x)"},
    {Trace2Type::kSignal, "signal",
     "signal elapsed:%s code:%x", "signo:%x", kSinceStart, false, R"("t_abs":%s,"signo":%x)"},
    {Trace2Type::kError, "error",
     "error %t", "%t", false, false, R"("msg":%t,"fmt":%n)"},
    {Trace2Type::kCommandPath, "cmd_path",
     "cmd_path %n", "%n", false, false, R"("path":%n)"},
    {Trace2Type::kCommandAncestry, "cmd_ancestry",
     "cmd_ancestry %w", "ancestry:[%b]", false, false, R"("ancestry":%a)"},
    {Trace2Type::kCommandName, "cmd_name",
     "cmd_name %n (%t)", "%n (%t)", false, false, R"("name":%n,"hierarchy":%t)"},
    {Trace2Type::kCommandMode, "cmd_mode",
     "cmd_mode %n", "%n", false, false, R"("name":%n)"},
    {Trace2Type::kAlias, "alias",
     "alias %n -> %a", "alias:%n argv:[%a]", false, false, R"("alias":%n,"argv":%a)"},
    {Trace2Type::kChildStart, "child_start",
     "child_start[%i] {cd %d; }%a", "[ch%i] class:%n{ hook:%t}{ cd:%d} argv:[%a]",
     kSinceStart, false,
     R"("child_id":%i,"child_class":%n{,"hook_name":%t}{,"cd":%d},"use_shell":%u,"argv":%a)"},
    {Trace2Type::kChildExit, "child_exit",
     "child_exit[%i] pid:%p code:%x elapsed:%e", "[ch%i] pid:%p code:%x", kSinceStart, kElapsed,
     R"("child_id":%i,"pid":%p,"code":%x,"t_rel":%e)"},
    {Trace2Type::kChildReady, "child_ready",
     "child_ready[%i] pid:%p ready:%t elapsed:%e", "[ch%i] pid:%p ready:%t", kSinceStart, kElapsed,
     R"("child_id":%i,"pid":%p,"ready":%t,"t_rel":%e)"},
    {Trace2Type::kExec, "exec",
     "exec[%i] {%n }%a", "id:%i argv:[{%n }%a]", kSinceStart, false,
     R"("exec_id":%i{,"exe":%n},"argv":%a)"},
    {Trace2Type::kExecResult, "exec_result",
     "exec_result[%i] code:%x{ err:%E}", "id:%i code:%x{ err:%E}", kSinceStart, false,
     R"("exec_id":%i,"code":%x)"},
    {Trace2Type::kParameter, "def_param",
     "def_param scope:%c %n=%t", "%n:%t", false, false, R"("scope":%c,"param":%n,"value":%t)",
     false, "scope:"},
    {Trace2Type::kRepository, "def_repo",
     "worktree %q", "worktree:%q", false, false, R"("worktree":%n)"},
    {Trace2Type::kThreadStart, "thread_start",
     kNone, "", kSinceStart, false, ""},
    {Trace2Type::kThreadExit, "thread_exit",
     kNone, "", kSinceStart, kElapsed, R"("t_rel":%e)"},
    {Trace2Type::kRegionEnter, "region_enter",
     kNone, "label:%n{ %t}", kSinceStart, false,
     R"("nesting":%l,"category":%c,"label":%n{,"msg":%t})", kNested},
    {Trace2Type::kRegionLeave, "region_leave",
     kNone, "label:%n{ %t}", kSinceStart, kElapsed,
     R"("t_rel":%e,"nesting":%l,"category":%c,"label":%n{,"msg":%t})", kNested},
    {Trace2Type::kData, "data",
     kNone, "%n:%t", kSinceStart, kElapsed,
     R"("t_abs":%s,"t_rel":%e,"nesting":%l,"category":%c,"key":%n,"value":%t)", kNested},
    {Trace2Type::kDataJson, "data_json",
     kNone, "%n:%j", kSinceStart, kElapsed,
     R"("t_abs":%s,"t_rel":%e,"nesting":%l,"category":%c,"key":%n,"value":%j)", kNested},
    {Trace2Type::kMessage, "printf",
     "%t", "%t", kSinceStart, false, R"("t_abs":%s,"msg":%t)"},
    {Trace2Type::kThreadTimer, "th_timer",
     kNone, "name:%n%T", false, false, kTimerMembers},
    {Trace2Type::kTimer, "timer",
     "timer %c/%n%T", "name:%n%T", false, false, kTimerMembers},
    {Trace2Type::kThreadCounter, "th_counter",
     kNone, "name:%n value:%v", false, false, kCounterMembers},
    {Trace2Type::kCounter, "counter",
     "counter %c/%n value:%v", "name:%n value:%v", false, false, kCounterMembers},
};
// clang-format on

constexpr const Row& RowOf(Trace2Type type) { return kRows[static_cast<size_t>(type)]; }

constexpr bool RowsAreInOrder() {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (kRows[i].type != static_cast<Trace2Type>(i)) return false;
  }
  return std::size(kRows) == static_cast<size_t>(Trace2Type::kCounter) + 1;
}
static_assert(RowsAreInOrder());

void Expand(Template form, const Trace2Event& event, bool is_json, TextBuffer* out);

void AppendString(absl::string_view text, bool is_json, TextBuffer* out) {
  is_json ? AppendJsonString(text, out) : AppendText(text, out);
}

// Appends texts, `separator` between them.
template <class AppendOne>
void AppendEach(absl::Span<const absl::string_view> texts, absl::string_view separator,
                TextBuffer* out, AppendOne append_one) {
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out->Append(separator);
    append_one(texts[i], out);
  }
}

// Appends the member of `event` that `letter` stands for. In JSON, strings are quoted, and several
// strings are an array; in a text, arguments and paths are quoted for a shell where it is needed.
void AppendMember(char letter, const Trace2Event& event, bool is_json, TextBuffer* out) {
  switch (letter) {
    case 'c':
      return AppendString(event.category, is_json, out);
    case 'n':
      return AppendString(event.name, is_json, out);
    case 't':
      return AppendString(event.text, is_json, out);
    case 'j':  // `text`, which is JSON. A line break is the same as a blank there.
      return AppendText(event.text, out);
    case 'q':  // `name`, which is a path.
      return AppendArgument(event.name, out);
    case 'd':
      return is_json ? AppendJsonString(event.directory, out)
                     : AppendArgument(event.directory, out);
    case 'a':
      if (!is_json) return AppendEach(event.arguments, " ", out, AppendArgument);
      out->Append('[');
      AppendEach(event.arguments, ",", out, AppendJsonString);
      return out->Append(']');
    case 'b':  // `arguments`, which are names.
      return AppendEach(event.arguments, " ", out, AppendText);
    case 'w':  // The same.
      return AppendEach(event.arguments, " <- ", out, AppendText);
    case 's':
      return AppendSeconds(event.since_start, out);
    case 'e':
      return AppendSeconds(event.elapsed, out);
    case 'l':
      return out->Append(event.nesting);
    case 'i':
      return out->Append(event.id);
    case 'p':
      return out->Append(event.process);
    case 'x':
      return out->Append(event.code);
    case 'E':  // The message for `code`, an errno.
      return AppendText(std::generic_category().message(static_cast<int>(event.code)), out);
    case 'u':
      return out->Append(event.uses_shell ? "true" : "false");
    case 'v':
      return out->Append(event.count);
    case 'T':
      return Expand(kTimerText, event, is_json, out);
    case 'k':
      return out->Append(event.timer.intervals);
    case 'S':
      return AppendSeconds(event.timer.total, out);
    case 'm':
      return AppendSeconds(event.timer.min, out);
    case 'M':
      return AppendSeconds(event.timer.max, out);
    default:
      return;
  }
}

// Returns whether the part in braces that begins with the member is left out.
bool IsEmpty(char letter, const Trace2Event& event) {
  switch (letter) {
    case 'n':
      return event.name.empty();
    case 't':
      return event.text.empty();
    case 'd':
      return event.directory.empty();
    case 'E':
      return event.code <= 0;
    default:
      return false;
  }
}

void Expand(Template form, const Trace2Event& event, bool is_json, TextBuffer* out) {
  for (size_t begin = 0; begin < form.size();) {
    size_t end = begin;
    while (end < form.size() && form[end] != '%' && form[end] != '{' && form[end] != '}') ++end;
    out->Append(form.substr(begin, end - begin));
    if (end == form.size()) return;
    if (form[end] == '%') {
      AppendMember(form[end + 1], event, is_json, out);
      begin = end + 2;
      continue;
    }
    begin = end + 1;
    if (form[end] == '{' && IsEmpty(form[form.find('%', end) + 1], event)) {
      begin = form.find('}', end) + 1;
    }
  }
}

}  // namespace
}  // namespace gotrace::internal

namespace gotrace {

absl::string_view Trace2TypeName(Trace2Type type) { return internal::RowOf(type).name; }

void Trace2Timer::Add(uint64_t duration) {
  ++intervals;
  total += duration;
  min = std::min(min, duration);
  max = std::max(max, duration);
}

void Trace2Target::WriteInSignalHandler(const Trace2Event&) {}

namespace internal {

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
      // Only the end of a long place is shown.
      uint64_t size = event.file.size() + 2;
      for (uint64_t rest = event.line; rest >= 10; rest /= 10) ++size;
      absl::string_view file = event.file;
      if (size > kPlaceWidth) {
        out->Append("...");
        file.remove_prefix(std::min(file.size(), size - (kPlaceWidth - 3)));
        while (!file.empty() && (file[0] & 0xc0) == 0x80) file.remove_prefix(1);
      }
      AppendText(file, out);
      out->Append(':', event.line);
    }
    Pad(begin, kPlaceWidth, out);
    out->Append(kBar);
  }
  // How many programs called this one.
  const auto depth = std::count(event.session_id.begin(), event.session_id.end(), '/');
  out->Append('d', static_cast<uint64_t>(depth), kBar);
  AppendColumn(event.thread, kThreadWidth, out);
  AppendColumn(row.name, kTypeWidth, out);
  const size_t repository = out->size();
  if (event.repository != 0) out->Append('r', event.repository);
  Pad(repository, kRepositoryWidth, out);
  out->Append(kBar);
  AppendSecondsColumn(row.shows_since_start, event.since_start, out);
  AppendSecondsColumn(row.shows_elapsed, event.elapsed, out);
  AppendColumn(event.category, kCategoryWidth, out, row.category_prefix);
  AppendRepeated('.', std::min(2 * (event.nesting - 1), kMaxDots), out);
}

void Trace2Formatter::AppendCommonMembers(const Trace2Event& event, JsonWriter* json) {
  json->Member("event", RowOf(event.type).name);
  json->Member("sid", event.session_id);
  json->Member("thread", event.thread);
  // As in git, the first and the last event always have a time.
  if (!style_.brief || event.type == Trace2Type::kVersion || event.type == Trace2Type::kAtExit) {
    json->Members("\"time\":\"");
    AppendTime(event.time, &json->out());
    json->out().Append("Z\"");
  }
  if (!style_.brief && !event.file.empty()) {
    json->Member("file", event.file);
    json->Member("line", event.line);
  }
  if (event.repository != 0) json->Member("repo", event.repository);
}

void Trace2Formatter::Append(const Trace2Event& event, TextBuffer* out) {
  const Row& row = RowOf(event.type);
  switch (style_.form) {
    case Trace2Form::kNormal: {
      if (row.normal.data() == nullptr) return;
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
      Expand(row.normal, event, /*is_json=*/false, out);
      break;
    }
    case Trace2Form::kPerf:
      if (row.perf.data() == nullptr) return;
      AppendPerfColumns(event, out);
      Expand(row.perf, event, /*is_json=*/false, out);
      break;
    case Trace2Form::kEvent: {
      if (row.has_nesting && style_.nesting != 0 && event.nesting > style_.nesting) return;
      JsonWriter json(out);
      json.BeginObject();
      AppendCommonMembers(event, &json);
      if (!row.members.empty()) out->Append(',');
      Expand(row.members, event, /*is_json=*/true, out);
      json.EndObject();
      break;
    }
  }
  out->Append('\n');
}

}  // namespace internal
}  // namespace gotrace
