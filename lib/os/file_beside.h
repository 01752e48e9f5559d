/*
 * Runs work on files on a thread of its own. A call to a file system that does not answer (FUSE, NFS) may never return.
 * When a thread exceeds its time, the caller continues without it.
 *
 * A thread costs 30 us. File systems of this machine's disks and memory answer, and need none: file_system_answers().
 *
 * Threads: any.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct file_work {
    void (*run)(struct file_work *work);  /* on the other thread */
    void (*drop)(struct file_work *work); /* frees the work; on the other thread, after run(), if the caller left */
};

/* Runs the work, and waits for it for at most `timeout_ns` ns, or longer while its thread only waits for a CPU. Returns
 * 0 if it is done: then the work is the caller's again. -ETIMEDOUT if it is not, and -EAGAIN if there can be no thread:
 * then the work is dropped. */
int file_beside(struct file_work *work, uint64_t timeout_ns);

/* As openat(), but a negative errno value after a failure, -ETIMEDOUT if the file system does not answer. */
int file_open_beside(int directory, const char *name, int flags, uint64_t timeout_ns);

/* Whether the open file is on a disk of this machine or in its memory, or a hypervisor serves it. */
bool file_system_answers(int fd);
