/*
 * The signals that threads get: the kernel's tracepoints signal:signal_deliver, which a thread raises when it takes
 * one, and signal:signal_generate, which the sender raises. A thread that SIGKILL
 * ends takes it in the same way as the threads that end because another one of the process calls exit(): so its
 * delivery tells nothing, and its sending does.
 *
 * Of the whole system, with a ring for each CPU, because the fields of a tracepoint are for those who may see all
 * (kernel.perf_event_paranoid -1, or root). Signals are few, and so the rings are small. The times of records are where
 * those of perf_events.h have theirs, so that one perf_merge reads the rings of both.
 *
 * Threads: one thread, which is the recorder thread of a recording.
 */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "sample/perf_ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct signal_delivery {
    uint64_t time;     /* ns, CLOCK_MONOTONIC */
    uint32_t pid, tid; /* who gets it; pid 0: as tid, or the process of that thread */
    uint32_t number;
    uint32_t sender; /* pid; 0: not known, or the kernel */
    bool is_sent;    /* it is sent only, and may reach another thread of the process later */
    bool has_sender; /* a process sent it, which the record of its sending named */
};

struct signal_cpu {
    int fds[2]; /* deliver, generate; the second one writes to the ring of the first */
    struct perf_ring ring;
};

/* Where a tracepoint has what, bytes from the beginning of its fields. */
struct signal_layout {
    uint64_t id;
    size_t number, code, target; /* target: signal_generate alone */
};

struct signals {
    ARRAY(struct signal_cpu) cpus;
    struct signal_layout deliver, generate;
    bool have_ids; /* records carry the id of their event */
    bool has_sent; /* those that are sent are told: pids are those of our namespace */
};

/* Opens the events of all CPUs that are online. `have_ids`: as the records of the rings that are read together with
 * these. -ENOENT, -EACCES or -EPERM where the kernel does not allow it. Nothing stays open after a failure. */
int signals_open(struct signals *signals, bool have_ids, struct error *err);

/* Reads a record of one of the rings: false if it is not one that tells of a signal, or is damaged. */
bool signals_parse(const struct signals *signals, const void *bytes, size_t size, struct signal_delivery *delivery);

/* No more signals are recorded; the rings stay readable. For a zeroed struct as well. */
void signals_stop(struct signals *signals);

/* Also for a zeroed struct. */
void signals_close(struct signals *signals);
