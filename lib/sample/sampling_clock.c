#include "sample/sampling_clock.h"

#include "base/random.h"
#include "os/clock.h"

#include <sys/timerfd.h>
#include <unistd.h>

enum {
    LOAD_TICKS = 64,
    FULL_WEIGHT = 8,      /* weight of a CPU that is sampled at the full rate (CPUs with any load have at least 1) */
    FULL_RATE_SHARE = 16, /* a CPU with at least 1/16 of a full load is sampled at the full rate */
    TURN = 4,             /* limit of consecutive instants on one CPU: a move costs as much as an instant */
    MOVE_NS = 150000,     /* ns before an instant or a pass at which the sampler moves to its CPU */
};

int sampling_clock_init(struct sampling_clock *clock, struct cpu_pin *pin, uint64_t interval, struct error *err)
{
    *clock = (struct sampling_clock){.pin = pin,
                                     .interval = interval,
                                     .random = monotonic_ns() | 1,
                                     .pass = UINT64_MAX,
                                     .timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)};
    return clock->timer_fd < 0 ? error_set(err, errno, "cannot create a timer: %s", strerror(errno)) : 0;
}

void sampling_clock_destroy(struct sampling_clock *clock)
{
    if (clock->timer_fd >= 0)
        close(clock->timer_fd);
    clock->timer_fd = -1;
    array_free(&clock->cpus);
}

/* ---- loads ---- */

int sampling_clock_add_cpu_time(struct sampling_clock *clock, uint32_t cpu, uint64_t used, struct error *err)
{
    while (cpu >= clock->cpus.length && cpu < CPU_SETSIZE)
        if (!array_push_zero(&clock->cpus))
            return error_no_memory(err);
    if (cpu < clock->cpus.length)
        clock->cpus.data[cpu].used += used;
    return 0;
}

void sampling_clock_tick(struct sampling_clock *clock, uint64_t intervals)
{
    if (intervals > LOAD_TICKS)
        intervals = LOAD_TICKS;
    for (size_t i = 0; i < clock->cpus.length; i++) {
        struct sampling_clock_cpu *cpu = &clock->cpus.data[i];
        cpu->load = (cpu->load * (LOAD_TICKS - intervals) + cpu->used) / LOAD_TICKS;
        cpu->used = 0;
    }
}

bool sampling_clock_can_visit(const struct sampling_clock *clock, uint32_t cpu)
{
    return cpu_pin_allows(clock->pin, cpu) && !(cpu < clock->cpus.length && clock->cpus.data[cpu].is_refused);
}

static uint32_t get_weight(const struct sampling_clock *clock, uint32_t cpu)
{
    uint64_t load = clock->cpus.data[cpu].load, weight = load * FULL_RATE_SHARE * FULL_WEIGHT / clock->interval;
    if (!load || !sampling_clock_can_visit(clock, cpu))
        return 0;
    return weight < 1 ? 1 : weight > FULL_WEIGHT ? FULL_WEIGHT : (uint32_t)weight;
}

/* ---- instants ---- */

/* Returns a random number between 0 and 1, both excluded. */
static double get_random_part(struct sampling_clock *clock)
{
    return ((double)(draw_random_bits(&clock->random) >> 12) + 0.5) / 0x1p52;
}

/* Returns an exponentially distributed distance to the next instant. */
static uint64_t get_random_distance(struct sampling_clock *clock)
{
    return 1 + (uint64_t)(-log(get_random_part(clock)) * (double)clock->mean);
}

/* Computes the mean interval from the loads. */
static void find_interval(struct sampling_clock *clock)
{
    uint32_t weights = 0;
    clock->in_use = 0;
    for (uint32_t i = 0; i < clock->cpus.length; i++) {
        weights += get_weight(clock, i);
        clock->in_use += get_weight(clock, i) > 0;
    }
    clock->mean = weights ? clock->interval * FULL_WEIGHT / weights : 0;
}

/* Chooses the CPU on which the sampler takes its next samples. The CPUs take turns in proportion to their weights. */
static void choose_cpu(struct sampling_clock *clock)
{
    while (clock->cpus.data[clock->cpu].credit < FULL_WEIGHT || !get_weight(clock, clock->cpu)) {
        clock->cpu = (clock->cpu + 1) % (uint32_t)clock->cpus.length;
        clock->cpus.data[clock->cpu].credit += get_weight(clock, clock->cpu) * TURN;
    }
}

static bool is_pinned_to(const struct sampling_clock *clock, uint32_t cpu)
{
    return clock->pin->pinned && clock->pin->cpu == cpu;
}

struct sampling_instant sampling_clock_check_instant(struct sampling_clock *clock, uint64_t now)
{
    struct sampling_instant taken = {0};
    if (clock->mean && clock->instant <= now) {
        taken = (struct sampling_instant){
            .is_hit = is_pinned_to(clock, clock->cpu), .cpu = clock->cpu, .time = clock->instant};
        clock->cpus.data[clock->cpu].credit -= FULL_WEIGHT;
        clock->instant += get_random_distance(clock);
    }
    return taken;
}

void sampling_clock_plan_pass(struct sampling_clock *clock, uint64_t time)
{
    const struct cpu_pin *pin = clock->pin;
    if (!pin->usable || CPU_COUNT(&pin->allowed) < 2 || time == clock->pass)
        return;
    clock->pass = time;
    clock->is_placed = false;
    uint64_t left = draw_random_bits(&clock->random) % (uint64_t)CPU_COUNT(&pin->allowed);
    for (clock->pass_cpu = 0; !cpu_pin_allows(pin, clock->pass_cpu) || left--;)
        clock->pass_cpu++;
}

/* ---- sleep ---- */

/* Sets the timer, on the CPU where it must expire: a timer expires on the CPU of the caller. */
static void set_timer(struct sampling_clock *clock, uint64_t time)
{
    uint32_t cpu = clock->pin->pinned ? clock->pin->cpu : UINT32_MAX;
    if (clock->armed == time && clock->armed_on == cpu)
        return;
    struct itimerspec timer = {.it_value = timespec_from_ns(time)};
    timerfd_settime(clock->timer_fd, TFD_TIMER_ABSTIME, &timer, NULL);
    clock->armed = time;
    clock->armed_on = cpu;
}

/* Postpones an instant that passed while the sampler was awake. */
static void postpone_instant(struct sampling_clock *clock)
{
    uint64_t now = monotonic_ns();
    if (clock->instant <= now)
        clock->instant = now + get_random_distance(clock);
}

void sampling_clock_arm(struct sampling_clock *clock, uint64_t look, bool stays)
{
    uint64_t wakeup = UINT64_MAX;
    find_interval(clock);
    if (clock->mean) {
        choose_cpu(clock);
        postpone_instant(clock);
        wakeup = clock->instant;
    }
    bool is_pass_next = clock->pass < wakeup && (clock->is_placed || monotonic_ns() < clock->pass);
    uint32_t cpu = is_pass_next ? clock->pass_cpu : clock->cpu;
    uint64_t time = is_pass_next ? clock->pass : wakeup;
    if (time != UINT64_MAX && !is_pinned_to(clock, cpu)) {
        if (stays && monotonic_ns() + MOVE_NS < time) {
            wakeup = time - MOVE_NS;
        } else if (is_pass_next) {
            cpu_pin_move(clock->pin, cpu);
        } else {
            clock->cpus.data[cpu].is_refused = !cpu_pin_move(clock->pin, cpu);
            postpone_instant(clock);
            wakeup = clock->instant;
        }
    }
    clock->is_placed = clock->pass != UINT64_MAX && is_pinned_to(clock, clock->pass_cpu) &&
                       (clock->is_placed || monotonic_ns() < clock->pass);
    set_timer(clock, wakeup < look ? wakeup : look);
}
