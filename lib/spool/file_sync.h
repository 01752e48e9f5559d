/*
 * Syncs a file to the disk repeatedly, so that a power failure loses little of its data.
 *
 * fdatasync() waits for the disk, so a separate thread calls it. The thread runs at normal priority on any CPU of this
 * process, blocks all signals, and starts with the first request. A file in memory (tmpfs) needs no sync and no thread.
 *
 * Threads: all functions belong to the thread that writes the file. None of the functions waits for the disk, except
 * file_sync_end() during a sync.
 */
#pragma once

#include "base/standard.h"

struct file_sync;

/* Prepares to sync the file `fd`, which the caller keeps open until file_sync_end(). `path` is the path of the file,
 * whose directory is synced too. Returns NULL if the file needs no sync, or memory ran out. The other functions do
 * nothing for NULL. */
struct file_sync *file_sync_begin(int fd, const char *path);

/* Requests a sync of the current contents. Requests that arrive during a sync are merged. Returns 0, or the negative
 * errno value of an earlier request that failed, once. */
int file_sync_request(struct file_sync *sync);

/* Requests a sync of the new file `temporary`, and then its renaming to `path`: a rename before the sync could leave an
 * empty file after a power failure. Until the rename, `replaced_fd` (the old file) stays open with its lock. Takes
 * ownership of `temporary` and `replaced_fd`. Without a `sync` (NULL), renames the file at once. */
void file_sync_replace(struct file_sync *sync, char *temporary, int replaced_fd, const char *path);

uint64_t file_sync_get_cpu_time(struct file_sync *sync); /* ns of CPU time of the sync thread */

/* Ends the thread after a requested replacement. The thread does not sync the file again, because the caller makes the
 * profile and removes the file. Accepts NULL. */
void file_sync_end(struct file_sync *sync);
