/*
 * Sends the profiles of the queue and prints messages, for `prof push` and `prof record --push`.
 */
#pragma once

#include "cmd/push/push_options.h"

#include "profile/profile.h"
#include "push/push_queue.h"

#include <signal.h>
#include <stdatomic.h>

struct pushing {
    const struct push_options *options;
    struct push_queue *queue;
    struct http_client *client;
    const atomic_bool *hurry; /* true if the current attempt is the last, or NULL (never) */
    const sigset_t *ending;   /* blocked signals that also make the current attempt the last, or NULL for none */
    bool is_quiet;            /* prints only failures */
    bool is_background;       /* omits the queue size and repeated failures from messages */
    char last_failure[256];   /* text of the last printed failure */
    uint32_t sent;            /* profiles so far */
    uint32_t dropped;         /* number of profiles that pushing_add() dropped from the queue */
    uint32_t refused;         /* by the server */
};

/* Opens the queue and loads the HTTP client. Returns 0, or the exit status after printing a message. Call
 * pushing_close() also after a failure. */
int pushing_open(struct pushing *pushing, const struct push_options *options);
void pushing_close(struct pushing *pushing);

/* Compresses a profile, which this function frees, and adds it to the queue. `range` has the start and end of the
 * profile in ms; if empty, the profile's own times apply. Prints how many old profiles the queue dropped. Returns
 * -E2BIG if the profile exceeds the size limit of the queue. */
int pushing_add(struct pushing *pushing, struct profile *profile, struct time_range range, struct error *err);

/* Prints the number of sent profiles, unless that is 0 or --quiet is set. */
void pushing_print_sent(const struct pushing *pushing);

/* Sends all queued profiles of the address, the oldest first. Retries a profile for `retry` ns; after that it stays in
 * the queue. Returns 0 if the server accepted all, or EXIT_FAILURE after printing messages. */
int pushing_send(struct pushing *pushing, uint64_t retry);
