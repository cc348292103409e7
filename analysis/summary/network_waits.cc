// A trace does not say what is at the other end of a connection. A wait that ends just after a
// write of another goroutine to the network was for this program itself, as in tests and in
// services that call themselves. What that goroutine did before its write, since it last wrote or
// waited for the network, is why it took so long. A request by net/http is waited for in a select,
// which another goroutine ends that has waited for the network.
#include "analysis/summary/network_waits.h"

#include <algorithm>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "analysis/core/time_sums.h"
#include "analysis/intervals/runtime_functions.h"
#include "analysis/intervals/start_function.h"
#include "gotrace/states.h"

namespace gotrace::internal {
namespace {

using Suspicion = TraceSummary::Suspicion;

// A write of this program ended at most so long before the wait for it.
constexpr int64_t kAnswerTime = 300'000;

// So many states of a goroutine are kept. Nothing is known of an answer with more.
constexpr size_t kMaxStates = 64;

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

void NetworkWaits::AddGoroutine(const GoInterval& interval) {
  if (interval.starts_life) {
    new_[interval.goroutine] = {interval.begin, interval.begun_by.stack};
  }
  switch (interval.state) {
    case GoState::kSyscall:
      AddWrite(interval);
      break;
    case GoState::kWaiting:
      AddWait(interval, /*is_direct=*/interner_.String(interval.reason) == "network");
      break;
    case GoState::kRunnable:
      AddState(interval);
      break;
    default:
      break;
  }
  if (!interval.ends_life) return;
  new_.erase(interval.goroutine);
  last_.erase(interval.goroutine);
  work_.erase(interval.goroutine);
}

NetworkWaits::Work& NetworkWaits::WorkIn(const GoInterval& interval) {
  Work& work = work_[interval.goroutine];
  const int64_t generation = generations_.At(interval.end);
  if (work.generation != generation) work = {.generation = generation};
  return work;
}

void NetworkWaits::AddState(const GoInterval& interval) {
  const auto found = work_.find(interval.goroutine);
  if (found == work_.end() || !generations_.HasWhole(interval)) return;
  Work& work = found->second;
  // Of this generation, only what follows a wait for the network or a write is known.
  if (work.generation != generations_.At(interval.end)) return;
  work.is_long |= work.states.size() == kMaxStates;
  if (work.is_long) return;
  work.states.push_back(
      {interval.begin, interval.end, interval.state, interval.reason, interval.stack});
}

void NetworkWaits::AddWrite(const GoInterval& interval) {
  if (!StackOf(interval.stack).writes) return AddState(interval);
  if (!generations_.HasWhole(interval)) return;
  while (!writes_.empty() && writes_.front()->end < interval.end - kAnswerTime) {
    writes_.pop_front();
  }
  Work& work = WorkIn(interval);
  const int64_t generation = work.generation;
  writes_.push_back(std::make_shared<Answer>(
      Answer{interval.end, interval.goroutine, places_.Of(interval.stack).start, std::move(work)}));
  work = {.generation = generation, .has_asked = true};
}

void NetworkWaits::AddWait(const GoInterval& interval, bool is_direct) {
  if (!is_direct) AddState(interval);
  const StackPlace& place = places_.Of(interval.stack);
  if (place.place.function == StringId::kEmpty || place.is_system) return;
  const Stack& stack = StackOf(interval.stack);
  const bool is_exchange = stack.is_exchange && interner_.String(interval.reason) == "select";
  if (!is_direct && !is_exchange) return;
  const Key key = {place.start, place.place};
  const bool is_of_program = place.outermost != StringId::kEmpty || stack.is_handler;
  // For a connection that others use: see kPool. After this, `place` is not valid.
  if (place.awaits_connection && places_.Of(interval.ended_by.stack).returns_connection) return;
  LastWait wait = AnswerTo(interval, is_direct);
  if (is_direct) {
    if (stack.accepts) acceptors_.insert(key.start);
    const auto created = new_.find(interval.goroutine);
    if (created != new_.end()) {
      if (generations_.HasWhole(interval) &&
          created->second.time >= generations_.At(interval.end)) {
        first_.insert(key);
        creators_.emplace(key.start, StartOf(interner_, created->second.at));
      }
      new_.erase(created);
    }
    last_[interval.goroutine] = wait;
    if (generations_.HasWhole(interval)) {
      Work& work = WorkIn(interval);
      if (wait.peer == Peer::kProgram && work.has_asked) wait.peer = Peer::kAsked;
      work = {.generation = work.generation};
    }
  } else if (wait.peer == Peer::kProgram) {
    wait.peer = Peer::kAsked;
  }
  if (stack.is_idle || stack.is_served || !is_of_program) return;
  waits_[key].by_peer[static_cast<size_t>(wait.peer)].Add(interval.Seen().duration());
  if (wait.peer == Peer::kAsked) AddAnswer(interval, key.place, *wait.answer);
}

// Adds what the goroutine that answered did during a wait for it.
void NetworkWaits::AddAnswer(const GoInterval& interval, const WaitPlace& place,
                             const Answer& answer) {
  if (answer.work.is_long) return;
  int64_t rest = interval.end - interval.begin;
  for (const State& state : answer.work.states) {
    const int64_t time = state.end - std::max(state.begin, interval.begin);
    if (time <= 0) continue;
    doing_[{place, answer.start, state.state, state.reason, state.stack}].Add(1, time);
    rest -= time;
  }
  doing_[{place, answer.start, GoState::kRunning}].Add(1, rest);
}

void NetworkWaits::Doing::Add(uint64_t more, int64_t more_time) {
  count += more;
  AddTime(more_time, &time);
}

NetworkWaits::LastWait NetworkWaits::AnswerTo(const GoInterval& interval, bool is_direct) const {
  LastWait wait;
  wait.begin = interval.begin;
  if (!generations_.HasWhole(interval)) return wait;
  if (is_direct) {
    const auto answer = std::find_if(writes_.rbegin(), writes_.rend(), [&](const auto& write) {
      return write->end > interval.begin && write->end >= interval.end - kAnswerTime &&
             write->goroutine != interval.goroutine;
    });
    wait.peer = answer != writes_.rend() ? Peer::kProgram : Peer::kOther;
    if (answer != writes_.rend()) wait.answer = *answer;
    return wait;
  }
  if (interval.ended_by.kind != CauseKind::kGoroutine) {
    wait.peer = Peer::kOther;
    return wait;
  }
  const auto last = last_.find(interval.ended_by.goroutine);
  if (last == last_.end() || last->second.begin < generations_.At(interval.end)) return wait;
  wait.peer = last->second.peer;
  wait.answer = last->second.answer;
  return wait;
}

NetworkWaits::Key NetworkWaits::MapIds(const InternerMap& ids, const Key& key) {
  return {ids(key.start),
          {ids(key.place.function), ids(key.place.file), key.place.line, ids(key.place.library)}};
}

void NetworkWaits::Merge(NetworkWaits& next, const InternerMap& ids) {
  for (const auto& [key, more] : next.waits_) {
    Waits& waits = waits_[MapIds(ids, key)];
    for (size_t i = 0; i < kPeers; ++i) waits.by_peer[i].Merge(more.by_peer[i]);
  }
  for (const auto& [key, more] : next.doing_) {
    const Key place = MapIds(ids, {key.start, key.place});
    doing_[{place.place, place.start, key.state, ids(key.reason), ids(key.stack)}].Add(more.count,
                                                                                       more.time);
  }
  for (const StringId start : next.acceptors_) acceptors_.insert(ids(start));
  for (const auto& [start, creator] : next.creators_) creators_.emplace(ids(start), ids(creator));
  for (const Key& key : next.first_) first_.insert(MapIds(ids, key));
  generations_.Merge(next.generations_);
  new_ = std::move(next.new_);
  for (auto& [id, created] : new_) created.at = ids(created.at);
  // What follows is in other generations.
  last_.clear();
  work_.clear();
  writes_.clear();
}

std::vector<Suspicion> NetworkWaits::FindCandidates(int64_t duration) {
  // Goroutines that a server starts for its connections wait there for requests.
  absl::flat_hash_set<StringId> of_servers;
  for (const auto& [start, creator] : creators_) {
    if (acceptors_.contains(creator)) of_servers.insert(start);
  }
  struct Place {
    Waits waits;
    std::vector<Suspicion::Part> victims[kPeers];
    std::vector<const std::pair<const DoingKey, Doing>*> doing;
  };
  absl::flat_hash_map<WaitPlace, Place> places;
  for (const auto& [key, waits] : waits_) {
    if (of_servers.contains(key.start) && first_.contains(key)) continue;
    Place& place = places[key.place];
    for (size_t i = 0; i < kPeers; ++i) {
      const Histogram& some = waits.by_peer[i];
      if (some.count() == 0) continue;
      // Whoever accepts connections may serve them, too.
      const bool is_served = static_cast<Peer>(i) == Peer::kAsked && acceptors_.contains(key.start);
      const size_t peer = is_served ? static_cast<size_t>(Peer::kProgram) : i;
      place.waits.by_peer[peer].Merge(some);
      place.victims[peer].push_back({.function = std::string(interner_.String(key.start)),
                                     .count = some.count(),
                                     .time = static_cast<int64_t>(some.sum())});
    }
  }
  for (const auto& doing : doing_) {
    const auto place = places.find(doing.first.place);
    if (place != places.end()) place->second.doing.push_back(&doing);
  }
  std::vector<Suspicion> candidates;
  for (const auto& [place, found] : places) {
    const auto& [program, asked, other, unknown] = found.waits.by_peer;
    const bool is_other = other.sum() >= program.sum() + asked.sum();
    const auto& victims = found.victims;
    const auto victims_of = [&victims](Peer peer) { return victims[static_cast<size_t>(peer)]; };
    Suspicion io = SuspicionIn(place);
    io.reason = "network";
    io.lost = other;
    io.others = program;
    io.others.Merge(asked);
    (is_other ? io.lost : io.others).Merge(unknown);
    io.victims = victims_of(Peer::kOther);
    if (is_other) {
      const std::vector<Suspicion::Part> more = victims_of(Peer::kUnknown);
      io.victims.insert(io.victims.end(), more.begin(), more.end());
    }
    Suspicion own = SuspicionIn(place);
    own.reason = std::string(kOwnNetwork);
    own.lost = asked;
    own.others = other;
    own.others.Merge(program);
    own.victims = victims_of(Peer::kAsked);
    for (const auto* const doing : found.doing) AddDoing(doing->first, doing->second, &own);
    for (Suspicion* const one : {&io, &own}) {
      if (one->lost.count() == 0 || one->Cost() < duration / 100) continue;
      one->places[0].count = one->lost.count();
      one->places[0].time = one->Cost();
      candidates.push_back(std::move(*one));
    }
  }
  return candidates;
}

Suspicion NetworkWaits::SuspicionIn(const WaitPlace& place) const {
  const auto text = [&](StringId id) { return std::string(interner_.String(id)); };
  Suspicion io;
  io.kind = SuspicionKind::kIo;
  io.function = text(place.function);
  io.library = text(place.library);
  io.line = place.line;
  io.places.push_back({io.function, io.library, text(place.file), io.line});
  return io;
}

// Of what a goroutine does before it answers, only the time in which it sleeps or is in syscalls,
// or waits for others to answer, is lost for nothing that other suspicions are about.
void NetworkWaits::AddDoing(const DoingKey& key, const Doing& doing, Suspicion* io) {
  const StackPlace& stack = places_.Of(key.stack);
  const absl::string_view reason = interner_.String(key.reason);
  const bool is_named = key.state == GoState::kWaiting && !reason.empty();
  const bool is_slow = key.state == GoState::kSyscall || reason == "sleep" || reason == "network";
  const StringId function = stack.outermost != StringId::kEmpty ? stack.outermost : key.start;
  io->culprits.push_back({.function = std::string(interner_.String(function)),
                          .library = std::string(interner_.String(stack.place.function)),
                          .count = doing.count,
                          .time = doing.time,
                          .reason = std::string(is_named ? reason : GoStateName(key.state))});
  AddTime(doing.time, &io->peers);
  if (is_slow) AddTime(doing.time, &io->own);
}

}  // namespace gotrace::internal
