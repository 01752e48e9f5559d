#include "push/backoff.h"

uint64_t backoff_get_ms(uint32_t failures, uint64_t retry_after, uint64_t random)
{
    uint64_t wait = BACKOFF_FIRST_MS;
    for (uint32_t i = 1; i < failures && wait < BACKOFF_MOST_MS; i++)
        wait *= 2;
    if (wait > BACKOFF_MOST_MS)
        wait = BACKOFF_MOST_MS;
    if (retry_after > RETRY_AFTER_MOST)
        retry_after = RETRY_AFTER_MOST;
    uint64_t least = retry_after * 1000 > wait / 2 ? retry_after * 1000 : wait / 2;
    return least + random % (wait / 2 + 1);
}
