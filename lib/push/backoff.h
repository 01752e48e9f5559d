/*
 * How long to wait before what failed is tried again.
 */
#pragma once

#include <stdint.h>

enum {
    BACKOFF_FIRST_MS = 1000,  /* after the first failure */
    BACKOFF_MOST_MS = 30000,  /* doubled up to this */
    RETRY_AFTER_MOST = 86400, /* seconds: a server that asks for more is taken to ask for this */
};

/* ms until the next try. `failures`: so far, 1 or more; `retry_after`: seconds that the server asks for, 0: it does
 * not; `random`: any number. The wait doubles with each failure. Half of it is random, so that many senders which one
 * failure stopped do not all come back at the same time; it is never shorter than the server asks for. */
uint64_t backoff_ms(uint32_t failures, uint64_t retry_after, uint64_t random);
