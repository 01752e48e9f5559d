/*
 * The processes and threads of a recording, as fork, exec, mapping, rename and exit records tell of them, and the spool
 * events that say the same to the assembler.
 *
 * Numbers are given once and never again, although the system reuses pids and tids. An exec makes a new process with a
 * new number under the old pid, and a new thread in it. What has ended is forgotten, so that memory stays flat however
 * many short-lived processes come and go.
 */
#ifndef PROF_RECORD_TRACKER_H
#define PROF_RECORD_TRACKER_H

#include "base/error.h"
#include "record/jit_files.h"
#include "record/jitdump_unwind.h"
#include "record/library_table.h"
#include "record/spool.h"
#include "record/thread_clock.h"
#include "sample/perf_record.h"
#include "unwind/address_space.h"

#include <stdbool.h>
#include <stdint.h>

struct tracked_process {
    uint32_t number; /* in the spool */
    uint32_t pid;
    struct tracked_thread *threads; /* those that live */
    uint64_t losses;                /* of the tracker, when its mappings were last known to be right */
    struct address_space space;
    struct jitdump_unwind *dump; /* what its jitdump file says of stacks; NULL: it has none */
};

struct tracked_thread {
    uint32_t number; /* in the spool */
    uint32_t tid;
    uint32_t process;                       /* index of its process in the tracker */
    struct tracked_thread *next, *previous; /* of the same process */
    char name[16];
    struct thread_clock clock;
};

struct tracker;

/* The spool and the libraries are the caller's and outlive the tracker. */
struct tracker *tracker_new(struct spool_writer *spool, struct library_table *libraries, struct error *err);
void tracker_free(struct tracker *tracker);

/* From now on notes there what it sees of compiled code. The caller's, and outlives the tracker. */
void tracker_note_jit_files(struct tracker *tracker, struct jit_files *files);

/* Takes in a record that is not a sample; types that do not concern it are ignored. Negative only when the spool cannot
 * be written or memory runs out. */
int tracker_record(struct tracker *tracker, const struct perf_record *record, struct error *err);

/* The thread of a sample and its process. One that no record told of (the record was lost) is made, with the mappings
 * that it has now if it lives. Both are valid until the next call on the tracker. */
int tracker_find(struct tracker *tracker, uint32_t pid, uint32_t tid, uint64_t time, struct tracked_thread **thread,
                 struct tracked_process **process, struct error *err);

/* Reads the mappings of a process again if records were lost since they were known. Sets *changed if it did: what was
 * not found may be found now. Negative as for tracker_record(). */
int tracker_refresh(struct tracker *tracker, struct tracked_process *process, uint64_t time, bool *changed,
                    struct error *err);

/* How many of the processes still live. */
size_t tracker_count_survivors(const struct tracker *tracker);

#endif
