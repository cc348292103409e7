#include <gotrace/write.h>

#include <iostream>

// Writes a trace of a program that never ran: main begins a task and starts two workers, which need
// the same mutex. The argument is the file to write.
int main(int argc, char** argv) {
  using gotrace::EventType;
  if (argc != 2) return std::cerr << "usage: write_trace FILE\n", 2;
  auto out = gotrace::SinkToFile(argv[1]);
  if (!out.ok()) return std::cerr << out.status().message() << '\n', 1;
  gotrace::TraceWriter writer({}, out->get());
  const gotrace::BuiltTables tables;
  int64_t now = 1'000'000;
  writer.Add({gotrace::EventBuilder::MakeSync(1, tables).Time(now).Build()});

  // An event 10 µs after the last one, of a goroutine that runs on a thread and its P; kNone for no
  // goroutine.
  const auto event = [&](EventType type, int64_t thread, gotrace::GoId goroutine) {
    gotrace::EventBuilder builder(type, tables);
    builder.Time(now += 10'000).Thread(gotrace::ThreadId{thread}).Proc(gotrace::ProcId{thread});
    return builder.Goroutine(goroutine);
  };
  const auto add = [&](const gotrace::EventBuilder& builder) { writer.Add({builder.Build()}); };
  const gotrace::GoId none = gotrace::GoId::kNone;
  const gotrace::GoId main{1}, one{2}, other{3};
  const gotrace::TaskId task{1};
  const gotrace::StackFrame start = {0x1000, "main.worker", "/src/main.go", 20};
  const gotrace::StackFrame lock = {0x2000, "sync.(*Mutex).Lock", "/go/src/sync/mutex.go", 46};
  const gotrace::StackFrame wait = {0x3000, "main.main", "/src/main.go", 12};

  // Main and its P existed before the trace, so the writer states their status.
  add(event(EventType::kUserTaskBegin, 0, main).Task(task).TaskType("order"));
  add(event(EventType::kUserRegionBegin, 0, main).Task(task).RegionType("prepare"));
  for (const gotrace::GoId worker : {one, other}) {
    add(event(EventType::kGoCreate, 0, main)
            .Transition(worker, gotrace::GoState::kNotExist, gotrace::GoState::kRunnable)
            .TransitionStack({start})
            .Stack({wait}));
  }
  add(event(EventType::kUserRegionEnd, 0, main).Task(task).RegionType("prepare"));
  // Another thread takes the second P and runs a worker.
  add(event(EventType::kProcStart, 1, none)
          .Transition(gotrace::ProcId{1}, gotrace::ProcState::kIdle, gotrace::ProcState::kRunning));
  const auto run = [&](int64_t thread, gotrace::GoId goroutine) {
    add(event(EventType::kGoStart, thread, none)
            .Transition(goroutine, gotrace::GoState::kRunnable, gotrace::GoState::kRunning));
  };
  const auto wake = [&](gotrace::GoId by, gotrace::GoId goroutine) {
    add(event(EventType::kGoUnblock, 1, by)
            .Transition(goroutine, gotrace::GoState::kWaiting, gotrace::GoState::kRunnable));
  };
  run(1, one);
  add(event(EventType::kUserRegionBegin, 1, one).Task(task).RegionType("work"));
  add(event(EventType::kGoBlock, 0, main).Reason("chan receive").Stack({wait}));
  // The other worker finds the mutex locked, until the first is done.
  run(0, other);
  add(event(EventType::kUserRegionBegin, 0, other).Task(task).RegionType("work"));
  add(event(EventType::kGoBlock, 0, other).Reason("sync").Stack({lock, start}));
  add(event(EventType::kProcStop, 0, none));
  add(event(EventType::kUserRegionEnd, 1, one).Task(task).RegionType("work"));
  wake(one, other);
  add(event(EventType::kGoDestroy, 1, one));
  run(1, other);
  add(event(EventType::kUserRegionEnd, 1, other).Task(task).RegionType("work"));
  wake(other, main);
  add(event(EventType::kGoDestroy, 1, other));
  run(1, main);
  add(event(EventType::kUserTaskEnd, 1, main).Task(task));

  absl::Status status = writer.Finish();
  if (status.ok()) status = (*out)->Finish();
  if (!status.ok()) return std::cerr << status.message() << '\n', 1;
  std::cout << writer.written().events << " events, with " << writer.written().statuses_added
            << " statuses that were added\n";
}
