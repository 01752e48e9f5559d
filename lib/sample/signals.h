/*
 * Reads the signals of threads from the kernel's tracepoints: signal:signal_deliver, at delivery in the receiving
 * thread, and signal:signal_generate, in the sender. When a thread calls exit(), the other threads seem to receive
 * SIGKILL, too. So prof counts SIGKILL when it is sent, not when it is delivered.
 *
 * The events cover the whole system, with one ring per CPU, because the fields of a tracepoint require permission for
 * the whole system (kernel.perf_event_paranoid -1, or root). Signals are rare, so the rings are small. Records of
 * signals have their time at the same offset as the records of perf_events.h, so that one perf_merge reads both.
 *
 * Threads: the recorder thread.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "sample/perf_ring.h"

struct signal_delivery {
    uint64_t time;     /* ns, CLOCK_MONOTONIC */
    uint32_t pid, tid; /* the receiver; pid 0: the thread `tid`, or its process */
    uint32_t number;
    uint32_t sender; /* pid, or 0 (unknown, or the kernel) */
    bool is_sent;    /* the signal was only sent; another thread of the process may receive the signal later */
    bool has_sender; /* a process sent the signal; its record names the sender */
};

struct signal_cpu {
    int fds[2]; /* the deliver and generate events; the generate event writes to the ring of the deliver event */
    struct perf_ring ring;
};

/* Offsets of fields, in bytes from the start of the tracepoint's fields. */
struct signal_layout {
    uint64_t id;
    size_t number, code, target; /* target: only in signal_generate */
};

struct signals {
    ARRAY(struct signal_cpu) cpus;
    struct signal_layout deliver, generate;
    bool have_ids; /* records carry the id of their event */
    bool has_sent; /* the kernel reports sent signals, and pids belong to prof's namespace */
};

/* Opens the events of all online CPUs. `have_ids`: the records of the other rings in the merge have ids. -ENOENT,
 * -EACCES or -EPERM if the kernel refuses. A failure leaves nothing open. */
int signals_open(struct signals *signals, bool have_ids, struct error *err);

/* Parses a record of one of the rings. False if the record does not report a signal, or is damaged. */
bool signals_parse(const struct signals *signals, const void *bytes, size_t size, struct signal_delivery *delivery);

/* Stops the events; the rings stay readable. Accepts a zeroed struct. */
void signals_stop(struct signals *signals);

/* Accepts a zeroed struct. */
void signals_close(struct signals *signals);
