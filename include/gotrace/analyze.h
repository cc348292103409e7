// Everything for analysing a trace: Analyze(), all analyses, and the base classes of your own.
#ifndef GOTRACE_ANALYZE_H_
#define GOTRACE_ANALYZE_H_

#include "gotrace/analysis.h"
#include "gotrace/critical_path.h"
#include "gotrace/gc_stats.h"
#include "gotrace/go_stats.h"
#include "gotrace/goroutine_snapshot.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/heap_stats.h"
#include "gotrace/histogram.h"
#include "gotrace/interner.h"
#include "gotrace/latency_stats.h"
#include "gotrace/leak_stats.h"
#include "gotrace/mutator_utilization.h"
#include "gotrace/proc_stats.h"
#include "gotrace/profile.h"
#include "gotrace/run_analysis.h"
#include "gotrace/state_tracker.h"
#include "gotrace/task_stats.h"
#include "gotrace/task_story.h"
#include "gotrace/trace_info.h"
#include "gotrace/trace_metrics.h"
#include "gotrace/trace_summary.h"
#include "gotrace/wait_stats.h"
#include "gotrace/window_reader.h"

#endif  // GOTRACE_ANALYZE_H_
