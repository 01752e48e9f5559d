/*
 * The options of an assembly, and its result. See assemble.h.
 */
#pragma once

#include "assemble/hints.h"
#include "assemble/profile_metadata.h"
#include "assemble/recording_window.h"
#include "assemble/stable_numbers.h"
#include "assemble/trust.h"
#include "process/open_files.h"
#include "symbol/symbol.h"

struct assemble_options {
    unsigned threads;                  /* number of threads for symbolization, or 0 (one per CPU) */
    const char *cache_directory;       /* see struct symbolizer_options */
    const struct open_files *files;    /* open-file table of the finished recording; or NULL */
    const char *rest;                  /* second spool file, which continues the first; or NULL */
    const struct debug_search *search; /* directories of debug files, or NULL (the system's directories) */
    struct stable_numbers
        *numbers; /* numbers of functions and threads from this recording's earlier profiles, or NULL for none */
    struct recording_window *window;   /* assembles only the next window of the recording, or NULL (all of it) */
    bool keeps_old;                    /* renames an existing output file to "OUTPUT.old" */
    struct metadata_listener listener; /* receives the metadata about data quality */
};

/* A library without symbols for most of its addresses, or for many samples. */
struct assemble_missing_symbols {
    char library[64];
    enum missing_symbols_reason reason;
    bool is_packaged; /* debug servers may have the symbols of the file */
    bool is_partial;  /* most addresses of the library have names */
    uint64_t samples; /* samples in functions without a name */
};

enum { ASSEMBLE_MISSING_SYMBOLS = 3 };

struct assemble_result {
    char events[400]; /* other sampled events: "page-faults 5012, sched:sched_switch 34 (2 samples lost)" */
    uint64_t waits;
    uint64_t samples, lost;
    bool has_all_cpu_time; /* the profile shows CPU time without a sample as (not sampled) */
    struct trust_counts trust;
    uint64_t recorder_cpu, recorder_wall; /* ns: CPU time of the recorder; duration of the recording, or 0 if unknown */
    uint64_t threads, processes;          /* threads and processes with samples */
    uint64_t addresses, unnamed;          /* distinct addresses in libraries; addresses without a symbol */
    uint64_t damaged, damaged_bytes;      /* skipped parts of the spool */
    uint64_t samples_without_thread;      /* dropped samples, whose thread a damaged part described */
    uint64_t rest;                        /* bytes of an incomplete block at the end of the spool */
    bool is_finished;                     /* the recorder finished, and stored the end of the recording */
    uint64_t length;                      /* ns from the start of the recording to its last record */
    uint64_t last_realtime;               /* ns since the Unix epoch: time of the last record; 0 if unknown */
    uint64_t bytes;                       /* size of the profile file */
    bool has_old;                         /* an earlier output file was renamed to "OUTPUT.old" */
    int memory_fd;                        /* descriptor of a profile in memory, owned by the caller, or -1 for none */
    size_t missing_symbols_count;         /* libraries without symbols for most addresses or many samples */
    /* the libraries with the most samples in functions without symbols */
    struct assemble_missing_symbols missing_symbols[ASSEMBLE_MISSING_SYMBOLS];
    size_t gone_count; /* symbolized libraries that were deleted, replaced or unmounted since the recording */
    char gone[64];     /* the first of these libraries */
    struct hints hints;
};
