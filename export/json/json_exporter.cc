#include "gotrace/json_exporter.h"

#include "export/json/json.h"
#include "export/text_sink.h"

namespace gotrace {

struct JsonExporter::State {
  State(ByteSink* out, const JsonOptions& options)
      : sink(out), formatter(options.stacks, options.times, options.file) {}

  internal::TextSink sink;
  internal::JsonFormatter formatter;
};

JsonExporter::JsonExporter(ByteSink* out, const JsonOptions& options)
    : state_(std::make_unique<State>(out, options)) {}

JsonExporter::~JsonExporter() = default;

void JsonExporter::Add(absl::Span<const Event> events) {
  for (const Event& event : events) {
    state_->formatter.Append(event, &state_->sink.buffer());
    state_->sink.MaybeFlush();
  }
}

bool JsonExporter::WantsMore() const { return state_->sink.status().ok(); }

absl::Status JsonExporter::Finish() {
  state_->sink.Flush();
  return state_->sink.status();
}

}  // namespace gotrace
