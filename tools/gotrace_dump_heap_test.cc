// Runs the command `heap` as its users do.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/json_schema.h"
#include "testing/json_value.h"
#include "testing/subprocess.h"
#include "testing/test_directory.h"

namespace gotrace::internal {
namespace gotrace_dump_heap_test {

double Number(const JsonValue& object, absl::string_view name) {
  double number = 0;
  const JsonValue* const value = object.Find(name);
  EXPECT_TRUE(value != nullptr && absl::SimpleAtod(value->text, &number)) << name;
  return number;
}

// Writes the trace `name` of testdata where a command can read it.
std::string Written(absl::string_view name) {
  return WriteFile(absl::StrCat(MakeTestDirectory(), "/heap.trace"), ReadTestTrace(name));
}

// The array `name` of the JSON object that the command prints.
std::vector<JsonValue> Rows(absl::string_view name, const std::string& file,
                            std::vector<std::string> args) {
  args.insert(args.begin(), "heap");
  args.push_back("--format=json");
  args.push_back(file);
  const std::string out = DumpOutput(args);
  absl::StatusOr<JsonValue> value = ParseJson(out);
  EXPECT_TRUE(value.ok()) << value.status() << ": " << out;
  if (!value.ok() || value->Find(name) == nullptr) return {};
  return value->Find(name)->elements;
}

TEST(HeapCommand, PrintsEachView) {
  const std::string file = Written("go1.27-alloc.trace");
  const std::vector<JsonValue> types = Rows("types", file, {"--sort=allocated_bytes"});
  ASSERT_EQ(types.size(), 33);
  EXPECT_EQ(types[0].Find("type")->text, "uint8");
  EXPECT_EQ(Number(types[0], "allocated_objects"), 4);
  EXPECT_EQ(Number(types[0], "allocated_bytes"), 2 * ((1 << 20) + (1 << 17)));
  EXPECT_EQ(Number(types[0], "live_bytes"), (1 << 20) + (1 << 17));
  EXPECT_EQ(Number(types[0], "age_p50"), 2);
  double objects = 0;
  for (const JsonValue& type : types) objects += Number(type, "allocated_objects");

  const std::vector<JsonValue> functions = Rows("functions", file, {"--by=func"});
  ASSERT_FALSE(functions.empty());
  EXPECT_EQ(functions[0].Find("name")->text, "main.main");
  double by_functions = 0;
  for (const JsonValue& one : functions) by_functions += Number(one, "allocated_objects");
  EXPECT_EQ(by_functions, objects);

  const std::vector<JsonValue> slices = Rows("slices", file, {"--by=time"});
  ASSERT_FALSE(slices.empty());
  EXPECT_EQ(Number(slices.back(), "stacks"), 20);
  EXPECT_TRUE(slices.back().Find("types_bytes")->Find("uint8") != nullptr);

  const std::vector<JsonValue> ages = Rows("ages", file, {"--by=age"});
  ASSERT_EQ(ages.size(), 4);
  EXPECT_EQ(Number(ages[3], "age"), 3);

  const std::vector<JsonValue> spans = Rows("spans", file, {"--by=span", "--sort=occupancy"});
  ASSERT_FALSE(spans.empty());
  EXPECT_EQ(Number(spans[0], "occupancy"), 1);
  EXPECT_EQ(spans.back().Find("use")->text, "other");
}

TEST(HeapCommand, AWindowKnowsWhatWasThereBefore) {
  const std::string file = Written("go1.27-alloc.trace");
  const std::vector<JsonValue> types = Rows("types", file, {"--from=1ms"});
  ASSERT_FALSE(types.empty());
  double start = 0;
  for (const JsonValue& type : types) start += Number(type, "start_objects");
  EXPECT_GT(start, 300);
}

TEST(HeapCommand, PrintsJsonAsTheSchemaSays) {
  const std::string directory = MakeTestDirectory();
  const JsonValue schema = ReadSchema("docs/heap.schema.json");
  for (const std::string view : {"type", "func", "time", "age", "span"}) {
    for (const std::string name : {"go1.23-alloc.trace", "go1.27-alloc.trace", "broken"}) {
      const std::string file = WriteFile(absl::StrCat(directory, "/", name),
                                         name == "broken" ? "no trace" : ReadTestTrace(name));
      const std::string out = RunDump({"heap", "--format=json", "--by=" + view, file}).out;
      const absl::StatusOr<JsonValue> value = ParseJson(out);
      ASSERT_TRUE(value.ok()) << out;
      EXPECT_EQ(CheckAgainstSchema(schema, *value), "") << view << out;
    }
  }
}

TEST(HeapCommand, SaysHowToRecord) {
  const SubprocessResult result = RunDump({"heap", Written("go1.27-gc.trace")});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "no types\n");
  EXPECT_TRUE(absl::StrContains(result.err, "GODEBUG=traceallocfree=1")) << result.err;
}

}  // namespace gotrace_dump_heap_test
}  // namespace gotrace::internal
