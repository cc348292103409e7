#include "gotrace/text_exporter.h"

#include <string>

#include "export/text/go_text.h"
#include "export/text_sink.h"
#include "util/text_buffer.h"

namespace gotrace {

std::string FormatEvent(const Event& event, absl::TimeZone zone) {
  internal::TextBuffer text;
  internal::GoTextFormatter(zone).Append(event, &text);
  return std::string(text.view());
}

struct TextExporter::State {
  State(ByteSink* out, absl::TimeZone zone) : sink(out), formatter(zone) {}

  internal::TextSink sink;
  internal::GoTextFormatter formatter;
};

TextExporter::TextExporter(ByteSink* out, absl::TimeZone zone)
    : state_(std::make_unique<State>(out, zone)) {}

TextExporter::~TextExporter() = default;

void TextExporter::Add(absl::Span<const Event> events) {
  for (const Event& event : events) {
    state_->formatter.Append(event, &state_->sink.buffer());
    state_->sink.MaybeFlush();
  }
}

bool TextExporter::WantsMore() const { return state_->sink.status().ok(); }

absl::Status TextExporter::Finish() {
  state_->sink.Flush();
  return state_->sink.status();
}

}  // namespace gotrace
