/*
 * The time to wait before a retry.
 */
#pragma once

#include "base/standard.h"

enum {
    BACKOFF_FIRST_MS = 1000,  /* wait after the first failure */
    BACKOFF_MOST_MS = 30000,  /* limit of the doubled wait */
    RETRY_AFTER_MOST = 86400, /* limit of the wait that a server may request, in seconds */
};

/* Returns the wait until the next try in ms. `failures`: number of failed attempts, at least 1. `retry_after`: wait
 * that the server requested, in seconds, or 0. `random`: any number. The wait doubles with each failure. Half of the
 * wait is random, so that senders that failed together do not retry together. The wait is never shorter than the server
 * requests. */
uint64_t backoff_get_ms(uint32_t failures, uint64_t retry_after, uint64_t random);
