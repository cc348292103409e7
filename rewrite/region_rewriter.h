// Changes user regions of a trace that do not nest, so that Go's reader accepts them, according to
// the plan of PlanRegions().
//
// A lane becomes a goroutine named after its owner, "goroutine 12: overlapping regions". It waits,
// except at the moment of each of its events, when it runs on a P that all lanes share. It inherits
// no task, because no goroutine creates it, and it ends when its owner does.
#ifndef GOTRACE_REWRITE_REGION_REWRITER_H_
#define GOTRACE_REWRITE_REGION_REWRITER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gotrace/repair.h"
#include "rewrite/generation_writer.h"
#include "rewrite/region_planner.h"

namespace gotrace::internal {

// Reads a trace twice: every generation is passed to Collect() first, then Plan() is called, then
// every generation is passed to Apply(), in the same order. Memory is about 100 bytes for each
// begin and end of a region.
class RegionRewriter {
 public:
  RegionRewriter() = default;
  RegionRewriter(const RegionRewriter&) = delete;
  RegionRewriter& operator=(const RegionRewriter&) = delete;

  // Records the generation's regions, and the ids that it uses. `lost` says whether events may be
  // lost, in it or earlier.
  void Collect(GenerationContent* content, bool lost);

  // Decides the changes. Changes nothing if lost events may explain all regions that do not nest:
  // the writer then ends the regions that were left open. Also changes nothing if there are too
  // many regions for a reasonable amount of memory, or if the trace uses such large ids that none
  // are left for lanes, as only a hostile trace does.
  void Plan();

  bool planned() const { return planned_; }

  // Returns whether Apply() will change any generation. Requires planned().
  bool has_changes() const { return !plan_.nothing(); }

  // Changes the events of the generation. Returns the changes, or nullopt if there are none.
  // Requires planned().
  std::optional<RegionChanges> Apply(GenerationContent* content);

  // Starts a new run of generations, which will not be written after the previous ones and
  // therefore cannot use the goroutines that were added there.
  void BeginRun();

 private:
  struct Lane {
    bool exists = false;
    uint64_t stated_in = 0;  // The index of the generation in which its status was last written.
  };

  class GenerationRewriter;

  // Returns the indices of the events that matter for regions.
  static std::vector<size_t> FindRegionEvents(GenerationContent* content);
  uint32_t TypeOf(const WriterEvent& event, const GenerationContent& content);

  std::vector<RegionEvent> events_;
  std::vector<std::string> types_;  // The text of each RegionEvent::type.
  absl::flat_hash_map<std::string, uint32_t> type_by_text_;
  int64_t last_goroutine_ = 0;  // The largest goroutine id of the trace.
  int64_t last_proc_ = 0;       // The largest P id of the trace.
  bool has_too_many_ = false;
  bool lost_ = false;  // Whether events may be lost.

  bool planned_ = false;
  RegionPlan plan_;
  size_t next_event_ = 0;  // The index in plan_.fates of the next generation's first event.
  size_t next_write_ = 0;  // The same in plan_.writes.
  std::vector<Lane> lanes_;
  uint64_t generation_ = 0;      // The number of generations passed to Apply().
  uint64_t proc_stated_in_ = 0;  // Like Lane::stated_in, for the lanes' P.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_REGION_REWRITER_H_
