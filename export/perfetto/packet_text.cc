#include "export/perfetto/packet_text.h"

#include <zlib.h>

#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "export/perfetto/fields.h"
#include "protozero/pbf_reader.hpp"

namespace gotrace::internal {
namespace {

using perfetto::TracePacket;
using protozero::pbf_reader;

// Returns whether `time` plus `delta` is earlier than `time`. Times are signed, so a delta may be
// 2^63 or more.
bool GoesBack(uint64_t time, uint64_t delta) {
  return static_cast<int64_t>(time + delta) < static_cast<int64_t>(time);
}

std::string Text(pbf_reader& reader) { return reader.get_string(); }

std::vector<uint64_t> Packed(pbf_reader& reader) {
  std::vector<uint64_t> values;
  for (const uint64_t value : reader.get_packed_uint64()) values.push_back(value);
  return values;
}

class PacketText {
 public:
  void AddFile(absl::string_view bytes) {
    pbf_reader trace(bytes.data(), bytes.size());
    while (trace.next(perfetto::Trace::kPacket)) AddPacket(trace.get_message());
  }

  std::vector<std::string> lines;

 private:
  template <class... Parts>
  void Line(const Parts&... parts) {
    lines.push_back(absl::StrCat(parts...));
  }

  void AddPacket(pbf_reader packet) {
    // Interned data and times come first, whatever their order.
    uint64_t clock = 0;
    uint64_t sequence = 0;
    uint64_t time = 0;
    bool has_time = false;
    for (pbf_reader fields = packet; fields.next();) {
      switch (fields.tag()) {
        case TracePacket::kInternedData:
          AddInterned(fields.get_message());
          break;
        case TracePacket::kTrustedPacketSequenceId:
          sequence = fields.get_uint32();
          break;
        case TracePacket::kTimestamp:
          time = fields.get_uint64();
          has_time = true;
          break;
        case TracePacket::kTimestampClockId:
          clock = fields.get_uint32();
          break;
        case TracePacket::kTracePacketDefaults: {
          pbf_reader defaults = fields.get_message();
          while (defaults.next()) default_clock_ = defaults.get_uint32();
          break;
        }
        default:
          fields.skip();
      }
    }
    if (clock == 0 && sequence != 0) clock = default_clock_;
    if (has_time && clock == perfetto::kClockIncremental) time = incremental_ += time;
    while (packet.next()) {
      switch (packet.tag()) {
        case TracePacket::kClockSnapshot:
          AddClocks(packet.get_message());
          break;
        case TracePacket::kTrackDescriptor:
          AddTrack(packet.get_message());
          break;
        case TracePacket::kTrackEvent:
          AddTrackEvent(time, packet.get_message());
          break;
        case TracePacket::kPerfSample:
          AddSample(time, packet.get_message());
          break;
        case TracePacket::kFtraceEvents:
          AddBundle(packet.get_message());
          break;
        case TracePacket::kGenericKernelTaskStateEvent:
          AddTaskState(time, packet.get_message());
          break;
        case TracePacket::kCompressedPackets:
          AddCompressed(packet.get_string());
          break;
        case TracePacket::kInternedData:
        case TracePacket::kTrustedPacketSequenceId:
        case TracePacket::kTimestamp:
        case TracePacket::kTimestampClockId:
        case TracePacket::kTracePacketDefaults:
        case TracePacket::kSequenceFlags:
        case TracePacket::kMachineId:
          packet.skip();
          break;
        default:
          Line("error: packet with field ", packet.tag());
          packet.skip();
      }
    }
  }

  void AddCompressed(const std::string& compressed) {
    std::string bytes(1 << 20, '\0');
    uLongf size = bytes.size();
    if (uncompress(reinterpret_cast<Bytef*>(bytes.data()), &size,
                   reinterpret_cast<const Bytef*>(compressed.data()), compressed.size()) != Z_OK) {
      return Line("error: compressed packets");
    }
    AddFile(absl::string_view(bytes).substr(0, size));
  }

  void AddInterned(pbf_reader data) {
    while (data.next()) {
      const uint32_t kind = data.tag();
      pbf_reader entry = data.get_message();
      uint64_t iid = 0;
      std::string text;
      while (entry.next()) {
        if (entry.tag() == perfetto::InternedString::kIid) {
          iid = entry.get_uint64();
        } else if (kind == perfetto::InternedData::kCallstacks) {
          absl::StrAppend(&text, text.empty() ? "" : ";",
                          Find(perfetto::InternedData::kFrames, entry.get_uint64()));
        } else if (kind != perfetto::InternedData::kFrames) {
          text = Text(entry);
        } else if (entry.tag() == perfetto::Frame::kFunctionNameId) {
          absl::StrAppend(&text, Find(perfetto::InternedData::kFunctionNames, entry.get_uint64()));
        } else if (entry.tag() == perfetto::Frame::kSourcePathIid) {
          absl::StrAppend(&text, "@",
                          Find(perfetto::InternedData::kSourcePaths, entry.get_uint64()));
        } else {
          absl::StrAppend(&text, ":", entry.get_uint64());
        }
      }
      if (iid == 0 || !interned_.try_emplace({kind, iid}, text).second) {
        Line("error: interned ", kind, " ", iid, " ", text);
      }
    }
  }

  std::string Find(uint32_t kind, uint64_t iid) {
    const auto it = interned_.find({kind, iid});
    if (it != interned_.end()) return it->second;
    Line("error: no interned ", kind, " ", iid);
    return "?";
  }

  void AddClocks(pbf_reader snapshot) {
    std::string text = "clocks";
    while (snapshot.next()) {
      if (snapshot.tag() != perfetto::ClockSnapshot::kClocks) {
        absl::StrAppend(&text, ", primary ", snapshot.get_uint32());
        continue;
      }
      pbf_reader clock = snapshot.get_message();
      uint64_t id = 0;
      uint64_t time = 0;
      while (clock.next()) {
        if (clock.tag() == perfetto::Clock::kClockId) id = clock.get_uint32();
        if (clock.tag() == perfetto::Clock::kTimestamp) time = clock.get_uint64();
        if (clock.tag() == perfetto::Clock::kIsIncremental) clock.skip();
      }
      absl::StrAppend(&text, " ", id, "=", time);
      if (id == perfetto::kClockIncremental) incremental_ = time;
    }
    Line(text);
  }

  void AddTrack(pbf_reader track) {
    std::string text = "track";
    while (track.next()) {
      switch (track.tag()) {
        case perfetto::TrackDescriptor::kUuid:
          absl::StrAppend(&text, " ", track.get_uint64());
          break;
        case perfetto::TrackDescriptor::kName:
          absl::StrAppend(&text, " \"", Text(track), "\"");
          break;
        case perfetto::TrackDescriptor::kParentUuid:
          absl::StrAppend(&text, " in ", track.get_uint64());
          break;
        case perfetto::TrackDescriptor::kProcess: {
          pbf_reader process = track.get_message();
          absl::StrAppend(&text, " process");
          while (process.next()) {
            if (process.tag() == perfetto::ProcessDescriptor::kPid) {
              absl::StrAppend(&text, " ", process.get_int32());
            } else {
              absl::StrAppend(&text, " \"", Text(process), "\"");
            }
          }
          break;
        }
        case perfetto::TrackDescriptor::kThread: {
          pbf_reader thread = track.get_message();
          absl::StrAppend(&text, " thread");
          while (thread.next()) {
            if (thread.tag() == perfetto::ThreadDescriptor::kThreadName) {
              absl::StrAppend(&text, " \"", Text(thread), "\"");
            } else if (thread.tag() == perfetto::ThreadDescriptor::kTid) {
              absl::StrAppend(&text, " ", thread.get_int64());
            } else {
              thread.skip();
            }
          }
          break;
        }
        case perfetto::TrackDescriptor::kCounter:
          absl::StrAppend(&text, " counter");
          track.skip();
          break;
        default:
          track.skip();
      }
    }
    Line(text);
  }

  void AddTrackEvent(uint64_t time, pbf_reader event) {
    constexpr absl::string_view kTypes[] = {"?", "begin", "end", "instant", "counter"};
    std::string text;
    std::string type = "?";
    uint64_t track = 0;
    while (event.next()) {
      switch (event.tag()) {
        case perfetto::TrackEvent::kType:
          type = std::string(kTypes[event.get_enum()]);
          break;
        case perfetto::TrackEvent::kTrackUuid:
          track = event.get_uint64();
          break;
        case perfetto::TrackEvent::kNameIid:
          absl::StrAppend(&text, " \"",
                          Find(perfetto::InternedData::kEventNames, event.get_uint64()), "\"");
          break;
        case perfetto::TrackEvent::kCategoryIids:
          absl::StrAppend(&text, " ",
                          Find(perfetto::InternedData::kEventCategories, event.get_uint64()));
          break;
        case perfetto::TrackEvent::kCallstackIid:
          absl::StrAppend(&text, " at ",
                          Find(perfetto::InternedData::kCallstacks, event.get_uint64()));
          break;
        case perfetto::TrackEvent::kFlowIds:
          absl::StrAppend(&text, " flow out ", event.get_fixed64());
          break;
        case perfetto::TrackEvent::kTerminatingFlowIds:
          absl::StrAppend(&text, " flow in ", event.get_fixed64());
          break;
        case perfetto::TrackEvent::kCounterValue:
          absl::StrAppend(&text, " ", event.get_int64());
          break;
        case perfetto::TrackEvent::kDoubleCounterValue:
          absl::StrAppend(&text, " ", event.get_double());
          break;
        case perfetto::TrackEvent::kDebugAnnotations: {
          pbf_reader annotation = event.get_message();
          while (annotation.next()) {
            if (annotation.tag() == perfetto::DebugAnnotation::kNameIid) {
              absl::StrAppend(
                  &text, " ",
                  Find(perfetto::InternedData::kDebugAnnotationNames, annotation.get_uint64()),
                  "=");
            } else if (annotation.tag() == perfetto::DebugAnnotation::kUintValue) {
              absl::StrAppend(&text, annotation.get_uint64());
            } else {
              absl::StrAppend(&text, "\"", Text(annotation), "\"");
            }
          }
          break;
        }
        default:
          Line("error: track event with field ", event.tag());
          event.skip();
      }
    }
    Line(time, " ", type, " ", track, text);
  }

  void AddSample(uint64_t time, pbf_reader sample) {
    std::string text = absl::StrCat(time, " sample");
    while (sample.next()) {
      switch (sample.tag()) {
        case perfetto::PerfSample::kCpu:
          absl::StrAppend(&text, " cpu ", sample.get_uint32());
          break;
        case perfetto::PerfSample::kTid:
          absl::StrAppend(&text, " thread ", sample.get_uint32());
          break;
        case perfetto::PerfSample::kCallstackIid:
          absl::StrAppend(&text, " at ",
                          Find(perfetto::InternedData::kCallstacks, sample.get_uint64()));
          break;
        default:
          sample.skip();
      }
    }
    Line(text);
  }

  void AddTaskState(uint64_t time, pbf_reader state) {
    std::string text = absl::StrCat(time, " state");
    while (state.next()) {
      switch (state.tag()) {
        case perfetto::GenericKernelTaskState::kComm:
          absl::StrAppend(&text, " \"", Text(state), "\"");
          break;
        case perfetto::GenericKernelTaskState::kCpu:
          absl::StrAppend(&text, " cpu ", state.get_int32());
          break;
        case perfetto::GenericKernelTaskState::kTid:
          absl::StrAppend(&text, " thread ", state.get_int64());
          break;
        default:
          absl::StrAppend(&text, " is ", state.get_enum());
      }
    }
    Line(text);
  }

  void AddBundle(pbf_reader bundle) {
    uint64_t cpu = 0;
    while (bundle.next()) {
      switch (bundle.tag()) {
        case perfetto::FtraceEventBundle::kCpu:
          cpu = bundle.get_uint32();
          break;
        case perfetto::FtraceEventBundle::kCompactSched:
          AddCompact(cpu, bundle.get_message());
          break;
        case perfetto::FtraceEventBundle::kEvent:
          AddFtraceEvent(cpu, bundle.get_message());
          break;
        default:
          Line("error: bundle with field ", bundle.tag());
          bundle.skip();
      }
    }
  }

  void AddCompact(uint64_t cpu, pbf_reader compact) {
    std::map<uint32_t, std::vector<uint64_t>> columns;
    std::vector<std::string> names;
    while (compact.next()) {
      if (compact.tag() == perfetto::CompactSched::kInternTable) {
        names.push_back(Text(compact));
      } else {
        const uint32_t column = compact.tag();
        columns[column] = Packed(compact);
      }
    }
    using perfetto::CompactSched;
    const size_t switches = columns[CompactSched::kSwitchTimestamp].size();
    for (const uint32_t column :
         {CompactSched::kSwitchPrevState, CompactSched::kSwitchNextPid,
          CompactSched::kSwitchNextPrio, CompactSched::kSwitchNextCommIndex}) {
      if (columns[column].size() != switches) return Line("error: switch column ", column);
    }
    uint64_t time = 0;
    for (size_t i = 0; i < switches; ++i) {
      const uint64_t delta = columns[CompactSched::kSwitchTimestamp][i];
      if (i > 0 && GoesBack(time, delta)) Line("error: switches go back");
      time += delta;
      Line(time, " switch cpu ", cpu, " to ", columns[CompactSched::kSwitchNextPid][i], " \"",
           names.at(columns[CompactSched::kSwitchNextCommIndex][i]), "\", prev state ",
           columns[CompactSched::kSwitchPrevState][i]);
    }
    const size_t wakings = columns[CompactSched::kWakingTimestamp].size();
    for (const uint32_t column :
         {CompactSched::kWakingPid, CompactSched::kWakingTargetCpu, CompactSched::kWakingPrio,
          CompactSched::kWakingCommIndex, CompactSched::kWakingCommonFlags}) {
      if (columns[column].size() != wakings) return Line("error: waking column ", column);
    }
    time = 0;
    for (size_t i = 0; i < wakings; ++i) {
      const uint64_t delta = columns[CompactSched::kWakingTimestamp][i];
      if (i > 0 && GoesBack(time, delta)) Line("error: wakings go back");
      time += delta;
      Line(time, " wake cpu ", cpu, " thread ", columns[CompactSched::kWakingPid][i], " \"",
           names.at(columns[CompactSched::kWakingCommIndex][i]), "\"");
    }
  }

  void AddFtraceEvent(uint64_t cpu, pbf_reader event) {
    uint64_t time = 0;
    uint64_t pid = 0;
    while (event.next()) {
      if (event.tag() == perfetto::FtraceEvent::kTimestamp) {
        time = event.get_uint64();
        continue;
      }
      if (event.tag() == perfetto::FtraceEvent::kPid) {
        pid = event.get_uint32();
        continue;
      }
      const uint32_t kind = event.tag();
      pbf_reader details = event.get_message();
      std::string text =
          kind == perfetto::FtraceEvent::kSchedSwitch   ? absl::StrCat(" switch event cpu ", cpu)
          : kind == perfetto::FtraceEvent::kSchedWaking ? absl::StrCat(" wake event by ", pid)
                                                        : " blocked";
      while (details.next()) {
        if (details.tag() == 1 && kind == perfetto::FtraceEvent::kSchedBlockedReason) {
          absl::StrAppend(&text, " thread ", details.get_int32());
        } else if (details.tag() == perfetto::SchedBlockedReason::kCaller &&
                   kind == perfetto::FtraceEvent::kSchedBlockedReason) {
          absl::StrAppend(&text, " for ",
                          Find(perfetto::InternedData::kKernelSymbols, details.get_uint64()));
        } else if (details.has_wire_type(protozero::pbf_wire_type::length_delimited)) {
          absl::StrAppend(&text, " \"", Text(details), "\"");
        } else {
          absl::StrAppend(&text, " ", details.get_int64());
        }
      }
      Line(time, text);
    }
  }

  std::map<std::pair<uint32_t, uint64_t>, std::string> interned_;
  uint64_t default_clock_ = 0;
  uint64_t incremental_ = 0;
};

}  // namespace

std::vector<std::string> DescribePackets(absl::string_view file) {
  PacketText text;
  try {
    text.AddFile(file);
  } catch (const std::exception& error) {
    text.lines.push_back(absl::StrCat("error: ", error.what()));
  }
  return std::move(text.lines);
}

}  // namespace gotrace::internal
