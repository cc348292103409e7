// Finds printed text with a beam search.
//
// The search goes over the bytes once, from front to back, with a set of alternative readings. A
// reading is an assumption about which of the bytes so far are text, and what the others encode. It
// can either take the next byte as part of the trace, or cut out text up to the end of the line. A
// reading ends at anything that no trace contains, and is charged a cost, roughly in bits, for
// anything unusual. Of several readings at the same byte with the same expectations, only the
// cheapest is kept.
#include "parser/framing/printed_text.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "gotrace/event_type.h"
#include "gotrace/internal/event_rules.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/internal/limits.h"
#include "tracev2/raw_event.h"
#include "tracev2/varint.h"

namespace gotrace::internal {
namespace {

// The maximum number of readings at one byte.
constexpr size_t kMaxReadings = 128;
// The same inside a string, where text may begin anywhere, and only the end of the string shows the
// place.
constexpr size_t kMaxReadingsInData = 512;
// By how much a reading may cost more than the best one at the same byte.
constexpr int kMaxExtraCost = 60;

// Costs.
constexpr int kCutInBatch = 8;
constexpr int kShortCut = 6;  // Extra, for a cut so short that it may well be part of the trace.
constexpr size_t kShortCutSize = 4;
constexpr int kCutBetween = 4;
constexpr int kOtherText = 8;     // Extra, for text that begins unlike the text before.
constexpr int kCutOff = 60;       // If the trace ends inside a batch.
constexpr int kStrange = 12;      // Something that the runtime hardly ever writes.
constexpr int kVeryStrange = 25;  // Something that the runtime never writes.

// The maximum number of decisions kept, which bounds the memory of a search.
constexpr size_t kMaxMarks = 1'000'000;

constexpr uint32_t kNoMark = static_cast<uint32_t>(-1);

// A decision of a reading, and the one before it.
struct Mark {
  enum class Kind : uint8_t { kCut, kBatch, kPayload, kBatchEnd };
  uint32_t before;
  uint32_t begin;
  uint32_t end;  // The end of a cut.
  Kind kind;
};

// The part of the trace that a reading expects next.
enum class Stage : uint8_t {
  kBetween,     // A batch.
  kExperiment,  // The experiment's number.
  kHeader,      // The numbers of a batch's header.
  kKind,        // The first byte of a payload.
  kEvents,
  kStrings,
  kStacks,
  kSamples,
  kSync,
  kOpaque,  // A payload whose contents are not examined.
};

enum class Has : uint8_t { kUnknown, kNo, kYes, kInSyscall };

struct Reading {
  Stage stage = Stage::kBetween;
  EventType type = EventType::kNone;  // The type of the current event.
  uint16_t arg = 0;                   // The index of the current argument.
  uint16_t args = 0;                  // The number of arguments.
  uint8_t number_size = 0;            // The number of bytes read of the current number.
  uint64_t number = 0;                // The value of those bytes.
  uint32_t rest = 0;                  // The number of bytes left of the payload.
  uint64_t last_id = 0;               // The id of the last string.
  uint32_t data = 0;                  // The number of bytes left of a string or opaque payload.
  bool is_experimental = false;
  bool has_experiment = false;  // Whether there was an event of an experiment.
  bool needs_batch = false;     // Whether a batch, not only text, must follow before the end.
  bool after_strings = false;   // Whether the last batch holds strings.
  bool after_cut = false;
  bool has_cut = false;     // Whether something was cut out of the batch.
  uint32_t text_begin = 0;  // The first bytes of the last text.
  uint8_t pc_size = 0;      // The size of the last PC, in bytes.
  uint8_t text_taken = 0;   // How many preceding bytes look like part of the text that follows.
  bool after_end = false;   // Whether the last batch was an EndOfGeneration.
  Has goroutine = Has::kUnknown;
  Has proc = Has::kUnknown;
  uint64_t generation = 0;
  uint64_t time = 0;  // The time of the last batch.
  int cost = 0;       // The total cost.
  int oddity = 0;     // The part of the cost that is not for cuts.
  uint32_t mark = kNoMark;

  // Readings with equal results have the same possible continuations.
  auto Expected() const {
    return std::make_tuple(stage, rest, data, type, arg, args, number_size, after_end,
                           is_experimental);
  }
  // Returns whether it may be compared with others.
  bool AtBoundary() const { return type == EventType::kNone && data == 0; }
  void Charge(int bits) {
    cost += bits;
    oddity += bits;
  }
};

// Returns the cost of a number of `size` bytes where up to `usual` bytes are normal.
int CostOfSize(int size, int usual) { return size <= usual ? 0 : 3 * (size - usual); }

int CostOfArg(ArgType type, uint64_t value, int size) {
  switch (type) {
    case ArgType::kTimeDelta:
      return size > 6 ? kVeryStrange : CostOfSize(size, 3);
    case ArgType::kProcStatus:
    case ArgType::kGoroutineStatus:
      return value >= 1 && value <= 4 ? 0 : kVeryStrange;
    case ArgType::kGoroutine:
      return value == 0 ? kStrange : CostOfSize(size, 3);
    case ArgType::kThread:
      return value == ~uint64_t{0} ? 0 : CostOfSize(size, 4);
    case ArgType::kProc:
      return CostOfSize(size, 1);
    case ArgType::kSequenceNumber:
      return CostOfSize(size, 3);
    case ArgType::kStack:
    case ArgType::kString:
    case ArgType::kTask:
      return CostOfSize(size, 2);
    case ArgType::kRaw:
    case ArgType::kValue:
      return CostOfSize(size, 6);
  }
  return 0;
}

// Returns the cost of a byte in a string. The end of a line, which few strings contain, costs more
// than a cut.
int CostInString(char c) {
  if (c == '\n') return kCutInBatch + kOtherText + 2;
  if (absl::ascii_islower(static_cast<unsigned char>(c)) || c == '.' || c == '/' || c == '_')
    return 0;
  if (absl::ascii_isalnum(static_cast<unsigned char>(c))) return 1;
  return absl::ascii_iscntrl(static_cast<unsigned char>(c)) ? 4 : 2;
}

// Returns the cost of two times in batches near each other. A second has about 2^24 ticks.
int CostOfDistance(uint64_t a, uint64_t b) {
  const int bits = std::bit_width(a < b ? b - a : a - b);
  return bits <= 24 ? 0 : bits <= 32 ? bits - 24 : kVeryStrange;
}

// Returns how unusual an event is that does not change what its thread executes.
int CostOfOther(EventType type, bool runs) {
  const EventRule& rule = RuleOf(type);
  constexpr int kRare = 3;
  const int cost_of_user = runs ? 1 : kStrange;
  switch (kEventKinds[static_cast<uint8_t>(type)]) {
    case EventKind::kLabel:
    case EventKind::kTaskBegin:
    case EventKind::kTaskEnd:
    case EventKind::kRegionBegin:
    case EventKind::kRegionEnd:
    case EventKind::kLog:
      return cost_of_user;
    case EventKind::kMetric:
      return type == EventType::kProcsChange ? kRare : 0;
    case EventKind::kRangeActive:
      return kRare;
    case EventKind::kRangeBegin:
    case EventKind::kRangeEnd: {
      const bool is_stop = type == EventType::kSTWBegin || type == EventType::kSTWEnd;
      if (is_stop || rule.subject == Subject::kGC) return kRare;
      return rule.IsAboutGoroutine() ? cost_of_user : 0;  // Sweeps are common.
    }
    case EventKind::kNone:
    case EventKind::kSync:
    case EventKind::kStackSample:
    case EventKind::kStateTransition:
    case EventKind::kExperimental:
      break;
  }
  return 0;
}

// Returns how unusual such an event of the thread is here, and updates what the thread has.
int Follow(EventType type, Reading* r) {
  const EventRule& rule = RuleOf(type);
  Has& g = r->goroutine;
  Has& p = r->proc;
  const bool runs = g == Has::kYes || g == Has::kUnknown;
  const bool in_syscall = g == Has::kInSyscall || g == Has::kUnknown;
  // The event may be about this thread's goroutine or P.
  if (rule.subject == Subject::kStatedGoroutine) g = Has::kUnknown;
  if (rule.subject == Subject::kStatedProc) p = Has::kUnknown;
  if (!rule.ChangesThread()) return CostOfOther(type, runs);

  bool fits = true;
  if (rule.goroutine == GoNeed::kNone) fits = g != Has::kYes && g != Has::kInSyscall;
  if (rule.goroutine == GoNeed::kRunning) fits = runs;
  if (rule.goroutine == GoNeed::kSyscall) fits = in_syscall;
  // If the thread is in a syscall, another thread may have taken its P.
  if (rule.proc == ProcNeed::kNone) fits = p != Has::kYes || in_syscall;
  if (rule.proc == ProcNeed::kInUse) fits = p != Has::kNo;
  if (rule.proc == ProcNeed::kNotSyscall || rule.proc == ProcNeed::kSyscallIfAny) {
    p = Has::kUnknown;
  }
  const bool starts = rule.goroutine == GoNeed::kNone && rule.proc == ProcNeed::kSome;
  if (starts) {
    fits = fits && p != Has::kNo;
    p = Has::kYes;
  }
  const bool is_of_goroutine = rule.subject_kind() == ResourceKind::kGoroutine;
  if (rule.proc_becomes == Becomes::kIdle) p = Has::kNo;
  if (rule.SubjectEnters() && !is_of_goroutine) p = Has::kYes;
  const Becomes becomes = is_of_goroutine ? rule.subject_becomes : rule.goroutine_becomes;
  if (becomes == Becomes::kRunning) {
    g = Has::kYes;
  } else if (becomes == Becomes::kSyscall) {
    g = Has::kInSyscall;
  } else if (becomes != Becomes::kSame) {
    g = Has::kNo;
  }
  return fits ? 0 : kStrange;
}

class TextSeparator {
 public:
  TextSeparator(absl::string_view bytes, const TextContext& context)
      : bytes_(bytes), context_(context), max_steps_(context.max_steps) {}

  size_t steps() const { return steps_; }

  std::optional<SeparatedText> Run() {
    if (!FindText()) return std::nullopt;
    Reading first;
    first.generation = context_.generation;
    first.time = context_.time;
    first.after_strings = context_.after_strings;
    first.text_begin = FirstOf(context_.text_before);
    Add(first, 0);
    std::vector<Reading> furthest;
    while (!readings_.empty()) {
      const auto begin = readings_.begin();
      const size_t pos = begin->first;
      std::vector<Reading> here = std::move(begin->second);
      readings_.erase(begin);
      if (pos == bytes_.size()) return Choose(std::move(here));
      KeepBest(&here);
      for (Reading& reading : here) Go(reading, pos, here.size() == 1);
      if (steps_ > max_steps_ || marks_.size() > kMaxMarks) break;
      furthest = std::move(here);
    }
    // The batches before the unreadable one may be right.
    return furthest.empty() ? std::nullopt : Accept(furthest.front());
  }

 private:
  static uint32_t FirstOf(absl::string_view text) {
    uint32_t first = 0;
    for (const char c : text.substr(0, 4)) first = first << 8 | static_cast<unsigned char>(c);
    return first;
  }

  // Sets line_ends_ and text_ends_. Returns whether there may be text.
  bool FindText() {
    // Most damage is not text, so nothing is allocated for it.
    const bool has_line = bytes_.find('\n') != absl::string_view::npos;
    if (!has_line && TextCharacterSize(bytes_) == 0) return false;
    bool found = false;
    const size_t size = bytes_.size();
    line_ends_.resize(size + 1);
    text_ends_.resize(size + 1);
    line_bytes_.resize(size + 1);
    steps_ += size / 8;
    text_ends_[size] = size;
    for (size_t pos = size; pos-- > 0;) {
      const size_t next = pos + TextCharacterSize(bytes_.substr(pos, 4));
      text_ends_[pos] = next == pos ? pos : text_ends_[next];
      line_ends_[pos] = next == pos ? 0 : bytes_[pos] == '\n' ? next : line_ends_[next];
      line_bytes_[pos] =
          line_ends_[pos] == 0 ? line_bytes_[pos + 1] : line_bytes_[next] + (next - pos);
      found |= line_ends_[pos] != 0;
    }
    return found || text_ends_[0] > 0;
  }

  void Add(const Reading& reading, size_t pos) { readings_[pos].push_back(reading); }

  // Keeps the cheapest of readings with the same continuations, and the best of these.
  static void KeepBest(std::vector<Reading>* readings) {
    if (readings->size() < 2) return;
    std::sort(readings->begin(), readings->end(), [](const Reading& a, const Reading& b) {
      return a.Expected() != b.Expected() ? a.Expected() < b.Expected() : a.cost < b.cost;
    });
    readings->erase(std::unique(readings->begin(), readings->end(),
                                [](const Reading& a, const Reading& b) {
                                  return a.Expected() == b.Expected();
                                }),
                    readings->end());
    std::sort(readings->begin(), readings->end(),
              [](const Reading& a, const Reading& b) { return a.cost < b.cost; });
    const int max_cost = readings->front().cost + kMaxExtraCost;
    size_t count = 0;
    size_t count_in_data = 0;
    readings->erase(std::remove_if(readings->begin(), readings->end(),
                                   [&](const Reading& reading) {
                                     if (reading.cost > max_cost) return true;
                                     return reading.stage == Stage::kStrings ||
                                                    reading.stage == Stage::kStacks ||
                                                    reading.stage == Stage::kOpaque
                                                ? ++count_in_data > kMaxReadingsInData
                                                : ++count > kMaxReadings;
                                   }),
                    readings->end());
  }

  // Follows a reading from `pos` until there may be others at the same place.
  void Go(Reading reading, size_t pos, bool is_alone) {
    while (++steps_ <= max_steps_) {
      if (reading.data == 0) {
        AddCuts(reading, pos);
        if (!Take(&reading, pos)) return;
        ++pos;
      }
      if (reading.data > 0 && !TakeData(&reading, &pos)) return;
      if (pos == bytes_.size() || (reading.AtBoundary() && (!is_alone || IsBehindOthers(pos)))) {
        return Add(reading, pos);
      }
    }
  }

  bool IsBehindOthers(size_t pos) const {
    return !readings_.empty() && pos >= readings_.begin()->first;
  }

  uint32_t AddMark(uint32_t before, Mark::Kind kind, size_t begin, size_t end = 0) {
    marks_.push_back({before, static_cast<uint32_t>(begin), static_cast<uint32_t>(end), kind});
    return marks_.size() - 1;
  }

  // Adds the readings in which text begins at `pos`.
  void AddCuts(const Reading& reading, size_t pos) {
    if (line_ends_[pos] != 0) AddCut(reading, pos, line_ends_[pos]);
    AddCutThatFits(reading, pos);
    if (reading.stage != Stage::kBetween) return;
    // Before a batch, or at the end, a line need not be complete.
    const size_t end = text_ends_[pos];
    if (end == pos || (end < bytes_.size() && bytes_[end] != '\1')) return;
    if (!IsPrinted(reading, pos, end)) return;
    Reading part = reading;
    part.cost += kStrange;
    if (end != line_ends_[pos]) AddCut(part, pos, end);
    // The last byte may be a digit that begins a batch.
    const EventType last = static_cast<EventType>(bytes_[end - 1]);
    if (end - 1 > pos &&
        (last == EventType::kEndOfGeneration || last == EventType::kExperimentalBatch)) {
      AddCut(part, pos, end - 1);
    }
  }

  // Returns whether a text that is not a complete line is accepted between batches. The remains of
  // a damaged batch may look like that, especially of a batch of strings.
  bool IsPrinted(const Reading& reading, size_t begin, size_t end) const {
    constexpr size_t kMinSize = 4;
    const absl::string_view text = bytes_.substr(begin, end - begin);
    if (reading.after_cut || text.find('\n') != text.npos) return true;
    return text.size() >= kMinSize && (!reading.after_strings || text.find(' ') != text.npos);
  }

  // Adds the reading in which text that is not a complete line, such as a prompt or a progress bar,
  // begins at `pos`: only in the last batch of the bytes, and only with the number of bytes by
  // which that batch is too long.
  void AddCutThatFits(const Reading& reading, size_t pos) {
    if (!CanCutThatFits(reading, pos)) return;
    const size_t end = bytes_.size() - reading.rest;
    Reading cut = reading;
    cut.cost += kStrange;
    AddCut(cut, pos, end);
  }

  bool CanCutThatFits(const Reading& reading, size_t pos) const {
    if (context_.end != TextContext::End::kBatch || reading.rest == 0 || reading.has_cut) {
      return false;
    }
    const size_t end = bytes_.size() - reading.rest;
    return end > pos && text_ends_[pos] >= end && end != line_ends_[pos];
  }

  void AddCut(Reading reading, size_t begin, size_t end) {
    if (!reading.after_cut) {
      reading.cost += reading.stage == Stage::kBetween ? kCutBetween : kCutInBatch;
      if (end - begin < kShortCutSize) {
        reading.cost += kShortCut;
      } else {
        // The lines of a program often have a common prefix.
        const uint32_t first = FirstOf(bytes_.substr(begin));
        if (std::exchange(reading.text_begin, first) != first) reading.cost += kOtherText;
      }
      // For each byte before the text that also looks like text, there is some chance that it is.
      reading.cost += std::exchange(reading.text_taken, 0);
    }
    // Bytes that are not text belong to the batch, or to another one.
    if (reading.rest > bytes_.size() - end && context_.end == TextContext::End::kBatch) return;
    if (reading.rest > 0 && !reading.needs_batch &&
        reading.rest + line_bytes_[end] < bytes_.size() - end) {
      reading.needs_batch = true;
      reading.cost += kVeryStrange;
    }
    reading.after_cut = true;
    reading.has_cut = reading.stage != Stage::kBetween;
    reading.mark = AddMark(reading.mark, Mark::Kind::kCut, begin, end);
    Add(reading, end);
  }

  // Goes to the end of a string or an opaque payload, and adds the readings in which text begins
  // inside it.
  bool TakeData(Reading* reading, size_t* pos) {
    // Wherever text of the right size is cut out, the continuation is the same, so the place is
    // chosen at which the string costs the least.
    Reading best;
    size_t best_pos = bytes_.size();
    int saved = 0;       // The cost saved by a cut here and not at the first possible place.
    int most_saved = 0;  // The cost saved by a cut at the best place.
    for (; reading->data > 0; ++*pos, --reading->data, --reading->rest) {
      if (*pos == bytes_.size()) return context_.end != TextContext::End::kBatch;
      if (++steps_ > max_steps_) return false;
      const size_t line_end = line_ends_[*pos];
      if (line_end != 0 && MayEnd(*reading, line_end)) AddCut(*reading, *pos, line_end);
      if (CanCutThatFits(*reading, *pos)) {
        if (best_pos == bytes_.size() || saved > most_saved) {
          best = *reading;
          best_pos = *pos;
          most_saved = saved;
        }
        // Moving the cut by one exchanges this byte of the string for the byte after the text.
        const size_t end = bytes_.size() - reading->rest;
        if (end < bytes_.size()) saved += CostInString(bytes_[end]) - CostInString(bytes_[*pos]);
      }
      if (reading->stage == Stage::kStrings) reading->cost += CostInString(bytes_[*pos]);
    }
    if (best_pos != bytes_.size()) AddCutThatFits(best, best_pos);
    if (reading->rest == 0) EndBatch(reading, *pos);
    return true;
  }

  // Returns whether data that continues at `pos`, after text, may end where it must. This leaves
  // few of the many places where text may begin inside a string.
  bool MayEnd(const Reading& reading, size_t pos) const {
    if (line_ends_[pos] != 0 && line_ends_[pos] <= pos + reading.data) return true;
    const size_t end = pos + reading.data;
    if (end >= bytes_.size())
      return end == bytes_.size() || context_.end != TextContext::End::kBatch;
    if (line_ends_[end] != 0) return true;
    if (reading.rest > reading.data) return bytes_[end] == static_cast<char>(EventType::kString);
    return BeginsBatch(end) || text_ends_[end] > end;
  }

  bool BeginsBatch(size_t pos) const {
    const EventType type = static_cast<EventType>(bytes_[pos]);
    return type == EventType::kEventBatch || type == EventType::kExperimentalBatch ||
           type == EventType::kEndOfGeneration;
  }

  void EndBatch(Reading* reading, size_t end) {
    reading->after_strings = reading->stage == Stage::kStrings;
    reading->stage = Stage::kBetween;
    reading->type = EventType::kNone;
    reading->mark = AddMark(reading->mark, Mark::Kind::kBatchEnd, end);
  }

  // Takes the byte at `pos` as the next byte of the trace. Returns false if that is impossible.
  bool Take(Reading* r, size_t pos) {
    r->after_cut = false;
    const uint8_t byte = bytes_[pos];
    const bool goes_on = r->text_taken > 0 && byte >= 0x80 && byte < 0xc0;
    r->text_taken = line_ends_[pos] != 0 || goes_on ? std::min(r->text_taken + 1, 30) : 0;
    switch (r->stage) {
      case Stage::kBetween:
        return BeginBatch(r, pos);
      case Stage::kExperiment:
        r->stage = Stage::kHeader;
        return byte > 0 && byte < kExperimentEnd;
      case Stage::kHeader:
        return TakeNumber(r, byte) && (r->number_size > 0 || r->arg < r->args || EndHeader(r, pos));
      default:
        break;
    }
    --r->rest;
    if (r->stage == Stage::kKind) {
      r->mark = AddMark(r->mark, Mark::Kind::kPayload, pos);
      if (!BeginPayload(r, static_cast<EventType>(byte))) return false;
    } else if (r->type == EventType::kNone) {
      if (!BeginEvent(r, static_cast<EventType>(byte))) return false;
    } else {
      if (!TakeNumber(r, byte)) return false;
      if (r->number_size == 0 && r->arg == r->args) r->type = EventType::kNone;
    }
    if (r->rest > 0) return true;
    if (r->type != EventType::kNone || r->data > 0) return false;
    EndBatch(r, pos + 1);
    return true;
  }

  bool BeginBatch(Reading* r, size_t pos) {
    const EventType type = static_cast<EventType>(bytes_[pos]);
    if (!BeginsBatch(pos) || !VersionHas(context_.version, *FindEventSpec(type))) return false;
    r->mark = AddMark(r->mark, Mark::Kind::kBatch, pos);
    if (type == EventType::kEndOfGeneration) {
      if (r->after_end) return false;
      r->after_end = true;
      r->Charge(1);
      r->mark = AddMark(r->mark, Mark::Kind::kPayload, pos);
      EndBatch(r, pos + 1);
      return true;
    }
    r->needs_batch = false;
    r->has_cut = false;
    r->is_experimental = type == EventType::kExperimentalBatch;
    r->stage = r->is_experimental ? Stage::kExperiment : Stage::kHeader;
    r->type = EventType::kEventBatch;
    r->arg = 0;
    r->args = 4;
    r->goroutine = r->proc = Has::kUnknown;
    return true;
  }

  // Takes the next byte of a number. At the last byte, charges the cost of the number.
  bool TakeNumber(Reading* r, uint8_t byte) {
    if (r->number_size == kMaxVarintSize - 1 && byte > 1) return false;
    r->number |= static_cast<uint64_t>(byte & 0x7f) << (7 * r->number_size);
    ++r->number_size;
    if (byte >= 0x80) return true;
    const int size = std::exchange(r->number_size, 0);
    const uint64_t value = std::exchange(r->number, 0);
    const bool is_padded = byte == 0 && size > 1;
    const int arg = r->arg++;
    if (r->stage == Stage::kHeader) return TakeHeaderNumber(r, arg, value, size, is_padded);
    if (is_padded) return false;
    return TakeArg(r, arg, value, size);
  }

  bool TakeHeaderNumber(Reading* r, int arg, uint64_t value, int size, bool is_padded) {
    if (arg < 3 && is_padded) return false;
    switch (arg) {
      case 0:
        return TakeGeneration(r, value, size);
      case 1:
        r->Charge(value == ~uint64_t{0} ? 0 : CostOfSize(size, 4));
        return true;
      case 2:
        r->Charge(r->time == 0 ? CostOfSize(size, 6) : CostOfDistance(value, r->time));
        r->time = value;
        return true;
      default:
        if (value > kMaxBatchSize) return false;
        // The runtime writes each size in ten bytes.
        if (size < kMaxVarintSize) r->Charge(kStrange / 2);
        r->rest = value;
        return true;
    }
  }

  bool TakeGeneration(Reading* r, uint64_t value, int size) {
    if (value == 0) return false;
    if (r->generation == 0) {
      const uint64_t next = context_.next_generation;
      r->Charge(next == 0      ? CostOfSize(size, 1)
                : value > next ? kVeryStrange
                               : std::min<uint64_t>(next - value, kVeryStrange));
    } else if (context_.version >= Version::kGo126) {
      if ((value != r->generation) != r->after_end) r->Charge(kVeryStrange);
      if (value != r->generation && value != r->generation + 1) r->Charge(kStrange);
    } else if (value != r->generation && value != r->generation + 1) {
      r->Charge(kVeryStrange);
    }
    r->after_end = false;
    r->generation = value;
    return true;
  }

  bool EndHeader(Reading* r, size_t pos) {
    r->type = EventType::kNone;
    r->stage = r->is_experimental ? Stage::kOpaque : Stage::kKind;
    if (context_.end == TextContext::End::kBatch && r->rest > bytes_.size() - pos - 1) return false;
    if (r->rest == 0) {
      r->mark = AddMark(r->mark, Mark::Kind::kPayload, pos + 1);
      EndBatch(r, pos + 1);
    } else if (r->is_experimental) {
      r->mark = AddMark(r->mark, Mark::Kind::kPayload, pos + 1);
      r->data = r->rest;
    }
    return true;
  }

  bool BeginPayload(Reading* r, EventType kind) {
    switch (kind) {
      case EventType::kStrings:
        r->stage = Stage::kStrings;
        return true;
      case EventType::kStacks:
        r->stage = Stage::kStacks;
        return true;
      case EventType::kCPUSamples:
        r->stage = Stage::kSamples;
        return true;
      case EventType::kSync:
        r->stage = Stage::kSync;
        return context_.version >= Version::kGo125;
      case EventType::kFrequency:
        r->stage = Stage::kSync;
        return context_.version < Version::kGo125 && BeginEvent(r, kind);
      default:
        r->stage = Stage::kEvents;
        return BeginEvent(r, kind);
    }
  }

  bool BeginEvent(Reading* r, EventType type) {
    const EventSpec* const spec = FindEventSpec(type);
    if (spec == nullptr || !VersionHas(context_.version, *spec)) return false;
    switch (r->stage) {
      case Stage::kStrings:
        if (type != EventType::kString) return false;
        break;
      case Stage::kStacks:
        if (type != EventType::kStack) return false;
        break;
      case Stage::kSamples:
        if (type != EventType::kCPUSample) return false;
        break;
      case Stage::kSync:
        if (type != EventType::kFrequency && type != EventType::kClockSnapshot) return false;
        break;
      default:
        if (!spec->timed() || type == EventType::kClockSnapshot) return false;
        if (spec->experiment != Experiment::kNone && !std::exchange(r->has_experiment, true)) {
          r->Charge(kStrange);
        }
        r->Charge(Follow(type, r));
        break;
    }
    r->type = type;
    r->arg = 0;
    // The size of a string follows its id.
    r->args = spec->arg_count + (spec->form == EventForm::kData ? 1 : 0);
    return true;
  }

  // Takes an argument of an event. Returns false if it is impossible.
  bool TakeArg(Reading* r, int arg, uint64_t value, int size) {
    const EventSpec& spec = *FindEventSpec(r->type);
    if (r->type == EventType::kString) {
      r->Charge(value == 0 && arg == 0 ? kVeryStrange : CostOfSize(size, 2));
      if (arg == 0) {
        // The runtime numbers strings, and usually writes them in that order.
        if (value != r->last_id + 1) r->cost += 4;
        r->last_id = value;
        return true;
      }
      r->data = value;
      if (value == 0) return true;
      if (value > kMaxStringSize || value > r->rest) return false;
      r->type = EventType::kNone;
      return true;
    }
    if (r->type == EventType::kStack) {
      if (arg == 1) {
        if (value > kMaxFramesPerStack) return false;
        r->args += kFrameFieldCount * value;
      }
      const bool is_pc = arg >= 2 && (arg - 2) % kFrameFieldCount == 0;
      if (is_pc) {
        // Most PCs of a program have the same size.
        r->Charge(size < 3 ? 8 : CostOfSize(size, 7));
        const int before = std::exchange(r->pc_size, size);
        if (before != 0 && (before < size ? size - before : before - size) > 1) r->Charge(4);
      } else {
        r->Charge(CostOfSize(size, 2));
      }
      return true;
    }
    if (r->type == EventType::kCPUSample && arg == 0) {
      if (r->time != 0) r->Charge(CostOfDistance(value, r->time));
      return true;
    }
    if (r->stage == Stage::kSync) return true;
    // In a sample, goroutine 0 means none, and so does a P of all ones.
    const bool may_be_none = r->type == EventType::kCPUSample;
    if (may_be_none && (value == 0 || value == ~uint64_t{0})) return true;
    r->Charge(CostOfArg(spec.arg_types[arg], value, size));
    return true;
  }

  std::optional<SeparatedText> Choose(std::vector<Reading> readings) const {
    const bool may_be_cut = context_.end != TextContext::End::kBatch;
    const bool needs_end =
        context_.version >= Version::kGo126 && context_.end == TextContext::End::kTrace;
    const Reading* best = nullptr;
    for (Reading& reading : readings) {
      const bool is_whole = reading.stage == Stage::kBetween;
      // Text seldom begins with the byte of an EndOfGeneration.
      if (needs_end && !reading.after_end) reading.Charge(kStrange / 2);
      if (is_whole && context_.next_generation != 0 && context_.version >= Version::kGo126 &&
          (reading.generation != context_.next_generation) != reading.after_end) {
        reading.Charge(kVeryStrange);
      }
      if (!is_whole) {
        if (!may_be_cut) continue;
        // Few traces are cut off.
        if (context_.end == TextContext::End::kTrace) reading.cost += kCutOff;
      }
      if (best == nullptr || reading.cost < best->cost) best = &reading;
    }
    return best == nullptr ? std::nullopt : Accept(*best);
  }

  // Returns the batches and text of the reading, if it is plausible.
  std::optional<SeparatedText> Accept(const Reading& reading) const {
    SeparatedText result = Collect(reading);
    if (result.text.empty()) return std::nullopt;
    const int max_oddity = 40 + 8 * static_cast<int>(result.text.size()) + result.size / 4;
    if (reading.oddity > max_oddity) return std::nullopt;
    return result;
  }

  SeparatedText Collect(const Reading& reading) const {
    std::vector<const Mark*> marks;
    for (uint32_t i = reading.mark; i != kNoMark; i = marks_[i].before) marks.push_back(&marks_[i]);
    // An incomplete batch is left to the caller, with everything in it.
    if (reading.stage != Stage::kBetween) {
      auto begin = std::find_if(marks.begin(), marks.end(),
                                [](const Mark* mark) { return mark->kind == Mark::Kind::kBatch; });
      marks.erase(marks.begin(), begin == marks.end() ? begin : begin + 1);
    }
    SeparatedText result;
    bool in_batch = false;
    for (auto it = marks.rbegin(); it != marks.rend(); ++it) {
      const Mark& mark = **it;
      switch (mark.kind) {
        case Mark::Kind::kBatch:
          result.batches.emplace_back().begin = mark.begin;
          in_batch = true;
          break;
        case Mark::Kind::kPayload:
          result.batches.back().payload = mark.begin;
          break;
        case Mark::Kind::kBatchEnd:
          result.batches.back().end = result.size = mark.begin;
          in_batch = false;
          break;
        case Mark::Kind::kCut:
          Append({mark.begin, mark.end}, &result.text);
          if (in_batch) Append({mark.begin, mark.end}, &result.batches.back().text);
          if (!in_batch) result.size = mark.end;
          break;
      }
    }
    return result;
  }

  static void Append(const ByteRange& range, std::vector<ByteRange>* ranges) {
    if (!ranges->empty() && ranges->back().end == range.begin) {
      ranges->back().end = range.end;
    } else {
      ranges->push_back(range);
    }
  }

  const absl::string_view bytes_;
  const TextContext context_;
  const uint64_t max_steps_;
  size_t steps_ = 0;
  // For each position, the end of the line if text begins there, after its '\n'; otherwise 0.
  std::vector<uint32_t> line_ends_;
  // For each position, the end of the text that begins there.
  std::vector<uint32_t> text_ends_;
  std::vector<uint32_t> line_bytes_;  // How many bytes from each position on may belong to lines.
  std::map<size_t, std::vector<Reading>> readings_;  // By the position of the next byte.
  std::vector<Mark> marks_;
};

}  // namespace

size_t TextCharacterSize(absl::string_view bytes) {
  constexpr char kEscape = '\x1b';
  if (bytes.empty()) return 0;
  const unsigned char first = bytes[0];
  if (first < 0x80) {
    return absl::ascii_isprint(first) || first == '\n' || first == '\r' || first == '\t' ||
                   first == kEscape
               ? 1
               : 0;
  }
  const size_t size = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first >= 0xf5 || bytes.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((static_cast<unsigned char>(bytes[i]) & 0xc0) != 0x80) return 0;
  }
  return size;
}

std::optional<SeparatedText> SeparateText(absl::string_view bytes, const TextContext& context,
                                          uint64_t* steps) {
  TextSeparator separator(bytes, context);
  std::optional<SeparatedText> result = separator.Run();
  *steps += separator.steps();
  return result;
}

}  // namespace gotrace::internal
