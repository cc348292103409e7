// Everything for writing Go execution traces.
#ifndef GOTRACE_WRITE_H_
#define GOTRACE_WRITE_H_

#include "gotrace/anonymise.h"
#include "gotrace/byte_sink.h"
#include "gotrace/event_builder.h"
#include "gotrace/event_sink.h"
#include "gotrace/select.h"
#include "gotrace/split.h"
#include "gotrace/trace_writer.h"
#include "gotrace/trim.h"
#include "gotrace/version.h"

#endif  // GOTRACE_WRITE_H_
