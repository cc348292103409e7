// Finds batches in a trace whose framing is damaged.
#ifndef GOTRACE_PARSER_FRAMING_BATCH_FINDER_H_
#define GOTRACE_PARSER_FRAMING_BATCH_FINDER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_source.h"
#include "gotrace/fault.h"
#include "gotrace/version.h"
#include "parser/framing/batch_head.h"
#include "parser/framing/batch_reader.h"
#include "parser/framing/printed_text.h"

namespace gotrace::internal {

// Reads batches like ReadBatch(), but where that fails, removes text that was printed into the
// trace, between batches or inside one, as SeparateText() finds it. Where text does not explain it,
// looks for the next place at which batches follow each other again. A place is accepted only if
// its header makes sense and either its payload decodes exactly to its end, and another batch,
// text, or the end of the trace follows, or two more batches follow. Of a batch in which the trace
// ends the whole events are given.
class BatchFinder {
 public:
  using Report = std::function<void(Fault)>;

  // `report` is called with each fault, with what was skipped in its message.
  BatchFinder(ByteSource* source, Version version, Report report);

  // Reads the next batch that can be found. Returns false at the end of the trace. `generation` is
  // the one being read, or 0 for none: batches of it and of the next one are looked for.
  bool Next(uint64_t generation, Batch* batch);

  // The generation of the batch behind the last one, if there is one: 0 for an EndOfGeneration.
  std::optional<uint64_t> PeekGeneration();

  // Whether the trace ends with the last batch.
  bool AtEnd();

  // Where another trace begins in the input: what stands from there on is left out, and the source
  // stays there.
  std::optional<uint64_t> next_trace() const { return next_trace_; }

  uint64_t skipped_bytes() const { return skipped_bytes_; }

  // How many pieces of text were removed, and how many bytes they have.
  uint64_t text_pieces() const { return text_pieces_; }
  uint64_t text_bytes() const { return text_bytes_; }

  // Releases the source's bytes before `offset`, and batches before it that text was removed from:
  // nothing may view them any more.
  void Release(uint64_t offset);

  // Where in the input the byte at `offset` is, of a batch that was not released. They differ in
  // batches that text was removed from: there a place in the payload is counted as if the text
  // were not there.
  uint64_t InputOffset(uint64_t offset) const;

  // Whether the trace ended inside a batch.
  bool truncated() const { return truncated_; }

  // How much was searched for text and batches, in bytes or in steps of as much work: at most in
  // proportion to the bytes read.
  uint64_t work() const { return searched_ + decoded_ + search_steps_; }

  // The first error of I/O. Reading goes on with what was there.
  const absl::Status& io_status() const { return io_status_; }

 private:
  struct Header : BatchHead {
    size_t payload = 0;  // Where the payload begins in the window.
    size_t end = 0;      // Where the batch ends in the window.
  };

  void Refill();
  std::optional<Header> Peek(size_t pos) const;
  bool Begins(size_t pos, uint64_t generation) const;
  bool IsNear(uint64_t time) const;
  void LearnTime(const Header& header, size_t end);
  bool IsBatch(size_t pos, uint64_t generation, int behind) const;
  bool BatchFollows(size_t pos, uint64_t generation) const;
  bool IsOfRuntime(const Header& header) const;
  bool PadsSizes();
  bool IsPaddedBatch(size_t pos, uint64_t generation) const;
  bool IsSound(size_t pos, uint64_t generation);
  bool HidesOrdinaryBatch(size_t pos) const;
  size_t Find(size_t from, size_t to, uint64_t generation);
  size_t FindBeforeHeader(size_t from, size_t to, uint64_t generation);
  size_t FindHeader(size_t from, size_t to) const;
  bool IsOrdinaryAndWhole(const Header& header, uint64_t generation) const;
  size_t TextSize(size_t pos);
  bool LinesFollow(size_t pos);
  bool HasTextAhead(uint64_t generation);
  bool MayEndGeneration(absl::string_view bytes) const;
  bool FindLinesHere(uint64_t generation);
  bool SeparateTextHere(uint64_t generation);
  void AddSeparated(const SeparatedBatch& separated);
  void TakeSeparated(Batch* batch);
  void RemoveText(const ByteRange& text, const Batch* batch);
  void Take(const Header& header, size_t end, Batch* batch);
  bool TakeCut(const Header& header, uint64_t generation, const std::optional<Fault>& fault,
               Batch* batch);
  void TellSkipped(size_t size, Fault fault);
  void Skip(size_t size);
  void ReleaseSkipped(uint64_t begin);

  ByteSource& source_;
  const Version version_;
  const Report report_;
  uint64_t skipped_bytes_ = 0;
  uint64_t run_begin_ = 0;  // Where the last run of skipped bytes begins and ends.
  uint64_t run_end_ = 0;
  // What SeparateText() found ahead: batches and text, in order.
  struct Separated {
    Batch batch;
    uint64_t end = 0;
  };
  std::deque<Separated> batches_ahead_;
  std::deque<ByteRange> text_ahead_;
  // The batches that text was removed from. A deque, as batches view its elements.
  struct Cleaned {
    uint64_t payload_offset = 0;
    std::string payload;
    std::vector<ByteRange> text;
  };
  std::deque<Cleaned> cleaned_;
  std::string last_text_;  // The beginning of the last piece of text.
  ByteRange known_text_;   // What was found to be text last.
  uint64_t text_end_ = 0;  // Where the last piece of text ends.
  uint64_t text_pieces_ = 0;
  uint64_t text_bytes_ = 0;
  uint64_t search_steps_ = 0;   // That SeparateText() took.
  uint64_t searched_ = 0;       // How many bytes were searched for the batch after a text.
  uint64_t decoded_ = 0;        // How many bytes were decoded to see whether they are a payload.
  bool after_strings_ = false;  // Whether the last batch holds strings.
  bool after_end_ = false;      // Whether it was an EndOfGeneration.
  uint64_t generation_ = 0;     // Of the last batch.
  // Whether sizes have ten bytes, as Go's runtime writes them; unknown before the first batch.
  std::optional<bool> pads_sizes_;
  bool has_experiments_ = false;  // Whether there was an experimental batch.
  uint64_t last_time_ = 0;        // Of the last batch whose time the one behind it confirmed.
  bool at_end_ = false;           // Whether the window reaches to the end of the trace.
  bool truncated_ = false;
  std::optional<uint64_t> next_trace_;
  absl::Status io_status_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_FRAMING_BATCH_FINDER_H_
