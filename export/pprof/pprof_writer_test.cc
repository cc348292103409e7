#include <zlib.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "export/pprof/profile_frames.h"
#include "gotrace/profile_writer.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "protozero/pbf_reader.hpp"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace pprof_writer_test {

std::string Gunzip(absl::string_view bytes) {
  z_stream stream = {};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  std::string out(size_t{1} << 24, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  inflateEnd(&stream);
  return out;
}

// A profile as read back, with texts in the place of ids. The numbers of fields are those of
// profile.proto.
struct ReadProfile {
  std::vector<std::string> sample_types;  // "delay/nanoseconds"
  struct Sample {
    std::string folded;  // Functions from the outermost on.
    std::vector<int64_t> values;
    std::map<std::string, std::string> labels;
  };
  std::vector<Sample> samples;
};

ReadProfile Parse(const std::string& bytes) {
  std::vector<std::string> strings;
  std::map<uint64_t, uint64_t> function_names;
  std::map<uint64_t, uint64_t> function_of_location;
  for (protozero::pbf_reader message(bytes); message.next();) {
    if (message.tag() == 6) {
      strings.push_back(message.get_string());
    } else if (message.tag() == 5) {
      uint64_t id = 0;
      uint64_t name = 0;
      for (protozero::pbf_reader function = message.get_message(); function.next();) {
        const uint64_t value = function.get_uint64();
        if (function.tag() == 1) id = value;
        if (function.tag() == 2) name = value;
      }
      EXPECT_TRUE(function_names.emplace(id, name).second);
    } else if (message.tag() == 4) {
      uint64_t id = 0;
      uint64_t function = 0;
      for (protozero::pbf_reader location = message.get_message(); location.next();) {
        if (location.tag() == 1) {
          id = location.get_uint64();
        } else if (location.tag() == 4) {
          for (protozero::pbf_reader line = location.get_message(); line.next();) {
            const uint64_t value = line.get_uint64();
            if (line.tag() == 1) function = value;
          }
        } else {
          location.skip();
        }
      }
      EXPECT_TRUE(function_of_location.emplace(id, function).second);
    } else {
      message.skip();
    }
  }
  EXPECT_FALSE(strings.empty());
  EXPECT_EQ(strings[0], "");
  ReadProfile profile;
  for (protozero::pbf_reader message(bytes); message.next();) {
    if (message.tag() == 1) {
      std::vector<std::string> parts;
      for (protozero::pbf_reader type = message.get_message(); type.next();) {
        parts.push_back(strings.at(type.get_uint64()));
      }
      profile.sample_types.push_back(absl::StrJoin(parts, "/"));
    } else if (message.tag() == 2) {
      ReadProfile::Sample& sample = profile.samples.emplace_back();
      std::vector<std::string> functions;
      for (protozero::pbf_reader part = message.get_message(); part.next();) {
        if (part.tag() == 1) {
          for (const uint64_t id : part.get_packed_uint64()) {
            functions.push_back(strings.at(function_names.at(function_of_location.at(id))));
          }
        } else if (part.tag() == 2) {
          for (const int64_t value : part.get_packed_int64()) sample.values.push_back(value);
        } else {
          std::string key;
          std::string value;
          for (protozero::pbf_reader label = part.get_message(); label.next();) {
            const uint64_t number = label.get_uint64();
            if (label.tag() == 1) key = strings.at(number);
            if (label.tag() == 2) value = strings.at(number);
            if (label.tag() == 3) value = absl::StrCat(number);
          }
          sample.labels[key] = value;
        }
      }
      sample.folded = absl::StrJoin(functions.rbegin(), functions.rend(), ";");
    } else {
      message.skip();
    }
  }
  return profile;
}

std::unique_ptr<AnalysisSink> Read(absl::string_view trace, ProfileType type) {
  RegionProfile::Options options;
  options.type = type;
  options.by_goroutine = true;
  options.by_task = options.by_region = options.by_label = type != ProfileType::kCreate;
  const std::string bytes = ReadTestTrace(trace);
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  EXPECT_TRUE(reader.ok());
  auto sink = std::make_unique<AnalysisSink>(
      [&](Interner* interner) { return std::make_unique<RegionProfile>(interner, options); },
      AnalysisSink::Options());
  EXPECT_TRUE(ReadInto(*reader, {sink.get()}).ok());
  return sink;
}

absl::Span<const ProfileSample> SamplesOf(const AnalysisSink& sink) {
  return static_cast<const RegionProfile&>(sink.analysis()).samples();
}

TEST(PprofWriter, WritesEverySampleWithItsLabels) {
  int in_tasks = 0;
  for (const absl::string_view trace : {"go1.27-gc.trace", "go1.27-annotations.trace"}) {
    for (const ProfileTypeInfo& info : ProfileTypes()) {
      SCOPED_TRACE(absl::StrCat(trace, " ", info.name));
      const auto sink = Read(trace, info.type);
      const absl::Span<const ProfileSample> samples = SamplesOf(*sink);
      const ReadProfile read =
          Parse(Gunzip(FormatPprof(FormOf(info.type), samples, sink->interner())));
      std::vector<std::string> types = {absl::StrCat(info.count_name, "/count")};
      if (!info.time_name.empty()) types.push_back(absl::StrCat(info.time_name, "/nanoseconds"));
      EXPECT_EQ(read.sample_types, types);
      ASSERT_EQ(read.samples.size(), samples.size());
      for (size_t i = 0; i < samples.size(); ++i) {
        const auto& [key, value] = samples[i];
        std::vector<int64_t> values = {static_cast<int64_t>(value.count)};
        if (!info.time_name.empty()) values.push_back(value.time);
        ASSERT_EQ(read.samples[i].values, values);
        std::map<std::string, std::string> labels;
        const Interner& interner = sink->interner();
        const auto add = [&](const std::string& name, absl::string_view text) {
          if (!text.empty()) labels[name] = std::string(text);
        };
        add("state", key.state == GoState::kUndetermined ? "" : GoStateName(key.state));
        add("reason", interner.String(key.reason));
        add("start function", interner.String(key.start));
        add("goroutine", absl::StrCat(key.goroutine.value));
        add("task", key.task == TaskId::kNone ? "" : absl::StrCat(key.task.value));
        add("region", interner.String(key.region));
        add("label", interner.String(key.label));
        in_tasks += key.task != TaskId::kNone;
        ASSERT_EQ(read.samples[i].labels, labels);
      }
    }
  }
  EXPECT_GT(in_tasks, 10);
}

TEST(PprofWriter, HasTheStacksOfTheFoldedText) {
  const auto sink = Read("go1.27-annotations.trace", ProfileType::kWall);
  const ReadProfile read =
      Parse(Gunzip(FormatPprof(FormOf(ProfileType::kWall), SamplesOf(*sink), sink->interner())));
  std::map<std::string, int64_t> sums;
  for (size_t i = 0; i < read.samples.size(); ++i) {
    const ReadProfile::Sample& sample = read.samples[i];
    sums[sample.folded] += sample.values[1];
    EXPECT_EQ(StackText(SamplesOf(*sink)[i].key, sink->interner()), sample.folded);
  }
  std::string expected;
  for (const auto& [stack, sum] : sums) {
    if (sum > 0) absl::StrAppend(&expected, stack.empty() ? "[unknown]" : stack, " ", sum, "\n");
  }
  const std::string folded =
      FormatFolded(FormOf(ProfileType::kWall), SamplesOf(*sink), sink->interner());
  EXPECT_EQ(folded, expected);
  EXPECT_GT(sums.size(), 5);
}

TEST(PprofWriter, PutsTheWakerOnTop) {
  const auto sink = Read("go1.27-annotations.trace", ProfileType::kWakeup);
  const std::string folded =
      FormatFolded(FormOf(ProfileType::kWakeup), SamplesOf(*sink), sink->interner());
  int by_goroutines = 0;
  for (const absl::string_view line : absl::StrSplit(folded, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(";[woken by a goroutine];", 1));
    if (parts.size() == 2) ++by_goroutines;
  }
  EXPECT_GT(by_goroutines, 0);
}

TEST(PprofWriter, GivesTheSameBytesAgain) {
  const auto first = Read("go1.27-gc.trace", ProfileType::kOffCpu);
  const auto second = Read("go1.27-gc.trace", ProfileType::kOffCpu);
  EXPECT_EQ(FormatPprof(FormOf(ProfileType::kOffCpu), SamplesOf(*first), first->interner()),
            FormatPprof(FormOf(ProfileType::kOffCpu), SamplesOf(*second), second->interner()));
}

}  // namespace pprof_writer_test
}  // namespace gotrace::internal
