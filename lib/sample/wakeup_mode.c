#include "sample/wakeup_mode.h"

#define MS UINT64_C(1000000)

static const uint64_t hysteresis_at_start = 30 * MS;
static const uint64_t first_hysteresis = 200 * MS;
static const uint64_t most_hysteresis = 3200 * MS;
static const uint64_t pause_after_failure = 300 * MS;
enum { LATE_LIMIT = 32 };

void wakeup_mode_init(struct wakeup_mode *mode, bool fast)
{
    *mode = (struct wakeup_mode){.fast = fast, .hysteresis = hysteresis_at_start};
}

/* Doubles the hysteresis: a program that returns to deep stacks repeatedly should stay in fast mode. */
static void speed_up(struct wakeup_mode *mode)
{
    mode->fast = true;
    mode->late = 0;
    mode->hysteresis *= 2;
    if (mode->hysteresis > most_hysteresis)
        mode->hysteresis = most_hysteresis;
}

static void slow_down_for_a_while(struct wakeup_mode *mode, uint64_t time)
{
    mode->fast = false;
    mode->slow_until = time + pause_after_failure;
}

bool wakeup_mode_add_sample(struct wakeup_mode *mode, uint64_t time, enum wakeup_stack stack)
{
    if (!mode->last_short)
        mode->last_short = time;
    if (stack == WAKEUP_STACK_FITS) {
        if (mode->fast && time > mode->last_short + mode->hysteresis)
            mode->fast = false;
        return mode->fast;
    }
    mode->last_short = time;
    if (mode->hysteresis < first_hysteresis)
        mode->hysteresis = first_hysteresis;
    if (!mode->fast && time >= mode->slow_until)
        speed_up(mode);
    else if (stack == WAKEUP_STACK_SHORT)
        mode->late = 0;
    else if (mode->fast && ++mode->late >= LATE_LIMIT)
        slow_down_for_a_while(mode, time);
    return mode->fast;
}

void wakeup_mode_add_loss(struct wakeup_mode *mode, uint64_t time)
{
    if (mode->fast)
        slow_down_for_a_while(mode, time);
}
