// Everything for writing traces, profiles and summaries in other formats.
#ifndef GOTRACE_EXPORT_H_
#define GOTRACE_EXPORT_H_

#include "gotrace/byte_sink.h"
#include "gotrace/chrome_exporter.h"
#include "gotrace/event_filter.h"
#include "gotrace/event_sink.h"
#include "gotrace/fxt_exporter.h"
#include "gotrace/json_exporter.h"
#include "gotrace/perfetto_exporter.h"
#include "gotrace/profile_writer.h"
#include "gotrace/summary_writer.h"
#include "gotrace/text_exporter.h"
#include "gotrace/trace2_exporter.h"

#endif  // GOTRACE_EXPORT_H_
