// Profiles in the format of pprof.
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "export/pprof/gzip.h"
#include "export/pprof/profile_frames.h"
#include "gotrace/interner.h"
#include "gotrace/profile.h"
#include "gotrace/profile_writer.h"
#include "gotrace/states.h"
#include "protozero/pbf_writer.hpp"

namespace gotrace::internal {
namespace {

// The numbers of fields in the messages of profile.proto.
namespace profile {
enum : uint32_t {
  kSampleType = 1,
  kSample = 2,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kPeriodType = 11,
  kPeriod = 12,
  kDefaultSampleType = 14,
};
}  // namespace profile
namespace value_type {
enum : uint32_t { kType = 1, kUnit = 2 };
}  // namespace value_type
namespace sample {
enum : uint32_t { kLocationId = 1, kValue = 2, kLabel = 3 };
}  // namespace sample
namespace label {
enum : uint32_t { kKey = 1, kStr = 2, kNum = 3 };
}  // namespace label
namespace location {
enum : uint32_t { kId = 1, kAddress = 3, kLine = 4 };
}  // namespace location
namespace line {
enum : uint32_t { kFunctionId = 1, kLine = 2 };
}  // namespace line
namespace function {
enum : uint32_t { kId = 1, kName = 2, kSystemName = 3, kFilename = 4 };
}  // namespace function

class PprofWriter {
 public:
  PprofWriter(const ProfileForm& form, const Interner& interner)
      : form_(form), interner_(interner), out_(bytes_) {
    StringIndex("");  // The first string must be "".
  }

  std::string Write(absl::Span<const ProfileSample> samples) {
    const bool has_time = !form_.time_name.empty();
    AddValueType(profile::kSampleType, form_.count_name, "count");
    if (has_time) AddValueType(profile::kSampleType, form_.time_name, "nanoseconds");
    for (const ProfileSample& sample : samples) AddSample(sample, has_time);
    AddValueType(profile::kPeriodType, "trace", "count");
    out_.add_int64(profile::kPeriod, 1);
    for (const absl::string_view text : strings_) {
      out_.add_string(profile::kStringTable, text.data(), text.size());
    }
    return std::move(bytes_);
  }

 private:
  // All strings live as long as the interner, or are literals.
  int64_t StringIndex(absl::string_view text) {
    const auto [it, is_new] = string_indices_.try_emplace(text, strings_.size());
    if (is_new) strings_.push_back(text);
    return static_cast<int64_t>(it->second);
  }

  void AddValueType(uint32_t field, absl::string_view type, absl::string_view unit) {
    const int64_t type_index = StringIndex(type);
    const int64_t unit_index = StringIndex(unit);
    protozero::pbf_writer message(out_, field);
    message.add_int64(value_type::kType, type_index);
    message.add_int64(value_type::kUnit, unit_index);
  }

  void AddSample(const ProfileSample& added, bool has_time) {
    SetProfileFrames(form_, added.key, interner_, &frames_);
    locations_of_sample_.clear();
    for (const ProfileFrame& frame : frames_) locations_of_sample_.push_back(LocationId(frame));
    protozero::pbf_writer message(out_, profile::kSample);
    message.add_packed_uint64(sample::kLocationId, locations_of_sample_.begin(),
                              locations_of_sample_.end());
    const int64_t values[] = {static_cast<int64_t>(added.value.count), added.value.time};
    message.add_packed_int64(sample::kValue, values, values + (has_time ? 2 : 1));
    const ProfileKey& key = added.key;
    if (key.state != GoState::kUndetermined) {
      AddLabel("state", GoStateName(key.state), &message);
    }
    AddLabel("reason", interner_.String(key.reason), &message);
    AddLabel("start function", interner_.String(key.start), &message);
    if (key.goroutine != GoId::kNone) AddLabel("goroutine", key.goroutine.value, &message);
    if (key.proc != ProcId::kNone) AddLabel("P", key.proc.value, &message);
    if (key.task != TaskId::kNone) {
      AddLabel("task", static_cast<int64_t>(key.task.value), &message);
    }
    AddLabel("region", interner_.String(key.region), &message);
    AddLabel("label", interner_.String(key.label), &message);
  }

  void AddLabel(absl::string_view key, absl::string_view value, protozero::pbf_writer* sample) {
    if (value.empty()) return;
    const int64_t key_index = StringIndex(key);
    const int64_t value_index = StringIndex(value);
    protozero::pbf_writer message(*sample, sample::kLabel);
    message.add_int64(label::kKey, key_index);
    message.add_int64(label::kStr, value_index);
  }

  void AddLabel(absl::string_view key, int64_t value, protozero::pbf_writer* sample) {
    const int64_t key_index = StringIndex(key);
    protozero::pbf_writer message(*sample, sample::kLabel);
    message.add_int64(label::kKey, key_index);
    message.add_int64(label::kNum, value);
  }

  // Ids are numbered from 1 in the order of first use.
  uint64_t LocationId(const ProfileFrame& frame) {
    uint64_t& id = frame.id.has_value() ? locations_[*frame.id] : named_locations_[frame.name];
    if (id != 0) return id;
    id = ++location_count_;
    const InternedFrame details =
        frame.id.has_value() ? interner_.FrameWithIds(*frame.id) : InternedFrame();
    const uint64_t function_id = FunctionId(frame.name, interner_.String(details.file));
    protozero::pbf_writer message(out_, profile::kLocation);
    message.add_uint64(location::kId, id);
    if (details.pc != 0) message.add_uint64(location::kAddress, details.pc);
    protozero::pbf_writer line(message, location::kLine);
    line.add_uint64(line::kFunctionId, function_id);
    if (details.line != 0) line.add_int64(line::kLine, static_cast<int64_t>(details.line));
    return id;
  }

  uint64_t FunctionId(absl::string_view name, absl::string_view file) {
    const auto [it, is_new] = functions_.try_emplace({name, file}, functions_.size() + 1);
    if (!is_new) return it->second;
    const int64_t name_index = StringIndex(name);
    const int64_t file_index = StringIndex(file);
    protozero::pbf_writer message(out_, profile::kFunction);
    message.add_uint64(function::kId, it->second);
    message.add_int64(function::kName, name_index);
    message.add_int64(function::kSystemName, name_index);
    if (file_index != 0) message.add_int64(function::kFilename, file_index);
    return it->second;
  }

  const ProfileForm form_;
  const Interner& interner_;
  std::string bytes_;
  protozero::pbf_writer out_;
  std::vector<absl::string_view> strings_;
  absl::flat_hash_map<absl::string_view, size_t> string_indices_;
  absl::flat_hash_map<FrameId, uint64_t> locations_;
  absl::flat_hash_map<absl::string_view, uint64_t> named_locations_;  // Of frames without an id.
  uint64_t location_count_ = 0;
  absl::flat_hash_map<std::pair<absl::string_view, absl::string_view>, uint64_t> functions_;
  std::vector<ProfileFrame> frames_;
  std::vector<uint64_t> locations_of_sample_;
};

}  // namespace

// zlib accepts at most 4 GiB at once.
std::string CompressWithGzip(absl::string_view bytes) {
  z_stream stream = {};
  constexpr int kGzipFormat = 16;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzipFormat,
                   MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string compressed;
  constexpr size_t kChunk = size_t{1} << 20;
  std::string chunk(kChunk, '\0');
  int result = Z_OK;
  while (result != Z_STREAM_END) {
    const size_t size = std::min(kChunk, bytes.size());
    if (stream.avail_in == 0) {
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream.avail_in = static_cast<uInt>(size);
      bytes.remove_prefix(size);
    }
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(kChunk);
    result = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    compressed.append(chunk, 0, kChunk - stream.avail_out);
  }
  deflateEnd(&stream);
  return compressed;
}

}  // namespace gotrace::internal

namespace gotrace {

std::string FormatPprof(const ProfileForm& form, absl::Span<const ProfileSample> samples,
                        const Interner& interner) {
  return internal::CompressWithGzip(internal::PprofWriter(form, interner).Write(samples));
}

}  // namespace gotrace
