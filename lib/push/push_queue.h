/*
 * A queue of profiles to send, in a directory of this user. Each profile is one file with its destination URL, named
 * after the time at which it was queued. The files survive the process, and a later process sends them. A new profile
 * beyond the size limit removes the oldest profiles. Several processes may use one directory. A process locks a profile
 * while sending it, so that no other process sends the same profile. The kernel releases the locks of a killed process.
 */
#pragma once

#include "base/error.h"

struct push_queue;

/* Opens the directory, or creates it, with its parent, for this user alone. `limit`: size limit of all files, in bytes.
 * Returns -EPERM if other users can write to the directory. */
int push_queue_open(struct push_queue **out, const char *path, uint64_t limit, struct error *err);
void push_queue_close(struct push_queue *queue); /* accepts NULL */

/* Adds a profile for `url`, a text without control characters. While the queue exceeds its limit, removes the oldest
 * profiles and counts them in *dropped. Returns -E2BIG if the profile alone exceeds the limit. */
int push_queue_add(struct push_queue *queue, const char *url, const void *bytes, size_t size, uint32_t *dropped,
                   struct error *err);

/* A taken profile. `bytes` are the bytes that push_queue_add() stored. */
struct push_item {
    char name[NAME_MAX + 1];
    int file;
    unsigned char *memory;
    const unsigned char *bytes;
    size_t size;
};

/* Locks and reads the oldest profile for `url` that no other process has locked, and whose name sorts after `after` (""
 * at first). Returns 1, 0 if none is left, or a negative errno value. Skips other files. */
int push_queue_take(struct push_queue *queue, const char *url, const char *after, struct push_item *item,
                    struct error *err);

/* Unlocks a profile, and with `is_done` removes it from the queue. */
void push_queue_return(struct push_queue *queue, struct push_item *item, bool is_done);

/* Counts the queued profiles for `url`, and for other addresses. `other` gets one of these addresses, or "". */
struct push_waiting {
    uint32_t count, others;
    char other[1024];
};
int push_queue_count(struct push_queue *queue, const char *url, struct push_waiting *waiting, struct error *err);
