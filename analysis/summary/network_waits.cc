// A trace does not say what is at the other end of a connection. A wait that ends just after a
// write of another goroutine to the network was for this program itself, as in tests and in
// services that call themselves: whatever delays these is suspected where it happens. A request by
// net/http is waited for in a select, which another goroutine ends that has waited for the network.
#include "analysis/summary/network_waits.h"

#include <algorithm>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "analysis/intervals/runtime_functions.h"
#include "analysis/intervals/start_function.h"
#include "gotrace/states.h"

namespace gotrace::internal {
namespace {

using Suspicion = TraceSummary::Suspicion;

// A write of this program ended at most so long before the wait for it.
constexpr int64_t kAnswerTime = 300'000;

// In these, servers wait for connections and requests, and clients for an answer or the end of
// connections that they keep.
constexpr absl::string_view kIdleCalls[] = {
    "net/http.(*connReader).backgroundRead",
    "net/http.(*persistConn).readLoop",
    "net/http.(*conn).readRequest",
    "net.(*TCPListener).accept",
    "net.(*UnixListener).accept",
    "net.(*netFD).accept",
    "net/http.(*http2Framer).ReadFrame",
    "golang.org/x/net/http2.(*Framer).ReadFrame",
};
constexpr absl::string_view kAcceptCalls[] = {"net.(*netFD).accept", "internal/poll.(*FD).Accept"};
constexpr absl::string_view kServeCall = "net/http.(*conn).serve";
constexpr absl::string_view kHandlers[] = {"net/http.serverHandler.ServeHTTP",
                                           "google.golang.org/grpc.(*Server).handleStream"};
constexpr absl::string_view kExchanges[] = {"net/http.(*persistConn).roundTrip",
                                            "net/http.(*Transport).getConn"};
constexpr absl::string_view kWrites[] = {"net.(*conn).Write", "net.(*netFD).Write"};
// Writes of this goroutine are requests.
constexpr absl::string_view kRequestWriter = "net/http.(*persistConn).writeLoop";

}  // namespace

const NetworkWaits::Stack& NetworkWaits::StackOf(StackId id) {
  const auto index = static_cast<size_t>(id);
  if (index >= stacks_.size()) stacks_.resize(index + 1);
  Stack& stack = stacks_[index];
  if (stack.is_known) return stack;
  stack.is_known = true;
  absl::string_view root;
  for (const FrameId frame : interner_.Frames(id)) {
    const absl::string_view function = interner_.Frame(frame).func;
    stack.is_idle |= StartsWithAny(function, kIdleCalls);
    stack.is_served |= absl::StartsWith(function, kServeCall);
    stack.is_handler |= StartsWithAny(function, kHandlers);
    stack.is_exchange |= StartsWithAny(function, kExchanges);
    stack.accepts |= StartsWithAny(function, kAcceptCalls);
    stack.writes |= StartsWithAny(function, kWrites);
    root = function;
  }
  stack.is_served &= !stack.is_handler;
  stack.writes &= root != kRequestWriter;
  return stack;
}

void NetworkWaits::AddEvents(absl::Span<const Event> events) {
  for (const Event& event : events) {
    if (event.kind() == EventKind::kSync) generations_.push_back(event.time());
  }
  last_event_ = std::max(last_event_, events.back().time());
}

int64_t NetworkWaits::GenerationAt(int64_t time) const {
  const auto after = absl::c_upper_bound(generations_, time);
  return after == generations_.begin() ? std::numeric_limits<int64_t>::min() : *(after - 1);
}

// Whether the interval is in one generation, of which everything is known here. Those that cross a
// border of parts of the trace end after the last event.
bool NetworkWaits::IsWhole(const GoInterval& interval) const {
  return !interval.end_clipped && interval.end <= last_event_ &&
         interval.begin >= GenerationAt(interval.end);
}

void NetworkWaits::AddGoroutine(const GoInterval& interval) {
  if (interval.starts_life) {
    new_[interval.goroutine] = {interval.begin, interval.begun_by.stack};
  }
  if (interval.state == GoState::kSyscall) {
    AddWrite(interval);
  } else if (interval.state == GoState::kWaiting) {
    AddWait(interval);
  }
  if (!interval.ends_life) return;
  new_.erase(interval.goroutine);
  last_.erase(interval.goroutine);
}

void NetworkWaits::AddWrite(const GoInterval& interval) {
  if (!StackOf(interval.stack).writes || !IsWhole(interval)) return;
  while (!writes_.empty() && writes_.front().first < interval.end - kAnswerTime) {
    writes_.pop_front();
  }
  writes_.emplace_back(interval.end, interval.goroutine);
}

void NetworkWaits::AddWait(const GoInterval& interval) {
  const absl::string_view reason = interner_.String(interval.reason);
  const bool is_direct = reason == "network";
  const StackPlace& place = places_.Of(interval.stack);
  if (place.place.function == StringId::kEmpty || place.is_system) return;
  const Stack& stack = StackOf(interval.stack);
  if (!is_direct && !(stack.is_exchange && reason == "select")) return;
  const Key key = {place.start, place.place};
  const Peer peer = PeerOf(interval);
  if (is_direct) {
    last_[interval.goroutine] = {interval.begin, peer};
    if (stack.accepts) acceptors_.insert(place.start);
    const auto created = new_.find(interval.goroutine);
    if (created != new_.end()) {
      if (IsWhole(interval) && created->second.time >= GenerationAt(interval.end)) {
        first_.insert(key);
        creators_.emplace(place.start, StartOf(interner_, created->second.at));
      }
      new_.erase(created);
    }
  }
  const bool is_of_program = place.outermost != StringId::kEmpty || stack.is_handler;
  if (stack.is_idle || stack.is_served || !is_of_program) return;
  waits_[key].by_peer[static_cast<size_t>(peer)].Add(interval.Seen().duration());
}

NetworkWaits::Peer NetworkWaits::PeerOf(const GoInterval& interval) const {
  if (!IsWhole(interval)) return Peer::kUnknown;
  if (interner_.String(interval.reason) == "network") {
    const bool is_answered = std::any_of(writes_.rbegin(), writes_.rend(), [&](const auto& write) {
      const auto& [end, writer] = write;
      return end > interval.begin && end >= interval.end - kAnswerTime &&
             writer != interval.goroutine;
    });
    return is_answered ? Peer::kProgram : Peer::kOther;
  }
  if (interval.ended_by.kind != CauseKind::kGoroutine) return Peer::kOther;
  const auto last = last_.find(interval.ended_by.goroutine);
  if (last == last_.end() || last->second.begin < GenerationAt(interval.end)) return Peer::kUnknown;
  return last->second.peer;
}

NetworkWaits::Key NetworkWaits::MapIds(const InternerMap& ids, const Key& key) {
  return {ids(key.start),
          {ids(key.place.function), ids(key.place.file), key.place.line, ids(key.place.library)}};
}

void NetworkWaits::Merge(NetworkWaits& next, const InternerMap& ids) {
  for (const auto& [key, more] : next.waits_) {
    Waits& waits = waits_[MapIds(ids, key)];
    for (size_t i = 0; i < 3; ++i) waits.by_peer[i].Merge(more.by_peer[i]);
  }
  for (const StringId start : next.acceptors_) acceptors_.insert(ids(start));
  for (const auto& [start, creator] : next.creators_) creators_.emplace(ids(start), ids(creator));
  for (const Key& key : next.first_) first_.insert(MapIds(ids, key));
  generations_.insert(generations_.end(), next.generations_.begin(), next.generations_.end());
  last_event_ = std::max(last_event_, next.last_event_);
  new_ = std::move(next.new_);
  for (auto& [id, created] : new_) created.at = ids(created.at);
  last_ = std::move(next.last_);
  writes_ = std::move(next.writes_);
}

std::vector<Suspicion> NetworkWaits::FindCandidates(int64_t duration) const {
  // Goroutines that a server starts for its connections wait there for requests.
  absl::flat_hash_set<StringId> of_servers;
  for (const auto& [start, creator] : creators_) {
    if (acceptors_.contains(creator)) of_servers.insert(start);
  }
  struct Place {
    Waits waits;
    std::vector<Suspicion::Part> victims[3];
  };
  absl::flat_hash_map<WaitPlace, Place> places;
  for (const auto& [key, waits] : waits_) {
    if (of_servers.contains(key.start) && first_.contains(key)) continue;
    Place& place = places[key.place];
    for (size_t i = 0; i < 3; ++i) {
      const Histogram& some = waits.by_peer[i];
      if (some.count() == 0) continue;
      place.waits.by_peer[i].Merge(some);
      place.victims[i].push_back({.function = std::string(interner_.String(key.start)),
                                  .count = some.count(),
                                  .time = static_cast<int64_t>(some.sum())});
    }
  }
  std::vector<Suspicion> candidates;
  for (const auto& [place, found] : places) {
    Suspicion io;
    io.kind = SuspicionKind::kIo;
    const auto& [program, other, unknown] = found.waits.by_peer;
    const bool is_other = other.sum() >= program.sum();
    io.lost = other;
    io.others = program;
    (is_other ? io.lost : io.others).Merge(unknown);
    if (io.lost.count() == 0 || io.Cost() < duration / 100) continue;
    const auto text = [&](StringId id) { return std::string(interner_.String(id)); };
    io.reason = "network";
    io.function = text(place.function);
    io.library = text(place.library);
    io.line = place.line;
    io.places.push_back(
        {io.function, io.library, text(place.file), io.line, io.lost.count(), io.Cost()});
    io.victims = found.victims[static_cast<size_t>(Peer::kOther)];
    if (is_other) {
      const auto& more = found.victims[static_cast<size_t>(Peer::kUnknown)];
      io.victims.insert(io.victims.end(), more.begin(), more.end());
    }
    candidates.push_back(std::move(io));
  }
  return candidates;
}

}  // namespace gotrace::internal
