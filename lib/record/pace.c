#include "record/pace.h"

#define MS UINT64_C(1000000)

static const uint64_t patience_at_start = 30 * MS;
static const uint64_t first_patience = 200 * MS;
static const uint64_t most_patience = 3200 * MS;
static const uint64_t pause_after_failure = 300 * MS;
enum { LATE_LIMIT = 32 };

void pace_init(struct pace *pace, bool fast)
{
    *pace = (struct pace){.fast = fast, .patience = patience_at_start};
}

/* A program that comes back to deep stacks again and again is better watched all the time. */
static void speed_up(struct pace *pace)
{
    pace->fast = true;
    pace->late = 0;
    pace->patience *= 2;
    if (pace->patience > most_patience)
        pace->patience = most_patience;
}

static void slow_down_for_a_while(struct pace *pace, uint64_t time)
{
    pace->fast = false;
    pace->slow_until = time + pause_after_failure;
}

bool pace_sample(struct pace *pace, uint64_t time, enum pace_stack stack)
{
    if (!pace->last_short)
        pace->last_short = time;
    if (stack == PACE_STACK_FITS) {
        if (pace->fast && time > pace->last_short + pace->patience)
            pace->fast = false;
        return pace->fast;
    }
    pace->last_short = time;
    if (pace->patience < first_patience)
        pace->patience = first_patience;
    if (!pace->fast && time >= pace->slow_until)
        speed_up(pace);
    else if (stack == PACE_STACK_SHORT)
        pace->late = 0;
    else if (pace->fast && ++pace->late >= LATE_LIMIT)
        slow_down_for_a_while(pace, time);
    return pace->fast;
}

void pace_lost(struct pace *pace, uint64_t time)
{
    if (pace->fast)
        slow_down_for_a_while(pace, time);
}
