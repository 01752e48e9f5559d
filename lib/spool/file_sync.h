/*
 * Has the disk hold what was written to a file, so that a power cut loses little of it.
 *
 * fdatasync() takes as long as the disk does, so a thread of its own calls it. The thread runs at normal priority on
 * any CPU that this process may use, takes no signals, and exists from the first request on. File systems in memory
 * have nothing to write; files there need no thread.
 *
 * Threads: all functions belong to the thread that writes the file. None of them waits for the disk, but
 * file_sync_end() for a request that is being served.
 */
#pragma once

#include <stdint.h>

struct file_sync;

/* `fd`, the caller's, stays open until file_sync_end(). `path`: of the file, whose directory is to have its name, too.
 * NULL if the file needs no syncing or cannot have any: then the other functions do nothing. */
struct file_sync *file_sync_begin(int fd, const char *path);

/* Requests a sync of the current contents. Requests that arrive during a sync are merged. Returns 0, or the negative
 * errno value of an earlier request that failed, once. */
int file_sync_request(struct file_sync *sync);

/* The file at `fd` is to replace the one at `path` when it is on the disk: only then a power cut cannot leave an empty
 * file under that name. Until then it has the name `temporary`, and `replaced_fd` stays open with its lock. Takes
 * ownership of both, makes the request, and replaces the file at once if `sync` is NULL. */
void file_sync_replace(struct file_sync *sync, char *temporary, int replaced_fd, const char *path);

uint64_t file_sync_cpu_time(struct file_sync *sync); /* ns that its thread has used */

/* Ends the thread without a last sync: the profile is made next, and then the file is removed. But a file that is to
 * replace another one has done so. Accepts NULL. */
void file_sync_end(struct file_sync *sync);
