/*
 * Writes the signals of recorded processes to the spool: number, receiving thread and sender. In the ptrace tier, every
 * signal except SIGKILL passes through the sampler; with perf events, the kernel's tracepoints report signals
 * (sample/signals.h). The exit status also shows how a process was killed (SPOOL_EXIT).
 *
 * Only root can see which processes the kernel kills for lack of memory. But every user may read the number of such
 * kills on the machine, in /proc/vmstat ("oom_kill"). If SIGKILL ended a process, and this number has risen since the
 * last read, lack of memory is the likely reason.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "spool/spool.h"

enum { PROCESS_SIGNALS_MAX = 20000 }; /* limit of SPOOL_SIGNAL records in a spool */

enum { PROCESS_SIGNALS_SENT = 32 };

/* A signal sent but not yet delivered. */
struct sent_signal {
    uint32_t pid, number, sender;
};

struct process_signals {
    uint64_t stored, left_out;
    uint64_t oom_kills; /* count at the last read, or UINT64_MAX if the kernel does not report the count */
    uint32_t sender;    /* pid and name of the last sender */
    char sender_name[48];
    struct sent_signal sent[PROCESS_SIGNALS_SENT]; /* ring buffer of the newest sent signals */
    size_t next_sent;
};

struct process_signal_note {
    uint32_t pid, tid, number;
    uint32_t sender; /* pid, or 0 (the kernel, or unknown) */
    uint64_t time;   /* ns, CLOCK_MONOTONIC */
};

void process_signals_init(struct process_signals *signals);

/* process_signals_store_sent() stores the sender of a sent signal. process_signals_remove_sender() returns the sender
 * of a delivered signal, or 0 if unknown. */
void process_signals_store_sent(struct process_signals *signals, const struct sent_signal *sent);
uint32_t process_signals_remove_sender(struct process_signals *signals, uint32_t pid, uint32_t number);

/* Appends a signal to the spool, or counts it beyond PROCESS_SIGNALS_MAX. */
int process_signals_add(struct process_signals *signals, struct spool_writer *spool,
                        const struct process_signal_note *note, struct error *err);

/* Call this function when SIGKILL has ended a process: it appends SPOOL_OOM_KILL if the kernel's count has risen since
 * the last read. */
int process_signals_add_kill(struct process_signals *signals, struct spool_writer *spool, uint32_t pid, uint64_t time,
                             struct error *err);

/* Whether a signal affects a thread: the thread has a handler, or neither the thread nor the default action ignores the
 * signal. The kernel also reports signals without an effect to a tracer. `status`: text of /proc/TID/status. */
bool process_signals_has_effect(const char *status, uint32_t number);

/* Parses the number of the line "NAME NUMBER" in the text of /proc/vmstat, or UINT64_MAX if the text has no such
 * line. */
uint64_t process_signals_parse_count(const char *text, const char *name);
