// What must hold for every event that a Reader gives, whatever it reads.
#ifndef GOTRACE_FUZZ_EVENT_CHECK_H_
#define GOTRACE_FUZZ_EVENT_CHECK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "export/json/json.h"
#include "export/text/go_text.h"
#include "gotrace/event.h"
#include "gotrace/reader.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Whether events are written in every form, which takes most of the time.
enum class Forms { kNone, kAll };

// Takes the events of one Reader in order, calls all of their accessors, and writes them in every
// form. Ends the program where something is wrong.
class EventCheck {
 public:
  // `size` is that of the (decompressed) trace, in bytes.
  EventCheck(ReadMode mode, uint64_t size, Forms forms);

  // Takes the next event, which with `after_fault` the Reader gave after it told a fault. Returns
  // all that the event's accessors tell.
  std::string Take(const Event& event, bool after_fault);

  // Whether a generation began earlier than the one before ended, as may be after a wrong time.
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
    ThreadId thread;       // Whose event told of it last.
    bool is_torn = false;  // Whether two threads run it: Go's reader takes statuses that say so.
  };
  std::map<std::pair<ResourceKind, int64_t>, Resource> resources_;
  GoTextFormatter go_text_;
  JsonFormatter json_{/*stacks=*/false};
  JsonFormatter json_with_stacks_{/*stacks=*/true};
  TextBuffer buffer_;
};

// What reading gave: each event, described, and how it ended.
struct CheckedReading {
  std::vector<std::string> events;
  uint64_t syncs = 0;  // How many of them are kSync events.
  // Whether the numbers of generations jump. Go's reader does not mind since 1.26, but where
  // reading goes on after faults, something is taken to be missing.
  bool has_gap = false;
  bool went_back = false;  // As EventCheck tells.
  absl::Status status;
  std::vector<Fault> faults;  // That reading went on after.
  Losses losses;
};

// Reads all of `source`, by Reader::Next(), and checks what can be checked. `size` is that of the
// (decompressed) trace. See ReaderOptions for `exact_ties_threads` and `jobs`, which counts for
// traces of any size.
CheckedReading ReadAndCheck(absl::StatusOr<std::unique_ptr<ByteSource>> source, ReadMode mode,
                            uint64_t size, Forms forms = Forms::kNone,
                            size_t exact_ties_threads = Tuning().exact_ties_threads,
                            size_t jobs = 1);

// Checks a fault of a trace of `size` bytes, and writes it.
void CheckFault(const Fault& fault, uint64_t size);

// The same for the status that reading ended with.
void CheckStatus(const absl::Status& status, uint64_t size);

// Ends the program unless both hold the same events. `what` tells whence they are.
void CheckSameEvents(const std::vector<std::string>& expected,
                     const std::vector<std::string>& found, absl::string_view what);

}  // namespace gotrace::internal

#endif  // GOTRACE_FUZZ_EVENT_CHECK_H_
