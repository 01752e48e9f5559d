#include "record/scheduling.h"

#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The normal policy, with the nice value that the thread has. `slice` in ns; 0: the usual one. */
static void run_normally(uint64_t slice)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attr = {.size = sizeof(attr), .nice = getpriority(PRIO_PROCESS, 0), .runtime = slice}; /* sched(7): sched_attr */
    syscall(SYS_sched_setattr, 0, &attr, 0);
}

int scheduling_raise(void)
{
    enum { NICE_STEP = 10, SLICE_NS = 100000 };
    static const struct sched_param lowest_realtime = {.sched_priority = 1};
    int nice_before = getpriority(PRIO_PROCESS, 0);
    if (sched_setscheduler(0, SCHED_FIFO, &lowest_realtime) == 0)
        return nice_before;
    setpriority(PRIO_PROCESS, 0, nice_before - NICE_STEP);
    run_normally(SLICE_NS);
    return nice_before;
}

void scheduling_restore(int nice_before)
{
    run_normally(0);
    setpriority(PRIO_PROCESS, 0, nice_before);
}
