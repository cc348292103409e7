// Writes packets of Perfetto's protobuf format to a ByteSink.
#ifndef GOTRACE_EXPORT_PERFETTO_PACKET_WRITER_H_
#define GOTRACE_EXPORT_PERFETTO_PACKET_WRITER_H_

#include <string>

#include "export/perfetto/fields.h"
#include "gotrace/byte_sink.h"
#include "protozero/pbf_writer.hpp"

namespace gotrace::internal {

// A file is a sequence of packets. Any number of them may be replaced by one that holds them in
// compressed form.
class PacketWriter {
 public:
  // `out` must outlive this object.
  PacketWriter(ByteSink* out, bool compress) : out_(*out), compress_(compress) {}

  // Adds a packet with the fields that `fill`, a function of a protozero::pbf_writer, adds to it.
  template <class Fill>
  void Add(Fill fill) {
    {
      protozero::pbf_writer trace(packets_);
      protozero::pbf_writer packet(trace, perfetto::Trace::kPacket);
      fill(packet);
    }
    if (packets_.size() >= kBlockSize) Flush();
  }

  // Writes what is buffered.
  void Flush();

 private:
  static constexpr size_t kBlockSize = 100'000;

  ByteSink& out_;
  const bool compress_;
  std::string packets_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PERFETTO_PACKET_WRITER_H_
