#include "os/scheduling.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool set_policy(const struct scheduling_policy *policy)
{
    return syscall(SYS_sched_setattr, 0, policy, 0) == 0;
}

bool scheduling_raise(struct scheduling_policy *before)
{
    enum { NICE_STEP = 10, BEST_NICE = -20, SLICE_NS = 100000, SLACK_NS = 1 };
    *before = (struct scheduling_policy){0};
    prctl(PR_SET_TIMERSLACK, SLACK_NS);
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
    prctl(PR_SET_TIMERSLACK, 0); /* the default of the thread */
    if (before->size)
        set_policy(before);
    before->size = 0;
}
