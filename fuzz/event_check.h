// Checks the properties of every event that a Reader returns, whatever its input.
#ifndef GOTRACE_FUZZ_EVENT_CHECK_H_
#define GOTRACE_FUZZ_EVENT_CHECK_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "export/json/json.h"
#include "export/text/go_text.h"
#include "gotrace/byte_sink.h"
#include "gotrace/chrome_exporter.h"
#include "gotrace/event.h"
#include "gotrace/reader.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Whether to write events in every form, which takes most of the time.
enum class Forms { kNone, kAll };

// Checks the events of one Reader, in order: calls all of their accessors, and writes them in every
// form. Ends the program if anything is wrong.
class EventCheck {
 public:
  // `size` is that of the (decompressed) trace, in bytes.
  EventCheck(ReadMode mode, uint64_t size, Forms forms);

  // Checks the next event. `after_fault` says whether the Reader reported a fault before it.
  // Returns everything that the event's accessors return.
  std::string Take(const Event& event, bool after_fault);

  // Call it after the last event: checks what is written for all events together.
  void Finish();

  // Whether a generation began earlier than the one before ended, which may happen after a wrong
  // time.
  bool went_back() const { return went_back_; }

 private:
  void CheckTime(const Event& event, bool after_fault);
  void CheckChain(const Event& event);
  void WriteInEveryForm(const Event& event);
  void WriteAsJson(const Event& event, JsonFormatter* formatter);

  const ReadMode mode_;
  const uint64_t size_;
  const Forms forms_;
  uint64_t last_sync_ = 0;
  std::optional<int64_t> last_time_;
  bool went_back_ = false;
  // A goroutine or a P.
  struct Resource {
    int state = 0;         // A GoState or ProcState.
    ThreadId thread;       // The thread of the last event about it.
    bool is_torn = false;  // Whether two threads run it. Go's reader accepts statuses that say so.
  };
  std::map<std::pair<ResourceKind, int64_t>, Resource> resources_;
  GoTextFormatter go_text_;
  JsonFormatter json_{/*stacks=*/false};
  JsonFormatter json_with_stacks_{/*stacks=*/true};
  TextBuffer buffer_;
  // Chrome JSON in each of its views.
  struct ChromeView {
    std::string json;
    std::unique_ptr<ByteSink> out;
    std::unique_ptr<ChromeExporter> exporter;
  };
  std::array<ChromeView, 3> chrome_views_;
};

// The result of reading: descriptions of all events, and the status.
struct CheckedReading {
  std::vector<std::string> events;
  uint64_t syncs = 0;  // The number of kSync events.
  // Whether a generation is missing. Go's reader accepts that since 1.26, but the tolerant modes
  // report it.
  bool has_gap = false;
  bool went_back = false;  // See EventCheck::went_back().
  absl::Status status;
  std::vector<Fault> faults;  // The faults after which reading continued.
  Losses losses;
};

// Reads all of `source` with Reader::Next(), and checks all properties. `size` is that of the
// (decompressed) trace. For `exact_ties_threads` and `jobs` see ReaderOptions; `jobs` applies to
// traces of any size.
CheckedReading ReadAndCheck(absl::StatusOr<std::unique_ptr<ByteSource>> source, ReadMode mode,
                            uint64_t size, Forms forms = Forms::kNone,
                            size_t exact_ties_threads = Tuning().exact_ties_threads,
                            size_t jobs = 1);

// Checks a fault of a trace of `size` bytes, and formats it.
void CheckFault(const Fault& fault, uint64_t size);

// The same for the status that reading ended with.
void CheckStatus(const absl::Status& status, uint64_t size);

// Ends the program unless both have the same events. `what` describes where they are from.
void CheckSameEvents(const std::vector<std::string>& expected,
                     const std::vector<std::string>& found, absl::string_view what);

}  // namespace gotrace::internal

#endif  // GOTRACE_FUZZ_EVENT_CHECK_H_
