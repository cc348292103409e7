#include "export/pprof/stack_labels.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gotrace/event_builder.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace stack_labels_test {

StackId Intern(const std::vector<StackFrame>& frames, Interner* interner) {
  EventBuilder builder(EventType::kGoBlock);
  builder.Stack(frames);
  return interner->InternStack(builder.Build().stack());
}

size_t WidthOf(absl::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

TEST(StackLabels, ShortenWhatMattersLeastFirst) {
  Interner interner;
  const StackId stack = Intern({{1, "runtime.semacquire1", "runtime/sema.go", 1},
                                {2, "internal/sync.(*Mutex).lockSlow", "internal/sync/mutex.go", 2},
                                {3, "sync.(*Mutex).Lock", "sync/mutex.go", 3},
                                {4, "main.(*Cache).Get", "/src/cache.go", 17},
                                {5, "main.handle", "/src/main.go", 5},
                                {6, "github.com/x/mux.Serve", "github.com/x/mux@v1/mux.go", 6},
                                {7, "net/http.(*conn).serve", "net/http/server.go", 7}},
                               &interner);
  const StackLabels labels(&interner, {stack});
  const std::string texts[] = {
      "net/http.(*conn).serve;github.com/x/mux.Serve;main.handle;main.(*Cache).Get;"
      "sync.(*Mutex).Lock;internal/sync.(*Mutex).lockSlow;runtime.semacquire1",
      "net/http.(*conn).serve;github.com/x/mux.Serve;main.handle;main.(*Cache).Get;"
      "sync.(*Mutex).Lock;internal/sync.(*Mutex).lockSlow;…",
      "net/http.(*conn).serve;github.com/x/mux.Serve;main.handle;main.(*Cache).Get;"
      "sync.(*Mutex).Lock;…",
      "net/http.(*conn).serve;…;main.handle;main.(*Cache).Get;sync.(*Mutex).Lock;…",
      "…;main.handle;main.(*Cache).Get;sync.(*Mutex).Lock;…",
      "…;main.handle;main.(*Cache).Get;…",
      "…;main.(*Cache).Get;…",
  };
  const ProfileKey key = {.stack = stack};
  EXPECT_EQ(labels.Text(key), texts[0]);
  EXPECT_EQ(labels.Fit(key, 1000), texts[0]);
  for (const std::string& text : texts) EXPECT_EQ(labels.Fit(key, WidthOf(text)), text);
  // The program's innermost function stays.
  EXPECT_EQ(labels.Fit(key, 3), "…;main.(*Cache).Get;…");
}

TEST(StackLabels, KeepTheOutermostFrameWithoutTheProgram) {
  Interner interner;
  const StackId stack = Intern({{1, "runtime.gopark", "runtime/proc.go", 1},
                                {2, "runtime.gcBgMarkWorker", "runtime/mgc.go", 2}},
                               &interner);
  const StackLabels labels(&interner, {stack});
  EXPECT_EQ(labels.Fit({.stack = stack}, 30), "runtime.gcBgMarkWorker;…");
}

TEST(StackLabels, HaveLinesWhereNothingElseDiffers) {
  Interner interner;
  const StackFrame lock = {1, "sync.(*Mutex).Lock", "sync/mutex.go", 3};
  const StackFrame get = {2, "main.get", "/src/cache.go", 17};
  const StackId first = Intern({lock, get, {3, "main.main", "/src/main.go", 5}}, &interner);
  const StackId second = Intern({lock, get, {4, "main.main", "/src/main.go", 6}}, &interner);
  // The same line, and another instruction of it.
  const StackId third = Intern({lock, get, {5, "main.main", "/src/main.go", 6}}, &interner);
  const StackId other = Intern({get, {3, "main.main", "/src/main.go", 5}}, &interner);
  const StackLabels labels(&interner, {first, second, third, other, first, StackId::kNone});
  EXPECT_EQ(labels.Text({.stack = first}), "main.main main.go:5;main.get;sync.(*Mutex).Lock");
  EXPECT_EQ(labels.Text({.stack = second}), "main.main main.go:6;main.get;sync.(*Mutex).Lock");
  EXPECT_EQ(labels.Text({.stack = third}), labels.Text({.stack = second}));
  EXPECT_EQ(labels.Text({.stack = other}), "main.main;main.get");
  const StackLabels alone(&interner, {first, other});
  EXPECT_EQ(alone.Text({.stack = first}), "main.main;main.get;sync.(*Mutex).Lock");

  StacksByFunctions stacks(&interner);
  EXPECT_EQ(stacks.Of(second), second);
  EXPECT_EQ(stacks.Of(first), second);
  EXPECT_EQ(stacks.Of(other), other);
  EXPECT_EQ(stacks.Of(StackId::kNone), StackId::kNone);
}

TEST(StackLabels, HaveWhatWokeTheGoroutine) {
  Interner interner;
  const StackId wait = Intern({{1, "main.wait", "/src/main.go", 5}}, &interner);
  const StackId send = Intern({{2, "main.send", "/src/main.go", 9}}, &interner);
  const StackLabels labels(&interner, {wait, send});
  EXPECT_EQ(labels.Text({.stack = wait, .woken_by = CauseKind::kGoroutine, .waker = send}),
            "main.wait;[woken by a goroutine];main.send");
  EXPECT_EQ(labels.Text({.stack = wait, .woken_by = CauseKind::kTimer}),
            "main.wait;[woken by a timer]");
  EXPECT_EQ(labels.Text({.start = interner.InternString("main.start")}), "main.start");
  EXPECT_EQ(labels.Text({}), "");
}

}  // namespace stack_labels_test
}  // namespace gotrace::internal
