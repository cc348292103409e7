// Everything for reading a trace: all of it, a window, from any generation, on several cores.
#ifndef GOTRACE_READ_H_
#define GOTRACE_READ_H_

#include "gotrace/byte_source.h"
#include "gotrace/byte_stream.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/event_sink.h"
#include "gotrace/event_times.h"
#include "gotrace/fault.h"
#include "gotrace/goroutine_names.h"
#include "gotrace/read_parallel.h"
#include "gotrace/reader.h"
#include "gotrace/reader_limits.h"
#include "gotrace/reader_options.h"
#include "gotrace/stack_copy.h"
#include "gotrace/trace_index.h"
#include "gotrace/trace_list.h"
#include "gotrace/transport.h"
#include "gotrace/window_reader.h"

#endif  // GOTRACE_READ_H_
