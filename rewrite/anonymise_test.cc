#include "gotrace/anonymise.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "gotrace/event_builder.h"
#include "gotrace/reader.h"
#include "gotrace/trace_writer.h"
#include "gotrace/validate.h"
#include "gtest/gtest.h"
#include "parser/reader/reader_access.h"
#include "testdata/test_data.h"
#include "testing/golden_case.h"
#include "testing/test_util.h"
#include "testing/validated_cases.h"

namespace gotrace::internal {
namespace anonymise_test {

struct Anonymised {
  std::string bytes;
  AnonymisedTrace result;
};

Anonymised AnonymiseBytes(absl::string_view bytes, const AnonymiseOptions& options = {}) {
  Anonymised anonymised;
  const std::unique_ptr<ByteSink> out = SinkToString(&anonymised.bytes);
  absl::StatusOr<AnonymisedTrace> result =
      Anonymise(*SourceFromBytes(bytes), options, {}, out.get());
  EXPECT_TRUE(result.ok()) << result.status();
  if (result.ok()) anonymised.result = *std::move(result);
  EXPECT_TRUE(anonymised.result.status.ok()) << anonymised.result.status;
  EXPECT_TRUE(out->Finish().ok());
  return anonymised;
}

AnonymiseOptions Everything() {
  AnonymiseOptions options;
  for (int i = 0; i < kPrivatePartEnd; ++i) options.parts.insert(static_cast<PrivatePart>(i));
  return options;
}

void ExpectSound(const std::string& bytes) {
  ValidateOptions options;
  options.strictness = Strictness::kGo;
  const ValidationReport report = ValidateTrace(*SourceFromBytes(bytes), options);
  EXPECT_EQ(report.verdict(), Verdict::kSound) << ShowReport(report);
}

std::set<std::string> StringsOf(absl::string_view bytes) {
  std::set<std::string> strings;
  ReaderHooks hooks;
  hooks.on_generation_end = [&](const GenerationTables& tables, const TableUse&) {
    for (size_t i = 0; i < tables.string_count(); ++i) strings.emplace(tables.StringAt(i));
  };
  ReadAll(ReaderAccess::FromSource(*SourceFromBytes(bytes), {}, hooks));
  return strings;
}

// Returns the events without what can be replaced: their times since the first one, who executed
// them, and what they did.
std::vector<std::string> Skeleton(absl::string_view bytes) {
  std::vector<std::string> lines;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  int64_t first = -1;
  EXPECT_TRUE(reader
                  ->ForEach([&](const Event& event) {
                    // The time of the last kSync event is that of the event before it.
                    if (event.kind() == EventKind::kExperimental) return;
                    if (event.kind() == EventKind::kSync) return;
                    if (first < 0) first = event.time();
                    lines.push_back(absl::StrCat(
                        EventTypeName(event.type()), " ", event.time() - first, " ",
                        event.thread().value, " ", event.proc().value, " ", event.goroutine().value,
                        " ", event.transition_resource().id, " ",
                        static_cast<int>(event.transition_to()), " ", event.stack().size()));
                  })
                  .ok());
  return lines;
}

class AnonymiseOfRealTraces : public testing::TestWithParam<TestTrace> {};
INSTANTIATE_TEST_SUITE_P(Traces, AnonymiseOfRealTraces, testing::ValuesIn(SomeTestTraces()),
                         [](const auto& info) {
                           return absl::StrReplaceAll(info.param.name, {{".", "_"}, {"-", "_"}});
                         });

// No text that is not of Go itself is in any byte of the result, whatever table or batch it was in.
TEST_P(AnonymiseOfRealTraces, HasNoPrivateTextInAnyByte) {
  const std::string original = ReadTestTrace(GetParam().name);
  for (const bool everything : {false, true}) {
    SCOPED_TRACE(everything);
    const Anonymised anonymised =
        AnonymiseBytes(original, everything ? Everything() : AnonymiseOptions());
    ExpectSound(anonymised.bytes);
    EXPECT_EQ(anonymised.result.written.events_added, 0U);
    EXPECT_EQ(anonymised.result.written.events_left_out, 0U);
    EXPECT_EQ(Skeleton(anonymised.bytes), Skeleton(original));
    const std::set<std::string> left = StringsOf(anonymised.bytes);
    size_t gone = 0;
    for (const std::string& text : StringsOf(original)) {
      if (left.contains(text)) continue;
      ++gone;
      // Fewer bytes are also in numbers and in parts of names that stay.
      const bool is_in_another =
          std::any_of(left.begin(), left.end(),
                      [&](const std::string& other) { return absl::StrContains(other, text); });
      if (text.size() < 4 || is_in_another) continue;
      EXPECT_FALSE(absl::StrContains(anonymised.bytes, text)) << text;
    }
    EXPECT_GT(gone, 0U);
    // What stays is of the runtime and the standard library, or has no letters of its own.
    for (const std::string& text : left) {
      if (absl::StrContains(text, "anon") || absl::StrContains(text, "Anon")) continue;
      EXPECT_FALSE(absl::StrContains(text, "home/") || absl::StrContains(text, "tmp/")) << text;
      if (!absl::StartsWith(text, "main.")) continue;
      // "main.main.func1"
      const std::string rest = absl::StrReplaceAll(text, {{"main", ""},
                                                          {"init", ""},
                                                          {"func", ""},
                                                          {"gowrap", ""},
                                                          {"deferwrap", ""},
                                                          {"range", ""},
                                                          {"glob", ""},
                                                          {"fm", ""}});
      EXPECT_TRUE(std::none_of(rest.begin(), rest.end(), absl::ascii_isalpha)) << text;
    }
  }
}

// Translates back what was replaced: the originals are those of the trace.
TEST_P(AnonymiseOfRealTraces, SaysWhatWasReplaced) {
  const std::string original = ReadTestTrace(GetParam().name);
  const Anonymised anonymised = AnonymiseBytes(original);
  const std::set<std::string> before = StringsOf(original);
  const std::set<std::string> after = StringsOf(anonymised.bytes);
  std::set<std::pair<PrivatePart, std::string>> made_up;
  for (const Replacement& one : anonymised.result.replacements) {
    EXPECT_TRUE(before.contains(one.original)) << one.original;
    EXPECT_TRUE(after.contains(one.made_up)) << one.made_up;
    EXPECT_TRUE(made_up.emplace(one.part, one.made_up).second) << one.made_up;
  }
  // The same trace again has the same names.
  EXPECT_TRUE(AnonymiseBytes(original).bytes == anonymised.bytes);
}

constexpr int64_t kSecond = 1'000'000'000;

// A trace of one goroutine with a task, a region and messages.
std::string SmallTrace() {
  const BuiltTables tables;
  const auto of_one = [&](EventType type, int64_t time) {
    EventBuilder builder(type, tables);
    builder.Time(5 * kSecond + time).Thread(ThreadId{7}).Proc(ProcId{3}).Goroutine(GoId{1});
    return builder;
  };
  const std::vector<StackFrame> stack = {
      {0x500, "net/http.(*Conn).serve", "/home/eve/go/src/net/http/server.go", 10},
      {0x501, "github.com/acme/db.(*Pool[...]).get.func2", "/home/eve/acme/db/pool.go", 31},
      {0x502, "github.com/acme/db.Open", "/home/eve/acme/db/pool.go", 7},
      {0x503, "main.main", "/home/eve/acme/main.go", 31}};
  std::string bytes;
  const std::unique_ptr<ByteSink> out = SinkToString(&bytes);
  TraceWriter writer({}, out.get());
  writer.Add({EventBuilder::MakeSync(1, tables)
                  .Time(5 * kSecond)
                  .Clocks({5 * kSecond, 77, absl::FromUnixSeconds(1'700'000'000)})
                  .Build(),
              of_one(EventType::kUserTaskBegin, 10)
                  .Task(TaskId{4})
                  .TaskType("acme request")
                  .Stack(stack)
                  .Build(),
              of_one(EventType::kUserLog, 20).Log("acme", "user eve: 12345, !").Build(),
              of_one(EventType::kUserLog, 30).Log("!?", "acme").Build()});
  EXPECT_TRUE(writer.Finish().ok());
  EXPECT_TRUE(out->Finish().ok());
  return bytes;
}

// Returns the texts of the events, and the frames.
std::vector<std::string> TextsOf(absl::string_view bytes) {
  std::vector<std::string> lines;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  EXPECT_TRUE(reader
                  ->ForEach([&](const Event& event) {
                    if (event.kind() == EventKind::kTaskBegin) {
                      lines.emplace_back(event.task().type);
                      for (size_t i = 0; i < event.stack().size(); ++i) {
                        const StackFrame frame = event.stack().frame(i);
                        lines.push_back(absl::StrCat(frame.func, " ", frame.file, ":", frame.line,
                                                     " ", frame.pc));
                      }
                    }
                    if (event.kind() == EventKind::kLog) {
                      lines.push_back(absl::StrCat(event.log().category, "=", event.log().message));
                    }
                  })
                  .ok());
  return lines;
}

TEST(Anonymise, MakesUpTextsOfTheSameShape) {
  const Anonymised anonymised = AnonymiseBytes(SmallTrace());
  EXPECT_EQ(
      TextsOf(anonymised.bytes),
      (std::vector<std::string>{
          "anon1 anon2", "net/http.(*Conn).serve /anon3/anon4/anon5/src/net/http/server.go:10 1280",
          "anon6.anon7/anon1/anon8.(*Anon9[...]).anon10.func2 "
          "/anon3/anon4/anon1/anon8/anon11.go:31 1281",
          "anon6.anon7/anon1/anon8.Anon12 /anon3/anon4/anon1/anon8/anon11.go:7 1282",
          "main.main /anon3/anon4/anon1/anon13.go:31 1283", "anon1=anon14 anon4: anon15, !",
          "anon16=anon1"}));
}

TEST(Anonymise, ReplacesLinesPcsAndTimes) {
  AnonymiseOptions options;
  options.parts = {PrivatePart::kLines, PrivatePart::kPcs, PrivatePart::kTimes};
  const Anonymised anonymised = AnonymiseBytes(SmallTrace(), options);
  EXPECT_EQ(TextsOf(anonymised.bytes)[2],
            "github.com/acme/db.(*Pool[...]).get.func2 /home/eve/acme/db/pool.go:1 2");
  EXPECT_EQ(TextsOf(anonymised.bytes)[3], "github.com/acme/db.Open /home/eve/acme/db/pool.go:2 3");
  std::vector<std::string> found;
  for (const Replacement& one : anonymised.result.replacements) {
    found.push_back(absl::StrCat(PrivatePartName(one.part), " ", one.made_up, " ", one.original));
  }
  EXPECT_EQ(found, (std::vector<std::string>{
                       "lines /home/eve/acme/db/pool.go:1 /home/eve/acme/db/pool.go:31",
                       "lines /home/eve/acme/db/pool.go:2 /home/eve/acme/db/pool.go:7",
                       "lines /home/eve/acme/main.go:1 /home/eve/acme/main.go:31", "pcs 0x1 0x500",
                       "pcs 0x2 0x501", "pcs 0x3 0x502", "pcs 0x4 0x503", "times 0 4000000000"}));
  absl::StatusOr<Reader> reader = Reader::FromBytes(anonymised.bytes);
  const Event* const sync = reader->Next();
  ASSERT_NE(sync, nullptr);
  EXPECT_EQ(sync->time(), kSecond);
  ASSERT_TRUE(sync->sync().clock_snapshot.has_value());
  EXPECT_EQ(sync->sync().clock_snapshot->trace_time, kSecond);
  EXPECT_EQ(sync->sync().clock_snapshot->mono, static_cast<uint64_t>(kSecond));
  EXPECT_EQ(sync->sync().clock_snapshot->wall, absl::FromUnixSeconds(946'684'800));
}

TEST(Anonymise, KeepsWhatItIsTold) {
  AnonymiseOptions options;
  options.parts = {PrivatePart::kMessages, PrivatePart::kTasks};
  options.keeps = [](absl::string_view text) { return absl::StartsWith(text, "user "); };
  const std::vector<std::string> texts = TextsOf(AnonymiseBytes(SmallTrace(), options).bytes);
  EXPECT_EQ(texts[0], "anon1 anon2");
  EXPECT_EQ(texts[1], "net/http.(*Conn).serve /home/eve/go/src/net/http/server.go:10 1280");
  EXPECT_EQ(texts[5], "anon1=user eve: 12345, !");
  EXPECT_EQ(texts[6], "anon3=anon1");
}

// The long text would be cut, and two of them might become the same.
TEST(Anonymise, MakesUpShortTextsForLongOnes) {
  const BuiltTables tables;
  std::string bytes;
  const std::unique_ptr<ByteSink> out = SinkToString(&bytes);
  TraceWriter writer({}, out.get());
  std::string text;
  for (int i = 0; i < 500; ++i) text += "a ";
  writer.Add({EventBuilder(EventType::kUserLog, tables)
                  .Time(kSecond)
                  .Thread(ThreadId{7})
                  .Proc(ProcId{3})
                  .Goroutine(GoId{1})
                  .Log("", text)
                  .Build()});
  EXPECT_TRUE(writer.Finish().ok());
  EXPECT_TRUE(out->Finish().ok());
  EXPECT_EQ(TextsOf(AnonymiseBytes(bytes).bytes), std::vector<std::string>{"=anon2"});
}

// Functions that look like those of the standard library, but may have names of others.
TEST(Anonymise, KnowsTheStandardLibrary) {
  const auto name_of = [](absl::string_view function, absl::string_view file = "") {
    const BuiltTables tables;
    std::string bytes;
    const std::unique_ptr<ByteSink> out = SinkToString(&bytes);
    TraceWriter writer({}, out.get());
    writer.Add({EventBuilder(EventType::kUserTaskBegin, tables)
                    .Time(kSecond)
                    .Thread(ThreadId{7})
                    .Proc(ProcId{3})
                    .Goroutine(GoId{1})
                    .Task(TaskId{4})
                    .Stack({{1, function, file, 1}})
                    .Build()});
    EXPECT_TRUE(writer.Finish().ok());
    EXPECT_TRUE(out->Finish().ok());
    const std::vector<std::string> texts = TextsOf(AnonymiseBytes(bytes).bytes);
    if (texts.size() != 2) return std::string();
    const size_t space = texts[1].find(' ');
    return file.empty() ? texts[1].substr(0, space) : texts[1];
  };
  EXPECT_EQ(name_of("runtime.goexit"), "runtime.goexit");
  EXPECT_EQ(name_of("slices.SortFunc[...]"), "slices.SortFunc[...]");
  EXPECT_EQ(name_of("vendor/golang.org/x/net/http2/hpack.(*Encoder).Write"),
            "vendor/golang.org/x/net/http2/hpack.(*Encoder).Write");
  EXPECT_EQ(name_of("time.Sleep", "/usr/local/go/src/runtime/time.go"),
            "time.Sleep /anon1/anon2/anon3/src/runtime/time.go:1 1");
  EXPECT_EQ(name_of("runtime.main", "runtime/proc.go"), "runtime.main runtime/proc.go:1 1");
  EXPECT_EQ(name_of("runtime.main", "/src/runtime/proc.go"),
            "runtime.main /src/runtime/proc.go:1 1");
  EXPECT_EQ(name_of("log/acme.Send", "/home/acme/send.go"),
            "anon1/anon2.Anon3 /anon4/anon2/anon5.go:1 1");
  EXPECT_EQ(name_of("time.(*T).m", "<autogenerated>"), "time.(*T).m <autogenerated>:1 1");
  EXPECT_EQ(name_of("slices.SortFunc[acme.Secret]"), "anon1.Anon2[anon3.Anon4]");
  EXPECT_EQ(name_of("nets/http.Get"), "anon1/anon2.Anon3");
  EXPECT_EQ(name_of("net"), "anon1");
  EXPECT_EQ(name_of("type:.eq.acme.Secret"), "anon1:.anon2.anon3.Anon4");
  EXPECT_EQ(name_of("main.init.0.func1"), "main.init.0.func1");
  EXPECT_EQ(name_of("acme.secret.gowrap3"), "anon1.anon2.gowrap3");
}

}  // namespace anonymise_test
}  // namespace gotrace::internal
