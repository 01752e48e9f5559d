/*
 * The time to wait before a retry.
 */
#pragma once

#include <stdint.h>

enum {
    BACKOFF_FIRST_MS = 1000,  /* after the first failure */
    BACKOFF_MOST_MS = 30000,  /* doubled up to this */
    RETRY_AFTER_MOST = 86400, /* seconds: limit of the wait that a server may request */
};

/* ms until the next try. `failures`: so far, 1 or more; `retry_after`: seconds that the server requests, 0: none;
 * `random`: any number. The wait doubles with each failure. Half of it is random, so senders that failed together do
 * not retry together; it is never shorter than the server requests. */
uint64_t backoff_ms(uint32_t failures, uint64_t retry_after, uint64_t random);
