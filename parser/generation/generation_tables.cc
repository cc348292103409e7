#include "parser/generation/generation_tables.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/internal/limits.h"
#include "tracev2/varint.h"

namespace gotrace::internal {

// Steps through the events of a table batch.
class GenerationTables::BatchCursor {
 public:
  // `varint_fault` is the fault of a number that is cut off or too large.
  BatchCursor(const Batch& batch, FaultId varint_fault)
      : batch_(batch),
        pos_(batch.payload.data()),
        end_(pos_ + batch.payload.size()),
        varint_fault_(varint_fault) {}

  bool done() const { return pos_ == end_; }

  // Requires !done().
  EventType PeekType() const { return static_cast<EventType>(*pos_); }
  EventType TakeType() { return static_cast<EventType>(*pos_++); }

  absl::Status TakeVarint(absl::string_view what, uint64_t* value) {
    const char* next = ReadVarint(pos_, end_, value);
    if (next == nullptr) {
      const bool truncated = DiagnoseVarint(pos_, end_) == VarintFault::kTruncated;
      return Fail(varint_fault_, absl::StrCat("expected ", what, ", found ",
                                              truncated ? "the end of the batch"
                                                        : "a number that does not fit in 64 bits"));
    }
    pos_ = next;
    return absl::OkStatus();
  }

  // Consumes the type byte of an event, which must be `type`. Otherwise returns `fault`.
  absl::Status Expect(EventType type, FaultId fault) {
    const EventType found = PeekType();
    if (found != type) {
      return Fail(fault, absl::StrCat("expected a ", EventTypeName(type), " event (byte ",
                                      static_cast<int>(type), "), found byte ",
                                      static_cast<int>(found), " (", EventTypeName(found), ")"));
    }
    ++pos_;
    return absl::OkStatus();
  }

  size_t left() const { return end_ - pos_; }
  absl::string_view Take(size_t size) {
    pos_ += size;
    return absl::string_view(pos_ - size, size);
  }

  uint64_t offset() const { return batch_.payload_offset + (pos_ - batch_.payload.data()); }

  absl::Status Fail(FaultId id, std::string message) const {
    Fault fault = {id, batch_.place(), std::move(message)};
    fault.place.offset = offset();
    return FaultStatus(std::move(fault));
  }

 private:
  const Batch& batch_;
  const char* pos_;
  const char* const end_;
  const FaultId varint_fault_;
};

GenerationTables::GenerationTables() : frame_by_pc_(0, FrameHash{&frames_}, FrameEq{&frames_}) {}

absl::Status GenerationTables::AddStrings(const Batch& batch) {
  BatchCursor cursor(batch, FaultId::kStringVarint);
  cursor.TakeType();
  while (!cursor.done()) {
    const uint64_t offset = cursor.offset();
    if (absl::Status s = cursor.Expect(EventType::kString, FaultId::kStringBatchEvent); !s.ok()) {
      return s;
    }
    uint64_t id = 0;
    uint64_t size = 0;
    if (absl::Status s = cursor.TakeVarint("a string's id", &id); !s.ok()) return s;
    if (absl::Status s = cursor.TakeVarint("a string's length", &size); !s.ok()) return s;
    if (size > kMaxStringSize) {
      return cursor.Fail(FaultId::kStringSize,
                         absl::StrCat("expected a string of at most ", kMaxStringSize,
                                      " bytes, found a length of ", size));
    }
    if (size > cursor.left()) {
      return cursor.Fail(FaultId::kStringTruncated,
                         absl::StrCat("expected ", size, " bytes of string ", id, ", found ",
                                      cursor.left(), " bytes and the end of the batch"));
    }
    const absl::string_view text = cursor.Take(size);
    if (id == 0 || !InsertString(id, text, offset)) {
      return cursor.Fail(FaultId::kStringDuplicate,
                         absl::StrCat("expected a new string id, found ", id,
                                      id == 0 ? ", which is the empty string" : " again"));
    }
  }
  return absl::OkStatus();
}

absl::Status GenerationTables::AddStacks(const Batch& batch) {
  BatchCursor cursor(batch, FaultId::kStackVarint);
  cursor.TakeType();
  while (!cursor.done()) {
    const uint64_t offset = cursor.offset();
    if (absl::Status s = cursor.Expect(EventType::kStack, FaultId::kStackBatchEvent); !s.ok()) {
      return s;
    }
    uint64_t id = 0;
    uint64_t count = 0;
    if (absl::Status s = cursor.TakeVarint("a stack's id", &id); !s.ok()) return s;
    if (absl::Status s = cursor.TakeVarint("a stack's number of frames", &count); !s.ok()) return s;
    if (count > kMaxFramesPerStack) {
      return cursor.Fail(FaultId::kStackDepth,
                         absl::StrCat("expected a stack of at most ", kMaxFramesPerStack,
                                      " frames, found ", count));
    }
    const uint32_t first = static_cast<uint32_t>(stack_frames_.size());
    if (absl::Status s = AddFrames(&cursor, count, offset); !s.ok()) return s;
    if (id == 0 || !InsertStack(id, {first, static_cast<uint32_t>(count)}, offset)) {
      return cursor.Fail(FaultId::kStackDuplicate,
                         absl::StrCat("expected a new stack id, found ", id,
                                      id == 0 ? ", which means no stack" : " again"));
    }
  }
  return absl::OkStatus();
}

bool GenerationTables::InsertString(uint64_t id, absl::string_view text, uint64_t offset) {
  if (!strings_.Insert(id, text)) return false;
  string_offsets_.push_back(offset);
  return true;
}

bool GenerationTables::InsertStack(uint64_t id, StackEntry entry, uint64_t offset) {
  if (!stacks_.Insert(id, entry)) return false;
  stack_offsets_.push_back(offset);
  return true;
}

absl::Status GenerationTables::AddFrames(BatchCursor* cursor, uint64_t count, uint64_t offset) {
  for (uint64_t i = 0; i < count; ++i) {
    Frame frame = {};
    frame.offset = offset;
    if (absl::Status s = cursor->TakeVarint("a frame's pc", &frame.pc); !s.ok()) return s;
    if (absl::Status s = cursor->TakeVarint("a frame's function", &frame.func); !s.ok()) return s;
    if (absl::Status s = cursor->TakeVarint("a frame's file", &frame.file); !s.ok()) return s;
    if (absl::Status s = cursor->TakeVarint("a frame's line", &frame.line); !s.ok()) return s;
    const auto first = frame_by_pc_.lazy_emplace(frame.pc, [&](const auto& emplace) {
      emplace(static_cast<uint32_t>(frames_.size()));
      frames_.push_back(frame);
    });
    stack_frames_.push_back(*first);
  }
  return absl::OkStatus();
}

absl::Status GenerationTables::AddCpuSamples(const Batch& batch) {
  BatchCursor cursor(batch, FaultId::kSampleVarint);
  cursor.TakeType();
  while (!cursor.done()) {
    CpuSample sample;
    sample.offset = cursor.offset();
    if (absl::Status s = cursor.Expect(EventType::kCPUSample, FaultId::kSampleBatchEvent);
        !s.ok()) {
      return s;
    }
    uint64_t time = 0, thread = 0, proc = 0, goroutine = 0;
    if (absl::Status s = cursor.TakeVarint("a sample's time", &time); !s.ok()) return s;
    if (absl::Status s = cursor.TakeVarint("a sample's thread", &thread); !s.ok()) return s;
    if (absl::Status s = cursor.TakeVarint("a sample's P", &proc); !s.ok()) return s;
    if (absl::Status s = cursor.TakeVarint("a sample's goroutine", &goroutine); !s.ok()) return s;
    if (absl::Status s = cursor.TakeVarint("a sample's stack", &sample.stack); !s.ok()) return s;
    sample.time = static_cast<int64_t>(time);
    sample.thread = ThreadId{static_cast<int64_t>(thread)};
    sample.proc = ProcId{static_cast<int64_t>(proc)};
    sample.goroutine = goroutine == 0 ? GoId::kNone : GoId{static_cast<int64_t>(goroutine)};
    cpu_samples_.push_back(sample);
  }
  return absl::OkStatus();
}

absl::Status GenerationTables::AddSync(const Batch& batch, Version version) {
  BatchCursor cursor(batch, FaultId::kSyncVarint);
  const bool has_snapshots = version >= Version::kGo125;
  if (has_snapshots) cursor.TakeType();
  uint64_t ticks = batch.time;
  while (!cursor.done()) {
    const uint64_t offset = cursor.offset();
    if (has_snapshots && cursor.PeekType() == EventType::kClockSnapshot) {
      if (absl::Status s = AddClockSnapshot(&cursor, &ticks); !s.ok()) return s;
      continue;
    }
    if (absl::Status s = cursor.Expect(EventType::kFrequency, FaultId::kSyncBatchEvent); !s.ok()) {
      return s;
    }
    if (clock_.known()) {
      return cursor.Fail(FaultId::kFrequencyDuplicate,
                         "expected one frequency in a generation, found another");
    }
    uint64_t frequency = 0;
    if (absl::Status s = cursor.TakeVarint("a frequency", &frequency); !s.ok()) return s;
    clock_ = TraceClock(frequency);
    frequency_ = Frequency{frequency, offset};
  }
  // The frequency may follow the snapshot, or be in another batch.
  if (clock_snapshot_.has_value()) clock_snapshot_->trace_time = clock_.ToNs(snapshot_ticks_);
  return absl::OkStatus();
}

absl::Status GenerationTables::AddClockSnapshot(BatchCursor* cursor, uint64_t* ticks) {
  if (clock_snapshot_.has_value()) {
    return cursor->Fail(FaultId::kClockSnapshotDuplicate,
                        "expected one clock snapshot in a generation, found another");
  }
  cursor->TakeType();
  uint64_t delta = 0, sec = 0, nsec = 0;
  ClockSnapshot snapshot;
  if (absl::Status s = cursor->TakeVarint("a snapshot's time", &delta); !s.ok()) return s;
  if (absl::Status s = cursor->TakeVarint("a snapshot's clock", &snapshot.mono); !s.ok()) return s;
  if (absl::Status s = cursor->TakeVarint("a snapshot's seconds", &sec); !s.ok()) return s;
  if (absl::Status s = cursor->TakeVarint("a snapshot's nanoseconds", &nsec); !s.ok()) return s;
  *ticks += delta;
  snapshot_ticks_ = *ticks;
  snapshot.wall = absl::FromUnixSeconds(static_cast<int64_t>(sec)) +
                  absl::Nanoseconds(static_cast<int64_t>(nsec));
  clock_snapshot_ = snapshot;
  return absl::OkStatus();
}

void GenerationTables::AddExperimental(const Batch& batch) {
  experimental_[batch.experiment].push_back({batch.thread, batch.payload});
}

absl::Status GenerationTables::CheckStacks(uint64_t generation) const {
  for (const Frame& frame : frames_) {
    const bool has_func = FindString(frame.func) != nullptr;
    if (has_func && FindString(frame.file) != nullptr) continue;
    Fault fault = {FaultId::kStackString, Place(),
                   absl::StrCat("expected string ", has_func ? frame.file : frame.func,
                                " in the table, for the ", has_func ? "file" : "function",
                                " at pc ", absl::Hex(frame.pc), ", found none")};
    fault.place.offset = frame.offset;
    fault.place.generation = generation;
    return FaultStatus(std::move(fault));
  }
  return absl::OkStatus();
}

void GenerationTables::MarkFrameStrings(std::vector<bool>* used) const {
  for (const Frame& frame : frames_) {
    for (const uint64_t id : {frame.func, frame.file}) {
      if (const uint32_t index = StringIndex(id); index != kNoString) (*used)[index] = true;
    }
  }
}

void GenerationTables::SortSamples() {
  for (CpuSample& sample : cpu_samples_) {
    sample.time = clock_.ToNs(static_cast<uint64_t>(sample.time));
  }
  std::stable_sort(cpu_samples_.begin(), cpu_samples_.end(),
                   [](const CpuSample& a, const CpuSample& b) { return a.time < b.time; });
}

void GenerationTables::AddMissingString(uint64_t id) {
  InsertString(id, made_strings_.emplace_back(absl::StrCat("?string#", id)), /*offset=*/0);
}

void GenerationTables::AddMissingStack(uint64_t id) {
  // The function's name needs a string id that the trace does not use. The search continues where
  // the last one ended, since a trace may use a million of these ids.
  do {
    --last_own_string_;
  } while (FindString(last_own_string_) != nullptr);
  const uint64_t name = last_own_string_;
  InsertString(name, made_strings_.emplace_back(absl::StrCat("?stack#", id)), /*offset=*/0);
  stack_frames_.push_back(static_cast<uint32_t>(frames_.size()));
  frames_.push_back({/*pc=*/0, name, /*file=*/0, /*line=*/0, /*offset=*/0});
  InsertStack(id, {static_cast<uint32_t>(stack_frames_.size() - 1), 1}, /*offset=*/0);
}

std::vector<uint64_t> GenerationTables::AddMissingFrameStrings() {
  std::vector<uint64_t> missing;
  for (const Frame& frame : frames_) {
    for (const uint64_t id : {frame.func, frame.file}) {
      if (FindString(id) != nullptr) continue;
      AddMissingString(id);
      missing.push_back(id);
    }
  }
  return missing;
}

}  // namespace gotrace::internal
