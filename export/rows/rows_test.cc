#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "analysis/core/built_events.h"
#include "export/rows/describe_tables.h"
#include "export/rows/text_rows.h"
#include "gotrace/byte_sink.h"
#include "gotrace/reader.h"
#include "gotrace/trace_tables.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/json_value.h"

namespace gotrace::internal {
namespace rows_test {

class OneTable final : public TableConsumer {
 public:
  explicit OneTable(RowsWriter* writer) : writer_(*writer) {}
  void AddRows(const TableRows& rows) override { writer_.Add(rows); }

 private:
  RowsWriter& writer_;
};

// The table `logs` of a trace with two messages.
std::string Logs(TextRowsFormat format) {
  std::string text;
  const std::unique_ptr<ByteSink> sink = SinkToString(&text);
  const std::unique_ptr<RowsWriter> writer =
      MakeTextRowsWriter(format, InfoOf(TableId::kLogs), sink.get());
  BuiltEvents events;
  events.Sync(1, 1);
  EventBuilder empty = events.Builder(EventType::kUserLog, 10);
  events.Push(empty.Task(TaskId{0}).Log("", ""));
  EventBuilder special = events.Builder(EventType::kUserLog, 20, /*p=*/1, /*g=*/2);
  events.Push(
      special.Task(TaskId{~uint64_t{0} - 1})
          .Log("a,b", std::string("tab\t line\n quote\" back\\ \r\b\f\0 \xff\xc3\xbc", 32)));
  const std::string bytes = ReadTestTrace("go1.27-annotations.trace");
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  EXPECT_TRUE(reader.ok());
  TableOptions options;
  options.of(TableId::kLogs) = TableOptions::kAllColumns;
  OneTable consumer(writer.get());
  writer->BeginTrace(5);
  TraceTables tables(&*reader, options, &consumer);  // The reader is not asked for events.
  tables.Add(events.events());
  EXPECT_TRUE(tables.Finish().ok());
  EXPECT_TRUE(writer->Finish(/*is_complete=*/true).ok());
  EXPECT_TRUE(sink->Finish().ok());
  return text;
}

// The bytes of its second message.
constexpr absl::string_view kHex =
    "74616209206c696e650a2071756f746522206261636b5c200d080c0020ffc3bc";

TEST(TextRows, Csv) {
  EXPECT_EQ(Logs(TextRowsFormat::kCsv),
            absl::StrCat("trace_id,time_ns,g,task,category,message,stack_id,message_hex,wall_ns\n"
                         "5,10,,,,\"\",,,\n"
                         "5,20,2,18446744073709551614,\"a,b\",\"tab\t line\n quote\"\" back\\ "
                         "\r\b\f",
                         std::string(1, '\0'), " \xef\xbf\xbd\xc3\xbc\",,", kHex, ",\n"));
}

TEST(TextRows, Tsv) {
  EXPECT_EQ(
      Logs(TextRowsFormat::kTsv),
      absl::StrCat("trace_id\ttime_ns\tg\ttask\tcategory\tmessage\tstack_id\tmessage_hex\twall_ns\n"
                   "5\t10\t\\N\t\\N\t\\N\t\t\\N\t\\N\t\\N\n"
                   "5\t20\t2\t18446744073709551614\ta,b\ttab\\t line\\n quote\" back\\\\ "
                   "\\r\\b\\f\\0 \xef\xbf\xbd\xc3\xbc\t\\N\t",
                   kHex, "\t\\N\n"));
}

TEST(TextRows, JsonLines) {
  const std::string text = Logs(TextRowsFormat::kJsonLines);
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0],
            R"({"trace_id":5,"time_ns":10,"g":null,"task":null,"category":null,"message":"",)"
            R"("stack_id":null,"message_hex":null,"wall_ns":null})");
  EXPECT_TRUE(absl::StartsWith(
      lines[1], R"({"trace_id":5,"time_ns":20,"g":2,"task":18446744073709551614,"category":"a,b",)"
                R"("message":"tab\t line\n quote\" back\\ )"))
      << lines[1];
  // U+FFFD, and a letter.
  EXPECT_TRUE(
      absl::EndsWith(lines[1], absl::StrCat(" \xef\xbf\xbd\xc3\xbc\",\"stack_id\":null,",
                                            "\"message_hex\":\"", kHex, "\",\"wall_ns\":null}")))
      << lines[1];
  EXPECT_EQ(lines[2], "");
  for (const std::string& line : {lines[0], lines[1]}) EXPECT_EQ(CheckJson(line), "");
}

TEST(DescribeTables, HasAllOfThem) {
  const std::string text = DescribeTables();
  for (const TableInfo& table : AllTables()) {
    EXPECT_TRUE(absl::StrContains(text, absl::StrCat("\n## ", table.name, "\n"))) << table.name;
    EXPECT_FALSE(table.row.empty());
    for (const TableColumn& column : table.columns) {
      EXPECT_TRUE(absl::EndsWith(column.meaning, ".")) << column.name;
    }
  }
  EXPECT_TRUE(
      absl::StrContains(text,
                        "\nA row is a state of a P. Sorted by `end_ns`.\n\n"
                        "| column | type | meaning |\n|---|---|---|\n| `trace_id` | INT64 |"));
  EXPECT_TRUE(absl::StrContains(text, "| `m` | INT64 or NULL | The thread that had it, while"));
}

}  // namespace rows_test
}  // namespace gotrace::internal
