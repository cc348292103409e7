#include "analysis/intervals/stack_places.h"

#include <cstddef>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "analysis/intervals/runtime_functions.h"
#include "analysis/intervals/start_function.h"

namespace gotrace::internal {
namespace {

// The first elements of the paths of the standard library's packages, in alphabetical order. Files
// do not tell them from packages of the program, since -trimpath makes their paths alike, but a
// program cannot have a package with such a path.
constexpr absl::string_view kStandardPackages[] = {
    "archive", "bufio",    "builtin", "bytes",   "cmp",      "compress", "container", "context",
    "crypto",  "database", "debug",   "embed",   "encoding", "errors",   "expvar",    "flag",
    "fmt",     "go",       "hash",    "html",    "image",    "index",    "internal",  "io",
    "iter",    "log",      "maps",    "math",    "mime",     "net",      "os",        "path",
    "plugin",  "reflect",  "regexp",  "runtime", "slices",   "sort",     "strconv",   "strings",
    "structs", "sync",     "syscall", "testing", "text",     "time",     "unicode",   "unique",
    "unsafe",  "vendor",   "weak",
};

// "net" for net/http.(*conn).serve, "main" for main.main.func1.
absl::string_view FirstElement(absl::string_view function) {
  return function.substr(0, function.find_first_of("/."));
}

bool IsStandard(absl::string_view function) {
  return absl::c_binary_search(kStandardPackages, FirstElement(function));
}

// Whether the function belongs to another module than the program: its file is in the module cache,
// whose folders have a version, or in a folder of copies. Packages below golang.org/x/ are also
// part of the standard library, where their files have no such names.
bool IsOfDependency(const StackFrame& frame) {
  return absl::StrContains(frame.file, '@') || absl::StrContains(frame.file, "/vendor/") ||
         absl::StartsWith(frame.func, "golang.org/x/");
}

// The functions that wait for an object of package sync. A program that calls one of them may call
// it through another: RWMutex.Lock() locks a Mutex, too.
struct SyncCall {
  absl::string_view prefix;
  WaitObject object;
};
constexpr SyncCall kSyncCalls[] = {
    {"sync.(*Mutex).Lock", WaitObject::kMutex},
    {"internal/sync.(*Mutex).", WaitObject::kMutex},
    {"sync.(*RWMutex).Lock", WaitObject::kRWMutex},
    {"sync.(*RWMutex).RLock", WaitObject::kRWMutex},
    {"sync.(*Cond).Wait", WaitObject::kCond},
    {"sync.(*WaitGroup).Wait", WaitObject::kWaitGroup},
};

// The calls that last until there is input, a child ends, or a signal comes.
constexpr absl::string_view kInputCalls[] = {
    "syscall.wait4",     "syscall.waitid", "syscall.Wait4",    "os.(*Process).",
    "syscall.EpollWait", "syscall.Select", "os/signal.",       "syscall.read",
    "syscall.Read",      "syscall.accept", "syscall.recvfrom",
};

// The functions in which goroutines wait for the garbage collector.
constexpr absl::string_view kGcCalls[] = {"runtime.gcStart", "runtime.gcAssistAlloc"};

// The functions of package net/http and database/sql in which goroutines wait for a connection, and
// those in which one is given back. That of net/http also waits for new ones.
constexpr absl::string_view kConnectionWaits[] = {"net/http.(*Transport).getConn",
                                                  "database/sql.(*DB).conn"};
constexpr absl::string_view kConnectionReturns[] = {"net/http.(*Transport).tryPutIdleConn",
                                                    "database/sql.(*DB).putConn"};

constexpr absl::string_view kReceive = "runtime.chanrecv";

// Whether a function in which a goroutine starts says little about what it does: main.main, and
// functions that the compiler names, such as main.main.func1 and main.serve.gowrap2.
bool SaysLittle(absl::string_view function) {
  absl::string_view name = function.substr(function.find_last_of('.') + 1);
  if (!absl::ConsumePrefix(&name, "func")) absl::ConsumePrefix(&name, "gowrap");
  const auto is_digit = [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); };
  return function == "main.main" || (!name.empty() && absl::c_all_of(name, is_digit));
}

// Whether a frame below the place only says how the runtime does what the program asked for:
// runtime.chanrecv1, but not runtime.GC.
bool IsHidden(absl::string_view library) {
  constexpr absl::string_view kRuntime = "runtime.";
  return absl::StartsWith(library, kRuntime) && library.size() > kRuntime.size() &&
         !absl::ascii_isupper(static_cast<unsigned char>(library[kRuntime.size()]));
}

}  // namespace

FrameKind KindOf(const StackFrame& frame) {
  if (IsOfRuntime(frame.func) || absl::StartsWith(frame.func, "internal/")) {
    return FrameKind::kRuntime;
  }
  return IsStandard(frame.func) || IsOfDependency(frame) ? FrameKind::kLibrary
                                                         : FrameKind::kProgram;
}

WaitObject ObjectOf(absl::string_view reason, const StackPlace& place) {
  if (reason.empty() || reason == "sync") return place.object;
  if (reason == "sync.(*Cond).Wait") return WaitObject::kCond;
  if (reason == "chan send" || reason == "chan receive") return WaitObject::kChannel;
  if (reason == "select") return WaitObject::kSelect;
  return WaitObject::kOther;
}

const StackPlace& StackPlaces::Of(StackId stack) {
  const auto index = static_cast<size_t>(stack);
  if (index >= places_.size()) {
    places_.resize(index + 1);
    is_known_.resize(index + 1);
  }
  if (!is_known_[index]) {
    places_[index] = Find(stack);
    is_known_[index] = true;
  }
  return places_[index];
}

StackPlace StackPlaces::Find(StackId stack) const {
  StackPlace found;
  const absl::Span<const FrameId> frames = interner_.Frames(stack);
  if (frames.empty()) return found;
  found.start = StartOf(interner_, stack);
  const absl::string_view start = interner_.String(found.start);
  found.is_system = IsOfSystem(start);
  found.is_deadline = absl::StartsWith(start, "context.WithDeadline");
  found.receives = absl::StartsWith(interner_.Frame(frames[0]).func, kReceive);
  found.is_connection = start == "net/http.(*conn).serve";
  bool reads = false;
  bool handles = false;

  // The innermost frame of the program, else of a dependency, else one that is not part of how Go
  // works.
  std::optional<size_t> program;
  std::optional<size_t> dependency;
  std::optional<size_t> other;
  for (size_t i = 0; i < frames.size(); ++i) {
    const StackFrame frame = interner_.Frame(frames[i]);
    found.is_system |= absl::StartsWith(frame.func, "net/http/pprof.");
    found.awaits_input |= StartsWithAny(frame.func, kInputCalls);
    found.is_in_gc |= StartsWithAny(frame.func, kGcCalls);
    found.awaits_connection |= absl::c_linear_search(kConnectionWaits, frame.func);
    found.returns_connection |= StartsWithAny(frame.func, kConnectionReturns);
    reads |= frame.func == "net.(*conn).Read";
    handles |= frame.func == "net/http.serverHandler.ServeHTTP";
    // The function that cgo makes for a call of C stands for C.
    if (absl::StrContains(frame.func, "._Cfunc_")) continue;
    if (!IsStandard(frame.func)) {
      if (!dependency.has_value()) dependency = i;
      if (IsOfDependency(frame)) continue;
      if (!program.has_value()) program = i;
      const StringId function = interner_.FrameWithIds(frames[i]).func;
      const bool is_start = function == found.start;
      if (found.outermost == StringId::kEmpty || !is_start || !SaysLittle(frame.func)) {
        found.outermost = function;
      }
    } else if (!other.has_value() && !IsOfLibrary(frame.func) &&
               !absl::StartsWith(frame.func, "syscall.")) {
      other = i;
    }
  }
  found.awaits_request = found.is_connection && reads && !handles;
  const size_t at = program.has_value()      ? *program
                    : dependency.has_value() ? *dependency
                    : other.has_value()      ? *other
                                             : frames.size() - 1;
  const InternedFrame frame = interner_.FrameWithIds(frames[at]);
  found.place = {.function = frame.func, .file = frame.file, .line = frame.line};
  if (at > 0) {
    const StringId library = interner_.FrameWithIds(frames[at - 1]).func;
    if (!IsHidden(interner_.String(library))) found.place.library = library;
  }
  for (size_t i = 0; i <= at; ++i) {
    const StringId function = interner_.FrameWithIds(frames[i]).func;
    for (const SyncCall& call : kSyncCalls) {
      if (!absl::StartsWith(interner_.String(function), call.prefix)) continue;
      found.object = call.object;
      found.call = function;
    }
  }
  return found;
}

}  // namespace gotrace::internal
