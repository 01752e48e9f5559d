#include "record/scheduling.h"

#include <sys/syscall.h>
#include <unistd.h>

/* ---- priority ---- */

static bool set_policy(const struct scheduling_policy *policy)
{
    return syscall(SYS_sched_setattr, 0, policy, 0) == 0;
}

bool scheduling_raise(struct scheduling_policy *before)
{
    enum { NICE_STEP = 10, BEST_NICE = -20, SLICE_NS = 100000 };
    *before = (struct scheduling_policy){0};
    if (syscall(SYS_sched_getattr, 0, before, sizeof(*before), 0)) {
        before->size = 0;
        return false;
    }
    if (before->policy == SCHED_FIFO || before->policy == SCHED_RR)
        return true;
    struct scheduling_policy raised = {.size = sizeof(raised), .policy = SCHED_FIFO, .priority = 1};
    if (set_policy(&raised))
        return true;
    raised = (struct scheduling_policy){
        .size = sizeof(raised), .policy = SCHED_OTHER, .nice = before->nice - NICE_STEP, .runtime = SLICE_NS};
    if (raised.nice < BEST_NICE)
        raised.nice = BEST_NICE;
    if (!set_policy(&raised)) {
        raised.nice = before->nice;
        set_policy(&raised);
    }
    return false;
}

void scheduling_restore(struct scheduling_policy *before)
{
    if (before->size)
        set_policy(before);
    before->size = 0;
}

/* ---- CPU ---- */

/* Deep stacks in a row before it moves to another thread: that costs some 20 us, and the threads of several CPUs take
 * turns. */
enum { MOVE_AFTER = 2 };

static const uint64_t hysteresis = UINT64_C(300000000); /* ns without a deep stack */

void cpu_pin_init(struct cpu_pin *pin)
{
    *pin = (struct cpu_pin){0};
    pin->usable = sched_getaffinity(0, sizeof(pin->allowed), &pin->allowed) == 0;
}

void cpu_pin_deep_stack(struct cpu_pin *pin, uint32_t cpu, uint32_t tid, uint64_t time)
{
    bool is_followed = pin->pinned && tid == pin->tid;
    pin->in_a_row = is_followed ? MOVE_AFTER : cpu == pin->wanted ? pin->in_a_row + 1 : 1;
    if (!pin->pinned || cpu == pin->cpu || is_followed)
        pin->tid = tid;
    pin->wanted = cpu;
    pin->last_deep = time;
}

static void move_to(struct cpu_pin *pin, uint32_t cpu)
{
    cpu_set_t target;
    if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &pin->allowed))
        return;
    CPU_ZERO(&target);
    CPU_SET(cpu, &target);
    if (sched_setaffinity(0, sizeof(target), &target))
        return;
    pin->cpu = cpu;
    pin->pinned = true;
}

void cpu_pin_choose(struct cpu_pin *pin, uint64_t now)
{
    if (!pin->usable)
        return;
    if (pin->pinned && now > pin->last_deep + hysteresis)
        cpu_pin_release(pin);
    else if (pin->in_a_row >= MOVE_AFTER && !(pin->pinned && pin->cpu == pin->wanted))
        move_to(pin, pin->wanted);
}

void cpu_pin_release(struct cpu_pin *pin)
{
    if (pin->pinned)
        sched_setaffinity(0, sizeof(pin->allowed), &pin->allowed);
    pin->pinned = false;
    pin->in_a_row = 0;
}
