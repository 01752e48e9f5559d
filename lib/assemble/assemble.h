/*
 * The last step of a recording: turns its spool file into a symbolicated profile.
 *
 * Threads: any. The objects of lib/assemble belong to the thread that makes them; only the symbolizer starts other
 * threads, and waits for them.
 */
#pragma once

#include "assemble/hints.h"
#include "assemble/metadata.h"
#include "assemble/recording_window.h"
#include "assemble/stable_numbers.h"
#include "base/error.h"
#include "process/open_files.h"
#include "symbol/symbol.h"

#include <stdbool.h>
#include <stdint.h>

struct assemble_options {
    unsigned threads;                  /* for symbolization; 0: one per processor */
    const char *cache_folder;          /* see struct symbolizer_options */
    const struct open_files *files;    /* open-file table of the recording that just ended; or NULL */
    const char *rest;                  /* another spool file that goes on where the first ends; or NULL */
    const struct debug_search *search; /* where debug files are; NULL: the system's folders */
    struct stable_numbers *numbers;    /* of the profiles of this recording before, continued here; NULL: none */
    struct recording_window *window;   /* makes the next window of the recording; NULL: the whole */
    bool keeps_old;                    /* a file that has the output's name becomes "OUTPUT.old" */
    struct metadata_listener listener; /* is told what the profile says of the quality of its data */
};

/* A library most of whose addresses have no name, or those of many samples. */
struct assemble_missing_symbols {
    char library[64];
    enum missing_symbols_reason reason;
    bool is_packaged; /* debug servers may know it */
    bool is_partial;  /* most of its addresses have names */
    uint64_t samples; /* in functions without a name */
};

enum { ASSEMBLE_MISSING_SYMBOLS = 3 };

struct assemble_result {
    char events[400]; /* what was sampled beside CPU time: "page-faults 5012, sched:sched_switch 34 (2 samples lost)" */
    uint64_t waits;
    uint64_t samples, lost;
    bool has_all_cpu_time; /* CPU time without a sample is in the profile, as (not sampled) */
    struct trust_counts trust;
    uint64_t recorder_cpu, recorder_wall; /* ns: CPU time of the recorder, and how long it recorded; 0: unknown */
    uint64_t threads, processes;          /* those with samples */
    uint64_t addresses, unnamed;          /* distinct addresses in libraries; those without a symbol */
    uint64_t damaged, damaged_bytes;      /* parts of the spool that were skipped */
    uint64_t samples_without_thread;      /* left out, because their thread was described in one of these */
    uint64_t rest;                        /* bytes at the end of the spool that are no whole block */
    bool is_finished;                     /* the recorder noted how the recording ended */
    uint64_t length;                      /* ns from the start of the recording to its last record */
    uint64_t last_realtime;               /* ns since the Unix epoch: time of that record; 0 unknown */
    uint64_t bytes;                       /* size of the profile file */
    bool has_old;                         /* an earlier file of this name is "OUTPUT.old" now */
    int memory_fd;                        /* of a profile in memory, the caller's; -1: none */
    size_t missing_symbols_count;         /* libraries that lack names of most addresses or many samples */
    /* the ones that lack those of most samples */
    struct assemble_missing_symbols missing_symbols[ASSEMBLE_MISSING_SYMBOLS];
    size_t gone_count; /* libraries deleted, replaced or unmounted since they were mapped; they have names */
    char gone[64];     /* the first of them */
    struct hints hints;
};

/* Reads `spool_path`, symbolizes every address and writes the profile to `output_path`, as gzip if that ends in .gz.
 * Replaces the output atomically, by a temporary file in the same folder. `output_path` NULL: writes to memory, see
 * result->memory_fd. Leaves the spool as it is, which may still grow. */
int assemble_recording(const char *spool_path, const char *output_path, const struct assemble_options *options,
                       struct assemble_result *result, struct error *err);
