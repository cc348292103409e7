#include "export/perfetto/packet_writer.h"

#include <zlib.h>

namespace gotrace::internal {

void PacketWriter::Flush() {
  uLongf size = compress_ ? compressBound(packets_.size()) : 0;
  std::string compressed(size, '\0');
  if (packets_.empty() || !compress_ ||
      compress(reinterpret_cast<Bytef*>(compressed.data()), &size,
               reinterpret_cast<const Bytef*>(packets_.data()), packets_.size()) != Z_OK) {
    out_.Append(packets_);
  } else {
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
