#include "export/chrome/event_writer.h"

#include "absl/strings/str_cat.h"
#include "export/json/json_text.h"

namespace gotrace::internal {
namespace {

// Appends nanoseconds as microseconds: 1500 as 1.5.
void AppendMicroseconds(int64_t nanoseconds, TextBuffer* out) {
  uint64_t magnitude = static_cast<uint64_t>(nanoseconds);
  if (nanoseconds < 0) {
    out->Append('-');
    magnitude = -magnitude;
  }
  out->Append(uint64_t{magnitude / 1000});
  uint64_t rest = magnitude % 1000;
  if (rest == 0) return;
  const char digits[] = {'.', static_cast<char>('0' + rest / 100),
                         static_cast<char>('0' + rest / 10 % 10),
                         static_cast<char>('0' + rest % 10)};
  size_t size = sizeof(digits);
  while (digits[size - 1] == '0') --size;
  out->Append(absl::string_view(digits, size));
}

}  // namespace

ChromeEventWriter::ChromeEventWriter(ByteSink* out) : out_(out) {
  out_.buffer().Append("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

void ChromeEventWriter::BeginTrace(absl::string_view process_name) {
  ++traces_;
  process_name_ = std::string(process_name);
  stacks_.BeginProgram();
}

void ChromeEventWriter::Write(const ChromeEvent& event) {
  const uint64_t first_pid = (traces_ - 1) * static_cast<uint64_t>(ChromeSection::kEnd);
  TextBuffer& out = out_.buffer();
  out.Append(is_first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"", event.phase,
             "\",\"pid\":", first_pid + static_cast<uint64_t>(event.section),
             ",\"tid\":", event.lane, ",\"ts\":");
  is_first_ = false;
  AppendMicroseconds(event.time, &out);
  if (event.duration != 0) {
    out.Append(",\"dur\":");
    AppendMicroseconds(event.duration, &out);
  }
  if (!event.name.empty()) {
    out.Append(",\"name\":");
    AppendJsonString(event.name, &out);
  }
  if (!event.category.empty()) out.Append(",\"cat\":\"", event.category, '"');
  if (!event.scope.empty()) out.Append(",\"s\":\"", event.scope, '"');
  if (event.id != 0) out.Append(",\"id\":", event.id);
  if (event.stack != 0) out.Append(",\"sf\":", uint64_t{event.stack});
  if (event.end_stack != 0) out.Append(",\"esf\":", uint64_t{event.end_stack});
  if (!event.color.empty()) out.Append(",\"cname\":\"", event.color, '"');
  if (!event.args.empty()) out.Append(",\"args\":{", event.args, '}');
  out.Append('}');
  stacks_.Use(event.stack);
  stacks_.Use(event.end_stack);
  out_.MaybeFlush();
}

void ChromeEventWriter::WriteName(absl::string_view what, const ChromeEvent& event,
                                  absl::string_view name) {
  args_.clear();
  args_.Append("\"name\":");
  AppendJsonString(name, &args_);
  ChromeEvent named = event;
  named.name = what;
  named.args = args_.view();
  Write(named);
}

void ChromeEventWriter::WritePlace(absl::string_view what, const ChromeEvent& event,
                                   int64_t place) {
  args_.clear();
  args_.Append("\"sort_index\":", place);
  ChromeEvent placed = event;
  placed.name = what;
  placed.args = args_.view();
  Write(placed);
}

void ChromeEventWriter::NameSection(ChromeSection section, absl::string_view name, int64_t place) {
  const ChromeEvent event = {.phase = 'M', .section = section};
  WriteName("process_name", event,
            process_name_.empty() ? std::string(name) : absl::StrCat(process_name_, ": ", name));
  const int64_t first_place =
      static_cast<int64_t>((traces_ - 1) * static_cast<uint64_t>(ChromeSection::kEnd));
  WritePlace("process_sort_index", event, first_place + place);
}

void ChromeEventWriter::NameLane(ChromeSection section, int64_t lane, absl::string_view name,
                                 int64_t place) {
  const ChromeEvent event = {.phase = 'M', .section = section, .lane = lane};
  WriteName("thread_name", event, name);
  WritePlace("thread_sort_index", event, place);
}

absl::Status ChromeEventWriter::Finish() {
  out_.buffer().Append("],\n\"stackFrames\":");
  stacks_.AppendJson(&out_.buffer());
  out_.buffer().Append("}\n");
  out_.Flush();
  return out_.status();
}

}  // namespace gotrace::internal
