#include "tools/cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "tools/cli/inner_command.h"

namespace gotrace::internal {
namespace {

constexpr absl::Duration kQuiet = absl::Seconds(1);
constexpr absl::Duration kBetween = absl::Milliseconds(200);

std::string Megabytes(uint64_t bytes) {
  return absl::StrFormat("%.1f MB", static_cast<double>(bytes) / 1e6);
}

// Returns whether the standard error is a terminal that can clear a line.
bool CanShow() {
  const char* const terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 &&
         (terminal == nullptr || absl::string_view(terminal) != "dumb");
}

// Returns the width of the terminal in columns, or 0 if it is not known.
size_t Columns() {
  winsize size = {};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

std::string FormatProgress(const ProgressCount& count, absl::Duration elapsed) {
  const double seconds = absl::ToDoubleSeconds(elapsed);
  std::string text;
  if (count.files > 1) text = absl::StrFormat("file %d of %d, ", count.file, count.files);
  absl::StrAppend(&text, Megabytes(count.bytes));
  const bool has_total = count.total > 0 && count.bytes <= count.total;
  if (has_total) {
    absl::StrAppendFormat(&text, " of %s (%d%%)", Megabytes(count.total),
                          static_cast<int>(100 * count.bytes / count.total));
  }
  if (count.events > 0) {
    absl::StrAppendFormat(&text, ", %d %s", count.events, count.events == 1 ? "event" : "events");
  }
  if (count.events > 0 && seconds > 0) {
    absl::StrAppendFormat(&text, ", %.1f M events/s",
                          static_cast<double>(count.events) / seconds / 1e6);
  }
  // All bytes are read before all events are processed; the rest of the time is not known.
  if (has_total && count.bytes > 0 && count.bytes < count.total) {
    const double done = static_cast<double>(count.bytes) / static_cast<double>(count.total);
    absl::StrAppendFormat(&text, ", %.0f s left", std::ceil(seconds / done - seconds));
  }
  return text;
}

Progress::Progress(bool prints_along)
    : enabled_(CanShow() && !(prints_along && isatty(STDOUT_FILENO) == 1) &&
               InnerCommand::Current() == nullptr),
      begin_(absl::Now()),
      last_shown_(begin_ + kQuiet) {}

Progress::~Progress() { Wipe(); }

void Progress::Show(const ProgressCount& count) {
  const absl::Time now = absl::Now();
  if (now < last_shown_ + (visible_ ? kBetween : absl::ZeroDuration())) return;
  last_shown_ = now;
  visible_ = true;
  std::string text = FormatProgress(count, now - begin_);
  // A line that wraps could not be removed. The last column stays free, since some terminals
  // continue on the next line after it.
  if (const size_t columns = Columns(); columns > 0 && text.size() >= columns) {
    text.resize(columns - 1);
  }
  absl::FPrintF(stderr, "\r\033[K%s", text);
  fflush(stderr);
}

void Progress::Wipe() {
  if (!visible_) return;
  visible_ = false;
  fputs("\r\033[K", stderr);
  fflush(stderr);
}

}  // namespace gotrace::internal
