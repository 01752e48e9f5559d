/*
 * A process and its threads, as the tracker follows them, and their observers.
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "language/python_frames.h"
#include "process/jitdump_unwind.h"
#include "process/text_copies.h"
#include "process/thread_run.h"
#include "sample/perf_record.h"
#include "unwind/address_space.h"

struct process_counters;

/* The last time at which the tracker checked a known mapping. */
struct mapping_check {
    uint64_t start, time; /* start address of the mapping; time of the check in ns */
};

enum { MAPPING_CHECKS = 16 };

/* The used budget for the mappings of a process, which decreases with time (tracked_mappings.c). */
struct mapping_budget {
    uint64_t mappings;
    uint64_t search_ns; /* CPU time (ns) of searches for the files of mappings */
    uint64_t time;      /* ns */
};

struct tracked_process {
    uint32_t number; /* in the spool */
    uint32_t pid;
    uint32_t living;                /* tid of a live thread, to read the process's memory */
    struct tracked_thread *threads; /* list, also of the threads that have exited and soon end */
    uint32_t live_threads;          /* number of threads that have not exited */
    uint8_t excesses;               /* bits of enum excess */
    bool exceeds_mappings; /* the process has spent its budget: prof reads mappings of its stacks instead of records */
    struct mapping_budget budget;
    uint64_t losses;        /* value of tracked_mappings.losses when the mappings were last complete */
    bool ran_before;        /* the program is older than the recording: the spool lacks its start */
    bool maps_unread;       /* the process is older than the recording, and the tracker has not read its mappings yet */
    uint64_t program;       /* with maps_unread: attach_identify_program() when the process was added */
    int maps_fd;            /* /proc/PID/maps, for proc_maps_find(), or -1 if not open */
    uint64_t last_reading;  /* ns: last read of all mappings, or 0 (never) */
    uint64_t reading_pause; /* ns between two reads caused by a pc without a mapping */
    uint64_t reading_cost;  /* ns of CPU time of the last read */
    struct mapping_check checks[MAPPING_CHECKS]; /* indexed by a hash of the start */
    struct text_copies copies;
    uint64_t started;              /* ns: start of the process, or 0 (unknown, or older than the recording) */
    uint64_t exec_without_command; /* ns: time of the last exec, until the tracker has read its command line, or 0
                                    * for none */
    uint64_t runs_since;           /* ns: first run after the last reading of the process's counters, or 0 for none */
    uint32_t parent_pid;           /* 0: unknown */
    uint64_t clock_before;         /* ns: CPU clock of the process at the start of the recording */
    uint64_t clock_after;          /* ns: CPU clock of the process at the end of the recording, or 0 (ended before) */
    uint64_t ran;                  /* ns of CPU time in the spool, of all threads and programs of the process */
    uint64_t waits, preemptions;   /* context switches of its threads so far, if recorded */
    struct process_counters *counters; /* see counters.h; NULL before the first reading */
    struct address_space space;
    struct jitdump_unwind *dump;   /* unwind information from its jitdump file, or NULL for none */
    struct python_process *python; /* if NULL, the process does not run CPython, or Python frames are not requested */
    uint32_t python_lib;           /* number of the library that contains CPython */
};

/* Returns a live thread of the process, to read its memory. */
static inline struct target_thread tracked_process_get_live_thread(const struct tracked_process *process)
{
    return (struct target_thread){process->pid, process->living};
}

struct tracked_thread {
    uint32_t number; /* in the spool */
    struct thread_run run;
    uint32_t tid;
    uint32_t process;                       /* index of its process in the tracker */
    struct tracked_thread *next, *previous; /* of the same process */
    bool has_exited;                        /* EXIT record seen: the thread ends soon */
    char name[16];
};

/* Callbacks of the observers of processes and mappings. The int functions fail only if the spool cannot be written or
 * memory runs out. Any function may be NULL. */
struct tracker_observer {
    void *context;
    /* A process maps a file that contains marks of the program; is_report() recognizes such a file by its path. */
    bool (*is_report)(const char *path);
    int (*maps_report)(void *context, uint32_t pid, const struct perf_mapping *mapping, struct error *err);
    /* A process has spent its budget of mappings. */
    void (*maps_too_often)(void *context, struct tracked_process *process);
    /* A process calls exec: `process` replaces `before`. */
    void (*execs)(struct tracked_process *before, struct tracked_process *process, uint64_t time);
    /* A process runs. `by_sample`: known from a sample, not a switch. */
    void (*runs)(void *context, struct tracked_process *process, uint64_t time, bool by_sample);
    /* The last thread of a process ends, while /proc still has the process. */
    int (*ends)(void *context, struct tracked_process *process, struct error *err);
    /* Frees process->counters, if any. */
    void (*forgets)(void *context, struct tracked_process *process);
};

/* A walked stack, to check its mappings: user addresses, leaf first, and unwind_result.unmapped. */
struct tracked_stack {
    const uint64_t *pcs;
    size_t count;
    uint64_t unmapped;
};
