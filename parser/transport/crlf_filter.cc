// Undoes the conversion of line ends, batch by batch.
//
// The header of a batch gives the size of its payload after every "\r\n" in both is converted back.
// If the events of that payload decode, and another batch follows, the batch is done. Otherwise, a
// depth-first search tries to keep some pairs. A state is a position in the input, the size of the
// payload so far, and the constraints of the previous events on the next one. From a state, one
// event is decoded, with each choice of which of its first few pairs to keep. Dead ends are not
// tried again. If the search finds nothing within the allowed work, the place where the next batch
// begins still determines how many pairs to keep.
#include "parser/transport/crlf_filter.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gotrace/internal/limits.h"
#include "gotrace/version.h"
#include "parser/framing/batch_check.h"
#include "parser/framing/batch_reader.h"
#include "tracev2/wire_reader.h"

namespace gotrace::internal {
namespace {

constexpr absl::string_view kPair = "\r\n";

// The cost of an attempt to decode an event, in addition to its bytes.
constexpr int64_t kWorkOfTry = 32;

// How many pairs of one event may be kept; all further pairs are converted back.
constexpr int kMaxTried = 64;

// Choices of several pairs to keep, as bits: first those of two pairs, then of three, of four.
constexpr uint64_t kSeveral[] = {3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15};

// Returns the number of choices of which of `pairs` pairs to keep: none, one, or several of the
// first four.
uint32_t CountChoices(int pairs) {
  constexpr uint32_t kOfSeveral[] = {0, 0, 1, 4, std::size(kSeveral)};
  return 1 + static_cast<uint32_t>(pairs) + kOfSeveral[std::min(pairs, 4)];
}

// Returns the pairs that a choice keeps, as bits.
uint64_t KeptBy(uint32_t choice, int pairs) {
  if (choice == 0) return 0;
  if (choice <= static_cast<uint32_t>(pairs)) return uint64_t{1} << (choice - 1);
  return kSeveral[choice - static_cast<uint32_t>(pairs) - 1];
}

// Converts `input` back to at most `size` bytes, except that pair i is kept if bit i of `kept` is
// set. Returns how many bytes of the input it consumed.
size_t TurnBack(absl::string_view input, uint64_t kept, size_t size, std::string* output) {
  output->clear();
  size_t pos = 0;
  int pair = 0;
  while (pos < input.size() && output->size() < size) {
    if (input[pos] == '\r' && pos + 1 < input.size() && input[pos + 1] == '\n') {
      const bool keep = pair < kMaxTried && (kept >> pair & 1) != 0;
      ++pair;
      ++pos;
      if (keep) output->push_back('\r');
      // The output may end between the two bytes of a pair.
      if (output->size() == size) break;
      output->push_back('\n');
      ++pos;
      continue;
    }
    const size_t count = std::min(input.size() - pos, size - output->size());
    const size_t next = input.substr(0, pos + count).find('\r', pos + 1);
    const size_t end = std::min(next, pos + count);
    output->append(input.data() + pos, end - pos);
    pos = end;
  }
  return pos;
}

int CountPairs(absl::string_view input) {
  int count = 0;
  for (size_t pos = input.find(kPair); pos != input.npos && count < kMaxTried;
       pos = input.find(kPair, pos + kPair.size())) {
    ++count;
  }
  return count;
}

// Restores one batch.
class BatchReading {
 public:
  // `input` begins with the batch. It is long enough for any choice of pairs in it and in the next
  // header, unless the whole input ends. `keeps_pairs` says whether earlier batches had pairs that
  // must be kept.
  BatchReading(absl::string_view input, Version version, uint64_t generation, bool keeps_pairs)
      : input_(input), version_(version), generation_(generation), keeps_pairs_(keeps_pairs) {}

  enum class Result : uint8_t {
    kFound,
    kCut,  // The input ends inside the batch.
    kNone,
  };

  // Appends the batch to `output`, and stores how many bytes of the input it consumed and the
  // batch's generation.
  Result Find(std::string* output, size_t* size, uint64_t* generation) {
    const std::vector<Start> starts = Starts();
    bool is_cut = starts.empty() && input_.size() < kMaxBatchHeaderSize;
    for (const Start& start : starts) {
      work_left_ = std::max(work_left_, WorkFor(start.head.payload_size));
    }
    for (const bool exact : {true, false}) {
      for (const Start& start : starts) {
        if (!TurnAllBack(start, exact, &is_cut)) continue;
        return Give(start, payload_, end_, output, size, generation);
      }
      // Keeping pairs could fill up a batch that is really cut off.
      if (is_cut && !keeps_pairs_ && AllDecode(payload_, /*is_cut=*/true)) return Result::kCut;
      for (const Start& start : starts) {
        if (!exact || start.head.type != EventType::kEventBatch || !Search(start)) continue;
        keeps_pairs_ = true;
        return Give(start, payload_, end_, output, size, generation);
      }
    }
    for (const Start& start : starts) {
      if (Fit(start)) return Give(start, payload_, end_, output, size, generation);
    }
    return is_cut ? Result::kCut : Result::kNone;
  }

  bool keeps_pairs() const { return keeps_pairs_; }

 private:
  // A possible header of the batch.
  struct Start {
    BatchHead head;
    std::string bytes;
    size_t end = 0;  // The end of the header in the input.
  };

  // A state of the search.
  struct State {
    size_t pos = 0;   // The position in the input.
    size_t made = 0;  // The size of the payload so far.
    PayloadCheck check;
    int pairs = 0;        // The number of pairs of the next event that may be kept.
    uint32_t next = 0;    // The next choice to try.
    uint64_t chosen = 0;  // The pairs kept on the way to the next state.
    size_t size = 0;      // The size of the event with that choice.
  };

  // Returns how many bytes may be examined to restore a batch of `size` bytes. If few pairs must be
  // kept, a tenth of that is enough.
  static int64_t WorkFor(size_t size) { return 256 * static_cast<int64_t>(size) + (1 << 16); }

  Result Give(const Start& start, const std::string& payload, size_t end, std::string* output,
              size_t* size, uint64_t* generation) const {
    absl::StrAppend(output, start.bytes, payload);
    *size = end;
    if (start.head.generation != 0) *generation = start.head.generation;
    return Result::kFound;
  }

  bool Follows(uint64_t generation) const {
    return generation == 0 || generation_ == 0 || generation == generation_ ||
           generation == generation_ + 1;
  }

  // Returns all possible headers, the most likely first.
  std::vector<Start> Starts() const {
    const absl::string_view input = input_.substr(0, 2 * kMaxBatchHeaderSize);
    std::vector<Start> starts;
    const int pairs = CountPairs(input.substr(0, kMaxBatchHeaderSize));
    std::string bytes;
    for (uint32_t choice = 0; choice < CountChoices(pairs); ++choice) {
      const uint64_t kept = KeptBy(choice, pairs);
      Start start;
      TurnBack(input, kept, kMaxBatchHeaderSize, &bytes);
      if (ReadBatchHead(bytes, version_, &start.head) != HeadStatus::kOk) continue;
      if (!Follows(start.head.generation)) continue;
      start.end = TurnBack(input, kept, start.head.size, &start.bytes);
      const bool is_known = std::any_of(starts.begin(), starts.end(), [&](const Start& other) {
        return other.end == start.end && other.bytes == start.bytes;
      });
      if (!is_known) starts.push_back(std::move(start));
    }
    return starts;
  }

  // Returns whether a batch may begin at `pos`, or the input ends there.
  bool MayFollow(size_t pos, uint64_t generation) const {
    const absl::string_view rest = input_.substr(pos);
    if (rest.empty() || rest == kPair) return true;
    const BatchReading next(rest, version_, generation == 0 ? generation_ : generation,
                            keeps_pairs_);
    if (!next.Starts().empty()) return true;
    BatchHead head;
    std::string bytes;
    TurnBack(rest, 0, kMaxBatchHeaderSize, &bytes);
    return rest.size() < 2 * kMaxBatchHeaderSize &&
           ReadBatchHead(bytes, version_, &head) == HeadStatus::kCut;
  }

  // Sets payload_ to the batch with all of its pairs converted back. Returns whether that fits and,
  // if `exact`, all events decode.
  bool TurnAllBack(const Start& start, bool exact, bool* is_cut) {
    const size_t size = start.head.payload_size;
    end_ = start.end + TurnBack(input_.substr(start.end), 0, size, &payload_);
    if (payload_.size() < size) {
      *is_cut = true;
      return false;
    }
    if (!MayFollow(end_, start.head.generation)) return false;
    return !exact || start.head.type != EventType::kEventBatch ||
           AllDecode(payload_, /*is_cut=*/false);
  }

  bool AllDecode(absl::string_view payload, bool is_cut) {
    PayloadCheck check(version_);
    while (!payload.empty()) {
      const WireResult result = DecodeRawEvent(payload, &event_);
      if (is_cut && result.status == WireStatus::kTruncated) break;
      if (result.status != WireStatus::kOk || !check.Take(event_)) return false;
      payload.remove_prefix(result.size);
    }
    return true;
  }

  // Decodes one event from `state` with a choice of pairs. Returns false if there is no valid
  // event.
  bool TakeEvent(const State& state, uint64_t kept, size_t left, State* next) {
    const absl::string_view rest = input_.substr(state.pos);
    // Most events are small, and the largest that the runtime writes is the deepest stack.
    for (const size_t most : {size_t{96}, size_t{8192}}) {
      TurnBack(rest, kept, std::min(most, left), &event_bytes_);
      work_left_ -= static_cast<int64_t>(event_bytes_.size()) + kWorkOfTry;
      if (event_bytes_.empty()) return false;
      const WireResult result = DecodeRawEvent(event_bytes_, &event_);
      if (result.status == WireStatus::kTruncated && event_bytes_.size() == most) continue;
      if (result.status != WireStatus::kOk) return false;
      next->check = state.check;
      if (!next->check.Take(event_)) return false;
      next->pos = state.pos + TurnBack(rest, kept, result.size, &event_bytes_);
      next->made = state.made + result.size;
      next->size = result.size;
      return true;
    }
    return false;
  }

  // Returns how many pairs may belong to the event at `pos`, which is not decoded yet.
  int PairsAt(size_t pos) const {
    constexpr size_t kLooked = 48;
    return CountPairs(input_.substr(pos, kLooked));
  }

  bool Search(const Start& start) {
    const size_t size = start.head.payload_size;
    absl::flat_hash_set<std::pair<uint64_t, uint8_t>> seen;
    std::vector<State> path;
    path.push_back({start.end, 0, PayloadCheck(version_), PairsAt(start.end), 0, 0, 0});
    while (!path.empty()) {
      State& state = path.back();
      if (state.made == size && MayFollow(state.pos, start.head.generation)) {
        Retrace(path);
        return true;
      }
      if (state.next >= CountChoices(state.pairs) || state.made == size) {
        path.pop_back();
        continue;
      }
      if (work_left_ < 0) return false;
      const uint32_t choice = state.next++;
      const uint64_t kept = KeptBy(choice, state.pairs);
      State next{0, 0, PayloadCheck(version_), 0, 0, 0, 0};
      if (!TakeEvent(state, kept, size - state.made, &next)) continue;
      // Pairs after the event do not matter to it.
      if (choice == 0) {
        state.pairs = CountPairs(input_.substr(state.pos, next.pos - state.pos + 1));
      }
      if (!seen.emplace(uint64_t{next.pos} << 32 | next.made, next.check.state()).second) continue;
      state.chosen = kept;
      next.pairs = PairsAt(next.pos);
      path.push_back(std::move(next));
    }
    return false;
  }

  // Sets payload_ according to the place where the next batch begins, which determines how many
  // pairs to keep, but not which. Some events of the batch are then wrong, but later batches are
  // not.
  bool Fit(const Start& start) {
    const size_t size = start.head.payload_size;
    const size_t least = start.end + size;
    size_t pairs = CountAllPairs(input_.substr(start.end, size));
    for (size_t end = least; end < input_.size() && end - least <= pairs; ++end) {
      if (end > least && input_.substr(end - 2, 2) == kPair) ++pairs;
      if (BatchReading(input_.substr(end), version_, start.head.generation, keeps_pairs_)
              .Starts()
              .empty()) {
        continue;
      }
      const size_t kept = pairs - (end - least);
      KeepFirst(input_.substr(start.end, end - start.end), kept, &payload_);
      end_ = end;
      keeps_pairs_ |= kept > 0;
      return payload_.size() == size;
    }
    return false;
  }

  static size_t CountAllPairs(absl::string_view input) {
    size_t count = 0;
    for (size_t pos = input.find(kPair); pos != input.npos; pos = input.find(kPair, pos + 2)) {
      ++count;
    }
    return count;
  }

  // Keeps the first `kept` pairs, and converts the others back.
  static void KeepFirst(absl::string_view input, size_t kept, std::string* output) {
    output->clear();
    while (true) {
      const size_t pos = input.find(kPair);
      output->append(input.data(), std::min(pos, input.size()));
      if (pos == input.npos) return;
      output->append(kept > 0 ? "\r\n" : "\n");
      kept -= kept > 0 ? 1 : 0;
      input.remove_prefix(pos + kPair.size());
    }
  }

  // Sets payload_ according to the choices of `path`.
  void Retrace(const std::vector<State>& path) {
    payload_.clear();
    std::string bytes;
    for (size_t i = 0; i + 1 < path.size(); ++i) {
      TurnBack(input_.substr(path[i].pos), path[i].chosen, path[i + 1].size, &bytes);
      payload_ += bytes;
    }
    end_ = path.back().pos;
  }

  const absl::string_view input_;
  const Version version_;
  const uint64_t generation_;  // The generation of the previous batch; 0 for none.
  bool keeps_pairs_;           // Whether a batch, including this one, had pairs that must be kept.
  std::string payload_;
  size_t end_ = 0;  // The end of the batch in the input.
  RawEvent event_;
  std::string event_bytes_;
  int64_t work_left_ = 0;
};

class CrlfFilter final : public Filter {
 public:
  explicit CrlfFilter(bool every_pair) : is_lost_(every_pair) {}

  size_t Step(absl::string_view input, bool at_end, std::string* output) override {
    if (is_lost_) return TurnRestBack(input, at_end, output);
    if (!has_header_) return TakeHeader(input, at_end, output);
    // Enough for the batch and the header of the next one, even if every byte became a pair.
    constexpr size_t kNeeded = 2 * (2 * kMaxBatchHeaderSize + kMaxBatchSize);
    size_t taken = 0;
    while (taken < input.size() && (at_end || input.size() - taken >= kNeeded)) {
      const absl::string_view rest = input.substr(taken);
      if (rest == kPair) return input.size();
      size_t size = 0;
      BatchReading reading(rest, version_, generation_, keeps_pairs_);
      const BatchReading::Result result = reading.Find(output, &size, &generation_);
      keeps_pairs_ = reading.keeps_pairs();
      if (result != BatchReading::Result::kFound) {
        is_lost_ = true;
        return taken;
      }
      taken += size;
      // Returns early, so that output is not held longer than necessary.
      if (output->size() >= kNeeded) break;
    }
    return taken;
  }

 private:
  size_t TakeHeader(absl::string_view input, bool at_end, std::string* output) {
    if (input.size() < kHeaderSize && !at_end) return 0;
    const Header header = ParseHeader(input);
    has_header_ = header.status == HeaderStatus::kOk;
    version_ = header.version;
    is_lost_ = !has_header_;
    if (!has_header_) return 0;
    output->append(input.data(), kHeaderSize);
    return kHeaderSize;
  }

  static size_t TurnRestBack(absl::string_view input, bool at_end, std::string* output) {
    if (!at_end && !input.empty() && input.back() == '\r') input.remove_suffix(1);
    std::string bytes;
    const size_t size = TurnBack(input, 0, input.size(), &bytes);
    *output += bytes;
    return size;
  }

  bool has_header_ = false;
  bool is_lost_;  // Whether a batch could not be restored.
  Version version_ = kNewestVersion;
  uint64_t generation_ = 0;
  bool keeps_pairs_ = false;
};

}  // namespace

std::unique_ptr<Filter> MakeCrlfFilter() {
  return std::make_unique<CrlfFilter>(/*every_pair=*/false);
}

std::unique_ptr<Filter> MakeEveryCrlfFilter() {
  return std::make_unique<CrlfFilter>(/*every_pair=*/true);
}

}  // namespace gotrace::internal
