/*
 * Profiles to send, in a directory of this user. Each is one file, named after the time at which it was added, with its
 * destination: the files survive the process, and a later one sends them. A new profile beyond the size limit removes
 * the oldest ones.
 * Several processes may use one directory. A process locks a profile while it sends it, so no other sends it, too; the
 * lock of a killed process is gone.
 */
#pragma once

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct push_queue;

/* Opens the directory, or creates it, with its parent, for this user alone. `limit`: bytes of all files. -EPERM if
 * other users can write there. */
int push_queue_open(struct push_queue **out, const char *path, uint64_t limit, struct error *err);
void push_queue_close(struct push_queue *queue); /* accepts NULL */

/* Adds a profile for `url`, a text without control characters, and removes the oldest ones while the queue exceeds
 * its limit; *dropped is their number. -E2BIG if the profile alone exceeds it. */
int push_queue_add(struct push_queue *queue, const char *url, const void *bytes, size_t size, uint32_t *dropped,
                   struct error *err);

/* A taken profile. `bytes` are the added ones. */
struct push_item {
    char name[NAME_MAX + 1];
    int file;
    unsigned char *memory;
    const unsigned char *bytes;
    size_t size;
};

/* Takes the oldest profile for `url` that no process has taken, and whose name comes after `after` ("" at first).
 * Returns 1, 0 if none is left, or a negative errno value. Skips other files. */
int push_queue_take(struct push_queue *queue, const char *url, const char *after, struct push_item *item,
                    struct error *err);

/* Returns a profile: it stays in the queue, or is removed. */
void push_queue_return(struct push_queue *queue, struct push_item *item, bool is_done);

/* The number of queued profiles: for `url`, and for other addresses; `other` gets one of these addresses, or "". */
struct push_waiting {
    uint32_t count, others;
    char other[1024];
};
int push_queue_waiting(struct push_queue *queue, const char *url, struct push_waiting *waiting, struct error *err);
