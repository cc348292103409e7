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

// Reads batches like ReadBatch(), but continues after damage.
//
// Text that was printed into the trace, between batches or inside one, is removed as SeparateText()
// finds it. If text does not explain the damage, the next place is found at which batches follow
// each other again. A place is accepted only if its header is plausible, and either its payload
// decodes exactly to its end and is followed by another batch, text, or the end of the trace, or
// two more batches follow. If the trace ends inside a batch, the batch is returned with its
// complete events.
class BatchFinder {
 public:
  using Report = std::function<void(Fault)>;

  // `report` is called with each fault, whose message says what was skipped.
  BatchFinder(ByteSource* source, Version version, Report report);

  // Reads the next batch that can be found. Returns false at the end of the trace. `generation` is
  // the current generation, or 0 for none; batches of it and of the next one are searched for.
  bool Next(uint64_t generation, Batch* batch);

  // Returns the generation of the batch after the last one, if there is one: 0 for an
  // EndOfGeneration.
  std::optional<uint64_t> PeekGeneration();

  // Returns whether the trace ends with the last batch.
  bool AtEnd();

  // Returns the offset of another trace in the input, at which this trace ends. The source stays
  // there.
  std::optional<uint64_t> next_trace() const { return next_trace_; }

  // Returns the number of bytes skipped.
  uint64_t skipped_bytes() const { return skipped_bytes_; }

  // Returns the number of pieces of text removed.
  uint64_t text_pieces() const { return text_pieces_; }

  // Returns the number of bytes of text removed.
  uint64_t text_bytes() const { return text_bytes_; }

  // Releases the source's bytes before `offset`, and copies of batches before it from which text
  // was removed. No views of them may be used any more.
  void Release(uint64_t offset);

  // Returns the offset in the input of the byte at `offset`, in a batch that was not released. The
  // two differ in batches from which text was removed, where offsets in the payload do not count
  // the text.
  uint64_t InputOffset(uint64_t offset) const;

  // Returns whether the trace ended inside a batch.
  bool truncated() const { return truncated_; }

  // Returns the amount of searching for text and batches, in bytes or in steps of similar cost: at
  // most proportional to the number of bytes read.
  uint64_t work() const { return searched_ + decoded_ + search_steps_; }

  // Returns the first I/O error. Everything before it is read.
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
  bool IsBatch(size_t pos, uint64_t generation, int after) const;
  bool BatchFollows(size_t pos, uint64_t generation) const;
  bool IsOfRuntime(const Header& header) const;
  bool PadsSizes();
  bool IsPaddedBatch(size_t pos, uint64_t generation) const;
  bool IsSound(size_t pos, uint64_t generation);
  bool HidesOrdinaryBatch(size_t pos) const;
  size_t Find(size_t from, size_t to, uint64_t generation);
  size_t FindBeforeHeader(size_t from, size_t to, uint64_t generation);
  size_t FindHeader(size_t from, size_t to) const;
  bool IsWhole(const Header& header) const;
  bool WholeBatchFollows(size_t pos, uint64_t generation) const;
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
  void ReportSkipped(size_t size, Fault fault);
  void Skip(size_t size);
  void ReleaseSkipped(uint64_t begin);

  ByteSource& source_;
  const Version version_;
  const Report report_;
  uint64_t skipped_bytes_ = 0;
  uint64_t run_begin_ = 0;  // The beginning of the last run of skipped bytes.
  uint64_t run_end_ = 0;    // The end of that run.
  // The batches and text that SeparateText() found ahead, in order.
  struct Separated {
    Batch batch;
    uint64_t end = 0;
  };
  std::deque<Separated> batches_ahead_;
  std::deque<ByteRange> text_ahead_;
  // The batches from which text was removed. A deque, because batches have views of its elements.
  struct Cleaned {
    uint64_t payload_offset = 0;
    std::string payload;
    std::vector<ByteRange> text;
  };
  std::deque<Cleaned> cleaned_;
  std::string last_text_;  // The beginning of the last piece of text.
  ByteRange known_text_;   // The range last found to be text.
  uint64_t text_end_ = 0;  // The end of the last piece of text.
  uint64_t text_pieces_ = 0;
  uint64_t text_bytes_ = 0;
  uint64_t search_steps_ = 0;   // The number of steps of SeparateText().
  uint64_t searched_ = 0;       // Bytes searched for the batch after a text.
  uint64_t decoded_ = 0;        // Bytes decoded to check whether they are a payload.
  bool after_strings_ = false;  // Whether the last batch holds strings.
  bool after_end_ = false;      // Whether the last batch was an EndOfGeneration.
  uint64_t generation_ = 0;     // The generation of the last batch.
  // Whether sizes have ten bytes, as Go's runtime writes them; unknown before the first batch.
  std::optional<bool> pads_sizes_;
  bool has_experiments_ = false;  // Whether there was an experimental batch.
  uint64_t last_time_ = 0;        // The last batch time that the next batch confirmed.
  bool at_end_ = false;           // Whether the window reaches to the end of the trace.
  bool truncated_ = false;
  std::optional<uint64_t> next_trace_;
  absl::Status io_status_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_FRAMING_BATCH_FINDER_H_
