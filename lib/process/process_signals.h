/*
 * The signals that reach recorded processes, as events of the spool: which, in which thread, and who sent them. In the
 * ptrace tier every signal but SIGKILL passes through the sampler; of perf events the kernel's tracepoints tell
 * (sample/signals.h). How a process was killed is known from its exit status as well (SPOOL_EXIT).
 *
 * Whom the kernel kills for lack of memory nothing tells without root. Every user may read how often it did, in
 * /proc/vmstat ("oom_kill"). So where SIGKILL has ended a process and that number has risen since the last look, this
 * is most likely the reason. The number is that of the whole machine.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/error.h"
#include "spool/spool.h"

#include <stdbool.h>
#include <stdint.h>

enum { PROCESS_SIGNALS_MAX = 20000 }; /* SPOOL_SIGNAL in a spool */

enum { PROCESS_SIGNALS_SENT = 32 };

/* A signal that was sent to a process and has not reached it. */
struct sent_signal {
    uint32_t pid, number, sender;
};

struct process_signals {
    uint64_t stored, left_out;
    uint64_t oom_kills; /* at the last look; UINT64_MAX: this kernel does not tell */
    uint32_t sender;    /* the last one, and its name */
    char sender_name[48];
    struct sent_signal sent[PROCESS_SIGNALS_SENT]; /* the newest ones, by turns */
    size_t next_sent;
};

struct process_signal_note {
    uint32_t pid, tid, number;
    uint32_t sender; /* pid; 0: the kernel, or not known */
    uint64_t time;   /* ns, CLOCK_MONOTONIC */
};

void process_signals_init(struct process_signals *signals);

/* A signal was sent to a process, which process_signals_take_sender() then tells; 0 if it is not known. */
void process_signals_note_sent(struct process_signals *signals, const struct sent_signal *sent);
uint32_t process_signals_take_sender(struct process_signals *signals, uint32_t pid, uint32_t number);

/* Appends a signal to the spool, or counts it as left out. */
int process_signals_note(struct process_signals *signals, struct spool_writer *spool,
                         const struct process_signal_note *note, struct error *err);

/* SIGKILL has ended a process: appends SPOOL_OOM_KILL if the kernel has counted kills since the last look. */
int process_signals_note_kill(struct process_signals *signals, struct spool_writer *spool, uint32_t pid, uint64_t time,
                              struct error *err);

/* Whether a signal does anything to a thread, by the text of /proc/TID/status: it has a handler, or it is not ignored
 * and its default is not to do nothing. The kernel shows a tracer also the others. */
bool process_signals_has_effect(const char *status, uint32_t number);

/* The number of a line "NAME NUMBER" in the text of /proc/vmstat; UINT64_MAX if it has none. */
uint64_t process_signals_parse_count(const char *text, const char *name);
