/*
 * Follows the processes and threads of a recording by their fork, exec, mapping, rename and exit records, and writes
 * the events for the assembler to the spool.
 *
 * The tracker numbers processes and threads, and never uses a number again, although the system reuses pids and tids.
 * An exec makes a new process with a new number under the old pid, and a new thread in it. The tracker forgets what has
 * ended, so that memory stays flat however many short-lived processes come and go.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "process/jit_files.h"
#include "process/jitdump_unwind.h"
#include "process/library_table.h"
#include "language/python_frames.h"
#include "spool/spool.h"
#include "process/text_copies.h"
#include "process/thread_run.h"
#include "sample/perf_record.h"
#include "unwind/address_space.h"

#include <stdbool.h>
#include <stdint.h>

/* When a mapping was found to be as it was known. */
struct mapping_check {
    uint64_t start, time; /* of the mapping; ns */
};

enum { MAPPING_CHECKS = 16 };

struct tracked_process {
    uint32_t number; /* in the spool */
    uint32_t pid;
    uint32_t living;                /* tid of a thread that has not ended, for reads of the memory of the process */
    struct tracked_thread *threads; /* those that live */
    uint8_t excesses;               /* bits of enum excess */
    uint64_t losses;                /* of the tracker, when its mappings were last known to be right */
    bool ran_before;                /* its program started before any record of it: the spool lacks its start */
    bool maps_unread;               /* it ran before, and its mappings are read when they are needed */
    uint64_t program;               /* of maps_unread: the program that it ran then */
    int maps_fd;                    /* /proc/PID/maps, for proc_maps_find(); -1: not open */
    uint64_t last_reading;          /* ns: of all mappings; 0 never */
    uint64_t reading_pause;         /* ns between two readings that a pc without a mapping asks for */
    uint64_t reading_cost;          /* ns of CPU time that the last reading took */
    struct mapping_check checks[MAPPING_CHECKS]; /* by a hash of the start */
    struct text_copies copies;
    uint64_t started;                  /* ns: when it did, in this recording; 0: it ran before, or that is not known */
    uint64_t exec_without_command;     /* ns: when it called exec, if its command line was not there yet; 0 */
    uint64_t runs_since;               /* ns: it has run, and its counters were not read since then; 0: they were */
    uint32_t parent_pid;               /* 0: unknown */
    uint64_t clock_before;             /* ns of its CPU clock that are not of the recording */
    uint64_t clock_after;              /* ns of it at the end of the recording; 0: it was gone by then */
    uint64_t ran;                      /* ns of CPU time in the spool: of its threads, and before an exec */
    uint64_t waits, preemptions;       /* switches off a CPU of its threads so far, where they are recorded */
    struct process_counters *counters; /* counters.h; NULL: not read so far */
    struct address_space space;
    struct jitdump_unwind *dump;   /* the unwinding information of its jitdump file; NULL: none */
    struct python_process *python; /* NULL: it does not run CPython, or its frames are not wanted */
    uint32_t python_lib;           /* the number of the file that holds CPython */
};

struct tracked_thread {
    uint32_t number; /* in the spool */
    struct thread_run run;
    uint32_t tid;
    uint32_t process;                       /* index of its process in the tracker */
    struct tracked_thread *next, *previous; /* of the same process */
    char name[16];
};

struct tracker;
struct process_counters;

/* What else follows processes and their mappings. The int functions fail only if the spool cannot be written or memory
 * runs out. Any function may be NULL. */
struct tracker_observer {
    void *context;
    /* A process maps a file that may hold reports of the program, such as marks. is_report() recognizes its path. */
    bool (*is_report)(const char *path);
    int (*maps_report)(void *context, uint32_t pid, const struct perf_mapping *mapping, struct error *err);
    /* `process` takes the place of `before`. */
    void (*execs)(struct tracked_process *before, struct tracked_process *process, uint64_t time);
    /* The last thread of a process ends. /proc still has the process. */
    int (*ends)(void *context, struct tracked_process *process, struct error *err);
    /* Frees process->counters, if there are any. */
    void (*forgets)(void *context, struct tracked_process *process);
};

/* The spool and the libraries belong to the caller and must outlive the tracker. */
struct tracker *tracker_new(struct spool_writer *spool, struct library_table *libraries);
void tracker_free(struct tracker *tracker);

/* From now on notes JIT code in `files`, which must outlive the tracker. */
void tracker_note_jit_files(struct tracker *tracker, struct jit_files *files);

/* The context must outlive the tracker. */
void tracker_observe(struct tracker *tracker, const struct tracker_observer *observer);

/* From now on threads go on for a moment after the records of their ends. The kernel writes these before a thread is
 * through; events of a CPU, unlike those of a thread, sample the rest. */
void tracker_expect_samples_after_ends(struct tracker *tracker);

/* From now on there are no records of mappings: they are read at exec, and by tracker_check_stack(). */
void tracker_read_mappings(struct tracker *tracker);

/* The records are old: the processes have ended, and their pids may be of others now. From now on the tracker reads
 * nothing of living processes; a thread without records has no name. */
void tracker_expect_no_living(struct tracker *tracker);

/* From now on notes which processes run CPython. */
void tracker_expect_python(struct tracker *tracker);

/* Whether thread_run of each thread is kept up from now on, and is to be told (waits.h). */
void tracker_expect_switches(struct tracker *tracker, bool expect);

/* Takes in a record that is not a sample, and ignores other types of records. Fails only if the spool cannot be written
 * or memory runs out. */
int tracker_record(struct tracker *tracker, const struct perf_record *record, struct error *err);

/* Adds a process that runs already, with the mappings that it has now, and a thread of one. Records tell of all others.
 */
int tracker_add_running_process(struct tracker *tracker, uint32_t pid, const char *name, uint64_t time,
                                struct error *err);

/* The same for processes that may never run: reads their mappings when a sample or a child of the process comes. */
int tracker_note_running_process(struct tracker *tracker, uint32_t pid, const char *name, uint64_t time,
                                 struct error *err);
int tracker_add_running_thread(struct tracker *tracker, uint32_t pid, uint32_t tid, const char *name, uint64_t time,
                               struct error *err);

/* Whether the thread was added or records have told of it. */
bool tracker_knows(const struct tracker *tracker, uint32_t tid);

/* Finds the thread of a sample and its process. If their records were lost, adds them, with the names and mappings that
 * they have now if they live. Both are valid until the next call on the tracker. */
int tracker_find(struct tracker *tracker, uint32_t pid, uint32_t tid, uint64_t time, struct tracked_thread **thread,
                 struct tracked_process **process, struct error *err);

enum { MAPPINGS_OF_STACK_MAX = 8 }; /* mappings that are new to the recorder in one stack: the most walks of it */

/* A stack that was walked: its user addresses, leaf first, and unwind_result.unmapped. */
struct tracked_stack {
    const uint64_t *pcs;
    size_t count;
    uint64_t unmapped;
};

/*
 * Compares the known mappings at the addresses of a stack with those that the process has now. Sets *changed if it
 * learned of another mapping: the stack is to be walked again. `time` is that of the sample, from which on the mapping
 * counts.
 *
 * With records of mappings it asks about addresses in no known mapping, because some mappings have no record: code that
 * mremap() moved, libraries that a child with the same memory loaded (CLONE_VM), and lost records. Without such records
 * it asks about all addresses, that of the leaf at each sample and those of callers every 10 ms, because a library may
 * have taken the place of another one. Memory without a file that holds a copy of the code of a file counts as that
 * file.
 *
 * The kernel finds the mapping of an address in about 1 us (Linux 6.11). On older kernels all mappings are read, which
 * takes at most 5 % of the time. Fails as tracker_record() does.
 */
int tracker_check_stack(struct tracker *tracker, struct tracked_process *process, const struct tracked_stack *stack,
                        uint64_t time, bool *changed, struct error *err);

/* The living process of this pid; NULL if it is not known. */
struct tracked_process *tracker_process(const struct tracker *tracker, uint32_t pid);

/* The living thread of this tid and its process; NULL if it is not known. */
struct tracked_thread *tracker_thread(struct tracker *tracker, uint32_t tid, struct tracked_process **process);

/* The living thread at index `i` and its process; NULL if the index is free. Indexes are below
 * tracker_thread_count(). */
struct tracked_thread *tracker_thread_at(struct tracker *tracker, size_t i, struct tracked_process **process);
size_t tracker_thread_count(const struct tracker *tracker);

/* Compare the CPU clocks of processes with the CPU time in the spool. tracker_note_command() takes the clock of the
 * command before it calls exec. tracker_read_clocks() reads the clocks of all living processes when the recording
 * stops. tracker_tell_unseen() then writes the CPU time of each that no switch has shown. */
void tracker_note_command(struct tracker *tracker, uint32_t pid, uint64_t clock);
void tracker_read_clocks(struct tracker *tracker);
int tracker_tell_unseen(struct tracker *tracker, uint64_t time, struct error *err);

/* Counts CPU time (ns) of a thread that was written to the spool. */
void tracker_note_ran(struct tracker *tracker, const struct tracked_thread *thread, uint64_t ran);

/* The sums of these. */
struct tracker_cpu_times {
    uint64_t ran;        /* ns in the spool */
    uint64_t ran_living; /* ns of these, of processes whose clock could be read at the end */
    int64_t unseen;      /* ns that these clocks have more (or less) */
    uint64_t ended;      /* threads that ended, or called exec */
    bool has_orphans;    /* a process ended after its parent, which has not waited for it */
};
struct tracker_cpu_times tracker_cpu_times(const struct tracker *tracker);

/* Writes how long a thread ran since its last sample or wait in the spool: its recording ends. */
int tracker_tell_unsampled(struct tracker *tracker, struct tracked_thread *thread, uint64_t time, struct error *err);

/* Ends the threads whose ends were recorded a moment ago: no more samples come. */
int tracker_finish(struct tracker *tracker, struct error *err);

/* Returns how many processes have not ended, as far as records tell. */
size_t tracker_count_processes(const struct tracker *tracker);

/* Returns how many of the processes still live, and lists a few in `text`: "nginx (1234), nginx (1235) and 3 more". */
size_t tracker_list_survivors(const struct tracker *tracker, char *text, size_t size);
