/*
 * A process and its threads, as the tracker follows them, and their observers.
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "base/error.h"
#include "language/python_frames.h"
#include "process/jitdump_unwind.h"
#include "process/text_copies.h"
#include "process/thread_run.h"
#include "sample/perf_record.h"
#include "unwind/address_space.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_counters;

/* Time at which a known mapping was confirmed. */
struct mapping_check {
    uint64_t start, time; /* start: of the mapping; time: ns */
};

enum { MAPPING_CHECKS = 16 };

/* What the mappings of a process have cost the recorder, less what time allows again (tracked_mappings.c). */
struct mapping_budget {
    uint64_t mappings;
    uint64_t search_ns; /* CPU time of searches for their files */
    uint64_t time;      /* ns */
};

struct tracked_process {
    uint32_t number; /* in the spool */
    uint32_t pid;
    uint32_t living;                /* tid of a live thread, for reads of the process's memory */
    struct tracked_thread *threads; /* list of live threads */
    uint8_t excesses;               /* bits of enum excess */
    bool exceeds_mappings;          /* has spent its budget: its stacks ask for mappings, its records add none */
    struct mapping_budget budget;
    uint64_t losses;        /* tracked_mappings.losses when its mappings were last complete */
    bool ran_before;        /* its program is older than the recording: the spool lacks its start */
    bool maps_unread;       /* ran_before, and its mappings will be read when needed */
    uint64_t program;       /* maps_unread: attach_program() at that time */
    int maps_fd;            /* /proc/PID/maps, for proc_maps_find(); -1: not open */
    uint64_t last_reading;  /* ns: last read of all mappings; 0: never */
    uint64_t reading_pause; /* ns between two reads caused by a pc without a mapping */
    uint64_t reading_cost;  /* ns of CPU time of the last read */
    struct mapping_check checks[MAPPING_CHECKS]; /* indexed by a hash of the start */
    struct text_copies copies;
    uint64_t started;                  /* ns: its start in this recording; 0: older, or unknown */
    uint64_t exec_without_command;     /* ns: its exec, until its command line is read; 0: none */
    uint64_t runs_since;               /* ns: first run since its counters were read; 0: none */
    uint32_t parent_pid;               /* 0: unknown */
    uint64_t clock_before;             /* ns of its CPU clock before the recording */
    uint64_t clock_after;              /* ns of its CPU clock at the end of the recording; 0: it had ended */
    uint64_t ran;                      /* ns of CPU time in the spool: of its threads, and before an exec */
    uint64_t waits, preemptions;       /* context switches of its threads so far, if recorded */
    struct process_counters *counters; /* counters.h; NULL: not read yet */
    struct address_space space;
    struct jitdump_unwind *dump;   /* unwind information of its jitdump file; NULL: none */
    struct python_process *python; /* NULL: it does not run CPython, or Python frames are not requested */
    uint32_t python_lib;           /* number of the library that contains CPython */
};

/* A thread of the process that has not ended, to read its memory. */
static inline struct target_thread tracked_process_thread(const struct tracked_process *process)
{
    return (struct target_thread){process->pid, process->living};
}

struct tracked_thread {
    uint32_t number; /* in the spool */
    struct thread_run run;
    uint32_t tid;
    uint32_t process;                       /* index of its process in the tracker */
    struct tracked_thread *next, *previous; /* of the same process */
    char name[16];
};

/* Callbacks for others that follow processes and mappings. The int functions fail only if the spool cannot be written
 * or memory runs out. Any function may be NULL. */
struct tracker_observer {
    void *context;
    /* A process maps a file with reports of the program, such as marks. is_report() recognizes its path. */
    bool (*is_report)(const char *path);
    int (*maps_report)(void *context, uint32_t pid, const struct perf_mapping *mapping, struct error *err);
    /* A process has spent its budget of mappings. */
    void (*maps_too_often)(void *context, struct tracked_process *process);
    /* `process` replaces `before`. */
    void (*execs)(struct tracked_process *before, struct tracked_process *process, uint64_t time);
    /* A process runs. `by_sample`: a sample shows it. */
    void (*runs)(void *context, struct tracked_process *process, uint64_t time, bool by_sample);
    /* The last thread of a process ends. /proc still has the process. */
    int (*ends)(void *context, struct tracked_process *process, struct error *err);
    /* Frees process->counters, if any. */
    void (*forgets)(void *context, struct tracked_process *process);
};

/* A walked stack: its user addresses, leaf first, and unwind_result.unmapped. */
struct tracked_stack {
    const uint64_t *pcs;
    size_t count;
    uint64_t unmapped;
};
