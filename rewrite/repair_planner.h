// Decides what a repair keeps of a trace.
#ifndef GOTRACE_REWRITE_REPAIR_PLANNER_H_
#define GOTRACE_REWRITE_REPAIR_PLANNER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gotrace/repair.h"
#include "gotrace/version.h"
#include "rewrite/generation_clocks.h"
#include "rewrite/generation_writer.h"
#include "rewrite/region_rewriter.h"
#include "rewrite/trace_collector.h"

namespace gotrace::internal {

// Makes the plan of a generation that is not kept, since it does not follow those that are.
void LeaveApart(RepairedGeneration* generation);

// Plans one generation after the other: it keeps its batches, or is written again, or is dropped.
// Among the runs of generations that follow each other, that with the most events is kept.
class RepairPlanner {
 public:
  // Adds to `*plan`, whose version must be set. If `regions` is not nullptr, the planner collects
  // the regions or, once they are planned, changes them.
  RepairPlanner(RegionRewriter* regions, RepairPlan* plan)
      : plan_(*plan),
        regions_(regions),
        clocks_(plan->version),
        run_(plan->version),
        best_(plan->version) {}
  RepairPlanner(const RepairPlanner&) = delete;
  RepairPlanner& operator=(const RepairPlanner&) = delete;

  // Plans the next generation.
  void Add(CollectedGeneration generation);

  // Plans the output. Call it after the last generation.
  void Finish();

 private:
  // A generation of the output.
  struct OutputGeneration {
    size_t index = 0;  // The index in RepairPlan::generations.
    std::vector<RepairPiece> pieces;
  };

  // A run of generations that follow each other.
  struct Run {
    explicit Run(Version version) : writer(std::make_unique<GenerationWriter>(version)) {}

    std::unique_ptr<GenerationWriter> writer;
    std::vector<OutputGeneration> generations;
    uint64_t events = 0;
    uint64_t last_number = 0;      // The number of its last generation in the input.
    uint64_t last_new_number = 0;  // The number of its last generation in the output.
  };

  void Plan(CollectedGeneration generation, RepairedGeneration* found);
  bool ChangeRegions(bool lost, GenerationContent* content, RepairedGeneration* found);
  void EndRun();

  RepairPlan& plan_;
  RegionRewriter* const regions_;
  GenerationClocks clocks_;
  Run run_;                       // The current run.
  Run best_;                      // The earlier run with the most events.
  bool changed_regions_ = false;  // Whether the regions of any generation were changed.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_REPAIR_PLANNER_H_
