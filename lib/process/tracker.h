/*
 * Follows the processes and threads of a recording by their fork, exec, mapping, rename and exit records, and writes
 * the events for the assembler to the spool.
 *
 * The tracker numbers processes and threads, and never reuses a number, although the system reuses pids and tids. An
 * exec creates a new process with a new number and the old pid, and a new thread in this process. The tracker frees
 * ended processes and threads, so that its memory does not grow with short-lived processes.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "process/jit_files.h"
#include "process/library_table.h"
#include "process/thread_filter.h"
#include "process/tracked_process.h"
#include "spool/spool.h"
#include "sample/perf_record.h"

struct tracker;

/* The spool and the libraries belong to the caller and must outlive the tracker. */
struct tracker *tracker_new(struct spool_writer *spool, struct library_table *libraries);
void tracker_free(struct tracker *tracker);

/* Makes tracker_write_unsampled() skip threads that `filter` excludes. The filter must outlive the tracker. */
void tracker_select_threads(struct tracker *tracker, const struct thread_filter *filter);

/* Makes the tracker note JIT code in `files`, which must outlive the tracker. */
void tracker_set_jit_files(struct tracker *tracker, struct jit_files *files);

/* The context must outlive the tracker. */
void tracker_set_observer(struct tracker *tracker, const struct tracker_observer *observer);

/* Makes threads outlive their EXIT records for a moment. The kernel writes an EXIT record before the thread has
 * finished. CPU-wide events, unlike per-thread events, still sample the thread after the record. */
void tracker_expect_samples_after_ends(struct tracker *tracker);

/* Declares that the source has no mapping records: the tracker reads mappings at exec, and in tracker_check_stack(). */
void tracker_read_mappings(struct tracker *tracker);

/* Declares that the records are old: the processes have ended, and other processes may have their pids. The tracker
 * then reads nothing from live processes; a thread without records has no name. */
void tracker_expect_old_records(struct tracker *tracker);

/* Makes the tracker find the processes that run CPython. */
void tracker_expect_python(struct tracker *tracker);

/* Sets whether the caller maintains thread_run of each thread (waits.h). */
void tracker_expect_switches(struct tracker *tracker, bool expect);

/* Handles a record that is not a sample; ignores irrelevant types. Fails only if the spool cannot be written or memory
 * runs out. */
int tracker_handle_record(struct tracker *tracker, const struct perf_record *record, struct error *err);

/* Adds a running process with its current mappings. Records report all later mappings. */
int tracker_add_running_process(struct tracker *tracker, uint32_t pid, const char *name, uint64_t time,
                                struct error *err);

/* Adds a running process, but reads its mappings only at the first sample or child of the process. */
int tracker_add_running_process_lazily(struct tracker *tracker, uint32_t pid, const char *name, uint64_t time,
                                       struct error *err);
int tracker_add_running_thread(struct tracker *tracker, uint32_t pid, uint32_t tid, const char *name, uint64_t time,
                               struct error *err);

/* Whether the tracker knows the thread. */
bool tracker_has_thread(const struct tracker *tracker, uint32_t tid);

/* Finds the thread of a sample and its process. If their records were lost, adds the thread and the process, with their
 * current names and mappings if they are alive. Thread and process are valid until the next call on the tracker. */
int tracker_find_thread_and_process(struct tracker *tracker, uint32_t pid, uint32_t tid, uint64_t time,
                                    struct tracked_thread **thread, struct tracked_process **process,
                                    struct error *err);

enum { MAPPINGS_OF_STACK_MAX = 8 }; /* limit of new mappings per stack, and of walks of a stack */

/*
 * Compares the known mappings at the addresses of a stack with the current ones of the process. Sets *changed if it
 * finds a new mapping. The caller then walks the stack again. `time` (ns) is the time of the sample, and the start of
 * the new mapping.
 *
 * With mapping records, the tracker checks only addresses outside known mappings: some mappings have no record, such as
 * code moved by mremap(), libraries loaded by a child with the same memory (CLONE_VM), and lost records. Without
 * mapping records, the tracker checks all addresses, the leaf at each sample and callers every 10 ms, because a library
 * may have replaced another. Anonymous memory with a copy of a file's code counts as that file.
 *
 * The kernel looks up a mapping in about 1 us (Linux 6.11). On older kernels the tracker reads all mappings, for at
 * most 5% of the time. Fails only if the spool cannot be written or memory runs out.
 */
int tracker_check_stack(struct tracker *tracker, struct tracked_process *process, const struct tracked_stack *stack,
                        uint64_t time, bool *changed, struct error *err);

/* Returns the live process of this pid, or NULL if unknown. */
struct tracked_process *tracker_find_process(const struct tracker *tracker, uint32_t pid);

/* Returns the live thread of this tid and its process, or NULL if unknown. */
struct tracked_thread *tracker_find_thread(struct tracker *tracker, uint32_t tid, struct tracked_process **process);

/* Returns the live thread at index `i` and its process, or NULL if the index is free. Indexes are below
 * tracker_count_threads(). */
struct tracked_thread *tracker_get_thread_at(struct tracker *tracker, size_t i, struct tracked_process **process);
size_t tracker_count_threads(const struct tracker *tracker);

/* These functions compare the CPU clocks of processes with the CPU time in the spool. tracker_store_command_clock()
 * stores the command's clock before its exec. tracker_read_clocks() reads the clocks of all live processes when the
 * recording stops. tracker_write_unseen() then writes each process's CPU time that is not in the spool. */
void tracker_store_command_clock(struct tracker *tracker, uint32_t pid, uint64_t clock);
void tracker_read_clocks(struct tracker *tracker);
int tracker_write_unseen(struct tracker *tracker, uint64_t time, struct error *err);

/* Reports to observers that a process runs at `time` (ns). `by_sample`: known from a sample, not a switch. */
void tracker_report_run(struct tracker *tracker, struct tracked_process *process, uint64_t time, bool by_sample);

/* Counts CPU time (ns) of a thread written to the spool. */
void tracker_add_cpu_time(struct tracker *tracker, struct tracked_thread *thread, uint64_t ran);

/* Totals over all processes. */
struct tracker_cpu_times {
    uint64_t ran;             /* ns in the spool */
    uint64_t ran_of_readable; /* ns of `ran` of the processes whose clock was readable at the end */
    int64_t unseen;           /* ns by which the clocks of these processes exceed ran_of_readable; may be negative */
    uint64_t ended;           /* threads that ended or called exec */
    bool has_orphans;         /* some process outlived its parent, which has not waited for it */
};
struct tracker_cpu_times tracker_get_cpu_times(const struct tracker *tracker);

/* Writes the CPU time of a thread since its last sample or wait in the spool, at the end of its recording. */
int tracker_write_unsampled(struct tracker *tracker, struct tracked_thread *thread, uint64_t time, struct error *err);

/* Ends the threads that outlive their EXIT records. Call this function after the last sample. */
int tracker_finish(struct tracker *tracker, struct error *err);

/* Returns the number of processes without an EXIT record. */
size_t tracker_count_processes(const struct tracker *tracker);

/* Returns the number of processes that are still alive, and lists a few in `text`: "nginx (1234), nginx (1235) and 3
 * more". */
size_t tracker_list_survivors(const struct tracker *tracker, char *text, size_t size);
