/*
 * Precedes records.h, which has a struct for each kind: one struct for all events, for readers that still use it.
 */
#pragma once

#include "spool/records.h"

struct spool_lib {
    uint32_t kind;
    const char *path;              /* "/usr/bin/gdb", "[kernel.kallsyms]", "[vdso]", "[nf_tables]" */
    const unsigned char *build_id; /* GNU build id; size 0 if there is none */
    size_t build_id_size;
    uint64_t device, inode, size, mtime_ns; /* of the file as it was mapped; 0 unknown */
    const unsigned char *image;             /* SPOOL_LIB_VDSO: its ELF image */
    size_t image_size;
};

/* One event. Fields that its kind does not name are 0 or NULL. Texts are valid until the next read. */
struct spool_event {
    enum spool_record_kind kind;
    uint32_t number;
    uint32_t process; /* SPOOL_THREAD */
    uint32_t parent;  /* SPOOL_PROCESS: number of the parent process, or of the one it replaces; SPOOL_NO_NUMBER */
    bool exec;        /* SPOOL_PROCESS: the same pid goes on as a new program; its mappings start empty, whereas
                         after a fork they start as a copy of the parent's at that time */
    uint32_t pid, tid, cpu;
    uint32_t lib_number; /* SPOOL_MAP */
    uint32_t mark;       /* SPOOL_PROGRAM_MARK: enum spool_mark */
    uint64_t time;       /* ns, CLOCK_MONOTONIC */
    uint64_t start, end, rva;
    uint64_t count;
    const char *name, *value;
    struct spool_lib lib;
};

enum { SAMPLE_WAIT_GOES_ON = 8, SAMPLE_COUNTERS = 16, SAMPLE_COUNTERS_BASE = 32 }; /* besides enum sample_flags */

/* One record of a chunk of any kind. */
struct sample {
    uint32_t thread; /* the recorder's number for the thread (spool.h) */
    uint32_t cpu;
    uint64_t time;     /* ns, CLOCK_MONOTONIC */
    uint64_t cpu_time; /* ns of CPU since this thread's previous sample; of a wait: up to its beginning */
    uint64_t wait;     /* ns that the thread waited up to `time`; 0: it ran */
    uint32_t reason;   /* of a wait: enum wait_reason */
    uint32_t object;   /* of a wait: the number of what it waited for (SPOOL_OBJECT); 0 unknown */
    uint32_t waker;    /* of a wait: the number of what ended it (SPOOL_OBJECT); 0 unknown */
    uint32_t flags;    /* enum sample_flags */
    uint32_t event;    /* number of the event that was sampled (event_list.h), from 1 on; 0: the clock of CPU time */
    uint64_t period;   /* of an event: how many of them the sample stands for; its cpu_time is 0 */
    uint32_t frame_count;
    uint32_t kernel_frame_count; /* how many frames, the first of `frames`, are kernel addresses */
    const uint64_t *frames; /* leaf first; pcs as unwind_walk() gives them. From the reader: valid until the next */
};
