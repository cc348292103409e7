// Writes packets of Perfetto's protobuf format to a ByteSink.
#ifndef GOTRACE_EXPORT_PERFETTO_PACKET_WRITER_H_
#define GOTRACE_EXPORT_PERFETTO_PACKET_WRITER_H_

#include <string>

#include "export/perfetto/fields.h"
#include "gotrace/byte_sink.h"
#include "protozero/pbf_writer.hpp"

namespace gotrace::internal {

// A file is a sequence of packets. Any number of consecutive packets may be stored in compressed
// form inside one packet.
class PacketWriter {
 public:
  // `out` must outlive this object. Each process other than 1 is a machine of its own, with its own
  // threads and CPUs, so that a file can hold several programs whose goroutines have the same ids.
  PacketWriter(ByteSink* out, bool compress, int32_t pid)
      : out_(*out), compress_(compress), machine_(pid == 1 ? 0 : static_cast<uint32_t>(pid)) {}

  // Adds a packet with the fields that `fill`, a function of a protozero::pbf_writer, adds to it.
  template <class Fill>
  void Add(Fill fill) {
    {
      protozero::pbf_writer trace(packets_);
      protozero::pbf_writer packet(trace, perfetto::Trace::kPacket);
      if (machine_ != 0) packet.add_uint32(perfetto::TracePacket::kMachineId, machine_);
      fill(packet);
    }
    if (packets_.size() >= kBlockSize) Flush();
  }

  // Writes out the buffer.
  void Flush();

 private:
  static constexpr size_t kBlockSize = 100'000;

  ByteSink& out_;
  const bool compress_;
  const uint32_t machine_;  // 0 for none.
  std::string packets_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PERFETTO_PACKET_WRITER_H_
