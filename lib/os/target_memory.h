/*
 * Reads memory of recorded processes. A process can map a page that never gets contents, of a FUSE file system or of
 * userfaultfd(2): a read of such a page waits in the kernel, and only SIGKILL ends the wait. The process can map such a
 * page after any check, so checks do not help.
 *
 * So a helper, a process of prof, reads the memory of processes of other users. If the helper does not answer within
 * TARGET_MEMORY_TIMEOUT_NS, prof kills it, starts another helper for the next read, and pauses reads of the silent
 * process for TARGET_MEMORY_PAUSE_NS. The pause is short, because the process may be harmless and have a slow disk. If
 * a user has TARGET_MEMORY_SILENT_OF_USER silent processes, the reads of all processes of the user pause. If all users
 * have TARGET_MEMORY_SILENT silent processes, the reads of all processes of other users pause. One user therefore takes
 * at most 1.6 % of the recorder's time.
 *
 * prof reads processes of its own user and of root directly: they can stop prof anyway, and a read by the helper costs
 * 13 us of CPU time instead of 1.8 (bench_target_memory). prof checks the user of a process once a second. Without
 * CAP_SYS_PTRACE, the kernel permits reads of prof's own user only.
 *
 * State: one helper for this process. Threads: any.
 */
#pragma once

#include "base/standard.h"

#include <sys/types.h>
#include <sys/uio.h>

#define TARGET_MEMORY_PAUSE_NS UINT64_C(10000000000)

enum {
    TARGET_MEMORY_TIMEOUT_NS = 40000000, /* limit of one read: the rings of perf events hold the samples of 50 ms */
    TARGET_MEMORY_SILENT_OF_USER = 4,    /* processes */
    TARGET_MEMORY_SILENT = 64,
    TARGET_MEMORY_PARTS = 256 /* most parts of a read */
};

/* A live thread whose memory prof reads, and its process, whose user owns the memory. */
struct target_thread {
    uint32_t pid, tid;
};

/* Like process_vm_readv(): returns the number of bytes read, possibly fewer than requested, or -1, also for a silent
 * process. */
ssize_t target_memory_readv(struct target_thread thread, const struct iovec *local, size_t local_count,
                            const struct iovec *remote, size_t remote_count);

/* Reads one range. Returns the number of bytes, 0 after a failure. */
size_t target_memory_read(struct target_thread thread, uint64_t address, void *out, size_t size);

/* Reads up to `size` bytes of /proc/TID/NAME, a file that the kernel reads from memory of the process ("cmdline",
 * "environ"). Returns the number of bytes, 0 after a failure. */
size_t target_memory_read_file(struct target_thread thread, const char *name, void *out, size_t size);

/* Returns a process that has become silent since the last call, or false without such a process. A process may
 * become silent several times. */
bool target_memory_take_silent(uint32_t *pid);

/* Returns the CPU time of all helpers so far, in ns. */
uint64_t target_memory_get_cpu_time(void);

/* Ends the helper. A later read starts another helper. */
void target_memory_stop(void);
