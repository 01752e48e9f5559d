#include "sample/cpu_pin.h"

/* Number of consecutive deep stacks on another CPU after which the recorder moves to this CPU. A move costs about 20
 * us, and threads of several CPUs may alternate. */
enum { MOVE_AFTER = 2 };

static const uint64_t hysteresis = UINT64_C(300000000); /* ns without a deep stack */

void cpu_pin_init(struct cpu_pin *pin)
{
    *pin = (struct cpu_pin){0};
    pin->usable = sched_getaffinity(0, sizeof(pin->allowed), &pin->allowed) == 0;
}

void cpu_pin_count_deep_stack(struct cpu_pin *pin, uint32_t cpu, uint32_t tid, uint64_t time)
{
    bool is_followed = pin->pinned && tid == pin->tid;
    pin->in_a_row = is_followed ? MOVE_AFTER : cpu == pin->wanted ? pin->in_a_row + 1 : 1;
    if (!pin->pinned || cpu == pin->cpu || is_followed)
        pin->tid = tid;
    pin->wanted = cpu;
    pin->last_deep = time;
}

bool cpu_pin_allows(const struct cpu_pin *pin, uint32_t cpu)
{
    return pin->usable && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &pin->allowed);
}

bool cpu_pin_move(struct cpu_pin *pin, uint32_t cpu)
{
    cpu_set_t target;
    if (pin->pinned && pin->cpu == cpu)
        return true;
    if (!cpu_pin_allows(pin, cpu))
        return false;
    CPU_ZERO(&target);
    CPU_SET(cpu, &target);
    if (sched_setaffinity(0, sizeof(target), &target))
        return false;
    pin->cpu = cpu;
    pin->pinned = true;
    return true;
}

void cpu_pin_choose(struct cpu_pin *pin, uint64_t now)
{
    if (!pin->usable)
        return;
    if (pin->pinned && now > pin->last_deep + hysteresis)
        cpu_pin_release(pin);
    else if (pin->in_a_row >= MOVE_AFTER)
        cpu_pin_move(pin, pin->wanted);
}

void cpu_pin_release(struct cpu_pin *pin)
{
    if (pin->pinned)
        sched_setaffinity(0, sizeof(pin->allowed), &pin->allowed);
    pin->pinned = false;
    pin->in_a_row = 0;
}

/* ---- other threads ---- */

void cpu_stay_begin(struct cpu_stay *stay, const struct cpu_pin *pin, pid_t tid, uint32_t cpu)
{
    stay->tid = 0;
    if (!pin->pinned || pin->cpu != cpu || sched_getaffinity(tid, sizeof(stay->before), &stay->before) ||
        !CPU_ISSET(cpu, &stay->before) || CPU_COUNT(&stay->before) == 1)
        return;
    CPU_ZERO(&stay->only);
    CPU_SET(cpu, &stay->only);
    if (sched_setaffinity(tid, sizeof(stay->only), &stay->only) == 0)
        stay->tid = tid;
    stay->is_everywhere = CPU_EQUAL(&stay->before, &pin->allowed);
}

/* Restores the CPUs of the thread, unless another thread has changed the CPUs meanwhile. A thread that had the
 * recorder's CPUs gets all CPUs, so that the thread may also run on CPUs that its cpuset gets later. */
void cpu_stay_end(const struct cpu_stay *stay)
{
    cpu_set_t now, all;
    if (!stay->tid || sched_getaffinity(stay->tid, sizeof(now), &now) || !CPU_EQUAL(&now, &stay->only))
        return;
    memset(&all, 0xff, sizeof(all));
    sched_setaffinity(stay->tid, sizeof(all), stay->is_everywhere ? &all : &stay->before);
}
