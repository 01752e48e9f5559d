/*
 * Sends the profiles of the queue and prints messages, for `prof push` and `prof record --push`.
 */
#pragma once

#include "cmd/push/push_options.h"

#include "profile/profile.h"
#include "push/push_queue.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

struct pushing {
    const struct push_options *options;
    struct push_queue *queue;
    struct http_client *client;
    const atomic_bool *hurry; /* true: this try is the last; NULL: never */
    const sigset_t *ending;   /* blocked signals with the same meaning; NULL: none */
    bool is_quiet;            /* prints only failures */
    bool is_background;       /* prints neither the queue nor the same failure again */
    char said[256];           /* the last failure */
    uint32_t sent;            /* profiles so far */
    uint32_t dropped;         /* that pushing_add() pushed out of the queue */
    uint32_t refused;         /* by the server */
};

/* Opens the queue and loads the client. Returns 0 or the exit status after a message; close it in both cases. */
int pushing_open(struct pushing *pushing, const struct push_options *options);
void pushing_close(struct pushing *pushing);

/* Packs a profile, which it takes over, and puts it into the queue. `range`: its times, ms; empty: those that it has.
 * Says what it pushed out. -E2BIG if the queue never has room for it. */
int pushing_add(struct pushing *pushing, struct profile *profile, struct time_range range, struct error *err);

/* SIGINT, SIGTERM and SIGHUP, as far as they are not ignored. */
void pushing_ending_signals(sigset_t *signals);

/* Says how many profiles were sent, unless it is quiet or there were none. */
void pushing_say_sent(const struct pushing *pushing);

/* Sends all that waits for the address, the oldest first. What cannot be sent now is tried again for `retry` ns, and
 * then stays in the queue. Returns 0 if all was taken, or EXIT_FAILURE after messages. */
int pushing_send(struct pushing *pushing, uint64_t retry);
