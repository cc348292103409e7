#include "export/perfetto/packet_writer.h"

#include <zlib.h>

namespace gotrace::internal {

void PacketWriter::Flush() {
  if (!compress_) {
    out_.Append(packets_);
  } else if (!packets_.empty()) {
    uLongf size = compressBound(packets_.size());
    std::string compressed(size, '\0');
    // Cannot fail: there is room for the result, and memory is not limited.
    compress(reinterpret_cast<Bytef*>(compressed.data()), &size,
             reinterpret_cast<const Bytef*>(packets_.data()), packets_.size());
    compressed.resize(size);
    std::string file_packet;
    {
      protozero::pbf_writer trace(file_packet);
      protozero::pbf_writer packet(trace, perfetto::Trace::kPacket);
      packet.add_bytes(perfetto::TracePacket::kCompressedPackets, compressed);
    }
    out_.Append(file_packet);
  }
  packets_.clear();
}

}  // namespace gotrace::internal
