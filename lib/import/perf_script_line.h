/*
 * The lines that `perf script` prints. The option -F selects the fields, so each field may be missing:
 *
 *     comm pid/tid [cpu] misc seconds: period event: rest                   of a sample
 *     comm tid [cpu] seconds: PERF_RECORD_...                               of another record (--show-mmap-events ...)
 *         address symbol+offset (library)                                   of a frame, the innermost first
 *
 * (perf-script(1); tools/perf/builtin-script.c)
 */
#pragma once

#include "import/profile_builder.h"

struct perf_script_header {
    struct builder_text comm, event, rest; /* event: empty if missing; rest: text after the event */
    uint64_t pid, tid;                     /* 0 if missing, or UINT32_MAX for an exiting task ("-1") */
    double time;                           /* ms, or NAN if missing */
    double period;                         /* period of the event, or NAN if missing */
};

struct perf_script_frame {
    struct builder_text symbol, library; /* empty if missing */
    uint64_t address;
};

enum perf_script_line {
    PERF_SCRIPT_OTHER,
    PERF_SCRIPT_EMPTY, /* an empty line or a comment */
    PERF_SCRIPT_SAMPLE,
    PERF_SCRIPT_RECORD, /* no sample */
    PERF_SCRIPT_FRAME,
};

/* Returns the kind of a line without newline. For a sample line, fills `out`. */
enum perf_script_line perf_script_parse_line(struct builder_text line, struct perf_script_header *out);

/* Parses a line that is a sample only if a frame follows: "comm 12", "comm cpu-clock:", "cpu-clock:". */
bool perf_script_parse_bare_header(struct builder_text line, struct perf_script_header *out);

/* False if the text is no frame: a source line, registers, branches. */
bool perf_script_parse_frame(struct builder_text text, struct perf_script_frame *out);
