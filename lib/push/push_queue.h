/*
 * Profiles that wait to be sent, in a directory of this user. Each is one file, named after the time at which it was
 * added, which also says where it is to be sent: the files survive the process, and another one sends them. What is
 * added beyond the limit pushes out the oldest.
 *
 * Several processes may use one directory. A profile that one of them has taken is locked until it is done, so that no
 * other sends it as well; the lock of a process that was killed is gone.
 */
#pragma once

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct push_queue;

/* Opens the directory, or creates it for this user alone; its parent as well. `limit`: bytes of all files. -EPERM if
 * other users can write there. */
int push_queue_open(struct push_queue **out, const char *path, uint64_t limit, struct error *err);
void push_queue_close(struct push_queue *queue); /* accepts NULL */

/* Adds a profile for `url`, a text without control characters, and removes the oldest ones as long as there are more
 * bytes than the limit: *dropped says how many. -E2BIG if the profile alone is larger. */
int push_queue_add(struct push_queue *queue, const char *url, const void *bytes, size_t size, uint32_t *dropped,
                   struct error *err);

/* A profile that was taken. `bytes` are those that were added. */
struct push_item {
    char name[NAME_MAX + 1];
    int file;
    unsigned char *memory;
    const unsigned char *bytes;
    size_t size;
};

/* Takes the oldest profile for `url` that no process has taken, and that is not one of before `after` (a name; "" at
 * first). Returns 1, 0 if there is none, or a negative errno value. Files that are no profiles are passed over. */
int push_queue_take(struct push_queue *queue, const char *url, const char *after, struct push_item *item,
                    struct error *err);

/* Gives back what was taken: it stays in the queue, or is removed. */
void push_queue_return(struct push_queue *queue, struct push_item *item, bool is_done);

/* How many profiles wait: for `url`, and for other addresses, one of which goes to `other`, or "". */
struct push_waiting {
    uint32_t count, others;
    char other[1024];
};
int push_queue_waiting(struct push_queue *queue, const char *url, struct push_waiting *waiting, struct error *err);
