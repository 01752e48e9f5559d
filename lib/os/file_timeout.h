/*
 * Runs work on files on a separate thread, with a timeout. A call to a file system that does not respond (FUSE, NFS)
 * may never return. When a thread exceeds its time, the caller continues without it.
 *
 * A thread costs 30 us. File systems on local disks and in memory always respond, and need no thread
 * (file_system_responds()). Threads: any.
 */
#pragma once

#include "base/standard.h"

struct file_work {
    void (*run)(struct file_work *work); /* called on the other thread */
    /* Frees the work. Called on the other thread after run() if the caller no longer waits. */
    void (*drop)(struct file_work *work);
};

/* Runs the work on another thread, and waits at most `timeout_ns` ns, or longer while that thread only waits for a CPU.
 * Returns 0 when the work is done. The caller then owns the work again. Returns -ETIMEDOUT if the work is not done, and
 * the other thread then frees the work. Returns -EAGAIN and frees the work if no thread can start. */
int file_run_with_timeout(struct file_work *work, uint64_t timeout_ns);

/* Like openat(), but returns a negative errno value on failure, -ETIMEDOUT if the file system does not respond. */
int file_open_with_timeout(int directory, const char *name, int flags, uint64_t timeout_ns);

/* Whether the open file is on a disk of this machine, in memory, or on a file system of the hypervisor, so that it
 * always responds. */
bool file_system_responds(int fd);
