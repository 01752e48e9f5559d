#include "sample/ptrace_internal.h"
#include "sample/ptrace_sampler.h"

#include "os/clock.h"
#include "os/file_io.h"
#include "os/file_proc.h"

#include <sys/ptrace.h>
#include <sys/stat.h>
#include <unistd.h>

int ptrace_sampler_new(struct ptrace_sampler **out, const struct ptrace_consumer *consumer, uint32_t rate,
                       bool has_children, struct cpu_pin *pin, struct error *err)
{
    struct ptrace_sampler *sampler = calloc(1, sizeof(*sampler));
    if (!sampler)
        return error_no_memory(err);
    sampler->consumer = *consumer;
    sampler->follow_options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT |
                              (has_children ? PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK : 0);
    sampler->interval = SECOND / rate;
    sampler->started = sampler->next_check = monotonic_ns();
    sampler->stack = malloc(PTRACE_STACK_BELOW_SP + PTRACE_STACK_MAX);
    sampler->itself = ptrace_thread_new(getpid(), gettid());
    int code = sampling_clock_init(&sampler->clock, pin, sampler->interval, err);
    if (!code && !(sampler->stack && sampler->itself))
        code = error_no_memory(err);
    if (code) {
        ptrace_sampler_free(sampler);
        return code;
    }
    *out = sampler;
    return 0;
}

void ptrace_sampler_free(struct ptrace_sampler *sampler)
{
    if (!sampler)
        return;
    for (size_t i = 0; i < sampler->threads.length; i++)
        ptrace_thread_free(sampler->threads.data[i]);
    ptrace_thread_free(sampler->itself);
    array_free(&sampler->threads);
    array_free(&sampler->orphans);
    array_free(&sampler->active);
    array_free(&sampler->hit);
    hash_destroy(&sampler->by_tid);
    free(sampler->stack);
    sampling_clock_destroy(&sampler->clock);
    free(sampler);
}

/* Whether a thread has ended: the kernel refuses to trace an ended thread with the same error as without permission. An
 * ended main thread stays in the list of threads until its process ends. */
static bool has_ended(pid_t tid)
{
    return strchr("ZX", proc_read_state((uint32_t)tid)); /* also 0 */
}

/* Whether a process of this user is not dumpable: its /proc files then belong to root. */
static bool is_not_dumpable(pid_t pid)
{
    char path[32];
    struct stat info;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    return proc_find_file_owner((uint32_t)pid, UINT32_MAX) == geteuid() && stat(path, &info) == 0 &&
           info.st_uid != geteuid();
}

static int explain_refusal(pid_t pid, int code, struct error *err)
{
    uint32_t tracer = proc_read_status_number((uint32_t)pid, "TracerPid:", 0);
    if (tracer)
        return error_set(err, code,
                         "cannot trace process %d: process %u traces it already, and a process has one tracer",
                         (int)pid, (unsigned)tracer);
    if (is_not_dumpable(pid))
        return error_set(
            err, code,
            "cannot trace process %d: it is not dumpable (see prctl(2)); run prof with sudo or the capability CAP_SYS_PTRACE",
            (int)pid);
    if (geteuid() != 0 && proc_find_file_owner((uint32_t)pid, UINT32_MAX) != geteuid())
        return error_set(err, code, "cannot trace process %d: it belongs to another user; run prof with sudo",
                         (int)pid);
    char scope[16];
    if (file_read_text("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope)) && strcmp(scope, "0") != 0)
        return error_set(
            err, code,
            "cannot trace process %d: kernel.yama.ptrace_scope is %s; run prof with sudo, or permit it with 'sudo sysctl kernel.yama.ptrace_scope=0'",
            (int)pid, scope);
    return error_set(err, code, "cannot trace process %d: %s", (int)pid, strerror(code));
}

int ptrace_sampler_seize(struct ptrace_sampler *sampler, pid_t pid, pid_t tid, bool at_exec, struct error *err)
{
    if (sampler_find(sampler, tid))
        return -EEXIST;
    uintptr_t options = at_exec ? PTRACE_O_TRACEEXEC : sampler->follow_options;
    if (ptrace(PTRACE_SEIZE, tid, NULL, options)) {
        int code = errno;
        if (code == ESRCH || (code == EPERM && has_ended(tid)))
            return error_set(err, ESRCH, "thread %d does not exist", (int)tid);
        return explain_refusal(pid, code, err);
    }
    struct ptrace_thread *thread = sampler_add(sampler, pid, tid, err);
    if (!thread)
        return -ENOMEM;
    struct ptrace_schedule now;
    thread->follows = !at_exec;
    if (sampler_counts_by_clock(thread))
        thread->first_clock = process_read_clock_ns((uint32_t)pid);
    sampler_set_state(sampler, thread, PTRACE_THREAD_RUNS);
    if (ptrace_thread_read_schedule(thread, &now)) {
        thread->first_cpu = thread->sampled_cpu = now.cpu;
        thread->run.last = (struct ptrace_moment){.schedule = now,
                                                  .asleep = ptrace_thread_is_asleep(ptrace_thread_read_state(thread))};
    }
    ptrace_thread_read_preemptions(thread);
    thread->run.last.time = monotonic_ns();
    return 0;
}

void ptrace_sampler_stop_tracing_children(struct ptrace_sampler *sampler, pid_t tid)
{
    uintptr_t children = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
    ptrace(PTRACE_SETOPTIONS, tid, NULL, sampler->follow_options & ~children);
}

void ptrace_sampler_sample_once(struct ptrace_sampler *sampler, pid_t tid)
{
    struct ptrace_thread *thread = sampler_find(sampler, tid);
    if (!thread || thread->state != PTRACE_THREAD_RUNS)
        return;
    thread->hold = true;
    thread->sampled_cpu = 0;
    sampler_interrupt(sampler, thread, PTRACE_INTERRUPT_TO_SAMPLE);
}

bool ptrace_sampler_is_stopped(const struct ptrace_sampler *sampler, pid_t tid)
{
    const struct ptrace_thread *thread = sampler_find(sampler, tid);
    return thread && thread->state == PTRACE_THREAD_LISTENS;
}

uint64_t ptrace_sampler_measure_sleep(struct ptrace_sampler *sampler, pid_t tid)
{
    struct ptrace_thread *thread = sampler_find(sampler, tid);
    if (!thread || thread->state != PTRACE_THREAD_RUNS || !ptrace_thread_read_state(thread) ||
        !cpu_pin_move(sampler->clock.pin, thread->cpu))
        return 0;
    clock_ns(CLOCK_THREAD_CPUTIME_ID); /* the kernel updates the time of this thread */
    uint64_t left = ptrace_thread_read_departure(thread), now = ptrace_thread_read_departure(sampler->itself);
    return left && now > left ? now - left : 0;
}

int ptrace_sampler_get_timer(const struct ptrace_sampler *sampler)
{
    return sampler->clock.timer_fd;
}

bool ptrace_sampler_is_waiting(const struct ptrace_sampler *sampler)
{
    return sampler->interrupted > 0 || sampler->orphans.length > 0;
}

uint64_t ptrace_sampler_get_cpu_time(struct ptrace_sampler *sampler)
{
    uint64_t sum = sampler->ended_cpu;
    for (size_t i = 0; i < sampler->threads.length; i++) {
        struct ptrace_thread *thread = sampler->threads.data[i];
        struct ptrace_schedule now = thread->seen;
        if (sampler_counts_by_clock(thread)) {
            sampler_store_clock(thread);
            bool has_run = thread->follows && thread->last_clock > thread->first_clock;
            sum += has_run ? thread->last_clock - thread->first_clock : 0;
        } else if (thread->state != PTRACE_THREAD_EXITS && !sampler_find(sampler, thread->pid)) {
            ptrace_thread_read_schedule(thread, &now);
            sum += now.cpu > thread->first_cpu ? now.cpu - thread->first_cpu : 0;
        }
    }
    return sum;
}

void ptrace_sampler_set_clock_start(struct ptrace_sampler *sampler, pid_t pid, uint64_t clock)
{
    struct ptrace_thread *main_thread = sampler_find(sampler, pid);
    if (main_thread)
        main_thread->first_clock = clock;
}
