// Runs the command `tables` as its users do.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/json_value.h"
#include "testing/subprocess.h"
#include "testing/test_directory.h"

namespace gotrace::internal {
namespace gotrace_dump_tables_test {

namespace fs = std::filesystem;

constexpr char kAnnotations[] = "go1.27-annotations.trace";
constexpr char kGc[] = "go1.27-gc.trace";
constexpr char kOld[] = "go1.22-gc.trace";  // Without wall-clock times.

std::vector<std::string> Lines(absl::string_view text) {
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

// The paths of all files below a directory that are not hidden, sorted, without its own.
std::vector<std::string> FilesIn(const std::string& directory) {
  std::set<std::string> files;
  if (!fs::exists(directory)) return {};
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    const std::string path = fs::relative(entry.path(), directory).string();
    const bool is_hidden = path.front() == '.' || absl::StrContains(path, "/.");
    if (entry.is_regular_file() && !is_hidden) files.insert(path);
  }
  return {files.begin(), files.end()};
}

// Fields of CSV without quotes.
std::vector<std::string> Fields(const std::string& line) { return absl::StrSplit(line, ','); }

class TablesCommandTest : public testing::Test {
 protected:
  TablesCommandTest() : directory_(MakeTestDirectory()) {
    annotations_ = WriteFile(directory_ + "/in/a.trace", ReadTestTrace(kAnnotations));
    gc_ = WriteFile(directory_ + "/in/b.trace", ReadTestTrace(kGc));
    out_ = directory_ + "/out";
  }

  static std::string Print(const std::string& table, const std::string& format,
                           const std::string& file) {
    return DumpOutput({"tables", "--tables=" + table, "--format=" + format, file});
  }

  // The error of a command line.
  std::string Error(std::vector<std::string> args) {
    args.insert(args.begin(), "tables");
    const SubprocessResult result = RunDump(args);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(FilesIn(out_), std::vector<std::string>{});
    return absl::StrReplaceAll(Lines(result.err).front(),
                               {{directory_, "DIR"}, {"gotrace-dump: ", ""}});
  }

  const std::string directory_;
  std::string annotations_;
  std::string gc_;
  std::string out_;
};

TEST_F(TablesCommandTest, PrintsCsv) {
  const std::vector<std::string> lines = Lines(Print("tasks", "csv", annotations_));
  ASSERT_GT(lines.size(), 3u);
  EXPECT_EQ(lines[0],
            "trace_id,end_ns,dur_ns,task,parent,type,begin_g,end_g,begin_stack_id,end_stack_id,"
            "running_ns,runnable_ns,waiting_ns,syscall_ns,flags,stopped_running_ns,"
            "stopped_runnable_ns,wall_ns");
  std::set<std::string> ids;
  bool has_parent = false;
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> fields = Fields(lines[i]);
    ASSERT_EQ(fields.size(), 18u) << lines[i];
    ids.insert(fields[0]);
    has_parent |= !fields[4].empty();
  }
  EXPECT_EQ(ids.size(), 1u);
  EXPECT_TRUE(has_parent);
  // It is the default.
  EXPECT_EQ(DumpOutput({"tables", "--tables=tasks", annotations_}),
            Print("tasks", "csv", annotations_));
}

// The values are those of CSV.
TEST_F(TablesCommandTest, PrintsTsvAndJsonLines) {
  for (const std::string table : {"tasks", "g_states", "events", "stacks"}) {
    const std::vector<std::string> csv = Lines(Print(table, "csv", annotations_));
    const std::vector<std::string> tsv = Lines(Print(table, "tsv", annotations_));
    const std::vector<std::string> json = Lines(Print(table, "jsonl", annotations_));
    ASSERT_EQ(csv.size(), tsv.size());
    ASSERT_EQ(csv.size(), json.size() + 1);
    const std::vector<std::string> names = Fields(csv[0]);
    EXPECT_EQ(absl::StrReplaceAll(tsv[0], {{"\t", ","}}), csv[0]);
    size_t nulls = 0;
    for (size_t i = 1; i < csv.size(); ++i) {
      const std::vector<std::string> cells = absl::StrSplit(tsv[i], '\t');
      ASSERT_EQ(cells.size(), names.size());
      absl::StatusOr<JsonValue> row = ParseJson(json[i - 1]);
      ASSERT_TRUE(row.ok()) << row.status();
      std::vector<std::string> in_csv;
      for (size_t column = 0; column < names.size(); ++column) {
        const JsonValue* const value = row->Find(names[column]);
        ASSERT_NE(value, nullptr) << names[column];
        if (cells[column] == "\\N") {
          ++nulls;
          EXPECT_EQ(value->type, JsonValue::Type::kNull);
          in_csv.emplace_back();
          continue;
        }
        EXPECT_EQ(value->text, cells[column]);
        const bool is_quoted = cells[column].empty() || absl::StrContains(cells[column], ',');
        in_csv.push_back(is_quoted ? absl::StrCat("\"", cells[column], "\"") : cells[column]);
      }
      EXPECT_EQ(csv[i], absl::StrJoin(in_csv, ","));
    }
    EXPECT_EQ(nulls > 0, table != "stacks");
  }
}

TEST_F(TablesCommandTest, WritesAFileForEachTable) {
  DumpOutput({"tables", "--format=csv", "-o", out_, annotations_, gc_});
  const std::vector<std::string> files = FilesIn(out_);
  EXPECT_EQ(files.size(), 20u);
  EXPECT_FALSE(fs::exists(out_ + "/events.csv"));
  std::set<std::string> ids;
  for (const std::string& file : files) {
    const std::vector<std::string> lines = Lines(ReadFile(absl::StrCat(out_, "/", file)));
    ASSERT_FALSE(lines.empty()) << file;
    EXPECT_TRUE(absl::StartsWith(lines[0], "trace_id,"));
    // The rows of a trace are contiguous, and traces in order of their ids.
    std::vector<std::string> of_file;
    for (size_t i = 1; i < lines.size(); ++i) {
      const std::string id = Fields(lines[i])[0];
      if (of_file.empty() || of_file.back() != id) of_file.push_back(id);
    }
    EXPECT_LE(of_file.size(), 2u) << file;
    EXPECT_TRUE(of_file.size() < 2 || std::stoll(of_file[0]) < std::stoll(of_file[1])) << file;
    ids.insert(of_file.begin(), of_file.end());
  }
  EXPECT_EQ(ids.size(), 2u);
  // The same as one by one.
  const std::vector<std::string> a = Lines(Print("g_states", "csv", annotations_));
  const std::vector<std::string> b = Lines(Print("g_states", "csv", gc_));
  std::multiset<std::string> expected(a.begin(), a.end());
  expected.insert(b.begin() + 1, b.end());
  const std::vector<std::string> both = Lines(ReadFile(out_ + "/g_states.csv"));
  EXPECT_EQ(std::multiset<std::string>(both.begin(), both.end()), expected);

  DumpOutput({"tables", "--tables=all", "--format=jsonl", "-o", out_ + "2", gc_});
  EXPECT_EQ(FilesIn(out_ + "2").size(), 21u);
  DumpOutput({"tables", "--tables=logs,events", "--format=tsv", "-o", out_ + "3", gc_});
  EXPECT_EQ(FilesIn(out_ + "3"), (std::vector<std::string>{"events.tsv", "logs.tsv"}));
}

// export/parquet/parquet_rows_test reads the rows.
TEST_F(TablesCommandTest, WritesParquet) {
  DumpOutput({"tables", "-o", out_, annotations_});
  const std::vector<std::string> files = FilesIn(out_);
  EXPECT_EQ(files.size(), 20u);
  for (const std::string& file : files) {
    EXPECT_TRUE(absl::EndsWith(file, ".parquet"));
    const std::string bytes = ReadFile(absl::StrCat(out_, "/", file));
    EXPECT_TRUE(absl::StartsWith(bytes, "PAR1") && absl::EndsWith(bytes, "PAR1")) << file;
    EXPECT_TRUE(absl::StrContains(bytes, "gotrace.complete\x18\x04true")) << file;
    EXPECT_TRUE(absl::StrContains(bytes, annotations_)) << file;
  }
  // --signed changes the types of numbers, and nothing else of a file.
  DumpOutput({"tables", "--tables=metrics", "--signed", "-o", out_ + "2", annotations_});
  const std::string bits = ReadFile(out_ + "/metrics.parquet");
  const std::string signed_bits = ReadFile(out_ + "2/metrics.parquet");
  EXPECT_LT(signed_bits.size(), bits.size());
  EXPECT_EQ(signed_bits.substr(0, 20), bits.substr(0, 20));
  // The rows do not depend on how many cores read the trace.
  DumpOutput({"tables", "--jobs=1", "-o", out_ + "3", gc_});
  DumpOutput({"tables", "--jobs=2", "-o", out_ + "4", gc_});
  for (const std::string& file : FilesIn(out_ + "3")) {
    EXPECT_EQ(ReadFile(out_ + "3/" + file), ReadFile(out_ + "4/" + file)) << file;
  }
}

// It follows from the bytes as they are stored, wherever they come from.
TEST_F(TablesCommandTest, IdentifiesTraces) {
  const auto id_of = [](const std::string& csv) { return Fields(Lines(csv).at(1)).at(0); };
  const std::string id = id_of(Print("traces", "csv", gc_));
  const std::string bytes = ReadTestTrace(kGc);
  const std::string copy = WriteFile(directory_ + "/copy", bytes);
  EXPECT_EQ(id_of(Print("traces", "csv", copy)), id);
  const std::string piped = DumpOutput({"tables", "--tables=traces", "-"}, {.input = bytes});
  EXPECT_EQ(id_of(piped), id);
  EXPECT_EQ(Fields(Lines(piped)[1])[1], "standard input");
  const std::string compressed = TestFilePath(absl::StrCat(kGc, ".zst"));
  EXPECT_NE(id_of(Print("traces", "csv", compressed)), id);
  EXPECT_EQ(id_of(DumpOutput({"tables", "--tables=traces", "-"},
                             {.input = ReadTestFile(absl::StrCat(kGc, ".zst"))})),
            id_of(Print("traces", "csv", compressed)));
  EXPECT_NE(id_of(Print("traces", "csv", annotations_)), id);
  // Traces of one file have ids of their own.
  const std::string two = WriteFile(directory_ + "/two", absl::StrCat(bytes, bytes));
  std::set<std::string> ids;
  for (const std::string number : {"1", "2"}) {
    ids.insert(id_of(DumpOutput({"tables", "--tables=traces", "--trace=" + number, two})));
  }
  EXPECT_EQ(ids.size(), 2u);
  // The same bytes are read once.
  const SubprocessResult twice = RunDump({"tables", "--tables=traces", gc_, copy});
  EXPECT_EQ(twice.exit_code, 0);
  EXPECT_EQ(twice.out, Print("traces", "csv", gc_));
  EXPECT_EQ(twice.err,
            absl::StrCat("gotrace-dump: ", copy, ": has the same bytes as ", gc_, ", left out\n"));
}

TEST_F(TablesCommandTest, PutsStacksOfSeveralBuildsTogether) {
  const auto ids = [&](const std::string& file, const std::string& flag) {
    std::set<std::string> ids;
    for (const std::string& line : Lines(DumpOutput({"tables", "--tables=stacks", flag, file}))) {
      ids.insert(Fields(line)[1]);
    }
    return ids;
  };
  const std::set<std::string> with_pc = ids(gc_, "--stack-id=pc");
  const std::set<std::string> with_lines = ids(gc_, "--stack-id=lines");
  EXPECT_EQ(ids(gc_, "--nosigned"), with_pc);
  EXPECT_LE(with_lines.size(), with_pc.size());
  std::vector<std::string> common;
  std::set_intersection(with_pc.begin(), with_pc.end(), with_lines.begin(), with_lines.end(),
                        std::back_inserter(common));
  EXPECT_EQ(common, std::vector<std::string>{"stack_id"});
  // They are those of queries, too.
  const auto queried = [&](const std::string& flag) {
    const std::vector<std::string> lines = Lines(
        DumpOutput({"sql", "--format=csv", flag, gc_, "SELECT DISTINCT stack_id FROM stacks"}));
    return std::set<std::string>(lines.begin(), lines.end());
  };
  EXPECT_EQ(queried("--stack-id=pc"), with_pc);
  EXPECT_EQ(queried("--stack-id=lines"), with_lines);
}

TEST_F(TablesCommandTest, WritesPartitions) {
  const std::vector<std::string> args = {"tables", "--tables=traces,ranges", "--format=csv",
                                         "--hive", "--service=a b/c=ü",      "-o",
                                         out_};
  std::vector<std::string> run = args;
  run.insert(run.end(), {annotations_, gc_});
  DumpOutput(run);
  const std::vector<std::string> files = FilesIn(out_);
  std::set<std::string> of_ranges;
  for (const std::string& file : files) {
    const std::vector<std::string> parts = absl::StrSplit(file, '/');
    ASSERT_EQ(parts.size(), 5u) << file;
    EXPECT_EQ(parts[1], "service=a%20b%2Fc%3D%C3%BC");
    EXPECT_TRUE(absl::StartsWith(parts[2], "date=20")) << file;
    EXPECT_EQ(parts[2].size(), 15u);
    EXPECT_TRUE(absl::StartsWith(parts[3], "hour=")) << file;
    EXPECT_EQ(parts[3].size(), 7u);
    EXPECT_TRUE(absl::StartsWith(parts[4], "part-")) << file;
    EXPECT_TRUE(absl::EndsWith(parts[4], ".csv")) << file;
    EXPECT_EQ(parts[4].size(), 5u + 16 + 4);
    const std::string content = ReadFile(absl::StrCat(out_, "/", file));
    if (parts[0] != "traces") continue;
    for (const std::string& line : Lines(content)) {
      if (absl::StartsWith(line, "trace_id,")) continue;
      EXPECT_EQ(Fields(line)[2], "a b/c=ü");
      // The partition has the hour of the begin.
      const int64_t hours = std::stoll(Fields(line)[5]) / 3'600'000'000'000;
      EXPECT_EQ(absl::StrCat("hour=", hours % 24 < 10 ? "0" : "", hours % 24), parts[3]);
    }
  }
  // The same again changes nothing, in whatever order.
  std::map<std::string, std::string> before;
  for (const std::string& file : files) before[file] = ReadFile(absl::StrCat(out_, "/", file));
  run = args;
  run.insert(run.end(), {gc_, annotations_});
  EXPECT_EQ(RunDump(run).err,
            absl::StrCat("gotrace-dump: ", out_, ": has 2 of 2 traces already; left out\n"));
  EXPECT_EQ(FilesIn(out_), files);
  for (const auto& [file, content] : before) {
    EXPECT_EQ(ReadFile(absl::StrCat(out_, "/", file)), content);
  }
}

TEST_F(TablesCommandTest, TakesPartitionsFromPaths) {
  const std::string old = ReadTestTrace(kOld);
  WriteFile(directory_ + "/t/pay/2026-11-21/web1-5.trace", old);
  WriteFile(directory_ + "/t/pay/2026-11-21/web2-7.trace", ReadTestTrace(kGc));
  WriteFile(directory_ + "/t/ship/2026-11-22/web1-9.trace", ReadTestTrace(kAnnotations));
  DumpOutput({"tables", "--tables=traces", "--format=jsonl", "--hive", "--attr=zone=eu\"1",
              "--attr=zone2=", "--path-pattern={service}/{date}/{host}-{hour}.*", "-o", out_,
              directory_ + "/t"});
  const std::vector<std::string> files = FilesIn(out_);
  ASSERT_EQ(files.size(), 3u);
  EXPECT_TRUE(absl::StartsWith(files[0], "traces/service=pay/date=2026-11-21/hour=05/part-"));
  EXPECT_TRUE(absl::StartsWith(files[1], "traces/service=pay/date=2026-11-21/hour=07/part-"));
  EXPECT_TRUE(absl::StartsWith(files[2], "traces/service=ship/date=2026-11-22/hour=09/part-"));
  const std::string row = ReadFile(absl::StrCat(out_, "/", files[0]));
  EXPECT_TRUE(absl::StrContains(row, "\"service\":\"pay\",\"host\":\"web1\"")) << row;
  EXPECT_TRUE(
      absl::StrContains(row, R"("attrs":"{\"zone\":\"eu\\\"1\",\"zone2\":\"\"}","number":1})"))
      << row;

  // Other names are attributes.
  const std::string attrs =
      DumpOutput({"tables", "--tables=traces", "--format=jsonl", "--path-pattern={build}/*/{n}-*",
                  directory_ + "/t/pay/2026-11-21/web1-5.trace"});
  EXPECT_TRUE(
      absl::StrContains(attrs, R"("attrs":"{\"build\":\"pay\",\"n\":\"web1\"}","number":1})"))
      << attrs;

  // A trace without wall-clock times has those of its file, and nobody said what its service is.
  const std::string file = WriteFile(directory_ + "/old.trace", old);
  const auto time = fs::file_time_type::clock::now();
  fs::last_write_time(file, time);
  DumpOutput({"tables", "--tables=traces", "--format=csv", "--hive", "-o", out_ + "2", file});
  ASSERT_EQ(FilesIn(out_ + "2").size(), 1u);
  EXPECT_TRUE(absl::StartsWith(FilesIn(out_ + "2")[0],
                               "traces/service=__HIVE_DEFAULT_PARTITION__/date=20"));
  const SubprocessResult piped =
      RunDump({"tables", "--tables=traces", "--format=csv", "--hive", "-o", out_ + "3", "-"},
              {.input = old});
  EXPECT_EQ(piped.exit_code, 2);
  EXPECT_EQ(piped.err,
            "gotrace-dump: standard input: --hive needs the wall-clock time, which the trace does "
            "not have\n");
  EXPECT_EQ(FilesIn(out_ + "3").size(), 0u);
}

TEST_F(TablesCommandTest, ReadsListsOfFiles) {
  const std::string list = WriteFile(directory_ + "/list", absl::StrCat(gc_, "\n\n"));
  EXPECT_EQ(DumpOutput({"tables", "--tables=traces", "--files-from", list}),
            Print("traces", "csv", gc_));
  const std::string two = DumpOutput({"tables", "--tables=traces", "--files-from=-", annotations_},
                                     {.input = absl::StrCat(gc_, "\n")});
  EXPECT_EQ(two, absl::StrCat(Print("traces", "csv", annotations_),
                              Lines(Print("traces", "csv", gc_))[1], "\n"));
  EXPECT_EQ(Error({"--tables=traces", "--files-from=DIR/none"}),
            "reading DIR/none: No such file or directory");
  const SubprocessResult empty =
      RunDump({"tables", "--tables=traces", "--files-from=-"}, {.input = ""});
  EXPECT_EQ(empty.exit_code, 2);
}

TEST_F(TablesCommandTest, WritesWhatPrecedesAFault) {
  const std::string bytes = ReadTestTrace("go1.27-generations.trace");
  const std::string cut =
      WriteFile(directory_ + "/in/c.trace", bytes.substr(0, bytes.size() - 1000));
  const std::string text = WriteFile(directory_ + "/page.html", "<html>");
  for (const bool keeps_going : {false, true}) {
    const std::string out = absl::StrCat(out_, keeps_going);
    std::vector<std::string> args = {"tables", "--format=csv", "-o", out, cut, annotations_, text};
    if (keeps_going) args.push_back("--keep-going");
    const SubprocessResult result = RunDump(args);
    EXPECT_EQ(result.exit_code, keeps_going ? 0 : 1) << result.err;
    EXPECT_TRUE(absl::StrContains(result.err, "events were read before that")) << result.err;
    const std::vector<std::string> traces = Lines(ReadFile(out + "/traces.csv"));
    ASSERT_EQ(traces.size(), 4u);
    std::map<std::string, std::string> rows;
    for (size_t i = 1; i < traces.size(); ++i) rows[Fields(traces[i])[1]] = traces[i];
    EXPECT_TRUE(absl::StrContains(rows[cut], ",false,1,")) << rows[cut];
    EXPECT_TRUE(absl::StrContains(rows[annotations_], ",true,0,,")) << rows[annotations_];
    EXPECT_TRUE(absl::StrContains(rows[text], ",,,,,,0,0,false,1,")) << rows[text];
    // The rows before the fault.
    std::map<std::string, size_t> states;
    for (const std::string& line : Lines(ReadFile(out + "/g_states.csv"))) {
      ++states[Fields(line)[0]];
    }
    EXPECT_GT(states[Fields(rows[cut])[0]], 10u);
    EXPECT_GT(states[Fields(rows[annotations_])[0]], 10u);
  }
  const SubprocessResult salvaged =
      RunDump({"tables", "--format=csv", "--salvage", "-o", out_, cut});
  EXPECT_EQ(salvaged.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(Lines(ReadFile(out_ + "/traces.csv"))[1], ",false,")) << cut;
  EXPECT_EQ(
      RunDump({"tables", "--format=csv", "--salvage", "--keep-going", "-o", out_, cut}).exit_code,
      0);
}

// If one input cannot be read, no file appears, and no directory stays.
TEST_F(TablesCommandTest, WritesAllOrNothing) {
  EXPECT_EQ(Error({"--format=csv", "-o", out_, gc_, directory_ + "/none"}),
            "opening DIR/none: No such file or directory");
  EXPECT_EQ(Error({"--format=csv", "--path-pattern={service}/x.trace", "-o", out_, gc_}),
            "DIR/in/b.trace: the path does not match --path-pattern");
  EXPECT_EQ(Error({"--format=csv", "--path-pattern={date}/*.trace", "-o", out_, gc_}),
            "DIR/in/b.trace: {date} of --path-pattern: expected a date as in 2026-11-21, found "
            "\"in\"");
  EXPECT_EQ(Error({"--format=csv", "--path-pattern={hour}/*.trace", "-o", out_, gc_}),
            "DIR/in/b.trace: {hour} of --path-pattern: expected an hour from 00 to 23, found "
            "\"in\"");
  // A file that cannot be written.
  SubprocessOptions options;
  options.file_size = 10'000;
  const SubprocessResult full = RunDump({"tables", "--format=csv", "-o", out_, gc_}, options);
  EXPECT_EQ(full.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(full.err, "File too large")) << full.err;
  EXPECT_FALSE(fs::exists(out_));
  const SubprocessResult full_partition = RunDump({"tables", "--hive", "-o", out_, gc_}, options);
  EXPECT_EQ(full_partition.exit_code, 2);
  EXPECT_FALSE(fs::exists(out_));
  WriteFile(directory_ + "/file", "x");
  EXPECT_EQ(Error({"--format=csv", "-o", directory_ + "/file", gc_}),
            "creating the directory DIR/file: Not a directory");
}

// Every input has a row, also those that cannot be read.
TEST_F(TablesCommandTest, KeepsGoing) {
  const std::string none = directory_ + "/none";
  for (const bool is_hive : {false, true}) {
    const std::string out = absl::StrCat(out_, is_hive);
    const std::vector<std::string> args = {"tables",
                                           "--keep-going",
                                           is_hive ? "--hive" : "--nohive",
                                           "--tables=traces,g_states",
                                           "--format=csv",
                                           "-o",
                                           out,
                                           none,
                                           gc_,
                                           directory_ + "/no/no"};
    for (int run = 0; run < 2; ++run) {
      const SubprocessResult result = RunDump(args);
      EXPECT_EQ(result.exit_code, 2);
      EXPECT_TRUE(absl::StrContains(result.err,
                                    absl::StrCat("opening ", none, ": No such file or directory")));
      std::map<std::string, std::string> rows;
      for (const std::string& file : FilesIn(out)) {
        if (!absl::StartsWith(file, "traces")) continue;
        const std::vector<std::string> lines = Lines(ReadFile(absl::StrCat(out, "/", file)));
        for (size_t i = 1; i < lines.size(); ++i) {
          EXPECT_TRUE(rows.emplace(Fields(lines[i])[1], lines[i]).second) << lines[i];
        }
      }
      ASSERT_EQ(rows.size(), 3u);
      EXPECT_TRUE(absl::StrContains(rows[gc_], ",true,0,,")) << rows[gc_];
      EXPECT_TRUE(absl::StrContains(rows[none], ",0,0,false,1,opening ")) << rows[none];
    }
  }
  const std::string printed = RunDump({"tables", "--keep-going", "--tables=traces", none, gc_}).out;
  EXPECT_EQ(Lines(printed).size(), 3u);
}

TEST_F(TablesCommandTest, ReadsAllTracesOfAnInput) {
  const std::string gc = ReadTestTrace(kGc);
  const std::string annotations = ReadTestTrace(kAnnotations);
  // The second one is cut.
  const std::string bytes = absl::StrCat(annotations, gc.substr(0, gc.size() - 100), annotations);
  const std::string three = WriteFile(directory_ + "/three", bytes);
  const SubprocessResult result = RunDump({"tables", "--tables=traces", three});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(RunDump({"tables", "--tables=traces", "-"}, {.input = bytes}).out,
            absl::StrReplaceAll(result.out, {{three, "standard input"}}));
  const std::vector<std::string> lines = Lines(result.out);
  ASSERT_EQ(lines.size(), 4u);
  std::set<std::string> ids;
  for (size_t i = 1; i < lines.size(); ++i) {
    ids.insert(Fields(lines[i])[0]);
    EXPECT_TRUE(absl::EndsWith(lines[i], absl::StrCat(",", i))) << lines[i];
    EXPECT_EQ(absl::StrContains(lines[i], ",true,0,"), i != 2) << lines[i];
    // The same alone.
    const SubprocessResult alone =
        RunDump({"tables", "--tables=traces", absl::StrCat("--trace=", i), three});
    EXPECT_EQ(Lines(alone.out).at(1), lines[i]);
  }
  EXPECT_EQ(ids.size(), 3u);
  const auto rows_of = [](std::vector<std::string> args) {
    args.insert(args.begin(), {"tables", "--tables=tasks"});
    return Lines(RunDump(args).out).size() - 1;
  };
  EXPECT_EQ(rows_of({three}), 2 * rows_of({annotations_}));
  // Each is in the partition of its time.
  RunDump({"tables", "--tables=traces", "--format=csv", "--hive", "-o", out_, three});
  size_t traces = 0;
  for (const std::string& file : FilesIn(out_)) {
    traces += Lines(ReadFile(absl::StrCat(out_, "/", file))).size() - 1;
  }
  EXPECT_EQ(traces, 3u);
}

// What is there already is not written again, however the inputs are divided among runs.
TEST_F(TablesCommandTest, CountsNoTraceTwice) {
  const std::string other =
      WriteFile(directory_ + "/in/c.trace", ReadTestTrace("go1.27-blocking.trace"));
  const auto write = [&](const std::string& tables, const std::vector<std::string>& inputs) {
    std::vector<std::string> args = {"tables", "--tables=" + tables, "--format=csv", "--hive", "-o",
                                     out_};
    args.insert(args.end(), inputs.begin(), inputs.end());
    return RunDump(args);
  };
  const auto sources = [&](const std::string& table) {
    std::vector<std::string> ids;
    for (const std::string& file : FilesIn(out_)) {
      if (!absl::StartsWith(file, table + "/")) continue;
      std::set<std::string> of_file;
      const std::vector<std::string> lines = Lines(ReadFile(absl::StrCat(out_, "/", file)));
      for (size_t i = 1; i < lines.size(); ++i) of_file.insert(Fields(lines[i])[0]);
      ids.insert(ids.end(), of_file.begin(), of_file.end());
    }
    return ids;
  };
  EXPECT_EQ(write("traces", {gc_}).err, "");
  // A run that was killed may have written some of the tables.
  EXPECT_EQ(write("traces,stacks", {gc_, annotations_}).exit_code, 0);
  EXPECT_EQ(write("traces,stacks", {annotations_, other, gc_}).exit_code, 0);
  const SubprocessResult again = write("traces,stacks", {other, gc_});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.err,
            absl::StrCat("gotrace-dump: ", out_, ": has 2 of 2 traces already; left out\n"));
  for (const std::string table : {"traces", "stacks"}) {
    const std::vector<std::string> ids = sources(table);
    EXPECT_EQ(ids.size(), 3u);
    EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 3u);
  }
  // Without the lists it is not known what the files have.
  fs::remove_all(out_ + "/.parts");
  const SubprocessResult unknown = write("traces", {gc_});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(unknown.err, " is missing, the list of its traces"));
}

// An input that is not a trace, and may be endless, is not kept.
TEST_F(TablesCommandTest, RefusesAPipeOfZerosAtOnce) {
  const SubprocessResult zeros =
      RunDump({"tables", "--tables=traces", "-"}, {.input = std::string(size_t{100} << 20, '\0')});
  EXPECT_EQ(zeros.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(zeros.err, "[not-a-trace]")) << zeros.err;
  EXPECT_EQ(Lines(zeros.out).size(), 2u);
}

// Windows of the flight recorder may have the same generations.
TEST_F(TablesCommandTest, NotesTracesThatOverlap) {
  const std::string bytes = ReadTestTrace("go1.27-generations.trace");
  const std::string whole = WriteFile(directory_ + "/w/1.trace", bytes);
  const std::string cut =
      WriteFile(directory_ + "/w/2.trace", bytes.substr(0, bytes.size() - 1000));
  const SubprocessResult result = RunDump({"tables", "--tables=traces", whole, cut});
  EXPECT_EQ(Lines(result.out).size(), 3u);
  EXPECT_TRUE(absl::StrContains(
      result.err, absl::StrCat(cut,
                               ": overlaps with another trace, as windows of the flight "
                               "recorder do: common rows appear twice\n")))
      << result.err;
}

TEST_F(TablesCommandTest, SkipsOtherFilesOfDirectories) {
  WriteFile(directory_ + "/in/readme.txt", "Traces.\n");
  const SubprocessResult result = RunDump({"tables", "--tables=traces", directory_ + "/in"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(Lines(result.out).size(), 3u);
  EXPECT_TRUE(absl::StrContains(result.err, "readme.txt: ")) << result.err;
}

TEST_F(TablesCommandTest, Errors) {
  EXPECT_EQ(Error({gc_}),
            "without -o DIR there can be only one table; name it with --tables=TABLE");
  EXPECT_EQ(Error({"--tables=tasks,logs", gc_}),
            "without -o DIR there can be only one table; name it with --tables=TABLE");
  EXPECT_EQ(Error({"--tables=task", gc_}), "--tables: there is no table \"task\"");
  EXPECT_EQ(Error({"--tables=tasks", "--format=parquet", gc_}), "--format=parquet needs -o DIR");
  EXPECT_EQ(Error({"--tables=tasks", "--signed", gc_}),
            "--signed works only with --format=parquet");
  EXPECT_EQ(Error({"--tables=tasks", "--hive", gc_}), "--hive needs -o DIR");
  EXPECT_EQ(Error({"--attr=x", gc_}), "--attr: expected KEY=VALUE, found \"x\"");
  EXPECT_EQ(Error({"--path-pattern={x", gc_}), "--path-pattern: a { has no } after it");
}

TEST_F(TablesCommandTest, StopsWhenThePipeIsClosed) {
  const SubprocessResult result =
      RunDump({"tables", "--tables=events", gc_}, {.read_at_most = 100});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "");
}

// Prints what docs/tables.md has after its introduction.
TEST_F(TablesCommandTest, DescribesTables) {
  const std::string text = DumpOutput({"tables", "--describe"});
  EXPECT_TRUE(absl::StartsWith(text, "\n## traces\n\nA row is a trace.\n"));
  const std::string document = ReadFile("docs/tables.md");
  EXPECT_TRUE(absl::EndsWith(document, text))
      << "replace everything from \"## traces\" on with what `gotrace-dump tables --describe` "
         "prints";
}

}  // namespace gotrace_dump_tables_test
}  // namespace gotrace::internal
