// Changes a trace's user regions where they do not nest, so that Go's reader accepts them: carries
// out what PlanRegions() decides.
//
// A lane becomes a goroutine named after its owner, "goroutine 12: overlapping regions". It waits,
// except at the moment of each of its events, when it runs on a P that all lanes share. It inherits
// no task, as no goroutine creates it, and it ends when its owner does.
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

  // Notes the generation's regions, and the ids that it uses.
  void Collect(GenerationContent* content);

  // Decides what changes. Nothing does where there are more regions than memory should be spent on,
  // or where the trace uses ids so large that none are left for lanes: only a hostile one does.
  void Plan();

  bool planned() const { return planned_; }

  // Whether Apply() will change any generation. Requires planned().
  bool has_changes() const { return !plan_.nothing(); }

  // Changes the events of the generation. Returns what it did, or nullopt if nothing. Requires
  // planned().
  std::optional<RegionChanges> Apply(GenerationContent* content);

  // To be called where the generations that follow will not be written after those before, so that
  // they cannot use the goroutines that were added there.
  void BeginRun();

 private:
  struct Lane {
    bool exists = false;
    uint64_t stated_in = 0;  // The generation in which its status was given last, by its index.
  };

  class GenerationRewriter;

  // Appends the places of the events that matter for regions.
  static std::vector<size_t> FindRegionEvents(GenerationContent* content);
  uint32_t TypeOf(const WriterEvent& event, const GenerationContent& content);

  std::vector<RegionEvent> events_;
  std::vector<std::string> types_;  // The text of each RegionEvent::type.
  absl::flat_hash_map<std::string, uint32_t> type_by_text_;
  int64_t last_goroutine_ = 0;  // The largest ids of the trace.
  int64_t last_proc_ = 0;
  bool has_too_many_ = false;

  bool planned_ = false;
  RegionPlan plan_;
  size_t next_event_ = 0;  // The first of plan_.fates that is of a later generation,
  size_t next_write_ = 0;  // and of plan_.writes.
  std::vector<Lane> lanes_;
  uint64_t generation_ = 0;      // Counts those passed to Apply().
  uint64_t proc_stated_in_ = 0;  // As Lane::stated_in.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_REGION_REWRITER_H_
